"""Recordings that this version knows but does not replay yet: their fields are counted.

Nothing is passed over in silence: each such row says which of its answers were not compared.
"""

from __future__ import annotations

from collections.abc import Mapping

from berthing.verify.outcome import BadRowError, Outcome


def recognises(row: Mapping[str, object]) -> bool:
    """Decisions, sequences and queueing hints have a scenario, queue scripts a script."""
    return "expect" in row and ("scenario" in row or "script" in row)


def check(row: Mapping[str, object]) -> Outcome:
    """List every recorded answer as not compared."""
    expect = row["expect"]
    if not isinstance(expect, dict):
        raise BadRowError(f"expect: expected an object, got {type(expect).__name__}")
    answers = [name for name in expect if name not in ("id", "version")]
    return Outcome(str(expect.get("id", "")), unchecked=tuple(answers), compared=False)
