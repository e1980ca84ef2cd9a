"""What an API server adds to an object on its way in, for manifests that never went through one.

An object that comes from a cluster has all this already and is left as it is.  A manifest that
somebody wrote has no namespace, no uid, limits but no requests, and so on; without these the
answer would be one about another pod than the cluster would get.

Upstream: SetDefaults_* in pkg/apis/core/v1/defaults.go, the admission plugins Priority and
          DefaultTolerationSeconds, pkg/registry/core/pod/strategy.go (v1.36.4).
Differs:  only what a scheduler sees is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from berthing.api.kinds import kind_of
from berthing.api.labels import LabelSelector, LabelSelectorRequirement
from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod import (
    Affinity,
    Container,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    ResourceRequirements,
)
from berthing.api.resource_list import ResourceList
from berthing.api.scheduling import PriorityClass
from berthing.api.taints import Taint, TaintEffect, Toleration

DEFAULT_NAMESPACE: Final = "default"
DEFAULT_SCHEDULER: Final = "default-scheduler"

# A pod stays a while on a node that is in trouble, so it may go there as well.
_IN_TROUBLE: Final = tuple(
    Taint(key=f"node.kubernetes.io/{trouble}", effect=TaintEffect.NO_EXECUTE)
    for trouble in ("not-ready", "unreachable")
)
_SECONDS: Final = 300

# Classes that every cluster has.
_SYSTEM_PRIORITIES: Final = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}


class Admission:
    """Fills in objects of one cluster."""

    def __init__(self, objects: Iterable[ApiObject] = ()) -> None:
        classes = [obj for obj in objects if isinstance(obj, PriorityClass)]
        self._priorities = _SYSTEM_PRIORITIES | {each.name: each.value for each in classes}
        self._default_priority = max(
            (each.value for each in classes if each.global_default), default=0
        )

    def filled_in(self, obj: ApiObject) -> ApiObject:
        """The object as a cluster would have it."""
        if not obj.namespace and kind_of(type(obj)).namespaced:
            obj = replace(obj, metadata=replace(obj.metadata, namespace=DEFAULT_NAMESPACE))
        match obj:
            case Pod():
                return self.pod(obj)
            case Node() if not obj.status.allocatable and obj.status.capacity:
                return replace(obj, status=replace(obj.status, allocatable=obj.status.capacity))
        return obj

    def pod(self, pod: Pod) -> Pod:
        """The pod as a cluster would have it; its namespace is known."""
        spec = _with_requests(pod.spec)
        if not spec.scheduler_name:
            spec = replace(spec, scheduler_name=DEFAULT_SCHEDULER)
        if spec.priority is None:
            spec = replace(spec, priority=self._priority(spec))
        if not pod.metadata.uid:
            # It was never in a cluster: what is only added there, once, is missing.
            pod = replace(pod, metadata=replace(pod.metadata, uid=pod.key))
            spec = replace(
                spec,
                tolerations=tuple(_tolerations(spec.tolerations)),
                affinity=_merged(spec.affinity, pod.metadata.labels),
            )
            if spec.host_network:
                spec = _with_host_ports(spec)
        return pod if spec is pod.spec else replace(pod, spec=spec)

    def _priority(self, spec: PodSpec) -> int:
        if not spec.priority_class_name:
            return self._default_priority
        return self._priorities.get(spec.priority_class_name, 0)


def _with_requests(spec: PodSpec) -> PodSpec:
    """What has a limit and no request asks for its limit."""
    containers = tuple(map(_container_with_requests, spec.containers))
    init_containers = tuple(map(_container_with_requests, spec.init_containers))
    resources = spec.resources
    if resources is not None:
        # Where containers ask for something, it is their sum that the pod asks for.
        asked = {
            name for each in (*containers, *init_containers) for name in each.resources.requests
        }
        resources = _requesting_limits(resources, leaving_out=asked)
    if (
        resources is spec.resources
        and all(map(_is_same, containers, spec.containers))
        and all(map(_is_same, init_containers, spec.init_containers))
    ):
        return spec
    return replace(
        spec, containers=containers, init_containers=init_containers, resources=resources
    )


def _is_same(one: object, other: object) -> bool:
    return one is other


def _container_with_requests(container: Container) -> Container:
    resources = _requesting_limits(container.resources)
    return (
        container if resources is container.resources else replace(container, resources=resources)
    )


def _requesting_limits(
    resources: ResourceRequirements, *, leaving_out: Iterable[str] = ()
) -> ResourceRequirements:
    missing = resources.limits.keys() - resources.requests.keys() - set(leaving_out)
    if not missing:
        return resources
    added = {name: resources.limits[name] for name in missing}
    return replace(resources, requests=ResourceList({**resources.requests, **added}))


def _tolerations(tolerations: tuple[Toleration, ...]) -> Iterator[Toleration]:
    yield from tolerations
    for taint in _IN_TROUBLE:
        # Whoever says anything about such nodes, for whatever time, means it.
        if not any(_speaks_of(each, taint) for each in tolerations):
            yield Toleration(
                key=taint.key, operator="Exists", effect=taint.effect, toleration_seconds=_SECONDS
            )


def _speaks_of(toleration: Toleration, taint: Taint) -> bool:
    return toleration.key in ("", taint.key) and toleration.effect in ("", taint.effect)


def _with_host_ports(spec: PodSpec) -> PodSpec:
    """On the node's own network every port is one of the node's."""
    return replace(
        spec,
        containers=tuple(map(_on_host_network, spec.containers)),
        init_containers=tuple(map(_on_host_network, spec.init_containers)),
    )


def _on_host_network(container: Container) -> Container:
    ports = tuple(
        each if each.host_port else replace(each, host_port=each.container_port)
        for each in container.ports
    )
    return replace(container, ports=ports)


def _merged(affinity: Affinity | None, labels: Mapping[str, str]) -> Affinity | None:
    """Affinity with matchLabelKeys and mismatchLabelKeys written out in its selectors."""
    if affinity is None:
        return None
    return replace(
        affinity,
        pod_affinity=_merged_terms(affinity.pod_affinity, labels),
        pod_anti_affinity=_merged_terms(affinity.pod_anti_affinity, labels),
    )


def _merged_terms(affinity: PodAffinity | None, labels: Mapping[str, str]) -> PodAffinity | None:
    if affinity is None:
        return None
    return replace(
        affinity,
        required=tuple(_merged_term(each, labels) for each in affinity.required),
        preferred=tuple(
            replace(each, pod_affinity_term=_merged_term(each.pod_affinity_term, labels))
            for each in affinity.preferred
        ),
    )


def _merged_term(term: PodAffinityTerm, labels: Mapping[str, str]) -> PodAffinityTerm:
    added = [
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],))
        for operator, keys in (("In", term.match_label_keys), ("NotIn", term.mismatch_label_keys))
        for key in keys
        if key in labels
    ]
    if not added or term.label_selector is None:
        return term
    selector: LabelSelector = term.label_selector
    expressions = (*selector.match_expressions, *added)
    return replace(term, label_selector=replace(selector, match_expressions=expressions))
