"""What a text holds, with the place of everything in it: the form both readers produce."""

from __future__ import annotations

import bisect
import re
from typing import NamedTuple, TypeAlias

import msgspec

from berthing.config.findings import Path

Scalar: TypeAlias = str | int | float | bool | None

# Far beyond any configuration, yet small enough that nobody who walks the tree runs out of
# stack, time or memory.  Upstream stops at 10,000 levels and has no limit on values.
MAX_DEPTH = 64
MAX_NODES = 200_000


class Node(msgspec.Struct, frozen=True):
    """One value and where it starts: `offset` counts characters from the start of the text."""

    offset: int
    value: Scalar | list[Node] | dict[str, Member]


class Member(NamedTuple):
    """A value in a mapping; `offset` is the place of its key."""

    offset: int
    node: Node


class UnreadableError(Exception):
    """The text cannot be read beyond `offset`, so there is no tree."""

    def __init__(self, message: str, offset: int, suggestion: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.suggestion = suggestion


def too_deep(offset: int) -> UnreadableError:
    """The error for values nested beyond MAX_DEPTH."""
    return UnreadableError(f"values are nested more than {MAX_DEPTH} levels deep here", offset)


def too_many(offset: int) -> UnreadableError:
    """The error for a text with more than MAX_NODES keys and values."""
    return UnreadableError(f"there are more than {MAX_NODES} keys and values up to here", offset)


def plain(node: Node) -> object:
    """The tree without places: dict, list, str, int, float, bool and None."""
    if isinstance(node.value, dict):
        return {key: plain(member.node) for key, member in node.value.items()}
    if isinstance(node.value, list):
        return [plain(item) for item in node.value]
    return node.value


def offset_at(root: Node, path: Path) -> int:
    """Where the key or list item at `path` starts, or the nearest above it that exists."""
    node, offset = root, root.offset
    for step in path:
        if isinstance(node.value, dict) and (member := node.value.get(str(step))):
            offset, node = member
        elif isinstance(node.value, list) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            offset = node.offset
        else:
            break
    return offset


class Lines:
    """Lines and columns of a text, counted from 1 as editors do."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(end.end() for end in re.finditer(r"\r\n|\n|\r", text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of the character at `offset`."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def excerpt(text: str) -> str:
    """A text to show in a message: on one line, and cut where it gets long."""
    line = text if text.isprintable() else text.encode("unicode_escape").decode()
    return line if len(line) <= 60 else f"{line[:57]}..."
