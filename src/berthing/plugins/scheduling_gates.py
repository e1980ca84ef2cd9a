"""SchedulingGates keeps pods out of the queue as long as they have scheduling gates.

Upstream: plugins/schedulinggates/scheduling_gates.go (v1.36.4).
Differs:  nowhere a user can see.
"""

from __future__ import annotations

from collections.abc import Sequence

from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EnqueueExtensions,
    EventResource,
    PreEnqueuePlugin,
    QueueingHint,
    Status,
)
from berthing.plugins.changed_objects import changed_to


class SchedulingGates(PreEnqueuePlugin, EnqueueExtensions):
    """Lets pods in once all their gates are gone."""

    name = "SchedulingGates"

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Only losing its gates helps a pod."""
        gone = ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.POD, gone), self.after_gates_are_gone),
        )

    def after_gates_are_gone(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The pod's own gates count, not those of others."""
        is_this_one = changed_to(Pod, new).metadata.uid == pod.uid
        return QueueingHint.QUEUE if is_this_one else QueueingHint.SKIP

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Turn back a pod with gates, and name them in the order of its spec."""
        gates = pod.pod.spec.scheduling_gates
        if not gates:
            return None
        names = " ".join(gate.name for gate in gates)
        return Status.unresolvable(f"waiting for scheduling gates: [{names}]")
