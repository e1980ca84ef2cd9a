"""A scheduler without its loop: a cluster, a queue and the event handlers, under a clock set by hand.

What changes come to is written down as it happens, so that it can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from berthing.api.meta import ApiObject
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.framework import ClusterEvent, EventResource, ExtensionPoint, QueueSortPlugin
from berthing.queue.derived_events import pod_events
from berthing.queue.queued_pod import QueuedPod
from berthing.queue.scheduling_queue import QueueingProfile, SchedulingQueue
from berthing.scheduler.events import EventHandlers
from berthing.scheduler.offline import DECIDING, QUEUEING
from berthing.verify import scenarios
from berthing.verify.sleeping_hints import SleepingHints


class Derived(msgspec.Struct, frozen=True):
    """A cluster event that a change came to, and which waiting pods it was for."""

    event: ClusterEvent
    old: object | None
    new: object | None
    # The pod whose own change it is; it is looked at though its gating plugin did not ask for it.
    own_uid: str = ""
    only: Callable[[PodInfo], bool] | None = None


class RecordingQueue(SchedulingQueue):
    """Keeps what the handlers came to."""

    def __init__(
        self,
        profiles: Mapping[str, QueueingProfile],
        *,
        sort_key: Callable[[QueuedPod], object],
        backoff_seconds: tuple[float, float] = (1, 10),
        max_in_unschedulable_seconds: float = 300,
    ) -> None:
        super().__init__(
            profiles,
            sort_key=sort_key,
            initial_backoff_seconds=backoff_seconds[0],
            max_backoff_seconds=backoff_seconds[1],
            max_in_unschedulable_seconds=max_in_unschedulable_seconds,
        )
        self.derived: list[Derived] = []

    def update(self, pod: PodInfo, *, now: float) -> None:
        """Note what a pod's own change comes to."""
        before = self.unbound.get(pod.uid)
        if before is not None:
            old, new = before.pod, pod.pod
            self.derived += (Derived(event, old, new, pod.uid) for event in pod_events(old, new))
        super().update(pod, now=now)

    def move_all(
        self,
        event: ClusterEvent,
        old: object | None,
        new: object | None,
        *,
        now: float,
        only: Callable[[PodInfo], bool] | None = None,
    ) -> None:
        """Note an event, and for whom it is."""
        self.derived.append(Derived(event, old, new, only=only))
        super().move_all(event, old, new, now=now, only=only)


class QueueWorld:
    """The profiles of a configuration at work on a cluster, as far as the queue goes.

    If it `sleeps`, hints sleep where upstream's do; `rules` then tells by which rules they did.
    """

    def __init__(
        self,
        config: object,
        *,
        sleeps: bool = False,
        backoff_seconds: tuple[float, float] = (1, 10),
        max_in_unschedulable_seconds: float = 300,
    ) -> None:
        self.offline = scenarios.offline(config, points=(*DECIDING, *QUEUEING))
        profiles = self.offline.profiles
        (sort,) = next(iter(profiles.values())).points[ExtensionPoint.QUEUE_SORT]
        assert isinstance(sort, QueueSortPlugin)
        hints = SleepingHints(self.offline.cluster)
        self.rules = hints.rules
        self.queue = RecordingQueue(
            {
                name: hints.of(profile) if sleeps else profile.queueing()
                for name, profile in profiles.items()
            },
            sort_key=sort.sort_key,
            backoff_seconds=backoff_seconds,
            max_in_unschedulable_seconds=max_in_unschedulable_seconds,
        )
        self.handlers = EventHandlers(
            self.offline.cluster, self.queue, responsible=profiles, assumed=_NobodyBinds()
        )

    @property
    def cluster(self) -> Cluster:
        """The columns."""
        return self.offline.cluster

    def add_all(self, objects: Iterable[ApiObject], *, now: float) -> None:
        """Objects that are there from the start."""
        for obj in objects:
            self.change(None, obj, now=now)
        self.queue.derived.clear()

    def change(self, old: ApiObject | None, new: ApiObject | None, *, now: float) -> list[Derived]:
        """Something happens; the events that it comes to."""
        self.queue.derived.clear()
        changed = old if new is None else new
        self.handlers.apply(type(changed) if changed else ApiObject, old, new, now=now)
        return list(filter(self._is_heard, self.queue.derived))

    def play(self, old: ApiObject | None, new: ApiObject | None, *, now: float) -> list[str]:
        """The labels of the events that a change comes to."""
        return [each.event.label for each in self.change(old, new, now=now)]

    def _is_heard(self, derived: Derived) -> bool:
        """Upstream only looks at kinds beside pods and nodes as far as some plugin asks for it.

        Namespaces it never looks at: what came of their change is seen by where pods are.
        """
        resource = derived.event.resource
        if resource == EventResource.NAMESPACE:
            return False
        always = resource in ("AssignedPod", "UnschedulablePod", "Node")
        return always or bool(self.queue.requeueing.concerned(derived.event))


class _NobodyBinds:
    """No pod is ever assumed here."""

    def deleted(self, pod: PodInfo) -> None:
        """Never called."""
