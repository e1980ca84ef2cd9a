"""JSON text to a tree, as strictly as Go reads it, and with the place of every key.

Upstream: Go's encoding/json and sigs.k8s.io/json.
Differs:  a repeated key is an error wherever it stands; upstream does not look into the arguments
          of plugins it does not know.
"""

from __future__ import annotations

import json
import math
import re

from berthing.config.findings import Findings, Path
from berthing.config.tree import (
    MAX_DEPTH,
    MAX_NODES,
    Lines,
    Member,
    Node,
    Scalar,
    UnreadableError,
    excerpt,
    too_deep,
    too_many,
)

_BLANKS = re.compile(r"[ \t\r\n]*")
_IN_QUOTES = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"[^\s\[\]{},:\"]*")
_WORDS: dict[str, Scalar] = {"true": True, "false": False, "null": None}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

_READ_AS_JSON = "a text that starts with { is read as JSON; put a line --- before it for YAML"


def read_json(text: str, findings: Findings, lines: Lines) -> Node:
    """The value in a text; UnreadableError where it is no JSON."""
    return _Reader(text, findings, lines).whole()


class _Reader:
    def __init__(self, text: str, findings: Findings, lines: Lines) -> None:
        self._text = text
        self._findings = findings
        self._lines = lines
        self._position = 0
        self._count = 0

    def whole(self) -> Node:
        node = self._value(())
        if self._peek():
            raise self._broken("there is more text after the closing }", _READ_AS_JSON)
        return node

    def _value(self, path: Path) -> Node:
        character = self._peek()
        offset = self._position
        self._count += 1
        if self._count > MAX_NODES:
            raise too_many(offset)
        if len(path) > MAX_DEPTH:
            raise too_deep(offset)
        match character:
            case "{":
                return Node(offset, self._members(path))
            case "[":
                return Node(offset, self._items(path))
            case '"':
                return Node(offset, self._string())
            case _:
                return Node(offset, self._number_or_word())

    def _members(self, path: Path) -> dict[str, Member]:
        members: dict[str, Member] = {}
        if self._closes_at_once("}"):
            return members
        while True:
            offset, key = self._key()
            node = self._value((*path, key))
            if before := members.get(key):
                self._report_repeated(key, offset, before.offset, path)
            members[key] = Member(offset, node)  # the last one counts, as upstream
            if self._closes("}"):
                return members

    def _items(self, path: Path) -> list[Node]:
        items: list[Node] = []
        if self._closes_at_once("]"):
            return items
        while True:
            items.append(self._value((*path, len(items))))
            if self._closes("]"):
                return items

    def _key(self) -> tuple[int, str]:
        """A key and where it starts; the colon after it is read too."""
        character = self._peek()
        offset = self._position
        if character != '"':
            raise self._broken(f"a key in double quotes is due here, not {self._here()}")
        key = self._string()
        if self._peek() != ":":
            raise self._broken(f"a : is due here, after the key, not {self._here()}")
        self._position += 1
        return offset, key

    def _string(self) -> str:
        match = _IN_QUOTES.match(self._text, self._position)
        assert match is not None  # the caller saw the quote
        opened, self._position = self._position, match.end()
        stopped_by = self._text[self._position : self._position + 1]
        if stopped_by != '"':
            raise self._broken_string(opened, stopped_by)
        self._position += 1
        literal = self._text[opened : self._position]
        if "\\" not in literal:
            return literal[1:-1]
        # Half of a surrogate pair alone is no character; Go replaces it.
        return _LONE_SURROGATE.sub("\ufffd", str(json.loads(literal)))

    def _number_or_word(self) -> Scalar:
        if number := _NUMBER.match(self._text, self._position):
            return self._number(number)
        word = _WORD.match(self._text, self._position)
        if word is None or word.group() not in _WORDS:
            raise self._broken(f"a value is due here, not {self._here()}")
        self._position = word.end()
        return _WORDS[word.group()]

    def _number(self, match: re.Match[str]) -> int | float:
        if math.isinf(float(match.group())):
            raise self._broken("this number is too large")
        self._position = match.end()
        is_whole = match.group(1) is None and match.group(2) is None
        return int(match.group()) if is_whole else float(match.group())

    def _peek(self) -> str:
        """The next character that is not blank, which stays where it is; "" at the end."""
        blanks = _BLANKS.match(self._text, self._position)
        assert blanks is not None  # it may be empty
        self._position = blanks.end()
        return self._text[self._position : self._position + 1]

    def _closes_at_once(self, closing: str) -> bool:
        """Step over the opening bracket, and over the closing one if nothing is between."""
        self._position += 1
        if self._peek() != closing:
            return False
        self._position += 1
        return True

    def _closes(self, closing: str) -> bool:
        """Step over the comma or the closing bracket after a value; tell which it was."""
        character = self._peek()
        if character not in {",", closing}:
            raise self._broken(f"a , or {closing} is due here, not {self._here()}")
        self._position += 1
        if character == closing:
            return True
        if self._peek() == closing:
            raise self._broken(f"there is a comma before this {closing}", "remove the comma")
        return False

    def _report_repeated(self, key: str, offset: int, before_offset: int, path: Path) -> None:
        line, column = self._lines.place(offset)
        before_line, _ = self._lines.place(before_offset)
        self._findings.error(
            f'"{excerpt(key)}" is set already in line {before_line}',
            *path,
            key,
            suggestion="a key may be set only once",
            line=line,
            column=column,
        )

    def _here(self) -> str:
        """What stands here instead of what should, for a message."""
        word = _WORD.match(self._text, self._position)
        shown = word.group() if word and word.group() else self._text[self._position :][:1]
        return excerpt(shown) or "the end of the text"

    def _broken(self, message: str, suggestion: str = "") -> UnreadableError:
        return UnreadableError(message, self._position, suggestion or self._guess())

    def _guess(self) -> str:
        rest = self._text[self._position : self._position + 2]
        if rest.startswith("#") or rest == "//":
            return "JSON has no comments"
        if rest.startswith("'"):
            return 'JSON knows only double quotes: "'
        return _READ_AS_JSON if rest else "is the end of the file missing?"

    def _broken_string(self, opened: int, stopped_by: str) -> UnreadableError:
        if stopped_by == "\\":
            escape = self._text[self._position : self._position + 2]
            return UnreadableError(
                f"{escape} is no escape that JSON knows",
                self._position,
                "write \\\\ for a backslash",
            )
        if stopped_by in {"", "\n", "\r"}:
            return UnreadableError("these quotes are not closed", opened)
        return UnreadableError(
            f"the control character U+{ord(stopped_by):04X} is not allowed in quotes",
            self._position,
            "write \\t for a tab" if stopped_by == "\t" else "",
        )
