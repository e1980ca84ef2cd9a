"""Field selectors: `status.phase!=Succeeded,spec.nodeName=`, as API servers take them.

Upstream: apimachinery/pkg/fields/selector.go (v1.36.4).
Differs:  nowhere a user can see.

Nothing here knows which fields an object has: an unknown field has the empty value.  Selectors
that ask the same are equal, as with labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec


class FieldSelectorError(ValueError):
    """A text that is no field selector."""


class FieldRequirement(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """One field that has to have a value, or must not have it."""

    field: str
    value: str
    negated: bool = False

    def admits(self, value: str) -> bool:
        """True if an object passes whose field has this value."""
        return (value == self.value) is not self.negated

    def __str__(self) -> str:
        return f"{self.field}{'!=' if self.negated else '='}{escape_value(self.value)}"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """Requirements that must all hold.

    `requirements` are sorted and distinct; `written` are the same in the order they were given
    in, and do not count when selectors are compared.
    """

    requirements: tuple[FieldRequirement, ...]
    written: tuple[FieldRequirement, ...] = field(compare=False, repr=False)

    @classmethod
    def of(cls, requirements: Iterable[FieldRequirement]) -> FieldSelector:
        """Join requirements; with none, everything is selected."""
        written = tuple(requirements)
        return cls(tuple(sorted(set(written))), written)

    def matches(self, fields: Mapping[str, str]) -> bool:
        """True if an object with these fields is selected."""
        return all(
            requirement.admits(fields.get(requirement.field, ""))
            for requirement in self.requirements
        )

    @property
    def is_everything(self) -> bool:
        """True if nothing is asked for."""
        return not self.requirements

    def __str__(self) -> str:
        return ",".join(map(str, self.written))


EVERY_FIELD = FieldSelector.of(())

# Parts end at a comma; a backslash takes the next character along, or is the last one itself.
_PARTS = re.compile(r"(?:[^\\,]|\\.|\\\Z)+", re.DOTALL)
_PART = re.compile(r"(.*?)(!=|==?)(.*)", re.DOTALL)


def parse_field_selector(text: str) -> FieldSelector:
    """Compile the text form; raises FieldSelectorError at the first mistake."""
    requirements = [_parse_requirement(part, text) for part in sorted(_PARTS.findall(text))]
    # A lone `=` asks that nothing be empty, which it is.
    return FieldSelector.of(asked for asked in requirements if asked.field or asked.value)


def _parse_requirement(part: str, text: str) -> FieldRequirement:
    match = _PART.fullmatch(part)
    if match is None:
        raise FieldSelectorError(f"invalid selector: '{text}'; can't understand '{part}'")
    name, operator, value = match.groups()
    return FieldRequirement(name, unescape_value(value), negated=operator == "!=")


def escape_value(value: str) -> str:
    r"""Write a value so that the text can be told apart again: `\`, `,` and `=` get a `\`."""
    return re.sub(r"([\\,=])", r"\\\1", value)


def unescape_value(text: str) -> str:
    """Read back what `escape_value` wrote; raises FieldSelectorError for anything else."""
    return re.sub(r"\\(.?)|[,=]", _unescaped, text, flags=re.DOTALL)


def _unescaped(match: re.Match[str]) -> str:
    whole, escaped = match[0], match[1]
    if escaped is None:
        problem = f"unescaped character in value: {ord(whole)}"
        raise FieldSelectorError(f"invalid field selector: {problem}")
    if escaped not in ("\\", ",", "="):
        problem = f"invalid escape sequence: {whole}"
        raise FieldSelectorError(f"invalid field selector: {problem}")
    return escaped
