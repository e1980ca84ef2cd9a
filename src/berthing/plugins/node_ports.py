"""NodePorts keeps a pod off nodes where another pod holds one of the host ports it asks for.

Upstream: plugins/nodeports/node_ports.go (v1.36.4).
Differs:  nowhere a user can see.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo, host_ports_of
from berthing.cluster.rows import as_rows
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    CycleState,
    EnqueueExtensions,
    EventResource,
    FilterPlugin,
    Nodes,
    PreFilterPlugin,
    PreFilterResult,
    QueueingHint,
    Status,
    Verdicts,
)
from berthing.plugins.changed_objects import changed_to

# Users read this in events and pod conditions: upstream's wording, byte for byte.
REASON: Final = "node(s) didn't have free ports for the requested pod ports"
PORTS_TAKEN: Final = Status.unschedulable(REASON)


class NodePorts(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Rejects nodes that have given out a port which the pod needs."""

    name = "NodePorts"
    row_local = True

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod that gives back a port, and any new node; ports of a pod never change."""
        return (
            ClusterEventWithHint(
                ClusterEvent(EventResource.POD, ActionType.DELETE), self.after_pod_deletion
            ),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),
        )

    def after_pod_deletion(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The pod that is gone must have been somewhere, with a port that this one needs."""
        gone = changed_to(Pod, old)
        had_place = gone.spec.node_name or gone.status.nominated_node_name
        helps = had_place and any(
            given_back.conflicts_with(wanted)
            for given_back in host_ports_of(gone.spec)
            for wanted in pod.host_ports
        )
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def is_pod_local(self, pod: PodInfo) -> bool:
        """Nothing but the pod counts."""
        return True

    def pre_filter(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> PreFilterResult | Status | None:
        """Sit out if the pod takes no host ports."""
        return None if pod.host_ports else Status.skip()

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Reject rows where one of the ports is taken."""
        rows = as_rows(nodes)
        taken = rows.cluster.ports.conflicts(pod.host_ports, rows.index)
        return Verdicts.reject(taken, PORTS_TAKEN)
