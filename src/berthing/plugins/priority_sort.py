"""PrioritySort takes the most important pod first, and among equals the one that waited longest.

Upstream: plugins/queuesort/priority_sort.go (v1.36.4).
Differs:  nowhere a user can see.
"""

from __future__ import annotations

from berthing.framework import QueuedPodInfo, QueueSortPlugin


class PrioritySort(QueueSortPlugin):
    """Higher priority first, then whoever entered the queue earlier."""

    name = "PrioritySort"

    def less(self, first: QueuedPodInfo, second: QueuedPodInfo) -> bool:
        """Whether `first` leaves the queue before `second`; false for two that tie."""
        mine, other = first.pod_info.priority, second.pod_info.priority
        return mine > other or (mine == other and first.timestamp < second.timestamp)

    def sort_key(self, pod: QueuedPodInfo) -> tuple[int, float]:
        """The same order, as numbers."""
        return -pod.pod_info.priority, pod.timestamp
