"""How long a pod waits before it is tried again, however much happens in the cluster.

    attempts that failed    1    2    3    4    5 ...
    seconds to wait         1    2    4    8   10 ...

Waits end on whole seconds: pods whose wait ends within the same second form a window, and leave
by priority rather than by split seconds.  A pod whose second has begun still waits until it is over.

Upstream: pkg/scheduler/backend/queue/backoff_queue.go (v1.36.4), with popping from backoff on.
"""

from __future__ import annotations

import math

import msgspec

from berthing.queue.queued_pod import LONG_AGO, QueuedPod

# As long as the interval of the flush, so that a flush takes whole windows.
WINDOW_SECONDS = 1

# Doubling more often than this exceeds any maximum; floats end somewhere, too.
_MOST_DOUBLINGS = 60


class Backoff(msgspec.Struct, frozen=True):
    """The configured waits; a maximum of 0 means none at all."""

    initial_seconds: float
    max_seconds: float

    def until(self, queued: QueuedPod) -> float:
        """When the pod's wait is over, going by its latest attempt."""
        count = queued.consecutive_errors_count or queued.unschedulable_count
        if not count or not self.max_seconds:
            return LONG_AGO
        return _window(queued.timestamp + self._seconds(count))

    def _seconds(self, count: int) -> float:
        doubled = self.initial_seconds * 2.0 ** min(count - 1, _MOST_DOUBLINGS)
        return min(doubled, self.max_seconds)


def is_backing_off(queued: QueuedPod, now: float) -> bool:
    """Whether the pod still has to wait."""
    return queued.backoff_until >= _window(now)


def _window(time: float) -> float:
    return math.floor(time / WINDOW_SECONDS) * float(WINDOW_SECONDS)
