"""One node label as a column of small numbers, and what is summed up per value of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from berthing.cluster.arrays import wider
from berthing.cluster.interner import Interner
from berthing.framework.columns import CodeColumn, Int64Column

# The code of nodes that do not have the label.
ABSENT = 0


class LabelColumn:
    """A label's value per row.

    codes        (capacity,)  index into `values`; ABSENT without the label
    values       the distinct values ever seen, None first
    node_counts  how many nodes have each value now; the first number counts for nothing
    """

    def __init__(self, key: str, capacity: int) -> None:
        self.key = key
        self.values: Interner[str | None] = Interner(None)
        self.codes: CodeColumn = np.zeros(capacity, np.intp)
        self.node_counts: list[int] = [0]
        self.sums: set[DomainSums] = set()

    def set(self, row: int, labels: Mapping[str, str]) -> None:
        """A node came with these labels, changed to them, or left (with none)."""
        before = int(self.codes[row])
        after = self.values.code(labels.get(self.key))
        if after == before:
            return
        if after == len(self.node_counts):
            self.node_counts.append(0)
        self.codes[row] = after
        self.node_counts[before] -= 1
        self.node_counts[after] += 1
        for sums in self.sums:
            sums.move(row, before, after)

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self.codes = wider(self.codes, capacity)


class DomainSums:
    """A count per row, summed up per value of a label.

    totals  (at least as many as the label has values,)  by code; the first is of nodes without
            the label and means nothing
    """

    def __init__(self, label: LabelColumn, counts: Int64Column) -> None:
        self.label = label
        self._counts = counts
        # Sums are exact: bincount adds in floating point, and no count comes near 2**53.
        self.totals: Int64Column = np.bincount(
            label.codes, weights=counts, minlength=len(label.values)
        ).astype(np.int64)
        label.sums.add(self)

    def add(self, row: int, amount: int) -> None:
        """A row's count changed."""
        code = self.label.codes[row]
        if code >= len(self.totals):
            self._widen()
        self.totals[code] += amount

    def move(self, row: int, before: int, after: int) -> None:
        """A row's label changed; its count goes along."""
        if after >= len(self.totals):
            self._widen()
        count = self._counts[row]
        self.totals[before] -= count
        self.totals[after] += count

    def close(self) -> None:
        """Nobody will ask any more."""
        self.label.sums.discard(self)

    def counts_are(self, counts: Int64Column) -> None:
        """The counts live in another array now."""
        self._counts = counts

    @property
    def per_value(self) -> Int64Column:
        """(n_values,) the totals of the values known now; of one label, always equally many."""
        if len(self.totals) < len(self.label.values):
            self._widen()
        return self.totals[: len(self.label.values)]

    def per_row(self, codes: CodeColumn) -> Int64Column:
        """(n_rows,) each row's sum over all nodes that have its value."""
        if len(self.totals) < len(self.label.values):
            self._widen()
        return self.totals[codes]

    def _widen(self) -> None:
        self.totals = wider(self.totals, max(2 * len(self.totals), len(self.label.values)))
