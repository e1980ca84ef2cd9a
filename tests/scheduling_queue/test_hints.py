"""Hints decide whether an event is worth another attempt."""

from __future__ import annotations

import pytest

from berthing.framework import QueueingHint
from berthing.queue.derived_events import FORCE_ACTIVATE
from scheduling_queue.queues import (
    NODE_ADD,
    PV_ADD,
    fail,
    names,
    node,
    on,
    only_labelled,
    pod,
    queue,
)


def test_only_the_pods_wake_that_the_hint_says_so_for() -> None:
    waiting = queue(events={"Fit": [on(NODE_ADD, only_labelled)]})
    for number, name in enumerate("abc"):
        waiting.add(pod(name), now=number)
    for _ in "abc":
        fail(waiting, now=5)
    waiting.move_all(NODE_ADD, None, node("b"), now=20)
    assert names(waiting) == {"active": ["b"], "unschedulable": ["a", "c"]}


def test_one_plugin_of_several_is_enough() -> None:
    waiting = queue(events={"Never": [on(NODE_ADD, lambda *_: QueueingHint.SKIP)]})
    waiting.add(pod(), now=0)
    fail(waiting, now=0, by=["Never", "Fit"])
    waiting.move_all(NODE_ADD, None, node(), now=20)
    assert names(waiting) == {"active": ["a"]}


def test_a_plugin_that_did_not_reject_the_pod_is_not_asked() -> None:
    waiting = queue(events={"Other": [on(PV_ADD)]})
    waiting.add(pod(), now=0)
    fail(waiting, now=0)
    waiting.move_all(PV_ADD, None, None, now=20)
    assert names(waiting) == {"unschedulable": ["a"]}


def test_a_pod_on_hold_skips_its_backoff() -> None:
    waiting = queue(events={"Hold": [on(PV_ADD)]})
    waiting.add(pod(), now=0)
    fail(waiting, now=0, by=[], pending=["Hold"])
    waiting.move_all(PV_ADD, None, None, now=0.1)
    assert names(waiting) == {"active": ["a"]}


def test_a_hint_that_breaks_counts_as_queue(caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: object) -> QueueingHint:
        raise RuntimeError("out of order")

    waiting = queue(events={"Fit": [on(NODE_ADD, broken)]})
    waiting.add(pod(), now=0)
    fail(waiting, now=0)
    waiting.move_all(NODE_ADD, None, node(), now=20)
    assert names(waiting) == {"active": ["a"]}
    assert "QueueingHintFn returns error" in caplog.text


def test_the_event_that_stands_for_all_may_be_for_one_pod() -> None:
    waiting = queue()
    for number, name in enumerate("ab"):
        waiting.add(pod(name), now=number)
    fail(waiting, now=5)
    fail(waiting, now=5)
    waiting.move_all(FORCE_ACTIVATE, None, pod("b").pod, now=20)
    assert names(waiting) == {"active": ["b"], "unschedulable": ["a"]}


def test_people_can_read_what_would_wake_a_pod() -> None:
    waiting = queue(events={"Hold": [on(PV_ADD), on(NODE_ADD)]})
    waiting.add(pod(), now=0)
    queued = fail(waiting, now=0, pending=["Hold"])
    assert waiting.wakers(queued) == [NODE_ADD, PV_ADD]
