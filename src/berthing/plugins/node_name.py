"""NodeName accepts only the node that a pod names in `spec.nodeName`.

In a live cluster such a pod never comes to the scheduler; it matters where a configuration is
tried out on pods that run already.

Upstream: plugins/nodename/node_name.go (v1.36.4).
Differs:  nowhere a user can see.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from berthing.api.pod_info import PodInfo
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
    Status,
    Verdicts,
)

# Users read this in events and pod conditions: upstream's wording, byte for byte.
REASON: Final = "node(s) didn't match the requested node name"
OTHER_NODE: Final = Status.unresolvable(REASON)


class NodeName(FilterPlugin, EnqueueExtensions):
    """Rejects all nodes but the one that the pod names, if it names one."""

    name = "NodeName"
    row_local = True
    reads_pods = False

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Any new node may be the one."""
        return (ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),)

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Reject all rows but the named one."""
        node_name = pod.pod.spec.node_name
        if not node_name:
            return Verdicts.all_pass(len(nodes))
        rows = as_rows(nodes)
        return Verdicts.reject(~rows.named(node_name), OTHER_NODE)
