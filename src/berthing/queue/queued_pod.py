"""A pod in the queue, with its history.

Upstream: QueuedPodInfo in pkg/scheduler/framework/types.go (v1.36.4).
"""

from __future__ import annotations

import math
from enum import StrEnum

import msgspec

from berthing.api.pod_info import PodInfo

# For times that lie before all others: never, so far.
LONG_AGO = -math.inf


class Place(StrEnum):
    """Where the queue has a pod: in exactly one of these, or it does not know the pod."""

    ACTIVE = "active"
    BACKOFF = "backoff"
    # Something broke in the last attempt, so the wait is not cut short.
    ERROR_BACKOFF = "error backoff"
    UNSCHEDULABLE = "unschedulable"
    IN_FLIGHT = "in flight"
    NOWHERE = "nowhere"


class QueuedPod(msgspec.Struct, eq=False, gc=False):
    """A pod that waits or is being scheduled; the queue alone changes it."""

    pod_info: PodInfo
    uid: str
    profile: str
    # When the pod last came to the queue, new or from an attempt.
    timestamp: float
    place: Place = Place.NOWHERE
    # When the pod first became active; its gates keep it from that.
    initial_attempt_timestamp: float | None = None
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors_count: int = 0
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    gating_plugin: str = ""
    # The pod is not to be tried before this, unless nobody else is left to try.
    backoff_until: float = LONG_AGO
    # Whether it was taken up for having waited too long, and when that last happened.
    flushed: bool = False
    flushed_at: float = LONG_AGO

    @classmethod
    def new(cls, pod: PodInfo, *, now: float) -> QueuedPod:
        """A pod that nobody has tried yet."""
        return cls(pod, pod.uid, pod.scheduler_name, now)

    @property
    def rejectors(self) -> frozenset[str]:
        """The plugins whose events may wake the pod."""
        if not self.pending_plugins:
            return self.unschedulable_plugins
        return self.unschedulable_plugins | self.pending_plugins

    @property
    def watchers(self) -> frozenset[str]:
        """The plugins whose events the pod is looked at for: a gated one has but one."""
        return frozenset((self.gating_plugin,)) if self.gating_plugin else self.rejectors
