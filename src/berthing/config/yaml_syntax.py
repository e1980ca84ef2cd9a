r"""What stands in the first document of a YAML text, before anything is given a meaning.

libyaml does the parsing; here its events become a tree of what was written, with aliases left
as such, and its complaints become sentences that tell what to do.

Upstream: go.yaml.in/yaml/v2 scannerc.go and parserc.go, an older libyaml in Go.
Differs:  in brackets, `a:` needs a blank after it, and a tag ends at a comma; in double quotes,
          \' is no escape.  A list may not be a key, even at the very start of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, Protocol, TypeAlias

import msgspec
import yaml

from berthing.config.tree import MAX_DEPTH, MAX_NODES, UnreadableError, too_deep, too_many


class WrittenScalar(msgspec.Struct, frozen=True):
    """A scalar's text; `tag` is "" where none is written, `bare` tells that no quotes are."""

    offset: int
    text: str
    tag: str
    bare: bool


class WrittenList(msgspec.Struct, frozen=True):
    """A sequence, in block or flow style."""

    offset: int
    items: list[Written]


class WrittenMapping(msgspec.Struct, frozen=True):
    """A mapping: its keys and values in turn, as often as they are written."""

    offset: int
    items: list[Written]


class WrittenAlias(msgspec.Struct, frozen=True):
    """An alias and what its anchor marks."""

    offset: int
    target: Written


Written: TypeAlias = WrittenScalar | WrittenList | WrittenMapping | WrittenAlias


class _Mark(Protocol):
    """A place in the text, as either of PyYAML's parsers gives it."""

    @property
    def index(self) -> int: ...

    @property
    def line(self) -> int: ...


class FirstDocument(NamedTuple):
    """The first document, and where something follows it that nobody reads."""

    root: Written | None
    next_offset: int | None


def compose(text: str) -> FirstDocument:
    """Read the first document of a text; UnreadableError where it is no YAML."""
    directives = [line.end() - 1 for line in _DIRECTIVE.finditer(text)]
    if len(directives) > _MAX_DIRECTIVES:
        raise UnreadableError("there are too many lines that start with %", directives[0])
    try:
        return _Composer(text).document()
    except yaml.MarkedYAMLError as error:
        raise _in_plain_words(error, text) from None


# libyaml compares each directive with all before it, which takes forever for thousands of them.
_MAX_DIRECTIVES = 100
_DIRECTIVE = re.compile("[\n\r\x85\u2028\u2029]%")


class _Composer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._open: list[WrittenList | WrittenMapping] = []
        self._anchors: dict[str, Written] = {}
        self._count = 0
        self._flow_depth = 0

    def document(self) -> FirstDocument:
        root: Written | None = None
        for event in self._events:
            if isinstance(event, yaml.NodeEvent):
                written = self._written(event)
                root = root or written
            elif isinstance(event, yaml.CollectionEndEvent):
                self._open.pop()
                self._flow_depth -= self._flow_depth > 0
            elif isinstance(event, yaml.DocumentStartEvent):
                _refuse_other_versions(event)
            elif isinstance(event, yaml.DocumentEndEvent):
                return FirstDocument(root, self._next_document())
        return FirstDocument(None, None)

    def _next_document(self) -> int | None:
        """Where anything follows the first document; that it may be broken is of no interest."""
        try:
            event = next(self._events)
        except yaml.MarkedYAMLError as error:
            return _offset(error.problem_mark)
        return None if isinstance(event, yaml.StreamEndEvent) else _offset(event.start_mark)

    def _written(self, event: yaml.NodeEvent) -> Written:
        offset = _offset(event.start_mark)
        self._count += 1
        if self._count > MAX_NODES:
            raise too_many(offset)
        written = self._node(event, offset)
        if self._open:
            self._open[-1].items.append(written)
        if event.anchor is not None and not isinstance(written, WrittenAlias):
            self._anchors[event.anchor] = written
        if isinstance(written, WrittenList | WrittenMapping):
            if len(self._open) == MAX_DEPTH:
                raise too_deep(offset)
            self._open.append(written)
            if self._flow_depth or (
                isinstance(event, yaml.CollectionStartEvent) and event.flow_style
            ):
                self._flow_depth += 1
        return written

    def _node(self, event: yaml.NodeEvent, offset: int) -> Written:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, offset)
        if isinstance(event, yaml.SequenceStartEvent):
            return WrittenList(offset, [])
        if isinstance(event, yaml.MappingStartEvent):
            return WrittenMapping(offset, [])
        return self._alias(event.anchor or "", offset)

    def _scalar(self, event: yaml.ScalarEvent, offset: int) -> WrittenScalar:
        self._refuse_newer_syntax(event, offset)
        tag, bare = event.tag or "", event.implicit[0]
        # libyaml forgets the tag of `! text`, which is neither bare nor quoted.
        if bare and not tag and self._text.startswith(("!", "&"), offset):
            bare = not _LONE_TAG.match(self._text, offset)
        return WrittenScalar(offset, event.value, tag, bare)

    def _refuse_newer_syntax(self, event: yaml.ScalarEvent, offset: int) -> None:
        """Refuse what libyaml has learnt to read and upstream's older copy of it does not."""
        if self._flow_depth and not event.style and "?" in event.value:
            raise UnreadableError(
                "a text with a ? in it is not allowed in brackets", offset, _QUOTE
            )
        if event.style == '"' and "/" in event.value:
            written = self._text[offset : _offset(event.end_mark)]
            if escape := _ESCAPED_SLASH.search(written):
                offset += escape.end() - len("\\/")
                raise UnreadableError("this is no escape that YAML knows", offset, "write / alone")

    def _alias(self, anchor: str, offset: int) -> WrittenAlias:
        target = self._anchors.get(anchor)
        if target is None:
            raise UnreadableError(
                f"there is no anchor &{anchor} before this alias",
                offset,
                "put the text in quotes if it is not meant as an alias",
            )
        if any(target is still_open for still_open in self._open):
            raise UnreadableError(f"the value of the anchor &{anchor} contains itself", offset)
        return WrittenAlias(offset, target)


_LONE_TAG = re.compile(r"(?:&[\w-]+\s+)?!(?:\s|$)")
_ESCAPED_SLASH = re.compile(r"(?<!\\)(?:\\\\)*\\/")


def _refuse_other_versions(event: yaml.DocumentStartEvent) -> None:
    if event.version not in {None, (1, 1)}:
        raise UnreadableError(
            "YAML 1.1 is the only version that kube-scheduler reads",
            _offset(event.start_mark),
            "leave out the line %YAML",
        )


def _offset(mark: _Mark | None) -> int:
    return mark.index if mark else 0


class _Plain(NamedTuple):
    """What to say instead of one of libyaml's complaints; {line} is where the matter began."""

    message: str
    suggestion: str = ""
    # Point to where the matter began, rather than to where libyaml gave up.
    at_start: bool = False


_QUOTE = "put the text in quotes"
_INDENTED = "is it indented as the lines that it belongs to?"
_PLAIN_WORDS = {
    "mapping values are not allowed in this context": _Plain(
        "a key is not allowed here",
        f'{_INDENTED} or is this a text with ": " in it, which needs quotes?',
    ),
    "could not find expected ':'": _Plain(
        "a : is missing after this key", "write key: value, with a blank after the :", at_start=True
    ),
    "did not find expected key": _Plain(
        "this does not continue the mapping that starts in line {line}", _INDENTED
    ),
    "did not find expected '-' indicator": _Plain(
        "this does not continue the list that starts in line {line}", _INDENTED
    ),
    "block sequence entries are not allowed in this context": _Plain(
        "a list item is not allowed here", "start the list in a line of its own"
    ),
    "mapping keys are not allowed in this context": _Plain("a ? is not allowed here", _QUOTE),
    "did not find expected node content": _Plain("a value is due here", _QUOTE),
    "did not find expected ',' or ']'": _Plain(
        "a , or ] is due here: the [ in line {line} is still open"
    ),
    "did not find expected ',' or '}'": _Plain(
        "a , or } is due here: the { in line {line} is still open"
    ),
    "found unexpected ':'": _Plain("a blank is missing after this :"),
    "found character that cannot start any token": _Plain(
        "a text may not start with this character", _QUOTE
    ),
    "found a tab character that violates indentation": _Plain(
        "there is a tab in the indentation", "use spaces"
    ),
    "found a tab character where an indentation space is expected": _Plain(
        "there is a tab in the indentation", "use spaces"
    ),
    "found unexpected end of stream": _Plain("these quotes are not closed", at_start=True),
    "found unexpected document indicator": _Plain("these quotes are not closed", at_start=True),
    "found unknown escape character": _Plain(
        "this is no escape that YAML knows",
        "write \\\\ for a backslash, or use single quotes",
    ),
    "did not find expected comment or line break": _Plain(
        "nothing may follow here in the same line", _QUOTE
    ),
    "did not find expected alphabetic or numeric character": _Plain(
        "a name is due after & and *", _QUOTE
    ),
    "did not find expected whitespace or line break": _Plain(
        "a blank is missing in this tag", _QUOTE
    ),
    "found undefined tag handle": _Plain("nothing tells what this tag means", _QUOTE),
    "did not find expected <document start>": _Plain(
        "the document has ended, or a line --- is missing before this"
    ),
    "found unknown directive name": _Plain("a line may not start with %", _QUOTE, at_start=True),
    "could not find expected directive name": _Plain(
        "a line may not start with %", _QUOTE, at_start=True
    ),
    "found unexpected non-alphabetical character": _Plain(
        "a line may not start with %", _QUOTE, at_start=True
    ),
}


def _in_plain_words(error: yaml.MarkedYAMLError, text: str) -> UnreadableError:
    problem = error.problem or "this is no YAML"
    offset = _offset(error.problem_mark)
    start = error.context_mark or error.problem_mark
    plain = _PLAIN_WORDS.get(problem, _Plain(problem))
    if text[offset : offset + 1] == "\t":
        plain = _PLAIN_WORDS["found a tab character that violates indentation"]
    message = plain.message.replace("{line}", str(start.line + 1 if start else 1))
    return UnreadableError(message, _offset(start) if plain.at_start else offset, plain.suggestion)
