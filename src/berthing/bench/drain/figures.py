"""What was measured, and how it is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

import msgspec
from msgspec.structs import astuple


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One scheduler, one time.

    start          first binding                     last binding      at rest
      |---- start_seconds ---|---------- seconds ----------|              |
      |-- start_cpu_seconds -|-------------- cpu_seconds -----------------|
    """

    scheduler: str
    pods: int
    start_seconds: float
    start_cpu_seconds: float
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    # What it took us to watch.
    own_cpu_seconds: float

    @property
    def pods_per_second(self) -> float:
        """Pods bound per second, from the first to the last."""
        return (self.pods - 1) / max(self.seconds, 1e-6)

    @property
    def cpu_millis_per_pod(self) -> float:
        """CPU time of the scheduler for a pod, its start not included."""
        return self.cpu_seconds / self.pods * 1e3


class Round(msgspec.Struct, frozen=True):
    """All schedulers, one after another, on the same pods; in the order in which they were named."""

    number: int
    figures: tuple[Figure, ...]


class Ratios(msgspec.Struct, frozen=True):
    """One scheduler's figures as multiples of another's."""

    pods_per_second: float
    cpu_per_pod: float
    start: float
    peak_memory: float

    @classmethod
    def of(cls, one: Figure, other: Figure) -> Ratios:
        """How many times the other's figures the one's are."""
        return cls(
            one.pods_per_second / other.pods_per_second,
            one.cpu_millis_per_pod / max(other.cpu_millis_per_pod, 1e-6),
            one.start_seconds / other.start_seconds,
            one.peak_bytes / other.peak_bytes,
        )


HEAD = (
    f"{'':<9}{'':<24}{'pods/s':>9}{'CPU ms/pod':>12}{'start s':>9}{'start CPU s':>13}"
    f"{'peak MB':>9}{'watching CPU s':>16}"
)


def lines_of(round_: Round) -> Iterator[str]:
    """A line for each scheduler, and one for the ratios if there are two."""
    for each in round_.figures:
        yield (
            f"round {round_.number:<3}{each.scheduler:<24}{each.pods_per_second:>9.0f}"
            f"{each.cpu_millis_per_pod:>12.2f}{each.start_seconds:>9.1f}"
            f"{each.start_cpu_seconds:>13.1f}{each.peak_bytes / 1e6:>9.0f}{each.own_cpu_seconds:>16.2f}"
        )
    if ratios := _ratios(round_):
        yield _ratio_line(f"round {round_.number}", ratios)


def summary(rounds: Sequence[Round]) -> Iterator[str]:
    """The median of each ratio over all rounds, if two schedulers were measured."""
    found = [astuple(ratios) for each in rounds if (ratios := _ratios(each))]
    if found:
        yield _ratio_line("median", Ratios(*map(median, zip(*found, strict=True))))


def _ratios(round_: Round) -> Ratios | None:
    return Ratios.of(*round_.figures) if len(round_.figures) == 2 else None


def _ratio_line(label: str, ratios: Ratios) -> str:
    return (
        f"{label:<9}{'ratio of the two':<24}{ratios.pods_per_second:>9.2f}{ratios.cpu_per_pod:>12.2f}"
        f"{ratios.start:>9.2f}{'':>13}{ratios.peak_memory:>9.2f}"
    )
