"""DefaultPreemption would make room for a pod by evicting less important ones.

This version says what upstream says where no pod can be evicted.  It evicts none itself: where pods
of lower priority run on nodes that would take this pod without them, it says that they do.

Upstream: plugins/defaultpreemption/default_preemption.go, framework/preemption (v1.36.4).
Differs:  nothing is evicted yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from berthing.api.pod_info import PodInfo
from berthing.cluster.rows import as_rows
from berthing.config import args
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    CycleState,
    EnqueueExtensions,
    EventResource,
    NodeToStatus,
    PostFilterPlugin,
    PostFilterResult,
    PreEnqueuePlugin,
    QueueingHint,
    Status,
)
from berthing.framework.status import fit_error

# Users read these in events and pod conditions: upstream's wording, byte for byte.
NEVER = "preemption: not eligible due to preemptionPolicy=Never."
NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
# Ours, as long as nothing is evicted.
NOT_DONE = "preemption: less important pods run where this one could, and are left alone"


class DefaultPreemption(PreEnqueuePlugin, PostFilterPlugin, EnqueueExtensions):
    """Looks for nodes that could take the pod if less important ones were gone."""

    name = "DefaultPreemption"
    args_type = args.DefaultPreemptionArgs

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A victim's deletion lets go the pod that waits for it; it wakes nobody else."""
        event = ClusterEvent(EventResource.POD, ActionType.DELETE)
        return (ClusterEventWithHint(event, self.after_pod_deletion),)

    def after_pod_deletion(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """Whether the pod fits now others tell."""
        return QueueingHint.SKIP

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """No pod waits for its victims to go."""
        return None

    async def post_filter(
        self, state: CycleState, pod: PodInfo, filtered: NodeToStatus
    ) -> PostFilterResult:
        """Say why evicting others would not help."""
        if not pod.facts.may_preempt:
            return PostFilterResult(Status.unschedulable(NEVER))
        nodes = as_rows(self.handle.snapshot.nodes)
        candidates = filtered.nodes_with(Code.UNSCHEDULABLE)
        # Mostly nobody is less important than the pod, anywhere.
        if any(priority < pod.priority for priority in nodes.cluster.priorities) and any(
            self._has_victims(pod, name) for name in candidates
        ):
            return PostFilterResult(Status.unschedulable(NOT_DONE), "")
        node_count = int(np.count_nonzero(nodes.alive))
        reasons = Counter({NO_VICTIMS: len(candidates), NOT_HELPFUL: node_count - len(candidates)})
        text = fit_error(node_count, +reasons)
        return PostFilterResult(Status.unschedulable(f"preemption: {text}"), "")

    def _has_victims(self, pod: PodInfo, node_name: str) -> bool:
        node = self.handle.snapshot.node(node_name)
        pods: Iterable[PodInfo] = node.pods if node is not None else ()
        return any(other.priority < pod.priority for other in pods)
