"""YAML text to a tree, by the rules of go-yaml v2 and of the JSON that sigs.k8s.io/yaml makes of it.

    text -> libyaml's events -> compose(): what is written -> _Reader: what it means

1. Only the first document counts, even an empty one.
2. A bare word means what scalars.py says.  Keys become text, whatever they were.
3. A key may be set once.  A merged key (<<) counts as set, before and after it is spelt out.
4. An alias stands for its anchor's value.  Expanding is counted as upstream counts it, so that a
   small text cannot blow up.

Upstream: go.yaml.in/yaml/v2 decode.go, sigs.k8s.io/yaml yaml.go.
Differs:  all repeated keys, misfit tags and the like are told at once, each with its place.
          Control characters count against the whole text, not only against the part that a
          buffer happened to hold.  Two keys that turn into the same text (1 and "1") get a warning.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from berthing.config import scalars
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
from berthing.config.yaml_syntax import (
    Written,
    WrittenAlias,
    WrittenList,
    WrittenMapping,
    WrittenScalar,
    compose,
)


def read_yaml(text: str, findings: Findings, lines: Lines) -> Node | None:
    """The first document of a text, None if it is empty; UnreadableError if there is no reading it."""
    document = compose(text)
    if document.next_offset is not None:
        line, column = lines.place(document.next_offset)
        findings.warning(
            "only the first YAML document counts; this one is ignored", line=line, column=column
        )
    if document.root is None:
        return None
    return _Reader(findings, lines).node(document.root, (), 0)


class _Entry(msgspec.Struct, frozen=True):
    """A key with its value; `merged_at` is the place of the << that brought it, if one did."""

    key: Scalar
    text: str
    offset: int
    node: Node
    merged_at: int | None = None

    @property
    def set_at(self) -> int:
        return self.offset if self.merged_at is None else self.merged_at


# As Go compares keys: 1, 1.0 and "1" are three.
_Identity = tuple[type, Scalar]


class _Reader:
    def __init__(self, findings: Findings, lines: Lines) -> None:
        self._findings = findings
        self._lines = lines
        self._count = 1  # upstream counts the document itself
        self._count_in_aliases = 0
        self._aliases_open = 0

    def node(self, written: Written, path: Path, depth: int) -> Node:
        self._spend(written, depth)
        match written:
            case WrittenAlias():
                with self._expanding():
                    return self.node(written.target, path, depth)
            case WrittenMapping():
                return Node(written.offset, self._members(written, path, depth))
            case WrittenList():
                items: list[Node] = []
                for item in written.items:
                    items.append(self.node(item, (*path, len(items)), depth + 1))
                return Node(written.offset, items)
            case WrittenScalar():
                return Node(written.offset, self._json_value(written, path))

    @contextmanager
    def _expanding(self) -> Iterator[None]:
        self._aliases_open += 1
        yield
        self._aliases_open -= 1

    def _spend(self, written: Written, depth: int) -> None:
        """Count one step, and refuse a text whose aliases make it explode."""
        self._count += 1
        self._count_in_aliases += self._aliases_open > 0
        # Upstream's rule for all but giant texts: at most 99 of 100 steps may come from aliases.
        if (
            self._count_in_aliases > 100
            and self._count > 1000
            and self._count_in_aliases > 0.99 * self._count
        ):
            raise UnreadableError("the aliases up to here stand for too much text", written.offset)
        if self._count > MAX_NODES:
            raise too_many(written.offset)
        if depth > MAX_DEPTH:
            raise too_deep(written.offset)

    def _members(self, written: WrittenMapping, path: Path, depth: int) -> dict[str, Member]:
        members: dict[str, Member] = {}
        for entry in self._entries(written, path, depth).values():
            if entry.text in members:
                self._warn(
                    f'another key of this mapping is read as "{excerpt(entry.text)}" as well; '
                    "this one counts",
                    (*path, entry.text),
                    entry.offset,
                )
            members[entry.text] = Member(entry.offset, entry.node)
        return members

    def _entries(self, written: WrittenMapping, path: Path, depth: int) -> dict[_Identity, _Entry]:
        entries: dict[_Identity, _Entry] = {}
        for entry in self._all_entries(written, path, depth):
            identity = (type(entry.key), entry.key)
            if before := entries.get(identity):
                self._report_repeated(entry, before, path)
            # The last one counts, as upstream goes on to find what is wrong in that one.
            entries[identity] = entry
        return entries

    def _all_entries(self, written: WrittenMapping, path: Path, depth: int) -> Iterator[_Entry]:
        """Keys and values as written and as merged, in upstream's order, repetitions included."""
        pairs = iter(written.items)
        for written_key, written_value in zip(pairs, pairs, strict=True):
            if _is_merge(written_key):
                yield from self._merged(written_key, written_value, path, depth)
            elif key := self._key(written_key, path, depth):
                value, text = key
                node = self.node(written_value, (*path, text), depth + 1)
                yield _Entry(value, text, written_key.offset, node)

    def _merged(self, key: Written, value: Written, path: Path, depth: int) -> Iterator[_Entry]:
        # In a list the first mapping wins over the next ones, so upstream takes it last.
        sources = value.items[::-1] if isinstance(value, WrittenList) else [value]
        for source in sources:
            for entry in self._source_entries(source, path, depth).values():
                yield msgspec.structs.replace(entry, merged_at=key.offset)

    def _source_entries(self, source: Written, path: Path, depth: int) -> dict[_Identity, _Entry]:
        self._spend(source, depth)
        if isinstance(source, WrittenAlias) and isinstance(source.target, WrittenMapping):
            with self._expanding():
                return self._source_entries(source.target, path, depth)
        if isinstance(source, WrittenMapping):
            return self._entries(source, path, depth + 1)
        self._error("<< merges a mapping or a list of mappings", path, source.offset)
        return {}

    def _key(self, written: Written, path: Path, depth: int) -> tuple[Scalar, str] | None:
        """The key and its text in JSON; None, and an error, if it cannot be one."""
        self._spend(written, depth)
        scalar = written
        if isinstance(written, WrittenAlias):
            scalar = written.target
            with self._expanding():
                self._spend(scalar, depth)
        if not isinstance(scalar, WrittenScalar):
            kind = "mapping" if isinstance(scalar, WrittenMapping) else "list"
            self._error(f"a {kind} cannot be a key", path, written.offset)
            return None
        value = self._scalar(scalar, path)
        text = scalars.key_text(value)
        if text is None:
            self._error(
                f"{excerpt(scalar.text) or 'null'} cannot be a key",
                path,
                written.offset,
                suggestion="put it in quotes",
            )
            return None
        return value, text

    def _json_value(self, written: WrittenScalar, path: Path) -> Scalar:
        value = self._scalar(written, path)
        if isinstance(value, float) and not math.isfinite(value):
            self._error(f"{written.text} is not a number here", path, written.offset)
            return None
        return scalars.json_value(value)

    def _scalar(self, written: WrittenScalar, path: Path) -> Scalar:
        if not written.tag and not written.bare:
            return written.text
        try:
            value = scalars.resolve(written.text, written.tag)
        except ValueError as error:
            self._error(str(error), path, written.offset)
            return written.text
        if not written.tag:
            self._warn_of_surprise(written, value, path)
        return value

    def _warn_of_surprise(self, written: WrittenScalar, value: Scalar, path: Path) -> None:
        text = written.text
        if isinstance(value, bool) and text.lower() not in {"true", "false"}:
            meant = "true" if value else "false"
            self._warn(
                f"the word {text} is read as {meant}",
                path,
                written.offset,
                suggestion=f'write {meant}, or "{text}" in quotes if a text is meant',
            )
        elif scalars.is_octal_in_disguise(text, value):
            self._warn(
                f"{text} is read as an octal number, that is {value}",
                path,
                written.offset,
                suggestion=f"write {value}, or leave out the leading zero",
            )

    def _report_repeated(self, entry: _Entry, before: _Entry, path: Path) -> None:
        line, _ = self._lines.place(before.set_at)
        if entry.merged_at is not None:
            message = f'the merge << sets "{excerpt(entry.text)}" again, which line {line} set'
        elif before.merged_at is not None:
            message = f'"{excerpt(entry.text)}" is set already by the merge << in line {line}'
        else:
            message = f'"{excerpt(entry.text)}" is set already in line {line}'
        self._error(
            message, (*path, entry.text), entry.set_at, suggestion="a key may be set only once"
        )

    def _error(self, message: str, path: Path, offset: int, suggestion: str = "") -> None:
        if not self._aliases_open:  # else it was said at the anchor
            line, column = self._lines.place(offset)
            self._findings.error(message, *path, suggestion=suggestion, line=line, column=column)

    def _warn(self, message: str, path: Path, offset: int, suggestion: str = "") -> None:
        if not self._aliases_open:
            line, column = self._lines.place(offset)
            self._findings.warning(message, *path, suggestion=suggestion, line=line, column=column)


def _is_merge(key: Written) -> bool:
    return (
        isinstance(key, WrittenScalar)
        and key.text == "<<"
        and (key.bare or key.tag == scalars.MERGE)
    )
