"""Counting: what a series holds after it was touched."""

from __future__ import annotations

import pytest

from berthing.telemetry.instruments import (
    Counter,
    Gauge,
    Histogram,
    Stability,
    exponential_buckets,
)


def counter(*labels: str) -> Counter:
    return Counter("things_total", "Things.", stability=Stability.ALPHA, labels=labels)


def gauge(*labels: str) -> Gauge:
    return Gauge("things", "Things.", stability=Stability.ALPHA, labels=labels)


def histogram(*labels: str) -> Histogram:
    return Histogram(
        "sizes", "Sizes.", stability=Stability.ALPHA, labels=labels, buckets=(1.0, 2.0, 4.0)
    )


def values(family: Counter) -> dict[tuple[str, ...], float]:
    return {labels: child.value for labels, child in family.series()}


def test_a_counter_without_labels_shows_zero_from_the_start() -> None:
    assert values(counter()) == {(): 0}


def test_a_counter_with_labels_shows_nothing_before_it_is_touched() -> None:
    assert values(counter("result")) == {}


def test_series_are_counted_apart() -> None:
    attempts = counter("result", "profile")
    attempts.inc("scheduled", "a")
    attempts.inc("scheduled", "a")
    attempts.add(3, "error", "b")
    assert values(attempts) == {("scheduled", "a"): 2, ("error", "b"): 3}


def test_a_kept_child_counts_into_its_family() -> None:
    attempts = counter("result")
    attempts.child("error").inc()
    attempts.inc("error")
    assert values(attempts) == {("error",): 2}


def test_the_number_of_label_values_must_be_right() -> None:
    with pytest.raises(ValueError, match=r"things_total has labels \('result',\)"):
        counter("result").inc("a", "b")


def test_series_come_sorted_by_label_values() -> None:
    attempts = counter("result")
    for result in ("c", "a", "b"):
        attempts.inc(result)
    assert [labels for labels, _ in attempts.series()] == [("a",), ("b",), ("c",)]


def test_a_gauge_goes_up_and_down() -> None:
    tasks = gauge("operation")
    tasks.inc("binding")
    tasks.inc("binding")
    tasks.dec("binding")
    tasks.set(7, "other")
    assert values(tasks) == {("binding",): 1, ("other",): 7}


def test_a_gauge_that_is_read_follows_its_source() -> None:
    pods = {"active": 3, "gated": 1}
    pending = gauge("queue")
    pending.read_from(lambda: {(queue,): count for queue, count in pods.items()})
    assert values(pending) == {("active",): 3, ("gated",): 1}
    del pods["gated"]
    pods["active"] = 4
    assert values(pending) == {("active",): 4}


@pytest.mark.parametrize(
    ("value", "counts"),
    [
        pytest.param(0.0, [1, 0, 0, 0], id="below all bounds"),
        pytest.param(1.0, [1, 0, 0, 0], id="a bound belongs to its own bucket"),
        pytest.param(1.5, [0, 1, 0, 0], id="between bounds"),
        pytest.param(4.0, [0, 0, 1, 0], id="the last bound"),
        pytest.param(4.1, [0, 0, 0, 1], id="above all bounds"),
    ],
)
def test_a_value_falls_into_one_bucket(value: float, counts: list[int]) -> None:
    sizes = histogram()
    sizes.observe(value)
    [(labels, child)] = sizes.series()
    assert (labels, child.counts, child.total) == ((), counts, value)


def test_bounds_are_multiplied_one_after_another() -> None:
    bounds = exponential_buckets(0.00001, 1.5, 20)
    assert len(bounds) == 20
    assert bounds[:3] == (1e-05, 1.5000000000000002e-05, 2.2500000000000005e-05)
