"""Recorded facts in files: reads them row by row and replays each against this installation.

A file is JSON lines, plain or gzipped.  The kind of a row is told from its fields, so files that
were recorded later, or by somebody else, are replayed in the same way.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Protocol, cast

import msgspec

from berthing.api.files import open_file
from berthing.verify import (
    configurations,
    decisions,
    later,
    quantities,
    queue_hints,
    queue_scripts,
    selectors,
)
from berthing.verify.outcome import BadRowError, Outcome

# Far more than any recorded row takes; a line without end must not fill the memory.
_LONGEST_LINE_BYTES = 64 * 2**20


class Kind(Protocol):
    """How rows of one kind are known and replayed; each is a module beside this one."""

    def recognises(self, row: Mapping[str, object], /) -> bool:
        """Whether the row is of this kind."""
        ...

    def check(self, row: Mapping[str, object], /) -> Outcome:
        """Replay the row; BadRowError where it is not of the format its kind has."""
        ...


# A module offers the two functions, which a type checker does not hold against a Protocol.
_KINDS: tuple[Kind, ...] = tuple(
    cast("Kind", module)
    for module in (
        quantities,
        selectors,
        configurations,
        decisions,
        queue_hints,
        queue_scripts,
        later,
    )
)


class RecordingError(Exception):
    """A file cannot be replayed; the text says where and why."""


class Replay(msgspec.Struct):
    """What replaying one file came to."""

    path: str
    cases: int = 0
    matches: int = 0
    mismatches: list[Outcome] = msgspec.field(default_factory=list)
    on_purpose: Counter[str] = msgspec.field(default_factory=Counter)
    on_purpose_cases: int = 0
    unchecked: Counter[str] = msgspec.field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        """Count one row where it belongs: a mismatch, else a difference on purpose, else a match."""
        self.cases += 1
        self.unchecked.update(outcome.unchecked)
        if outcome.differences:
            self.mismatches.append(outcome)
        elif outcome.on_purpose:
            self.on_purpose_cases += 1
            self.on_purpose.update(outcome.on_purpose)
        elif outcome.compared:
            self.matches += 1


def replay(path: str | os.PathLike[str]) -> Replay:
    """Replay every row of a file; RecordingError where the file or a row is not to be read."""
    result = Replay(os.fspath(path))
    for number, row in _rows(Path(path)):
        try:
            result.add(_kind_of(row).check(row))
        except BadRowError as error:
            raise RecordingError(f"{path}:{number}: {error}") from error
    if not result.cases:
        raise RecordingError(f"{path}: no rows; expected JSON lines, one recorded fact each")
    return result


def _kind_of(row: Mapping[str, object]) -> Kind:
    for kind in _KINDS:
        if kind.recognises(row):
            return kind
    fields = ", ".join(sorted(row)[:8]) or "none"
    raise BadRowError(f"no known kind of recording has these fields: {fields}")


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    decoder = msgspec.json.Decoder(dict[str, object])
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            yield number, decoder.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise RecordingError(f"{path}:{number}: not a JSON object: {error}") from error


def _lines(path: Path) -> Iterable[bytes]:
    try:
        with open_file(path) as raw, _unzipped(raw) as stream:
            while line := stream.readline(_LONGEST_LINE_BYTES):
                if len(line) == _LONGEST_LINE_BYTES:
                    raise RecordingError(f"{path}: a line is longer than 64 MiB")
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RecordingError(f"{path}: broken gzip data: {error}") from error
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror or error}") from error


def _unzipped(raw: BufferedReader) -> BufferedReader | gzip.GzipFile:
    return gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == b"\x1f\x8b" else raw
