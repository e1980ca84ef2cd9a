"""Pods that a PreEnqueue plugin holds back."""

from __future__ import annotations

import pytest

from berthing.api.pod_info import PodInfo
from berthing.framework import Status
from scheduling_queue.queues import NODE_ADD, PV_ADD, Gate, fail, names, node, on, pod, queue


def test_a_pod_that_is_held_back_is_not_popped() -> None:
    waiting = queue(pre_enqueue=[gate := Gate()])
    gate.closed = {"a"}
    waiting.add(pod("a"), now=0)
    waiting.add(pod("b"), now=1)
    assert names(waiting) == {"active": ["b"], "gated": ["a"]}
    (held,) = (queued for queued in waiting.waiting() if queued.gating_plugin)
    assert held.initial_attempt_timestamp is None
    assert held.rejectors == {"Gate"}


def test_only_events_of_the_plugin_that_holds_it_back_count() -> None:
    waiting = queue(pre_enqueue=[gate := Gate()], events={"Gate": [on(PV_ADD)]})
    gate.closed = {"a"}
    waiting.add(pod(), now=0)
    gate.closed = set()
    waiting.move_all(NODE_ADD, None, node(), now=1)
    assert names(waiting) == {"gated": ["a"]}
    waiting.move_all(PV_ADD, None, None, now=1)
    assert names(waiting) == {"active": ["a"]}


def test_a_woken_pod_is_asked_about_again() -> None:
    waiting = queue(pre_enqueue=[gate := Gate()], events={"Gate": [on(PV_ADD)]})
    gate.closed = {"a"}
    waiting.add(pod(), now=0)
    waiting.move_all(PV_ADD, None, None, now=1)
    assert names(waiting) == {"gated": ["a"]}


def test_a_pod_can_be_held_back_on_its_way_to_backoff_but_not_from_there() -> None:
    waiting = queue(pre_enqueue=[gate := Gate()])
    for number, name in enumerate("ab"):
        waiting.add(pod(name), now=number)
    fail(waiting, now=2)
    fail(waiting, now=2)
    gate.closed = {"a"}
    waiting.move_all(NODE_ADD, None, node(), now=2.1)
    assert names(waiting) == {"backoff": ["b"], "gated": ["a"]}
    gate.closed = {"b"}
    waiting.flush_backoff(now=10)
    assert names(waiting) == {"active": ["b"], "gated": ["a"]}


def test_a_plugin_that_breaks_holds_the_pod_back(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Gate):
        def pre_enqueue(self, pod: PodInfo) -> Status | None:
            raise RuntimeError("out of order")

    waiting = queue(pre_enqueue=[Broken()])
    waiting.add(pod(), now=0)
    assert names(waiting) == {"gated": ["a"]}
    assert "Unexpected error running PreEnqueue plugin" in caplog.text


def test_whoever_holds_the_pod_back_is_asked_first() -> None:
    asked: list[str] = []

    class Counting(Gate):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name  # type: ignore[misc]

        def pre_enqueue(self, pod: PodInfo) -> Status | None:
            asked.append(self.name)
            return super().pre_enqueue(pod)

    first, second = Counting("First"), Counting("Second")
    waiting = queue(pre_enqueue=[first, second], events={"Second": [on(PV_ADD)]})
    second.closed = {"a"}
    waiting.add(pod(), now=0)
    waiting.move_all(PV_ADD, None, None, now=1)
    assert asked == ["First", "Second", "Second"]
