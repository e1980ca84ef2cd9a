"""A pod's way through the queue: popped, rejected, woken by what may help it, popped again."""

from __future__ import annotations

from berthing.framework import QueueSortPlugin
from berthing.plugins.priority_sort import PrioritySort
from scheduling_queue.queues import NODE_ADD, PV_ADD, drained, fail, names, node, pod, popped, queue


def test_pods_leave_by_priority_and_then_by_age() -> None:
    waiting = queue()
    waiting.add(pod("old"), now=1)
    waiting.add(pod("young"), now=2)
    waiting.add(pod("important", priority=5), now=3)
    assert drained(waiting) == ["important", "old", "young"]


def test_a_plugin_that_only_compares_gives_the_same_order() -> None:
    class Compares(PrioritySort):
        sort_key = QueueSortPlugin.sort_key  # type: ignore[assignment]

    waiting = queue(sort=Compares)
    for number, priority in enumerate([0, 5, 0, 9, 5]):
        waiting.add(pod(f"p{number}", priority=priority), now=number)
    assert drained(waiting) == ["p3", "p1", "p4", "p0", "p2"]


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


def test_with_nobody_else_to_try_a_backoff_is_cut_short() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    fail(waiting, now=0)
    waiting.move_all(NODE_ADD, None, node(), now=0.5)
    assert popped(waiting).attempts == 2


def test_after_an_error_a_pod_waits_to_the_end_whatever_happens() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    fail(waiting, now=0, by=[])
    assert names(waiting) == {"error backoff": ["a"]}
    waiting.move_all(NODE_ADD, None, node(), now=0.5)
    assert waiting.pop() is None
    waiting.flush_backoff(now=2)
    assert popped(waiting).consecutive_errors_count == 1


def test_only_pods_that_the_filter_admits_are_moved() -> None:
    waiting = queue()
    waiting.add(pod("low"), now=0)
    waiting.add(pod("high", priority=9), now=0)
    fail(waiting, now=0)
    fail(waiting, now=0)
    waiting.move_all(NODE_ADD, None, node(), now=20, only=lambda each: each.priority <= 5)
    assert names(waiting) == {"active": ["low"], "unschedulable": ["high"]}


def test_a_pod_that_went_while_in_flight_is_not_taken_back() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    queued = popped(waiting)
    waiting.delete(queued.uid)
    assert names(waiting) == {"in flight": ["a"]}
    assert not waiting.give_back(queued, unschedulable=["Fit"], now=1)
    assert names(waiting) == {}


def test_a_pod_comes_back_in_its_newest_version() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    queued = popped(waiting)
    waiting.update(pod(labels={"new": "yes"}), now=0.1)
    waiting.give_back(queued, unschedulable=["Fit"], now=0.2)
    assert queued.pod_info.labels == {"new": "yes"}
    waiting.check()


def test_a_pod_that_changed_while_it_is_bound_is_kept_but_not_queued() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    queued = popped(waiting)
    waiting.done(queued.uid)
    newer = pod(labels={"new": "yes"})
    waiting.keep(newer)
    assert names(waiting) == {}
    assert waiting.unbound[queued.uid] is newer


def test_a_pod_seen_twice_is_one_pod() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    waiting.add(pod(), now=1)
    assert drained(waiting) == ["a"]


def test_a_pod_that_is_queued_again_already_is_not_given_back_as_well() -> None:
    waiting = queue()
    waiting.add(pod(), now=0)
    queued = popped(waiting)
    waiting.done(queued.uid)
    waiting.update(pod(), now=1)
    assert not waiting.give_back(queued, unschedulable=[], now=2)
    assert names(waiting) == {"active": ["a"]}
    waiting.check()


def test_somebody_is_told_when_there_is_something_to_pop() -> None:
    waiting, told = queue(), []
    waiting.on_active = lambda: told.append(waiting.pending())
    waiting.add(pod(), now=0)
    fail(waiting, now=0)
    waiting.move_all(NODE_ADD, None, node(), now=0.5)
    assert [(each["active"], each["backoff"]) for each in told] == [(1, 0), (0, 1)]
