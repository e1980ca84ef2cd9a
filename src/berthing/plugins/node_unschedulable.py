"""NodeUnschedulable keeps pods off cordoned nodes, unless they tolerate the cordon.

Upstream: plugins/nodeunschedulable/node_unschedulable.go (v1.36.4).
Differs:  nowhere a user can see.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.taints import Taint, TaintEffect, Toleration
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    CycleState,
    EnqueueExtensions,
    EventResource,
    FilterPlugin,
    Nodes,
    QueueingHint,
    Status,
    Verdicts,
)
from berthing.plugins.changed_objects import changed_from, changed_to

# Users read this in events and pod conditions: upstream's wording, byte for byte.
REASON: Final = "node(s) were unschedulable"
UNSCHEDULABLE: Final = Status.unresolvable(REASON)

# A cordon acts as this taint, so a toleration for the taint lifts the cordon.
CORDON: Final = Taint(
    key="node.kubernetes.io/unschedulable", value="", effect=TaintEffect.NO_SCHEDULE
)


class NodeUnschedulable(FilterPlugin, EnqueueExtensions):
    """Rejects cordoned nodes."""

    name = "NodeUnschedulable"
    row_local = True
    reads_pods = False

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node that is open, and a pod that begins to tolerate the cordon."""
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        toleration = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_TOLERATION)
        return (
            ClusterEventWithHint(node, self.after_node_change),
            ClusterEventWithHint(toleration, self.after_toleration_change),
        )

    def after_node_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The node must be open, and must not have been so before."""
        before, after = changed_from(Node, old), changed_to(Node, new)
        was_closed = before is None or before.spec.unschedulable
        is_open = not after.spec.unschedulable
        return QueueingHint.QUEUE if was_closed and is_open else QueueingHint.SKIP

    def after_toleration_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The pod itself must tolerate the cordon now: before, it did not, or it would fit."""
        after = changed_to(Pod, new)
        helps = after.metadata.uid == pod.uid and tolerates_cordon(after.spec.tolerations)
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Reject cordoned rows, unless the pod tolerates the cordon."""
        if tolerates_cordon(pod.tolerations):
            return Verdicts.all_pass(len(nodes))
        return Verdicts.reject(nodes.unschedulable, UNSCHEDULABLE)


def tolerates_cordon(tolerations: Iterable[Toleration]) -> bool:
    """Whether a pod with these tolerations may go to cordoned nodes."""
    return any(toleration.tolerates(CORDON) for toleration in tolerations)
