"""A pod's way through the queue: popped, rejected, woken by what may help it, popped again."""

from __future__ import annotations

from berthing.queue.queued_pod import Place
from scheduling_queue.queues import NODE_ADD, PV_ADD, drained, fail, names, node, pod, popped, queue


def test_pods_leave_by_priority_and_then_by_age() -> None:
    waiting = queue()
    waiting.add(pod("old"), now=1)
    waiting.add(pod("young"), now=2)
    waiting.add(pod("important", priority=5), now=3)
    assert drained(waiting) == ["important", "old", "young"]


def test_a_rejected_pod_waits_for_an_event_of_the_plugin_that_rejected_it() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    fail(waiting, now=0.5)
    waiting.move_all(PV_ADD, None, None, now=20)
    assert names(waiting) == {"unschedulable": ["a"]}
    waiting.move_all(NODE_ADD, None, node(), now=20)
    assert names(waiting) == {"active": ["a"]}


def test_a_woken_pod_serves_its_backoff_first() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    fail(waiting, now=0)
    waiting.move_all(NODE_ADD, None, node(), now=1.5)
    assert names(waiting) == {"backoff": ["a"]}
    waiting.flush_backoff(now=1.9)
    assert names(waiting) == {"backoff": ["a"]}, "its second has begun, but is not over"
    waiting.flush_backoff(now=2)
    assert names(waiting) == {"active": ["a"]}


def test_an_event_is_replayed_to_the_pod_that_was_in_flight() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    queued = popped(waiting)
    waiting.move_all(NODE_ADD, None, node(), now=0.1)
    waiting.give_back(queued, unschedulable=["Fit"], now=0.2)
    assert queued.place is Place.BACKOFF
    waiting.check()


def test_a_pod_that_went_in_flight_is_not_taken_back() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    queued = popped(waiting)
    waiting.delete(queued.uid)
    assert not waiting.give_back(queued, unschedulable=["Fit"], now=1)
    assert names(waiting) == {}
