"""A mistake in an API object: the field, the value, and what is wrong with it, in upstream's words.

Upstream: apimachinery/pkg/util/validation/field, pkg/util/errors (v1.36.4).
Differs:  nowhere a user can see.  People search for these texts, so they are upstream's to the
          byte, Go's ways of quoting included.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import msgspec

Path = tuple[str | int, ...]


class FieldError(msgspec.Struct, frozen=True):
    """One mistake.

    `path` leads through the object.  `field` is the same place as upstream writes it, which is
    not always so straight: it adds a label's key to its value, and leaves out `preference`.
    """

    path: Path
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field or '<nil>'}: {self.message}"


def aggregate(errors: Iterable[object]) -> str:
    """One text for all mistakes: brackets around several, none twice."""
    texts = list(dict.fromkeys(map(str, errors)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


class Place(msgspec.Struct, frozen=True):
    """Where a validator stands: what the fields of a `FieldError` will be."""

    path: Path = ()
    field: str = ""

    @classmethod
    def at(cls, *path: str | int) -> Place:
        """Start at a place that upstream names as we do."""
        return cls().child(*path)

    def child(self, *path: str | int) -> Place:
        """Go on to a field, or to an element of a list."""
        field = self.field
        for step in path:
            if isinstance(step, int):
                field += f"[{step}]"
            else:
                field += f".{step}" if field else step
        return Place((*self.path, *path), field)

    def unwritten(self, step: str) -> Place:
        """Go on to a field that upstream leaves out of its text."""
        return Place((*self.path, step), self.field)

    def noting(self, key: str) -> Place:
        """Stay, though upstream's text adds a key in brackets."""
        return Place(self.path, f"{self.field}[{key}]")

    def invalid(self, shown: str, detail: str) -> FieldError:
        """Say what is wrong with the value here, shown by `quoted` or `as_json`."""
        return FieldError(self.path, self.field, f"Invalid value: {shown}: {detail}")

    def not_supported(self, value: str, supported: Iterable[str]) -> FieldError:
        """Say that the word here is none of the few that are known."""
        known = ", ".join(map(quoted, supported))
        message = f"Unsupported value: {as_json(value)}: supported values: {known}"
        return FieldError(self.path, self.field, message)


ROOT = Place()

_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    '"': r"\"",
    "\\": r"\\",
}


def quoted(text: str) -> str:
    """Quote a text as Go's %q does."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(char: str) -> str:
    if escape := _ESCAPES.get(char):
        return escape
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# Go's encoder keeps JSON safe to paste into HTML and JavaScript.
_UNSAFE_IN_HTML = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def as_json(value: object) -> str:
    """Write a value as Go's JSON encoder does: how upstream shows what is no plain string."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_UNSAFE_IN_HTML)
