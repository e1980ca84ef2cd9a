"""What the figures of a drain come to, and how they are told."""

from __future__ import annotations

import pytest

from berthing.bench.drain.figures import HEAD, Figure, Ratios, Round, lines_of, summary


def figure(scheduler: str, *, seconds: float = 10, cpu: float = 5, peak: int = 100) -> Figure:
    return Figure(
        scheduler=scheduler,
        pods=10_001,
        start_seconds=2.5,
        start_cpu_seconds=1.5,
        seconds=seconds,
        cpu_seconds=cpu,
        peak_bytes=peak * 1_000_000,
        own_cpu_seconds=0.25,
    )


def test_rates() -> None:
    one = figure("a", seconds=10, cpu=5.0005)
    assert one.pods_per_second == pytest.approx(1000)
    assert one.cpu_millis_per_pod == pytest.approx(0.5)


def test_ratios_are_of_the_first_to_the_second() -> None:
    ratios = Ratios.of(figure("a", seconds=5, cpu=2), figure("b", seconds=10, cpu=8, peak=50))
    assert ratios == Ratios(pods_per_second=2, cpu_per_pod=0.25, start=1, peak_memory=2)


def test_a_round_reads_as_a_table() -> None:
    lines = list(lines_of(Round(1, (figure("berthing"), figure("kube-scheduler", seconds=20)))))
    assert [HEAD, *lines] == [
        "                                    pods/s  CPU ms/pod  start s  start CPU s  peak MB  watching CPU s",
        "round 1  berthing                     1000        0.50      2.5          1.5      100            0.25",
        "round 1  kube-scheduler                500        0.50      2.5          1.5      100            0.25",
        "round 1  ratio of the two             2.00        1.00     1.00                  1.00",
    ]


def test_the_median_over_rounds() -> None:
    rounds = [
        Round(number, (figure("a", seconds=seconds), figure("b")))
        for number, seconds in enumerate([5, 1, 10], start=1)
    ]
    assert list(summary(rounds)) == [
        "median   ratio of the two             2.00        1.00     1.00                  1.00"
    ]


def test_one_scheduler_has_no_ratios() -> None:
    rounds = [Round(1, (figure("a"),))]
    assert len(list(lines_of(rounds[0]))) == 1
    assert list(summary(rounds)) == []
