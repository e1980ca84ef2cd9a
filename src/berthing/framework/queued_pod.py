"""A pod as it stands in the queue: what QueueSort plugins compare.

Upstream: QueuedPodInfo in staging kube-scheduler/framework/types.go (v1.36.4).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from berthing.api.pod_info import PodInfo


class QueuedPodInfo(Protocol):
    """A waiting pod with its history.  Times are seconds of the scheduler's clock."""

    @property
    def pod_info(self) -> PodInfo:
        """The pod and what is derived from it."""
        ...

    @property
    def timestamp(self) -> float:
        """When the pod last entered the queue."""
        ...

    @property
    def initial_attempt_timestamp(self) -> float | None:
        """When the pod first became active, past all gates; None before."""
        ...

    @property
    def attempts(self) -> int:
        """How often the pod was popped."""
        ...

    @property
    def unschedulable_count(self) -> int:
        """Attempts that ended with a "no": what its backoff grows with."""
        ...

    @property
    def consecutive_errors_count(self) -> int:
        """Attempts in a row that broke: what its error backoff grows with."""
        ...

    @property
    def unschedulable_plugins(self) -> Collection[str]:
        """Plugins that rejected the last attempt."""
        ...

    @property
    def pending_plugins(self) -> Collection[str]:
        """Plugins that put the last attempt on hold."""
        ...

    @property
    def gating_plugin(self) -> str:
        """The PreEnqueue plugin that holds the pod, or nothing."""
        ...
