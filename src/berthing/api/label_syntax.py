"""The text form of label selectors, as users type it and API servers take it.

    app in (web, db), !canary, tier != test, cores > 4, zone

Upstream: Parse in apimachinery/pkg/labels/selector.go (v1.36.4).
Differs:  see labels.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from berthing.api.field_errors import aggregate
from berthing.api.labels import (
    Operator,
    Requirement,
    Selector,
    SelectorError,
    checked_requirement,
    key_errors,
)


def parse_selector(text: str) -> Selector:
    """Compile the text form; raises SelectorError at the first mistake."""
    return Selector.of(_Parser(text).requirements())


_OPERATORS = {
    "in": Operator.IN,
    "=": Operator.EQUALS,
    "==": Operator.DOUBLE_EQUALS,
    ">": Operator.GREATER_THAN,
    "<": Operator.LESS_THAN,
    "notin": Operator.NOT_IN,
    "!=": Operator.NOT_EQUALS,
}
_SYMBOLS = frozenset({"=", "==", "!=", "!", "(", ")", ",", "<", ">"})
_END = ""


class _Parser:
    """Reads token by token, one ahead; `in` and `notin` are operators only where one may stand."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._next = next(self._tokens)

    def requirements(self) -> list[Requirement]:
        if self._next == _END:
            return []
        if not self._at_requirement():
            expected = "!, identifier, or 'end of string'"
            raise SelectorError(f"found '{self._next}', expected: {expected}")
        found = [self._requirement()]
        while (separator := self._take()) != _END:
            if separator != ",":
                raise SelectorError(f"found '{separator}', expected: ',' or 'end of string'")
            if not self._at_requirement():
                raise SelectorError(f"found '{self._next}', expected: identifier after ','")
            found.append(self._requirement())
        return found

    def _take(self) -> str:
        token, self._next = self._next, next(self._tokens, _END)
        return token

    def _at_requirement(self) -> bool:
        return self._next == "!" or _is_identifier(self._next)

    def _requirement(self) -> Requirement:
        try:
            if self._next == "!":
                self._take()
                return checked_requirement(self._key(), Operator.DOES_NOT_EXIST, ())
            key = self._key()
            if self._next in (_END, ","):
                return checked_requirement(key, Operator.EXISTS, ())
            operator = self._operator()
            return checked_requirement(key, operator, tuple(sorted(self._values(operator))))
        except SelectorError as error:
            message = f"unable to parse requirement: {error}"
            raise SelectorError(message, error.errors) from error

    def _key(self) -> str:
        key = self._take()
        if not _is_identifier(key):
            raise SelectorError(f"found '{key}', expected: identifier")
        if errors := key_errors(key):
            raise SelectorError(aggregate(errors), errors)
        return key

    def _operator(self) -> Operator:
        token = self._take()
        operator = _OPERATORS.get(token)
        if operator is None:
            expected = "in, notin, =, ==, !=, gt, lt"
            raise SelectorError(f"found '{token}', expected: {expected}")
        return operator

    def _values(self, operator: Operator) -> set[str]:
        if operator in (Operator.IN, Operator.NOT_IN):
            return self._value_set()
        if self._next in (_END, ","):
            return {""}
        value = self._take()
        if not _is_identifier(value):
            raise SelectorError(f"found '{value}', expected: identifier")
        return {value}

    def _value_set(self) -> set[str]:
        opening = self._take()
        if opening != "(":
            raise SelectorError(f"found '{opening}' expected: '('")
        if self._next == ")":
            self._take()
            return {""}
        if self._next != "," and not _is_identifier(self._next):
            raise SelectorError(f"found '{self._next}', expected: ',', ')' or identifier")
        values = self._listed_values()
        self._take()  # the closing parenthesis, where the list ended
        return values

    def _listed_values(self) -> set[str]:
        """Values up to the closing parenthesis; where one is missing, the empty value is meant."""
        values: set[str] = set()
        while True:
            item = self._take()
            if _is_identifier(item):
                values.add(item)
                if self._next not in (",", ")"):
                    raise SelectorError(f"found '{self._next}', expected: ',' or ')'")
            elif item == ",":
                if not values or self._next in (",", ")"):
                    values.add("")
            else:
                raise SelectorError(f"found '{item}', expected: ',', or identifier")
            if self._next == ")":
                return values


def _is_identifier(token: str) -> bool:
    return token != _END and token not in _SYMBOLS


# A NUL ends a token, and where one should begin it ends the text: upstream's reader
# takes it for the end.
_TOKEN = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^=!(),<>\0 \t\r\n]+|)\0?")


def _tokens(text: str) -> Iterator[str]:
    """Split a text into symbols and identifiers, and an empty token at the end."""
    position = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        yield match[1]
        if match[1] == _END:
            return
