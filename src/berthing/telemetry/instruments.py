"""Counters, gauges and histograms, cheap enough to be touched a dozen times per scheduled pod.

A family has a name and label names; a child is the one series that a set of label values means.
Who counts often keeps the child, or its bound method, and pays for no lookup:

    scheduled = metrics.schedule_attempts_total.child("scheduled", "default-scheduler")
    scheduled.inc()

1. Nothing here knows how numbers are written down: `serving/exposition.py` does, when asked.
2. No locks: one asyncio loop owns all state.  Touching a child costs a fifth of a microsecond.
3. As in upstream, a family with labels has no series before the first is touched, and one
   without labels shows zero from the start.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Generic, TypeVar


class Stability(StrEnum):
    """What users may rely on, as upstream promises it in front of each HELP text."""

    ALPHA = "ALPHA"
    BETA = "BETA"
    STABLE = "STABLE"


class Value:
    """One series of a counter or gauge: a number."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0

    def inc(self, amount: float = 1) -> None:
        """Add to the number."""
        self.value += amount

    def dec(self, amount: float = 1) -> None:
        """Take from the number."""
        self.value -= amount

    def set(self, value: float) -> None:
        """Make it this number."""
        self.value = value


class Distribution:
    """One series of a histogram: how many values fell into each bucket, and their sum."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        # Per bucket, not cumulative; the last one has no bound.
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count a value into its bucket; a value that equals a bound belongs below it."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


Child = TypeVar("Child", Value, Distribution)


class Family(Generic[Child]):
    """All series of one name, by their label values."""

    def __init__(
        self, name: str, help_text: str, *, stability: Stability, labels: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self.help_text = help_text
        self.stability = stability
        self.label_names = labels
        self._children: dict[tuple[str, ...], Child] = {}
        if not labels:
            self.child()

    def child(self, *labels: str) -> Child:
        """The series with these label values, in the order of the label names."""
        child = self._children.get(labels)
        return child if child is not None else self._new_child(labels)

    def series(self) -> list[tuple[tuple[str, ...], Child]]:
        """Every series that was touched, by label values."""
        return sorted(self._children.items(), key=lambda item: item[0])

    def _new_child(self, labels: tuple[str, ...]) -> Child:
        if len(labels) != len(self.label_names):
            raise ValueError(f"{self.name} has labels {self.label_names}, got the values {labels}")
        child = self._children[labels] = self._made()
        return child

    def _made(self) -> Child:
        raise NotImplementedError


class Counter(Family[Value]):
    """A number that only grows."""

    def inc(self, *labels: str) -> None:
        """Count one."""
        self.child(*labels).inc()

    def add(self, amount: float, *labels: str) -> None:
        """Count several at once."""
        self.child(*labels).inc(amount)

    def _made(self) -> Value:
        return Value()


class Gauge(Counter):
    """A number that goes up and down, or one that is looked up when somebody asks."""

    _read: Callable[[], Mapping[tuple[str, ...], float]] | None = None

    def dec(self, *labels: str) -> None:
        """Count one less."""
        self.child(*labels).dec()

    def set(self, value: float, *labels: str) -> None:
        """Make it this number."""
        self.child(*labels).set(value)

    def read_from(self, read: Callable[[], Mapping[tuple[str, ...], float]]) -> None:
        """Ask `read` for all series, by their label values, whenever they are wanted."""
        self._read = read

    def series(self) -> list[tuple[tuple[str, ...], Value]]:
        """Every series, brought up to date."""
        if self._read is not None:
            self._children.clear()
            for labels, value in self._read().items():
                self.set(value, *labels)
        return super().series()


class Histogram(Family[Distribution]):
    """How values spread over buckets, each with an upper bound."""

    def __init__(
        self,
        name: str,
        help_text: str,
        *,
        stability: Stability,
        buckets: tuple[float, ...],
        labels: tuple[str, ...] = (),
    ) -> None:
        self.buckets = buckets
        super().__init__(name, help_text, stability=stability, labels=labels)

    def observe(self, value: float, *labels: str) -> None:
        """Count a value into its bucket."""
        self.child(*labels).observe(value)

    def _made(self) -> Distribution:
        return Distribution(self.buckets)


def exponential_buckets(start: float, factor: float, count: int) -> tuple[float, ...]:
    """`count` upper bounds, each `factor` times the one before.

    Multiplied one after another as upstream does: a power would round some bounds otherwise,
    and a bound is part of a series' name.
    """
    bounds = [start]
    while len(bounds) < count:
        bounds.append(bounds[-1] * factor)
    return tuple(bounds)
