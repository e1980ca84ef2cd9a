"""What an API server does about pods in particular: filling in, binding, letting them go.

Upstream: pkg/registry/core/pod/{strategy.go,storage/storage.go}, pkg/apis/core/v1/defaults.go,
          plugin/pkg/admission/{priority,podtopologylabels} (v1.36.4).
Differs:  only what a scheduler sees is filled in, matchLabelKeys are not written out in
          selectors, and a spec may be changed in every way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from berthing.api.kinds import kind_of
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.scheduling import PriorityClass
from berthing.embedded.refusals import conflict, forbidden, invalid
from berthing.embedded.store import Store
from berthing.embedded.trees import (
    Json,
    Tree,
    branch_at,
    list_at,
    text_at,
    value_at,
    with_value,
    without,
)

PODS: Final = kind_of(Pod)
_NODES: Final = kind_of(Node)

_DEFAULTS: Final[Tree] = {
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
}
# Classes that every cluster has.
_SYSTEM_PRIORITIES: Final = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}
# A pod tells where its node is, once it has one.
_TOPOLOGY_LABELS: Final[tuple[str, ...]] = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
)


def new_pod(tree: Tree, store: Store, now: str) -> Tree:
    """A pod as it is stored when somebody creates it, whatever status it was given."""
    spec = {**_DEFAULTS, **branch_at(tree, "spec")}
    for containers in ("containers", "initContainers"):
        if containers in spec:
            spec[containers] = [_with_requests(each) for each in list_at(spec, containers)]
    if spec.get("priority") is None:
        spec["priority"] = _priority(spec, store, text_at(tree, "metadata", "name"))
    status: Tree = {"phase": "Pending"}
    if spec.get("schedulingGates"):
        gated: Tree = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastTransitionTime": now,
        }
        status["conditions"] = [gated]
    tree = {**tree, "spec": spec, "status": status}
    return _labelled_as_its_node(tree, text_at(spec, "nodeName"), store)


def _with_requests(container: Json) -> Json:
    """What has a limit and no request asks for its limit."""
    limits = branch_at(container, "resources", "limits")
    if not limits or not isinstance(container, dict):
        return container
    requests = {**limits, **branch_at(container, "resources", "requests")}
    return with_value(container, ("resources", "requests"), requests)


def _priority(spec: Tree, store: Store, pod_name: str) -> int:
    classes = [each.object for each in store.all(kind_of(PriorityClass))]
    known = [each for each in classes if isinstance(each, PriorityClass)]
    name = text_at(spec, "priorityClassName")
    if not name:
        return max((each.value for each in known if each.global_default), default=0)
    values = _SYSTEM_PRIORITIES | {each.name: each.value for each in known}
    if name not in values:
        raise forbidden(PODS, pod_name, f"no PriorityClass with name {name} was found")
    return values[name]


def bound_pod(tree: Tree, binding: Tree, store: Store, now: str) -> Tree:
    """The pod as a binding leaves it; refuses what cannot be bound, or is bound already."""
    name = text_at(tree, "metadata", "name")
    node_name = text_at(binding, "target", "name")
    if not node_name:
        raise invalid(PODS, name, "target.name", "Required value")
    for why in _not_bindable(tree, name):
        raise conflict(PODS, name, why, subresource="binding")
    tree = with_value(tree, ("spec", "nodeName"), node_name)
    tree = without(tree, ("status", "nominatedNodeName"))
    tree = with_value(tree, ("status", "conditions"), _scheduled(tree, now))
    for what in ("labels", "annotations"):
        added = branch_at(binding, "metadata", what)
        if added:
            merged = {**branch_at(tree, "metadata", what), **added}
            tree = with_value(tree, ("metadata", what), merged)
    return _labelled_as_its_node(tree, node_name, store)


def _not_bindable(tree: Tree, name: str) -> Iterator[str]:
    if value_at(tree, "metadata", "deletionTimestamp") is not None:
        yield f"pod {name} is being deleted, cannot be assigned to a host"
    if node_name := text_at(tree, "spec", "nodeName"):
        yield f'pod {name} is already assigned to node "{node_name}"'
    if list_at(tree, "spec", "schedulingGates"):
        yield f"pod {name} has non-empty .spec.schedulingGates"


def _scheduled(tree: Tree, now: str) -> list[Json]:
    """The pod's conditions, with the one that it has a node."""
    scheduled: Tree = {"type": "PodScheduled", "status": "True", "lastTransitionTime": now}
    others = [
        each
        for each in list_at(tree, "status", "conditions")
        if text_at(each, "type") != "PodScheduled"
    ]
    return [*others, scheduled]


def _labelled_as_its_node(tree: Tree, node_name: str, store: Store) -> Tree:
    node = store.get(_NODES, ("", node_name)) if node_name else None
    if node is None:
        return tree
    labels = branch_at(node.tree, "metadata", "labels")
    copied = {key: labels[key] for key in _TOPOLOGY_LABELS if key in labels}
    if not copied:
        return tree
    return with_value(
        tree, ("metadata", "labels"), {**branch_at(tree, "metadata", "labels"), **copied}
    )


def grace_seconds(tree: Tree, asked: Json) -> int:
    """How long a pod may take to end once it is deleted; 0 for one that nobody runs."""
    if not text_at(tree, "spec", "nodeName"):
        return 0
    if text_at(tree, "status", "phase") in ("Succeeded", "Failed"):
        return 0
    if asked is None:
        asked = value_at(tree, "spec", "terminationGracePeriodSeconds")
    return max(asked, 0) if isinstance(asked, int) else 0
