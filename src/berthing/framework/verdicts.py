"""What a Filter plugin says about many nodes at once.

A verdict is one small integer per row: 0 for pass, else 1 + the index of one of a few statuses.
Reasons are thus written once per plugin and never per node, merging plugins is one `where`, and
counting reasons for "0/5000 nodes are available" is a bincount.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from berthing.framework.columns import BoolColumn, CodeColumn
from berthing.framework.status import Status


class Verdicts:
    """A verdict per row.

    codes     (n_rows,)  0 where the node passes, else 1 + an index into `statuses`
    statuses  what the rejected rows are told; several rows share one
    """

    __slots__ = ("codes", "statuses")

    def __init__(self, codes: CodeColumn, statuses: Sequence[Status] = ()) -> None:
        self.codes = codes
        self.statuses = tuple(statuses)

    @classmethod
    def all_pass(cls, n_rows: int) -> Verdicts:
        """Nothing against any row."""
        return cls(np.zeros(n_rows, np.intp))

    @classmethod
    def reject(cls, rejected: BoolColumn, status: Status) -> Verdicts:
        """One status for every row where `rejected` is true."""
        return cls(rejected.astype(np.intp), (status,))

    @classmethod
    def of(cls, statuses: Iterable[Status | None]) -> Verdicts:
        """From one answer per row, as a plugin that looks at one node at a time gives them."""
        distinct: dict[Status, int] = {}
        codes = [
            0
            if status is None or status.is_success
            else distinct.setdefault(status, len(distinct) + 1)
            for status in statuses
        ]
        return cls(np.array(codes, np.intp), tuple(distinct))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Status | None:
        """The status of one row; None where it passes."""
        code = int(self.codes[row])
        return self.statuses[code - 1] if code else None

    @property
    def fits(self) -> BoolColumn:
        """True where the node passes."""
        return np.equal(self.codes, 0)

    def then(self, later: Verdicts) -> Verdicts:
        """Both together: a row belongs to the first plugin that rejects it."""
        shifted = np.where(later.codes == 0, 0, later.codes + len(self.statuses))
        return Verdicts(
            np.where(self.codes == 0, shifted, self.codes), (*self.statuses, *later.statuses)
        )

    def by(self, plugin: str) -> Verdicts:
        """The same verdicts, stamped with the plugin that gave them."""
        return Verdicts(self.codes, tuple(status.by(plugin) for status in self.statuses))

    def counts(self) -> list[tuple[Status, int]]:
        """How many rows each status rejected, in the order of `statuses`."""
        per_code = np.bincount(self.codes, minlength=len(self.statuses) + 1)
        return [
            (status, int(count)) for status, count in zip(self.statuses, per_code[1:], strict=True)
        ]
