"""What happens while a pod is in flight is kept for it, and for nobody longer than needed."""

from __future__ import annotations

from berthing.framework import ActionType, ClusterEvent, EventResource, QueueingHint
from berthing.queue.in_flight import Happened
from scheduling_queue.queues import (
    NODE_ADD,
    NODE_LABEL,
    PV_ADD,
    names,
    node,
    on,
    only_labelled,
    pod,
    popped,
    queue,
)

POD_LABEL = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_LABEL)


def test_an_event_is_replayed_to_the_pod_that_was_in_flight() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    queued = popped(waiting)
    waiting.move_all(NODE_ADD, None, node(), now=0.1)
    waiting.give_back(queued, unschedulable=["Fit"], now=0.2)
    assert names(waiting) == {"backoff": ["a"]}


def test_what_came_before_the_pod_was_popped_is_not() -> None:
    waiting = queue()
    waiting.add(pod("a"), now=0)
    waiting.add(pod("b"), now=1)
    popped(waiting)
    waiting.move_all(NODE_ADD, None, node(), now=1.1)
    waiting.give_back(popped(waiting), unschedulable=["Fit"], now=1.2)
    assert names(waiting)["unschedulable"] == ["b"]


def test_a_replayed_event_is_put_to_the_hint() -> None:
    waiting = queue(events={"Fit": [on(NODE_ADD, only_labelled)]})
    waiting.add(pod(), now=0)
    queued = popped(waiting)
    waiting.move_all(NODE_ADD, None, node("b"), now=0.1)
    waiting.give_back(queued, unschedulable=["Fit"], now=0.2)
    assert names(waiting) == {"unschedulable": ["a"]}


def test_a_hint_of_a_plugin_on_hold_beats_one_that_rejected() -> None:
    waiting = queue(events={"Hold": [on(PV_ADD)]})
    waiting.add(pod(), now=0)
    queued = popped(waiting)
    waiting.move_all(NODE_ADD, None, node(), now=0.1)
    waiting.move_all(PV_ADD, None, None, now=0.1)
    waiting.give_back(queued, unschedulable=["Fit"], pending=["Hold"], now=0.2)
    assert names(waiting) == {"active": ["a"]}


def test_an_event_that_nobody_registered_is_not_kept() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    popped(waiting)
    waiting.move_all(PV_ADD, None, None, now=0.1)
    assert not waiting.in_flight.events


def test_a_pods_own_change_in_flight_is_kept_for_it() -> None:
    own = lambda pod, old, new: (  # noqa: E731
        QueueingHint.QUEUE if new.metadata.uid == pod.uid else QueueingHint.SKIP
    )
    waiting = queue(events={"Label": [on(POD_LABEL, own)]})
    waiting.add(pod(), now=0)
    queued = popped(waiting)
    waiting.update(pod(labels={"new": "yes"}), now=0.1)
    waiting.give_back(queued, unschedulable=["Label"], now=0.2)
    assert names(waiting) == {"backoff": ["a"]}


def test_the_log_is_cut_as_the_oldest_pods_are_done() -> None:
    waiting = queue(events={"Fit": [on(NODE_ADD), on(NODE_LABEL)]})
    for number, name in enumerate("abc"):
        waiting.add(pod(name), now=number)
    uids = []
    for event in (NODE_ADD, NODE_LABEL, NODE_ADD):
        uids.append(popped(waiting).uid)
        waiting.move_all(event, None, node(), now=5)

    def log() -> str:
        return " ".join(
            each.event.label if isinstance(each, Happened) else each.pod_info.pod.name
            for each in waiting.in_flight.log()
        )

    assert log() == "a NodeAdd b NodeUpdateNodeLabel c NodeAdd"
    waiting.done(uids[1])
    assert log() == "a NodeAdd NodeUpdateNodeLabel c NodeAdd"
    waiting.done(uids[0])
    assert log() == "c NodeAdd"
    waiting.done(uids[2])
    assert log() == ""


def test_an_attempt_that_was_done_before_it_failed_hears_of_nothing() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    queued = popped(waiting)
    waiting.done(queued.uid)
    waiting.give_back(queued, unschedulable=["Fit"], now=0.2)
    assert names(waiting) == {"backoff": ["a"]}, "something may have been missed"
