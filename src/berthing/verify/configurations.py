"""Recorded readings of configuration files: what they come to, or at which paths they are wrong.

A good file must give the same complete configuration and the same plugins in the same order.  A
bad one must be refused, with an error at each path that the recorded text names; wording is our
own, and so are further findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum, auto

import msgspec

from berthing.config.default_plugins import IN_TREE_CATALOGUE
from berthing.config.effective import effective_object
from berthing.config.findings import Path, format_path
from berthing.config.load import Loaded, load_text
from berthing.verify.outcome import BadRowError, Difference, Outcome, differences


def recognises(row: Mapping[str, object]) -> bool:
    """A configuration has a text, and expectations in an object."""
    return "text" in row and "expect" in row


def check(row: Mapping[str, object]) -> Outcome:
    """Read the text and compare what comes of it."""
    try:
        recorded = msgspec.convert(row, _Row)
    except msgspec.ValidationError as error:
        raise BadRowError(str(error)) from error
    expect = recorded.expect
    if expect.fields and len(expect.fields) != len(expect.errors):
        raise BadRowError("expect: fields and errors are not equally many")
    loaded = load_text(recorded.text)
    compare = _compare_good if expect.ok else _compare_bad
    return Outcome(recorded.id, tuple(compare(expect, loaded)))


class _Expect(msgspec.Struct, frozen=True):
    ok: bool
    effective: object = None
    plugins: object = None
    errors: tuple[str, ...] = ()
    fields: tuple[str | None, ...] = ()


class _Row(msgspec.Struct, frozen=True):
    id: str
    text: str
    expect: _Expect


def _compare_good(expect: _Expect, loaded: Loaded) -> Iterator[Difference]:
    if loaded.config is None:
        yield Difference("ok", recorded=True, ours=_errors(loaded))
        return
    effective = effective_object(loaded.config, IN_TREE_CATALOGUE)
    yield from differences(("effective",), expect.effective, effective)
    yield from differences(("plugins",), expect.plugins, _plugins(loaded))


def _plugins(loaded: Loaded) -> dict[str, object]:
    return {
        profile.scheduler_name: {
            point: [
                {"name": plugin.name} | ({} if plugin.weight is None else {"weight": plugin.weight})
                for plugin in plugins
            ]
            for point, plugins in profile.plugins.items()
        }
        for profile in loaded.profiles
    }


def _compare_bad(expect: _Expect, loaded: Loaded) -> Iterator[Difference]:
    if loaded.ok:
        yield Difference("ok", recorded=False, ours=True)
        return
    paths = [finding.path for finding in loaded.findings if finding.is_error]
    fields = expect.fields or (None,) * len(expect.errors)
    for error, field in zip(expect.errors, fields, strict=True):
        for place in _places(error, field):
            if not any(place.covers(path) for path in paths):
                yield Difference(f"error {place}", error, _errors(loaded))


def _errors(loaded: Loaded) -> list[str]:
    return [
        f"{format_path(finding.path)}: {finding.message}"
        for finding in loaded.findings
        if finding.is_error
    ]


class _How(Enum):
    """How exactly a recorded text tells a place."""

    AT = auto()
    UNDER = auto()
    # Indices are left out.
    UNCOUNTED = auto()
    # Only the last steps are told.
    ENDING = auto()


class _Place(msgspec.Struct, frozen=True):
    """A place where there must be an error: any of some, all with dots between their steps."""

    how: _How
    dotted: tuple[str, ...]

    def covers(self, path: Path) -> bool:
        """True if an error at `path` is one that is looked for."""
        # Keys may have dots and brackets in them, so the texts are compared and not the steps.
        ours = _dotted(".".join(map(str, path)))
        return any(self._is_at(wanted, ours) for wanted in self.dotted)

    def _is_at(self, wanted: str, ours: str) -> bool:
        match self.how:
            case _How.AT:
                return ours == wanted
            case _How.UNDER:
                return f"{ours}.".startswith(f"{wanted}.")
            case _How.UNCOUNTED:
                return _INDEX.sub("", ours) == wanted
            case _How.ENDING:
                return f".{ours}".endswith(f".{wanted}")

    def __str__(self) -> str:
        return f"{self.how.name.lower()} {' or '.join(self.dotted)}"


def _dotted(text: str) -> str:
    """The path profiles[0].plugins as profiles.0.plugins."""
    return text.replace("[", ".").replace("]", "").removeprefix(".")


_INDEX = re.compile(r"\.[0-9]+(?=\.|$)")
_ARGS = re.compile(r"decoding \.(profiles\[\d+\]\.pluginConfig\[\d+\]): (.*)", re.DOTALL)
_STRICT = re.compile(r'(?:unknown|duplicate) field "((?:[^"\\]|\\.)*)"')
_GO_FIELD = re.compile(r"into Go struct field [^.\s]*\.(\S+) of type")
_SET_TWICE = re.compile(r'key "((?:[^"\\]|\\.)*)" already set in map')
_BUILT = re.compile(r'initializing plugin "[^"]*": (.*)', re.DOTALL)
_FIELD_ERROR = re.compile(
    r"(?:^|\[|, )([a-z]\w*(?:\.\w+|\[\d+\])*): "
    "(?:Invalid value|Required value|Unsupported value|Duplicate value|Forbidden)"
)
_WRONG_POINT = re.compile(r'plugin "[^"]*" does not extend (\w+)Plugin plugin')

_HEADER_TEXTS: Mapping[str, tuple[str, ...]] = {
    # Where there is nothing at all, that is wrong as a whole.
    "Object 'Kind' is missing": ("kind", ""),
    "Object 'apiVersion' is missing": ("apiVersion",),
    "no kind ": ("kind", "apiVersion"),
    "couldn't decode as KubeSchedulerConfiguration": ("kind",),
}


def _places(error: str, field: str | None) -> Iterator[_Place]:
    """Where a recorded error is, as far as it says."""
    if field is not None:
        yield _Place(_How.AT, (_dotted(field),))
    elif args := _ARGS.match(error):
        yield from _places_in_args(args[1], args[2])
    elif built := _BUILT.search(error):
        for match in _FIELD_ERROR.finditer(built[1]):
            yield _Place(_How.ENDING, (_dotted(f"args.{match[1]}"),))
    elif wrong_point := _WRONG_POINT.search(error):
        point = wrong_point[1][0].lower() + wrong_point[1][1:]
        yield _Place(_How.UNCOUNTED, (f"profiles.plugins.{point}.enabled",))
    else:
        yield from _places_in_file("", error)
        for beginning, places in _HEADER_TEXTS.items():
            if error.startswith(beginning):
                yield _Place(_How.AT, places)
        for match in _SET_TWICE.finditer(error):
            yield _Place(_How.ENDING, (_dotted(_unquoted(match[1])),))


def _places_in_args(config: str, error: str) -> Iterator[_Place]:
    exact = list(_places_in_file(f"{config}.args.", error))
    yield from exact or [_Place(_How.UNDER, (_dotted(config),))]


def _places_in_file(base: str, error: str) -> Iterator[_Place]:
    for match in _STRICT.finditer(error):
        yield _Place(_How.AT, (_dotted(base + _unquoted(match[1])),))
    for match in _GO_FIELD.finditer(error):
        # Structs within structs show up by the names of their types, which begin with a capital.
        path = ".".join(step for step in match[1].split(".") if not step[:1].isupper())
        yield _Place(_How.UNCOUNTED, (_INDEX.sub("", _dotted(base + path)),))


def _unquoted(text: str) -> str:
    """What Go put in quotes."""
    try:
        return msgspec.json.decode(f'"{text}"', type=str)
    except msgspec.DecodeError:
        return text
