"""What a conversion yields: the v1 tree, what it could not carry over, and where each part came from."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from berthing.config.document import Document
from berthing.config.findings import Finding, Path, Severity


class Origin(msgspec.Struct, frozen=True):
    """A place in the old document that a place in the new one stands for.

    `same_below`: what lies below reads the same in both, so paths continue as they are.
    """

    path: Path
    same_below: bool = True


class Converted(msgspec.Struct, frozen=True):
    """The v1 equivalent of an older configuration.

    `value` is a plain tree.  `notes` tell what is lost or means something else now, each with
    its place in the old file; every one of them is a warning.
    """

    value: dict[str, object]
    notes: tuple[Finding, ...] = ()
    origins: Mapping[Path, Origin] = {}

    def source_path(self, path: Path) -> Path:
        """Where in the old document the place in the new one came from, as near as known."""
        return source_path(self.origins, path)


def source_path(origins: Mapping[Path, Origin], path: Path) -> Path:
    """The place that the nearest origin at or above `path` tells of; `path` itself without any."""
    for length in range(len(path), -1, -1):
        origin = origins.get(path[:length])
        if origin is not None:
            return origin.path + path[length:] if origin.same_below else origin.path
    return path


class Notes:
    """Collects what the owner of the old file should know, each thing once and at its line."""

    def __init__(self, document: Document) -> None:
        self._document = document
        # In the order they were made, each once.
        self._notes: dict[Finding, None] = {}

    def add(self, message: str, path: Path, *, suggestion: str = "") -> None:
        """Note something about the place `path` of the old document."""
        line, column = self._document.position(path)
        self._notes[Finding(message, path, suggestion, Severity.WARNING, line, column)] = None

    def in_order(self) -> tuple[Finding, ...]:
        """The notes in the order of the file."""
        return tuple(sorted(self._notes, key=lambda note: (note.line, note.column)))
