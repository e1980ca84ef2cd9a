"""NodeDeclaredFeatures keeps pods off nodes that do not declare a feature which they need.

What a pod needs follows from its spec; what a node can do is in its status.

Upstream: plugins/nodedeclaredfeatures/nodedeclaredfeatures.go, component-helpers
          nodedeclaredfeatures/features (v1.36.4).
Differs:  nowhere a user can see.  The features that only matter for changing a running pod, and
          those that no pod asks for, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodFacts, PodInfo
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    CycleState,
    EnqueueExtensions,
    EventResource,
    FilterPlugin,
    Handle,
    Nodes,
    PreFilterPlugin,
    PreFilterResult,
    QueueingHint,
    Status,
    Verdicts,
)
from berthing.plugins.changed_objects import changed_from, changed_to

# Users read this in events and pod conditions: upstream's wording, byte for byte.
REASON: Final = "node(s) didn't match Pod's required features"
FEATURES_MISSING: Final = Status.unresolvable(REASON)

# Without this feature gate the plugin has no opinion.
GATE: Final = "NodeDeclaredFeatures"

RESTART_ALL_CONTAINERS: Final = "RestartAllContainersOnContainerExits"
USER_NAMESPACES_HOST_NETWORK: Final = "UserNamespacesHostNetworkSupport"


class NodeDeclaredFeatures(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Rejects nodes that lack a feature which the pod's spec asks for."""

    name = "NodeDeclaredFeatures"
    row_local = True
    reads_pods = False

    def __init__(self, args: msgspec.Struct | None, handle: Handle) -> None:
        super().__init__(args, handle)
        self._enabled = handle.is_feature_enabled(GATE)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node that declares something else, and a pod that needs something else."""
        if not self._enabled:
            return ()
        actions = ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE
        node = ClusterEvent(EventResource.NODE, actions)
        pod = ClusterEvent(EventResource.POD, ActionType.UPDATE)
        return (
            ClusterEventWithHint(node, self.after_node_change),
            ClusterEventWithHint(pod, self.after_pod_change),
        )

    def after_node_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The node must be new, or declare other features than before."""
        before, after = changed_from(Node, old), changed_to(Node, new)
        declared = after.status.declared_features
        is_new = before is None or before.status.declared_features != declared
        return QueueingHint.QUEUE if is_new else QueueingHint.SKIP

    def after_pod_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The pod itself must need other features than before."""
        before, after = changed_to(Pod, old), changed_to(Pod, new)
        helps = after.metadata.uid == pod.uid and (
            required_features(PodInfo.of(before).facts)
            != required_features(PodInfo.of(after).facts)
        )
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def is_pod_local(self, pod: PodInfo) -> bool:
        """Nothing but the pod counts."""
        return True

    def pre_filter(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> PreFilterResult | Status | None:
        """Sit out if the pod needs nothing in particular."""
        needs_any = self._enabled and required_features(pod.facts)
        return None if needs_any else Status.skip()

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Reject rows that do not declare all that the pod needs."""
        required = required_features(pod.facts)
        if not required or not self._enabled:
            return Verdicts.all_pass(len(nodes))
        lacking = nodes.declared_features().where(lambda declared: not required <= declared)
        return Verdicts.reject(lacking, FEATURES_MISSING)


def required_features(facts: PodFacts) -> frozenset[str]:
    """What a node has to declare before such a pod may run there."""
    needs = {
        RESTART_ALL_CONTAINERS: facts.restarts_all_containers,
        USER_NAMESPACES_HOST_NETWORK: facts.user_namespace_on_host_network,
    }
    return frozenset(feature for feature, needed in needs.items() if needed)
