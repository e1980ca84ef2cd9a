"""Pods in order: the least key leaves first, and among equals whoever came first.

A pod that leaves from the middle stays in the heap as a stale entry, known by its ticket, and is
passed over later; once most entries are stale, they are swept out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from typing import Any

from berthing.queue.queued_pod import QueuedPod

# Below so many stale entries sweeping is not worth while.
_FEW = 64

# Keys are tuples, or objects that a plugin compares.
Key = Any


class PodHeap:
    """Pods by key; the key is worked out once, when a pod comes in."""

    def __init__(self, key: Callable[[QueuedPod], Key]) -> None:
        self._key = key
        self._entries: list[tuple[Key, int, QueuedPod]] = []
        self._tickets: dict[str, int] = {}
        self._next_ticket = 0

    def __len__(self) -> int:
        return len(self._tickets)

    def __iter__(self) -> Iterator[QueuedPod]:
        """The pods in the order in which they would leave."""
        return (queued for _, _, queued in sorted(filter(self._is_current, self._entries)))

    def push(self, queued: QueuedPod) -> None:
        """Put a pod in; one that is there already gets a new key."""
        if queued.uid in self._tickets:
            self.remove(queued)
        ticket = self._next_ticket
        self._next_ticket = ticket + 1
        self._tickets[queued.uid] = ticket
        heappush(self._entries, (self._key(queued), ticket, queued))

    def pop(self) -> QueuedPod | None:
        """Take out the first pod, if there is any."""
        entries, tickets = self._entries, self._tickets
        while entries:
            _, ticket, queued = heappop(entries)
            if tickets.get(queued.uid) == ticket:
                del tickets[queued.uid]
                return queued
        return None

    def peek(self) -> QueuedPod | None:
        """The first pod, if there is any."""
        entries = self._entries
        while entries:
            entry = entries[0]
            if self._is_current(entry):
                return entry[2]
            heappop(entries)
        return None

    def remove(self, queued: QueuedPod) -> None:
        """Take out a pod that is there."""
        del self._tickets[queued.uid]
        self._sweep()

    def _is_current(self, entry: tuple[Key, int, QueuedPod]) -> bool:
        return self._tickets.get(entry[2].uid) == entry[1]

    def _sweep(self) -> None:
        if len(self._entries) > 2 * len(self._tickets) + _FEW:
            self._entries = list(filter(self._is_current, self._entries))
            heapify(self._entries)
