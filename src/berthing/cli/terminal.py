"""What a terminal can show: colours or none, block characters or plain ASCII."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, TextIO

import msgspec

_CODES: Final = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "magenta": "35",
    "cyan": "36",
}


class Glyphs(msgspec.Struct, frozen=True):
    """The signs that pictures are made of."""

    full: str
    empty: str
    # From hardly anything to all there is.
    levels: str
    yes: str
    no: str

    @property
    def text(self) -> str:
        """All of them."""
        return self.full + self.empty + self.levels + self.yes + self.no


BLOCKS: Final = Glyphs(full="█", empty="░", levels="▁▂▃▄▅▆▇█", yes="✓", no="✗")
ASCII: Final = Glyphs(full="#", empty=".", levels="0123456789", yes="ok", no="X")


class Look(msgspec.Struct, frozen=True):
    """How text is dressed up for whoever reads it."""

    glyphs: Glyphs
    has_colours: bool

    def paint(self, text: str, *styles: str) -> str:
        """The text in a style, where styles can be seen."""
        if not self.has_colours or not styles:
            return text
        return f"\x1b[{';'.join(_CODES[each] for each in styles)}m{text}\x1b[0m"

    def bar(self, share: float, width: int) -> str:
        """A share from 0 to 1 as a bar."""
        filled = round(min(max(share, 0.0), 1.0) * width)
        return self.glyphs.full * filled + self.glyphs.empty * (width - filled)

    def level(self, share: float) -> str:
        """A share from 0 to 1 as one sign."""
        levels = self.glyphs.levels
        return levels[min(int(share * len(levels)), len(levels) - 1)]


def look_for(out: TextIO, environ: Mapping[str, str] = os.environ) -> Look:
    """How to write there: colours on terminals, unless NO_COLOR is set; blocks where they are known."""
    is_terminal = out.isatty() and environ.get("TERM") != "dumb"
    return Look(
        glyphs=BLOCKS if _can_write(out, BLOCKS.text) else ASCII,
        has_colours=is_terminal and not environ.get("NO_COLOR"),
    )


def _can_write(out: TextIO, text: str) -> bool:
    try:
        text.encode(out.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
