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

# To look at so many values takes no longer than to find out which of them are in use.
_FEW_VALUES = 16


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
        values, codes = self._in_use()
        return np.fromiter(map(holds, values), np.bool_, len(values))[codes]

    def gather(self, measure: Callable[[T], int]) -> Int64Column:
        """A number per row: measured once per distinct value."""
        values, codes = self._in_use()
        return np.fromiter(map(measure, values), np.int64, len(values))[codes]

    def _in_use(self) -> tuple[Sequence[T], CodeColumn]:
        """The values that are worth looking at, and codes into them."""
        if len(self.distinct) <= max(len(self.codes), _FEW_VALUES):
            return self.distinct, self.codes
        # A few rows of a column that knows many values: hostnames, say.
        used, codes = np.unique(self.codes, return_inverse=True)
        return [self.distinct[code] for code in used], codes
