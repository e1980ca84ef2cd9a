"""What brings pods back though nothing happened in the cluster."""

from __future__ import annotations

from berthing.queue.queued_pod import QueuedPod
from scheduling_queue.queues import NODE_ADD, Gate, fail, names, node, pod, popped, queue


def test_pods_that_waited_too_long_are_tried_and_remembered_for_it() -> None:
    waiting = queue(max_in_unschedulable=60)
    waiting.add(pod(), now=0)
    fail(waiting, now=0)
    waiting.flush_unschedulable(now=60)
    assert names(waiting) == {"unschedulable": ["a"]}
    waiting.flush_unschedulable(now=61)
    assert popped(waiting).flushed


def test_that_is_forgotten_with_the_next_failure() -> None:
    waiting = queue(max_in_unschedulable=60)
    waiting.add(pod(), now=0)
    fail(waiting, now=0)
    waiting.flush_unschedulable(now=61)
    assert not fail(waiting, now=62).flushed


def test_a_gated_pod_is_asked_about_once_in_so_long() -> None:
    waiting = queue(pre_enqueue=[gate := Gate()], max_in_unschedulable=60)
    gate.closed = {"a"}
    waiting.add(pod(), now=0)
    waiting.flush_unschedulable(now=61)
    gate.closed = set()
    waiting.flush_unschedulable(now=120)
    assert names(waiting) == {"gated": ["a"]}
    waiting.flush_unschedulable(now=122)
    assert names(waiting) == {"active": ["a"]}


def test_a_flush_may_help_pods_in_flight_too() -> None:
    waiting = queue(max_in_unschedulable=60)
    waiting.add(pod("a"), now=0)
    fail(waiting, now=0)
    waiting.add(pod("b"), now=30)
    in_flight = popped(waiting)
    waiting.flush_unschedulable(now=61)
    waiting.give_back(in_flight, unschedulable=["Fit"], now=62)
    assert names(waiting) == {"active": ["a"], "backoff": ["b"]}


def test_activation_asks_nobody_and_waits_for_nothing() -> None:
    waiting = queue()
    for number, name in enumerate("abc"):
        waiting.add(pod(name), now=number)
    fail(waiting, now=5)
    fail(waiting, now=5, by=[])
    assert names(waiting) == {
        "active": ["c"],
        "error backoff": ["b"],
        "unschedulable": ["a"],
    }
    waiting.activate([pod("a").pod, pod("b").pod, pod("stranger").pod], now=5.1)
    assert names(waiting) == {"active": ["c", "a", "b"]}


def test_activation_of_a_pod_in_flight_brings_it_back_after_its_backoff() -> None:
    waiting = queue()
    waiting.add(pod("a"), now=0)
    waiting.add(pod("b"), now=1)
    first, second = popped(waiting), popped(waiting)
    waiting.activate([pod("a").pod], now=1.1)
    for queued in (first, second):
        waiting.give_back(queued, unschedulable=["Fit"], now=1.2)
    assert names(waiting) == {"backoff": ["a"], "unschedulable": ["b"]}


def test_activation_cannot_open_a_gate() -> None:
    waiting = queue(pre_enqueue=[gate := Gate()])
    gate.closed = {"a"}
    waiting.add(pod(), now=0)
    waiting.activate([pod().pod], now=1)
    assert names(waiting) == {"gated": ["a"]}


def test_backoffs_end_by_second_and_then_by_priority() -> None:
    waiting = queue()
    waiting.add(pod("low"), now=0)
    waiting.add(pod("high", priority=9), now=0.1)
    for at in (1.2, 1.9):
        fail(waiting, now=at)
    waiting.move_all(NODE_ADD, None, node(), now=2)
    ends: list[QueuedPod] = list(waiting.waiting())
    assert [queued.pod_info.pod.name for queued in ends] == ["high", "low"]
    assert {queued.backoff_until for queued in ends} == {2}
