"""A queue with made-up plugins, and pods that have just what matters in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from berthing.api.node import Node
from berthing.api.pod_info import PodInfo
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    Handle,
    PreEnqueuePlugin,
    QueueingHint,
    QueueingHintFn,
    Status,
)
from berthing.plugins.priority_sort import PrioritySort
from berthing.queue.observer import QueueObserver
from berthing.queue.queued_pod import QueuedPod
from berthing.queue.scheduling_queue import QueueingProfile, SchedulingQueue
from berthing.testing import make_node, make_pod

PROFILE = "default-scheduler"

NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_LABEL = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)
PV_ADD = ClusterEvent(EventResource.PERSISTENT_VOLUME, ActionType.ADD)


class Gate(PreEnqueuePlugin):
    """Holds back the pods whose names it is told."""

    name = "Gate"

    def __init__(self) -> None:
        super().__init__(None, cast("Handle", None))
        self.closed: set[str] = set()

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        return Status.unresolvable("closed") if pod.pod.name in self.closed else None


def queue(
    *,
    events: Mapping[str, Iterable[ClusterEventWithHint]] | None = None,
    pre_enqueue: Iterable[PreEnqueuePlugin] = (),
    sort: type[PrioritySort] = PrioritySort,
    observer: QueueObserver | None = None,
    max_backoff: float = 10,
    max_in_unschedulable: float = 300,
) -> SchedulingQueue:
    profile = QueueingProfile(
        tuple(pre_enqueue),
        {
            name: tuple(each)
            for name, each in ({"Fit": [on(NODE_ADD)]} | dict(events or {})).items()
        },
    )
    return SchedulingQueue(
        {PROFILE: profile},
        sort_key=sort(None, cast("Handle", None)).sort_key,
        max_backoff_seconds=max_backoff,
        max_in_unschedulable_seconds=max_in_unschedulable,
        observer=observer,
    )


def on(event: ClusterEvent, hint: QueueingHintFn | None = None) -> ClusterEventWithHint:
    return ClusterEventWithHint(event, hint)


def only_labelled(pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
    """Queue if the node has the label that is named like the pod."""
    helps = isinstance(new, Node) and pod.pod.name in new.metadata.labels
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def pod(name: str = "a", **more: Any) -> PodInfo:
    return PodInfo.of(make_pod(name, **more))


def node(*labels: str) -> Node:
    return make_node("n", labels=dict.fromkeys(labels, "yes"))


def popped(queue: SchedulingQueue) -> QueuedPod:
    found = queue.pop()
    assert found is not None, "nothing to be had"
    return found


def fail(
    queue: SchedulingQueue,
    *,
    now: float,
    by: Collection[str] = ("Fit",),
    pending: Collection[str] = (),
) -> QueuedPod:
    """Pop a pod and give it back as rejected."""
    queued = popped(queue)
    assert queue.give_back(queued, unschedulable=by, pending=pending, now=now)
    return queued


def names(queue: SchedulingQueue) -> dict[str, list[str]]:
    """Where everybody is: place -> names."""
    places: dict[str, list[str]] = {}
    for queued in (*queue.waiting(), *queue.in_flight):
        place = "gated" if queued.gating_plugin else queued.place.value
        places.setdefault(place, []).append(queued.pod_info.pod.name)
    return places


def drained(queue: SchedulingQueue) -> list[str]:
    """The names of all pods that can be popped, in order."""
    found = []
    while (queued := queue.pop()) is not None:
        found.append(queued.pod_info.pod.name)
    return found
