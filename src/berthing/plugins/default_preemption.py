"""DefaultPreemption makes room for a pod that fits nowhere by evicting less important ones.

Upstream: plugins/defaultpreemption/default_preemption.go (v1.36.4).
Differs:  nobody is evicted yet, so no pod is held back while that goes on.
"""

from __future__ import annotations

from collections.abc import Sequence

from berthing.api.pod_info import PodInfo
from berthing.config import args
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EnqueueExtensions,
    EventResource,
    PreEnqueuePlugin,
    QueueingHint,
)


class DefaultPreemption(PreEnqueuePlugin, EnqueueExtensions):
    """Evicts; for now, only knows what it would have to hear of."""

    name = "DefaultPreemption"
    args_type = args.DefaultPreemptionArgs

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Pods that go away make the queue look again at a pod that is held back."""
        gone = ClusterEvent(EventResource.POD, ActionType.DELETE)
        return (ClusterEventWithHint(gone, self.after_pod_deletion),)

    def after_pod_deletion(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """What to make of it is for those to say who rejected the pod."""
        return QueueingHint.SKIP

    def pre_enqueue(self, pod: PodInfo) -> None:
        """Let it in: nobody is being evicted for it."""
