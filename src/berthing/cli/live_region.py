"""Some lines at the bottom of a terminal that are drawn again and again, below lines that stay."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from typing import Final, TextIO

# A terminal with fewer lines has no room for a region that moves.
FEWEST_LINES: Final = 12

_UP: Final = "\x1b[{}F"
_CLEAR_BELOW: Final = "\x1b[J"


class LiveRegion:
    """Lines that stay, and below them lines that are always the latest."""

    def __init__(self, out: TextIO, lines: Callable[[int], Sequence[str]]) -> None:
        self._out = out
        self._lines = lines
        self._height = 0

    def tell(self, line: str) -> None:
        """Add a line that stays."""
        self._write(f"{line}\n")

    def draw(self) -> None:
        """Bring the region up to date."""
        self._write("")

    def close(self) -> None:
        """Take the region away; what stays, stays."""
        self._out.write(self._erased())
        self._out.flush()
        self._height = 0

    def _write(self, above: str) -> None:
        # One write, so that nobody sees the terminal half drawn.
        lines = self._lines(columns(self._out))
        self._out.write(self._erased() + above + "".join(f"{line}\n" for line in lines))
        self._out.flush()
        self._height = len(lines)

    def _erased(self) -> str:
        return _UP.format(self._height) + _CLEAR_BELOW if self._height else ""


def columns(out: TextIO) -> int:
    """How wide lines may be: one less than the terminal, whose last column wraps here and there."""
    return (shutil.get_terminal_size((80, 24)).columns if out.isatty() else 80) - 1


def has_room(out: TextIO) -> bool:
    """Whether there is a terminal, and one that is high enough."""
    return out.isatty() and shutil.get_terminal_size((80, 24)).lines >= FEWEST_LINES
