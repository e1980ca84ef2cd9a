"""Where a pod waits between being seen and being bound.

    add ---> active ---- pop ----> in flight ---- done ---> (being bound, or gone)
               ^  ^                    |
    wait over  |  |                    | give_back
               |  +--- event ----------+
            backoff <-- event ---------+
               ^                       v
               +------ event --- unschedulable, or gated by a PreEnqueue plugin

1. Nothing here sleeps, reads a clock or does I/O: callers pass `now`, in seconds.  The live loop
   and the simulator drive the very same object.
2. A pod is in exactly one place of the drawing; `check()` asserts it in tests.
3. An event that comes while a pod is in flight is kept until the pod is back, or the pod would
   sleep through the very change it waits for.
4. `unbound` is the API server's word: pods of our profiles that have no node, wherever they are in
   the drawing.  A pod that is not among them is not taken back.

With nobody active, a pod whose backoff is not over is popped all the same, unless its last attempt
broke.

Upstream: pkg/scheduler/backend/queue/scheduling_queue.go (v1.36.4), default feature gates.
Differs:  pods are told apart by uid, not by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.framework import ClusterEvent, ClusterEventWithHint, PreEnqueuePlugin
from berthing.queue.admission import Admission
from berthing.queue.backoff import Backoff, is_backing_off
from berthing.queue.derived_events import (
    FORCE_ACTIVATE,
    UNSCHEDULABLE_POD_ADD,
    UNSCHEDULABLE_POD_UPDATE,
    UNSCHEDULABLE_TIMEOUT,
    pod_events,
)
from berthing.queue.in_flight import InFlight
from berthing.queue.nominator import Nominator
from berthing.queue.observer import QueueObserver, Unobserved
from berthing.queue.pod_heap import Key, PodHeap
from berthing.queue.queued_pod import LONG_AGO, Place, QueuedPod
from berthing.queue.requeueing import Requeue, Requeueing
from berthing.queue.unschedulable_pods import UnschedulablePods

# What moved a pod, where that is no event of the cluster; upstream's labels in metrics and logs.
SCHEDULE_ATTEMPT_FAILURE = "ScheduleAttemptFailure"
BACKOFF_COMPLETE = "BackoffComplete"
POP_FROM_BACKOFF = "PopFromBackoffQ"
POD_POPPED = "PodPopped"

# How long the process waits between two calls of the flushes.
FLUSH_BACKOFF_SECONDS = 1.0
FLUSH_UNSCHEDULABLE_SECONDS = 30.0


class QueueingProfile(msgspec.Struct, frozen=True):
    """What of a profile concerns the queue.

    events  plugin -> what it registered for, as `Profile.events` gives it
    """

    pre_enqueue: Sequence[PreEnqueuePlugin]
    events: Mapping[str, Sequence[ClusterEventWithHint]]


class SchedulingQueue:
    """All pods that wait for a node."""

    def __init__(
        self,
        profiles: Mapping[str, QueueingProfile],
        *,
        sort_key: Callable[[QueuedPod], Key],
        initial_backoff_seconds: float = 1,
        max_backoff_seconds: float = 10,
        max_in_unschedulable_seconds: float = 300,
        observer: QueueObserver | None = None,
    ) -> None:
        """Take profiles by schedulerName, and `QueueSortPlugin.sort_key` of the plugin they share."""
        self._observer = observer = observer or Unobserved()
        self._admission = Admission(
            {name: profile.pre_enqueue for name, profile in profiles.items()}, observer
        )
        self.requeueing = Requeueing(
            {name: profile.events for name, profile in profiles.items()}, observer
        )
        self._backoff = Backoff(initial_backoff_seconds, max_backoff_seconds)
        self._max_in_unschedulable_seconds = max_in_unschedulable_seconds
        self._unbound: dict[str, PodInfo] = {}
        self._queued: dict[str, QueuedPod] = {}
        self._active = PodHeap(sort_key)
        # Pods whose wait ends in the same second leave in the order of the queue.
        self._backing_off, self._after_error = (
            PodHeap(lambda queued: (queued.backoff_until, sort_key(queued))) for _ in range(2)
        )
        self._heaps: Mapping[Place, PodHeap] = {
            Place.ACTIVE: self._active,
            Place.BACKOFF: self._backing_off,
            Place.ERROR_BACKOFF: self._after_error,
        }
        self._unschedulable = UnschedulablePods()
        self._in_flight = InFlight()
        self.nominator = Nominator(self._unbound)
        # Called when there is something to pop.
        self.on_active: Callable[[], None] = lambda: None

    # What the API server shows.

    @property
    def unbound(self) -> Mapping[str, PodInfo]:
        """Pods of ours without a node, by uid, as the API server last showed them."""
        return self._unbound

    def add(self, pod: PodInfo, *, now: float) -> None:
        """A pod without a node came."""
        if pod.uid in self._unbound:
            self.update(pod, now=now)
            return
        self._unbound[pod.uid] = pod
        self._enter(pod, UNSCHEDULABLE_POD_ADD, now)

    def update(self, pod: PodInfo, *, now: float) -> None:
        """It changed: where it waits for just that, try it again."""
        before = self._unbound.get(pod.uid)
        self._unbound[pod.uid] = pod
        queued = self._queued.get(pod.uid)
        if before is None or (queued is None and pod.uid not in self._in_flight):
            self._enter(pod, UNSCHEDULABLE_POD_UPDATE, now)
            return
        old, new = before.pod, pod.pod
        if queued is None:
            # It is given back in its newest version.
            for event in pod_events(old, new):
                self._in_flight.record(event, old, new)
            return
        queued.pod_info = pod
        self.nominator.update(old, pod)
        if queued.place is Place.UNSCHEDULABLE:
            self._reconsider(queued, old, new, now)
        else:
            self._heaps[queued.place].push(queued)

    def keep(self, pod: PodInfo) -> None:
        """It changed while it is being bound, which moves nothing."""
        self._unbound[pod.uid] = pod

    def delete(self, uid: str) -> None:
        """The pod is gone, or has a node; one in flight stays so until it is done."""
        self._unbound.pop(uid, None)
        self.nominator.delete(uid)
        queued = self._queued.get(uid)
        if queued is not None:
            self._take_out(queued)

    # One attempt.

    def pop(self) -> QueuedPod | None:
        """Take the pod to try next; None where nothing is to be had."""
        queued = self._active.pop()
        if queued is None:
            queued = self._backing_off.pop()
            if queued is None:
                return None
            self._observer.incoming("active", POP_FROM_BACKOFF)
        del self._queued[queued.uid]
        queued.attempts += 1
        queued.place = Place.IN_FLIGHT
        self._in_flight.start(queued)
        return queued

    def done(self, uid: str) -> None:
        """The attempt is over for the queue: the pod is being bound, or was not worth it."""
        self._in_flight.done(uid)

    def give_back(
        self,
        queued: QueuedPod,
        *,
        unschedulable: Collection[str],
        pending: Collection[str] = (),
        now: float,
    ) -> bool:
        """The attempt failed; False if the pod is not taken back, for it is bound or gone.

        The plugins are those that rejected it and those that put it on hold.  Neither means that
        something broke: then it is tried again after a while, whatever happens.
        """
        pod = self._unbound.get(queued.uid)
        if pod is None or queued.uid in self._queued:
            self.done(queued.uid)
            return False
        queued.pod_info = pod
        queued.unschedulable_plugins = frozenset(unschedulable)
        queued.pending_plugins = frozenset(pending)
        self._count_failure(queued, now)
        verdict = self._verdict_after_flight(queued)
        self.done(queued.uid)
        self._requeue(queued, verdict, SCHEDULE_ATTEMPT_FAILURE, now)
        return True

    # What may bring pods back.

    def move_all(
        self,
        event: ClusterEvent,
        old: object | None,
        new: object | None,
        *,
        now: float,
        only: Callable[[PodInfo], bool] | None = None,
    ) -> None:
        """Something happened: move the pods that it may help, of those that `only` admits."""
        if not event.is_wildcard and not self.requeueing.concerned(event):
            return
        for queued in self._concerned(event):
            if only is None or only(queued.pod_info):
                verdict = self.requeueing.verdict(queued, event, old, new)
                if verdict is not Requeue.SKIP:
                    self._move(queued, verdict, event.label, now)
        self._in_flight.record(event, old, new)

    def activate(self, pods: Iterable[Pod], *, now: float) -> None:
        """Make waiting pods active, without further questions; those in flight as they come back."""
        for pod in pods:
            uid = pod.metadata.uid
            queued = self._queued.get(uid)
            if queued is None:
                if uid in self._in_flight:
                    self._in_flight.record(FORCE_ACTIVATE, None, pod)
            elif queued.place is not Place.ACTIVE:
                self._to_active(queued, FORCE_ACTIVATE.label, now)

    def flush_backoff(self, *, now: float) -> None:
        """Make those active whose wait is over; wants to be called each whole second."""
        for heap in (self._backing_off, self._after_error):
            while (queued := heap.peek()) is not None and not is_backing_off(queued, now):
                self._to_active(queued, BACKOFF_COMPLETE, now)

    def flush_unschedulable(self, *, now: float) -> None:
        """Move those that no event has helped for too long; wants to be called every 30 s."""
        overdue = [
            queued
            for queued in self._unschedulable
            if now - max(queued.timestamp, queued.flushed_at) > self._max_in_unschedulable_seconds
        ]
        for queued in overdue:
            queued.flushed = True
            queued.flushed_at = now
            self._move(queued, Requeue.AFTER_BACKOFF, UNSCHEDULABLE_TIMEOUT.label, now)
        if overdue:
            self._in_flight.record(UNSCHEDULABLE_TIMEOUT, None, None)

    # For people, metrics and tests.

    def pending(self) -> dict[str, int]:
        """How many pods wait, by the names that metrics use."""
        gated = sum(1 for queued in self._unschedulable if queued.gating_plugin)
        return {
            "active": len(self._active),
            "backoff": len(self._backing_off) + len(self._after_error),
            "unschedulable": len(self._unschedulable) - gated,
            "gated": gated,
        }

    def rejections(self) -> Counter[tuple[str, str]]:
        """How many waiting pods each plugin rejected, by plugin and profile."""
        return Counter(
            (plugin, queued.profile)
            for queued in self._queued.values()
            for plugin in queued.rejectors
        )

    def in_flight_events(self) -> Counter[str]:
        """How many events are kept for pods in flight, by label; the pods count as PodPopped."""
        counts = Counter(each.event.label for each in self._in_flight.events)
        if self._in_flight:
            counts[POD_POPPED] = len(self._in_flight)
        return counts

    def waiting(self) -> Iterator[QueuedPod]:
        """The pods that wait: active ones and those in backoff in their order, then the others."""
        for pods in (self._active, self._backing_off, self._after_error, self._unschedulable):
            yield from pods

    @property
    def in_flight(self) -> InFlight:
        """The pods that are being tried, and what happened since."""
        return self._in_flight

    def get(self, uid: str) -> QueuedPod | None:
        """A pod that waits."""
        return self._queued.get(uid)

    def wakers(self, queued: QueuedPod) -> Sequence[ClusterEvent]:
        """The events that may wake a pod, as far as the kind of event tells."""
        return list(
            dict.fromkeys(
                event
                for plugin in sorted(queued.watchers)
                for event in self.requeueing.registered(queued.profile, plugin)
            )
        )

    def check(self) -> None:
        """Raise AssertionError unless every pod is in exactly one place; for tests."""
        found = list(self.waiting())
        assert len(found) == len({queued.uid for queued in found}) == len(self._queued)
        for queued in found:
            assert self._queued[queued.uid] is queued
            assert self._unbound[queued.uid] is queued.pod_info, f"{queued.uid} is stale"
            assert queued.uid not in self._in_flight, f"{queued.uid} waits and is in flight"
            if queued.place is Place.UNSCHEDULABLE:
                assert queued.rejectors, f"{queued.uid} waits for nothing"
                assert queued.uid in self._unschedulable
            else:
                assert queued in list(self._heaps[queued.place])
                assert not queued.gating_plugin
        assert all(queued.place is Place.IN_FLIGHT for queued in self._in_flight)
        assert self._in_flight or not self._in_flight.events, "events are kept for nobody"
        assert all(pod.uid in self._unbound for _, pod in self.nominator)

    # Between the places.

    def _enter(self, pod: PodInfo, event: ClusterEvent, now: float) -> None:
        self._to_active(QueuedPod.new(pod, now=now), event.label, now)

    def _reconsider(self, queued: QueuedPod, old: Pod, new: Pod, now: float) -> None:
        for event in pod_events(old, new):
            verdict = self.requeueing.verdict(queued, event, old, new)
            if verdict is not Requeue.SKIP:
                self._requeue(queued, verdict, event.label, now)
                if queued.place is not Place.UNSCHEDULABLE:
                    return

    def _count_failure(self, queued: QueuedPod, now: float) -> None:
        if queued.rejectors:
            queued.unschedulable_count += 1
            queued.consecutive_errors_count = 0
        else:
            queued.consecutive_errors_count += 1
        queued.timestamp = now
        queued.backoff_until = self._backoff.until(queued)
        queued.flushed = False
        queued.flushed_at = LONG_AGO
        queued.place = Place.NOWHERE

    def _verdict_after_flight(self, queued: QueuedPod) -> Requeue:
        """What the events since the pod was popped come to."""
        if not queued.rejectors or queued.uid not in self._in_flight:
            return Requeue.AFTER_BACKOFF
        answer = Requeue.SKIP
        for each in self._in_flight.since(queued.uid):
            verdict = self.requeueing.verdict(queued, each.event, each.old, each.new)
            if verdict is Requeue.IMMEDIATELY:
                return verdict
            if verdict is Requeue.AFTER_BACKOFF:
                answer = verdict
                if not queued.pending_plugins:
                    break
        return answer

    def _concerned(self, event: ClusterEvent) -> Collection[QueuedPod]:
        """The waiting pods that a plugin might want moved because of the event."""
        if event.is_wildcard:
            return list(self._unschedulable)
        return [
            queued
            for profile, plugins in self.requeueing.concerned(event).items()
            for queued in self._unschedulable.watched_by(profile, plugins)
        ]

    def _move(self, queued: QueuedPod, verdict: Requeue, label: str, now: float) -> None:
        self._take_out(queued)
        self._requeue(queued, verdict, label, now)

    def _requeue(self, queued: QueuedPod, verdict: Requeue, label: str, now: float) -> None:
        if verdict is Requeue.SKIP:
            self._to_unschedulable(queued, label)
        elif verdict is Requeue.AFTER_BACKOFF and is_backing_off(queued, now):
            self._to_backoff(queued, label)
        else:
            self._to_active(queued, label, now)

    def _to_active(self, queued: QueuedPod, label: str, now: float) -> None:
        # A pod in backoff was asked about on its way there.
        if queued.place not in _BACKOFF and not self._admission.admits(queued):
            self._to_unschedulable(queued, label)
            return
        if queued.place is not Place.NOWHERE:
            self._take_out(queued)
        if queued.initial_attempt_timestamp is None:
            queued.initial_attempt_timestamp = now
        self._put(queued, Place.ACTIVE, label)
        self.on_active()
        if label in _OWN_CHANGES:
            self.nominator.add(queued.pod_info)

    def _to_backoff(self, queued: QueuedPod, label: str) -> None:
        if not self._admission.admits(queued):
            self._to_unschedulable(queued, label)
            return
        if queued.place is not Place.NOWHERE:
            self._take_out(queued)
        if queued.rejectors:
            self._put(queued, Place.BACKOFF, label)
            self.on_active()
        else:
            self._put(queued, Place.ERROR_BACKOFF, label)

    def _put(self, queued: QueuedPod, place: Place, label: str) -> None:
        queued.place = place
        self._queued[queued.uid] = queued
        self._heaps[place].push(queued)
        self._observer.incoming("active" if place is Place.ACTIVE else "backoff", label)

    def _to_unschedulable(self, queued: QueuedPod, label: str) -> None:
        if queued.gating_plugin:
            queued.flushed = False
        if queued.place is not Place.UNSCHEDULABLE:
            queued.place = Place.UNSCHEDULABLE
            self._queued[queued.uid] = queued
            self._observer.incoming("unschedulable", label)
        self._unschedulable.add(queued)

    def _take_out(self, queued: QueuedPod) -> None:
        """Take a pod from wherever it waits."""
        if queued.place is Place.UNSCHEDULABLE:
            self._unschedulable.remove(queued)
        else:
            self._heaps[queued.place].remove(queued)
        del self._queued[queued.uid]
        queued.place = Place.NOWHERE


_BACKOFF = (Place.BACKOFF, Place.ERROR_BACKOFF)

# With these a pod's own nomination, as its status has it, is taken note of.
_OWN_CHANGES = frozenset({UNSCHEDULABLE_POD_ADD.label, UNSCHEDULABLE_POD_UPDATE.label})
