"""Plain text tables: columns as wide as they need, never cut, the same on a terminal and in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(rows: Iterable[Sequence[str]], *, header: Sequence[str] = (), indent: str = "") -> str:
    """Left-aligned columns two blanks apart; the last column may be of any length."""
    lines = [list(header)] if header else []
    lines.extend(list(row) for row in rows)
    if not lines:
        return ""
    widths = [max(len(row[column]) for row in lines) for column in range(len(lines[0]))]
    return "\n".join(
        indent
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in lines
    )
