"""The kinds of columns that plugins compute with: a value per node, in the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Int64Column = npt.NDArray[np.int64]
BoolColumn = npt.NDArray[np.bool_]
CodeColumn = npt.NDArray[np.intp]

T = TypeVar("T")


class InternedColumn(Generic[T]):
    """A value per row, each distinct value kept once: labels, taint lists, images.

    distinct  the distinct values, in no order that matters
    codes     (n_rows,)  the index in `distinct` of each row's value
    """

    __slots__ = ("codes", "distinct")

    def __init__(self, distinct: Sequence[T], codes: CodeColumn) -> None:
        self.distinct = distinct
        self.codes = codes

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> T:
        return self.distinct[int(self.codes[row])]

    def where(self, holds: Callable[[T], bool]) -> BoolColumn:
        """The rows whose value passes: decided once per distinct value, not per row."""
        decided = np.fromiter(
            (holds(value) for value in self.distinct), np.bool_, len(self.distinct)
        )
        return decided[self.codes]

    def gather(self, measure: Callable[[T], int]) -> Int64Column:
        """A number per row: measured once per distinct value."""
        measured = np.fromiter(
            (measure(value) for value in self.distinct), np.int64, len(self.distinct)
        )
        return measured[self.codes]
