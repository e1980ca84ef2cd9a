"""Which rows changed since somebody last looked.

A log of row numbers in the order of their changes.  A reader remembers the log's length and asks
for what came after; what he pays depends on what happened meanwhile, not on how many rows there
are.
"""

from __future__ import annotations

# A reader who is this far behind does better to look at all rows.
_KEPT = 4096


class Changes:
    """A log of changed rows, of which only the end is kept.

    now  how many changes there have been: what a reader remembers
    """

    __slots__ = ("_dropped", "_rows", "now")

    def __init__(self) -> None:
        self.now = 0
        self._rows: list[int] = []
        self._dropped = 0

    def add(self, row: int) -> None:
        """Note that a row changed."""
        self.now += 1
        self._rows.append(row)
        if len(self._rows) > 2 * _KEPT:
            del self._rows[:_KEPT]
            self._dropped += _KEPT

    def since(self, then: int) -> list[int] | None:
        """The rows that changed after `then`, each once; None if that is too long ago to tell."""
        start = then - self._dropped
        if start < 0:
            return None
        return list(dict.fromkeys(self._rows[start:]))
