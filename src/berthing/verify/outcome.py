"""What replaying one recorded row showed: where this installation answers otherwise."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from berthing.config.findings import Path, format_path


class Difference(msgspec.Struct, frozen=True):
    """One field of one row where the recorded answer and ours are not the same."""

    field: str
    recorded: object
    ours: object


class Outcome(msgspec.Struct, frozen=True):
    """The replay of one row.

    `name` finds the row again (its id or its input).  `on_purpose` names the rules, listed in
    docs/differences.md, by which ours differs from the recorded answer and means to; such a row
    counts apart from matches and mismatches.  `unchecked` names fields that this version does
    not compare; `compared` is False where that is all of them.
    """

    name: str
    differences: tuple[Difference, ...] = ()
    on_purpose: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    compared: bool = True


class BadRowError(Exception):
    """A row is not of the format its kind has; the text says which field and what is wrong."""


def differences(path: Path, recorded: object, ours: object) -> Iterator[Difference]:
    """Go down as far as both look alike, and tell what differs there."""
    if isinstance(recorded, dict) and isinstance(ours, dict):
        for key in dict.fromkeys([*recorded, *ours]):
            yield from differences((*path, key), recorded.get(key), ours.get(key))
    elif isinstance(recorded, list) and isinstance(ours, list) and len(recorded) == len(ours):
        for index, (theirs, own) in enumerate(zip(recorded, ours, strict=True)):
            yield from differences((*path, index), theirs, own)
    elif recorded != ours:
        yield Difference(format_path(path), recorded, ours)
