"""How long pods wait: doubling from attempt to attempt, cut down to whole seconds."""

from __future__ import annotations

import pytest

from berthing.queue.backoff import Backoff, is_backing_off
from berthing.queue.queued_pod import LONG_AGO, QueuedPod
from scheduling_queue.queues import pod


def queued(*, unschedulable: int = 0, errors: int = 0, timestamp: float = 100) -> QueuedPod:
    made = QueuedPod.new(pod(), now=timestamp)
    made.unschedulable_count, made.consecutive_errors_count = unschedulable, errors
    return made


@pytest.mark.parametrize(
    ("attempts", "seconds"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (5000, 10)]
)
def test_waits_double_up_to_the_maximum(attempts: int, seconds: float) -> None:
    assert Backoff(1, 10).until(queued(unschedulable=attempts)) == 100 + seconds


def test_nobody_waits_before_the_first_attempt() -> None:
    assert Backoff(1, 10).until(queued()) == LONG_AGO


def test_a_maximum_of_zero_means_no_waits() -> None:
    assert Backoff(1, 0).until(queued(unschedulable=9)) == LONG_AGO


def test_errors_in_a_row_count_by_themselves() -> None:
    assert Backoff(1, 10).until(queued(unschedulable=9, errors=2)) == 102


def test_waits_end_on_whole_seconds() -> None:
    assert Backoff(1, 10).until(queued(unschedulable=1, timestamp=100.9)) == 101


@pytest.mark.parametrize(("now", "waits"), [(101, True), (101.99, True), (102, False)])
def test_a_second_that_has_begun_is_waited_for(now: float, waits: bool) -> None:
    made = queued()
    made.backoff_until = 101
    assert is_backing_off(made, now) == waits


def test_long_ago_is_over_at_any_time() -> None:
    assert not is_backing_off(queued(), 0.5)
