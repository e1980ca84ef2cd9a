"""YAML as the JSON values that kubectl makes of it, document by document.

Upstream: sigs.k8s.io/yaml, go.yaml.in/yaml/v2 resolve.go.
Differs:  a key that is set twice is an error.  Text nested deeper than MAX_DEPTH is refused, and
          so is text whose aliases stand for far more than is written.

This reads libyaml's events itself.  PyYAML's own loaders are slower, recurse in C until the stack
is gone, and know times, repeated keys and octal numbers in ways that are not kubectl's.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Final, TypeAlias

import yaml

Scalar: TypeAlias = str | int | float | bool | None
JsonValue: TypeAlias = "Scalar | list[JsonValue] | dict[str, JsonValue]"

# Objects that a scheduler reads are some 20 levels deep.
MAX_DEPTH: Final = 200


class YamlError(ValueError):
    """A text that is no YAML, or none that can be JSON; the message names the line."""


def read_yaml(text: str) -> Iterator[JsonValue]:
    """Read the documents of a text one by one; an empty one is None."""
    try:
        yield from _Reader(text).documents()
    except yaml.YAMLError as error:
        raise YamlError(_explain(error)) from error


def _explain(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem or error.context}"
    return str(error).splitlines()[0]


class _Reader:
    """Builds values from events: one method per kind of value, called as the text nests."""

    def __init__(self, text: str) -> None:
        self._loader = yaml.CSafeLoader(text)
        # What an anchor stands for, and how many values that is with its aliases written out.
        self._anchors: dict[str, tuple[JsonValue, int]] = {}
        self._written = 0
        self._meant = 0

    def documents(self) -> Iterator[JsonValue]:
        while not isinstance(event := self._next(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors.clear()
                yield self._value(self._next(), 0)

    def _next(self) -> yaml.Event:
        event = self._loader.get_event()
        assert event is not None, "libyaml ends every text with the events that close it"
        return event

    def _value(self, event: yaml.Event, depth: int) -> JsonValue:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        self._written += 1
        self._meant += 1
        before = self._meant
        value = self._written_value(event, depth)
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            self._anchors[event.anchor] = value, self._meant - before + 1
        return value

    def _written_value(self, event: yaml.Event, depth: int) -> JsonValue:
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if depth > MAX_DEPTH:
            raise _error(f"nested more than {MAX_DEPTH} levels deep", event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(depth + 1)
        return self._mapping(depth + 1)

    def _alias(self, event: yaml.AliasEvent) -> JsonValue:
        if event.anchor not in self._anchors:
            raise _error(f"no value before this is called &{event.anchor}", event)
        value, size = self._anchors[event.anchor]
        self._meant += size
        # A text of honest size may repeat itself a lot; one that explodes is past this at once.
        if self._meant > 100 * self._written + 100_000:
            raise _error("the aliases up to here stand for too much text", event)
        return value

    def _list(self, depth: int) -> list[JsonValue]:
        items: list[JsonValue] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._value(event, depth))
        return items

    def _mapping(self, depth: int) -> dict[str, JsonValue]:
        members: dict[str, JsonValue] = {}
        merged: dict[str, JsonValue] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            is_merge = _is_merge(event)
            key = _key(self._value(event, depth), event)
            value = self._value(self._next(), depth)
            if is_merge:
                merged = _merge(value, event) | merged
            elif key in members:
                raise _error(f"{key} is set twice", event)
            else:
                members[key] = value
        return merged | members if merged else members


def _is_merge(event: yaml.Event) -> bool:
    return isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]


def _merge(value: JsonValue, event: yaml.Event) -> dict[str, JsonValue]:
    """What << brings: of several mappings, the first that has a key has the say."""
    merged: dict[str, JsonValue] = {}
    for source in value if isinstance(value, list) else [value]:
        if not isinstance(source, dict):
            raise _error("<< merges a mapping or a list of mappings", event)
        merged = source | merged
    return merged


def _key(value: JsonValue, event: yaml.Event) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise _error("a key must be a text", event)


def _scalar(event: yaml.ScalarEvent) -> Scalar:
    is_bare = event.implicit[0]
    if not is_bare and event.tag not in _TYPED:
        return str(event.value)
    value = bare_word(event.value)
    if isinstance(value, float) and not math.isfinite(value):
        raise _error(f"{event.value} is not a number here", event)
    return value


_TYPED: Final = tuple(f"tag:yaml.org,2002:{name}" for name in ("bool", "int", "float", "null"))


@lru_cache(maxsize=4096)
def bare_word(text: str) -> Scalar:
    """What a text without quotes means: no, 010 and 1e3 are not what they seem."""
    if text in _WORDS:
        return _WORDS[text]
    digits = text.replace("_", "")
    if _WHOLE.fullmatch(text):
        number = int(digits, 8 if _OLD_OCTAL.fullmatch(digits) else 0)
        if -(2**63) <= number < 2**64:
            return number
    return _fraction(digits, text) if _FRACTION.fullmatch(text) else text


_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
# Numbers too long for 64 bits need not be told apart here: they go on as floats, or as text.
_WHOLE: Final = re.compile(
    r"[-+]?(?:0[xX]_*[0-9a-fA-F][0-9a-fA-F_]{,30}|0[bB]_*[01][01_]{,80}"
    r"|0[oO]?_*[0-7][0-7_]{,40}|0_*|[1-9][0-9_]{,30})"
)
_OLD_OCTAL: Final = re.compile(r"[-+]?0[0-7]+")
_FRACTION: Final = re.compile(
    r"[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?"
)


def _fraction(digits: str, text: str) -> Scalar:
    number = float(digits)
    if math.isinf(number):
        return text
    # On its way through JSON a float without a fraction becomes a whole number.
    is_whole = number.is_integer() and abs(number) < 1e21
    return int(Decimal(repr(number))) if is_whole else number


def _error(problem: str, event: yaml.Event) -> YamlError:
    assert event.start_mark is not None, "the loader marks all events"
    return YamlError(f"line {event.start_mark.line + 1}: {problem}")
