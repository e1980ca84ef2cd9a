"""Pods that are being scheduled, and what happened in the cluster since each was popped.

    popped: a        b              c            the log:  a e1 e2 b e3 c
    events:    e1 e2     e3                      b is replayed e3 when it comes back

An event that comes while a pod is in flight may be the very one that it will wait for; so it is
kept until all pods that were popped before it are through.

Upstream: activeQueue in pkg/scheduler/backend/queue/active_queue.go (v1.36.4).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from itertools import islice

import msgspec

from berthing.framework import ClusterEvent
from berthing.queue.queued_pod import QueuedPod


class Happened(msgspec.Struct, frozen=True):
    """An event, and the object before and after."""

    event: ClusterEvent
    old: object | None
    new: object | None


class InFlight:
    """The log; positions in it only ever grow."""

    def __init__(self) -> None:
        # By uid, in the order of popping: the pod, and the position of the first event after it.
        self._pods: OrderedDict[str, tuple[QueuedPod, int]] = OrderedDict()
        self._events: deque[Happened] = deque()
        # The position of the first event that is still kept.
        self._start = 0

    def __contains__(self, uid: str) -> bool:
        return uid in self._pods

    def __iter__(self) -> Iterator[QueuedPod]:
        """The pods in the order of popping."""
        return (queued for queued, _ in self._pods.values())

    def __len__(self) -> int:
        return len(self._pods)

    @property
    def events(self) -> deque[Happened]:
        """What is kept for replay, in order."""
        return self._events

    def start(self, queued: QueuedPod) -> None:
        """The pod was popped."""
        self._pods[queued.uid] = (queued, self._start + len(self._events))

    def record(self, event: ClusterEvent, old: object | None, new: object | None) -> None:
        """Keep an event for all that are in flight."""
        if self._pods:
            self._events.append(Happened(event, old, new))

    def since(self, uid: str) -> Iterator[Happened]:
        """What happened since the pod was popped."""
        _, position = self._pods[uid]
        return islice(self._events, position - self._start, None)

    def done(self, uid: str) -> None:
        """The pod is through; drop what nobody else will ask for."""
        self._pods.pop(uid, None)
        if not self._events:
            return
        if not self._pods:
            self._start += len(self._events)
            self._events.clear()
            return
        _, oldest = next(iter(self._pods.values()))
        while self._start < oldest:
            self._events.popleft()
            self._start += 1

    def log(self) -> Iterator[QueuedPod | Happened]:
        """Pods and events as they came, one after the other."""
        pods = deque(self._pods.values())
        for position, event in enumerate(self._events, self._start):
            while pods and pods[0][1] <= position:
                yield pods.popleft()[0]
            yield event
        yield from (queued for queued, _ in pods)
