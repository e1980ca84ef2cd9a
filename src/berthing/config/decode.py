"""Typed values from a plain tree: strict, and every mistake at once.

msgspec tells the first mistake and stops, so its types are walked here.  What configurations
hardly use (unions, dates, tagged structs, ...) is left to msgspec, leaf by leaf.

1. Unknown fields, wrong types and missing fields are errors, each at its own path.
2. null means unset: a field keeps its default, a list item is the zero value of its type.  Only
   a Duration that is not optional may not be null.
3. What is built is sound: a field with an error keeps its default.  Where there is none, and in
   a list, the error takes along what it is part of.  Whoever goes on to use a value asks for
   `findings.errors` first.

Upstream: sigs.k8s.io/json UnmarshalStrict, which stops at the first wrong type.
"""

from __future__ import annotations

import collections.abc
import enum
import functools
import operator
import re
import types
from collections.abc import Callable, Iterable
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NewType,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

import msgspec
import numpy as np
from msgspec import Meta

from berthing.api.quantity import Quantity
from berthing.config.durations import Duration
from berthing.config.findings import Findings, Path, did_you_mean
from berthing.config.scalars import base64_bytes
from berthing.config.tree import excerpt

T = TypeVar("T")

Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
# From here on a number rounds to one that a float32 cannot hold.
_FLOAT32_END = 3.4028235677973366e38
_FLOAT32_LIMITS = Meta(gt=-_FLOAT32_END, lt=_FLOAT32_END)
Float32 = Annotated[float, _FLOAT32_LIMITS]


def decode(value: object, type_: type[T], findings: Findings) -> T | None:
    """Build a `type_` from a plain tree; None, and at least one error found, if it cannot be.

    All mistakes are reported, each at its path.  A field with a mistake keeps its default, so a
    value may come back although there are errors.
    """
    built = _Decoder(findings).value(value, _shape(type_), ())
    return None if built is _BROKEN else cast("T", built)


class _Broken(enum.Enum):
    """Stands for a value that could not be built; why is among the findings."""

    BROKEN = enum.auto()


_BROKEN = _Broken.BROKEN


class _WrongError(Exception):
    """A value is not what its type asks for."""

    def __init__(self, message: str, suggestion: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.suggestion = suggestion


# Searching for similar names takes time, and a file with more mistakes than this has no typos.
_MAX_SUGGESTIONS = 100


class _Decoder:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._suggestions_left = _MAX_SUGGESTIONS

    def value(self, value: object, shape: _Shape, path: Path) -> object:
        try:
            built = self._null(shape, path) if value is None else self._built(value, shape, path)
            if built is not None and built is not _BROKEN:
                _check_limits(built, shape)
        except _WrongError as wrong:
            self._findings.error(wrong.message, *path, suggestion=wrong.suggestion)
            return _BROKEN
        return built

    def _built(self, value: object, shape: _Shape, path: Path) -> object:
        if shape.leaf:
            return shape.leaf.read(value)
        if shape.struct:
            return self._struct(value, shape, path)
        if shape.item:
            return self._list(value, shape, shape.item, path)
        if shape.member:
            return self._mapping(value, shape.member, path)
        return self._left_to_msgspec(value, shape, path)

    def _null(self, shape: _Shape, path: Path) -> object:
        """What null stands for in a list or mapping, and where there is no default."""
        if shape.optional:
            return None
        if shape.leaf:
            return shape.leaf.zero()
        if shape.struct:
            return self._struct({}, shape, path)
        if shape.item:
            return shape.make(())
        if shape.member:
            return {}
        raise _WrongError("null is not allowed here")

    def _struct(self, value: object, shape: _Shape, path: Path) -> object:
        fields = _fields(shape.bare)
        if not isinstance(value, dict):
            raise _expected("a mapping", value, _as_member(value, fields))
        given: dict[str, object] = {}
        missing = {field.wire_name for field in fields.values() if field.required}
        for key, item in value.items():
            field = fields.get(key)
            if field is None:
                self._unknown_field(key, fields, path)
            elif item is not None or field.takes_null:
                missing.discard(key)
                built = self.value(item, field.shape, (*path, key))
                if built is not _BROKEN:
                    given[field.name] = built
        for name in sorted(missing):
            self._findings.error(f'the field "{name}" is required', *path)
        if any(field.required and field.name not in given for field in fields.values()):
            return _BROKEN
        try:
            return shape.bare(**given)
        except (TypeError, ValueError) as error:  # from its __post_init__
            raise _WrongError(str(error)) from None
        except Exception as error:  # the same, or the factory of a default, gone wrong
            broke = f"{shape.bare.__name__} cannot be made"
            raise _WrongError(f"{broke}: {type(error).__name__}: {error}") from error

    def _list(self, value: object, shape: _Shape, item: _Shape, path: Path) -> object:
        if not isinstance(value, list):
            raise _expected("a list", value, 'start each item with "- "')
        built = [self.value(each, item, (*path, index)) for index, each in enumerate(value)]
        return _BROKEN if _BROKEN in built else shape.make(built)

    def _mapping(self, value: object, member: _Shape, path: Path) -> object:
        if not isinstance(value, dict):
            raise _expected("a mapping", value)
        built = {key: self.value(each, member, (*path, key)) for key, each in value.items()}
        return _BROKEN if _BROKEN in built.values() else built

    def _left_to_msgspec(self, value: object, shape: _Shape, path: Path) -> object:
        try:
            return msgspec.convert(value, shape.bare, str_keys=True)
        except msgspec.ValidationError as error:
            if shape.choices:
                names = ", ".join(_shown(choice) for choice in shape.choices)
                raise _WrongError(
                    f"expected one of {names}; got {_shown(value)}",
                    self._similar(value, [str(choice) for choice in shape.choices]),
                ) from None
            message, steps = _without_path(str(error))
            self._findings.error(message, *path, *steps)
            return _BROKEN

    def _unknown_field(self, key: str, fields: Iterable[str], path: Path) -> None:
        self._findings.error(
            f'unknown field "{excerpt(key)}"', *path, key, suggestion=self._similar(key, fields)
        )

    def _similar(self, wrong: object, names: Iterable[str]) -> str:
        if not isinstance(wrong, str) or len(wrong) > 60 or not self._suggestions_left:
            return ""
        self._suggestions_left -= 1
        return did_you_mean(wrong, names)


class _Leaf(NamedTuple):
    """How a type without parts is read, and what it is where a list has null."""

    read: Callable[[object], object]
    zero: Callable[[], object]


class _Shape(NamedTuple):
    """A type taken apart: at most one of leaf, struct, item and member tells how to read it."""

    bare: Any  # the type without None and limits
    optional: bool = False
    limits: tuple[Meta, ...] = ()
    leaf: _Leaf | None = None
    struct: bool = False
    item: _Shape | None = None
    make: Callable[[Iterable[object]], object] = list
    member: _Shape | None = None
    choices: tuple[object, ...] = ()


class _Field(NamedTuple):
    name: str
    wire_name: str
    shape: _Shape
    required: bool

    @property
    def takes_null(self) -> bool:
        """Whether null is a value of this field, or at least not the same as leaving it out."""
        if self.shape.optional:
            return self.required
        return self.shape.bare is Duration


@functools.cache
def _fields(struct: type[msgspec.Struct]) -> dict[str, _Field]:
    """The fields of a struct, by their names in the file."""
    return {
        field.encode_name: _Field(field.name, field.encode_name, _shape(field.type), field.required)
        for field in msgspec.structs.fields(struct)
    }


def _shape(type_: Any) -> _Shape:
    bare, optional, limits = _unwrapped(type_)
    shape = _Shape(bare, optional, limits)
    origin = get_origin(bare) or bare
    args = get_args(bare)
    if origin is float and _FLOAT32_LIMITS in limits:
        return shape._replace(leaf=_FLOAT32)
    if origin in _LEAVES:
        return shape._replace(leaf=_LEAVES[origin])
    if _is_plain_struct(origin):
        return shape._replace(struct=True)
    if origin in _MAKERS and (origin is not tuple or args[1:] == (...,) or not args):
        item = _shape(args[0] if args else object)
        return shape._replace(item=item, make=_MAKERS[origin])
    if origin in {dict, collections.abc.Mapping} and args[:1] in {(), (str,)}:
        return shape._replace(member=_shape(args[1] if args else object))
    if origin is Literal:
        return shape._replace(choices=args)
    if isinstance(origin, type) and issubclass(origin, enum.Enum):
        return shape._replace(choices=tuple(choice.value for choice in origin))
    return shape


def _unwrapped(type_: Any) -> tuple[Any, bool, tuple[Meta, ...]]:
    """The type inside of annotations, aliases and `| None`; whether it is optional; its limits."""
    optional = False
    limits: tuple[Meta, ...] = ()
    while True:
        origin, args = get_origin(type_), get_args(type_)
        if origin is Annotated:
            type_ = args[0]
            limits += tuple(meta for meta in args[1:] if isinstance(meta, Meta))
        elif isinstance(type_, NewType):
            type_ = type_.__supertype__
        elif hasattr(type_, "__value__"):  # a `type` statement
            type_ = type_.__value__
        elif origin in {Union, types.UnionType} and types.NoneType in args:
            optional = True
            type_ = functools.reduce(
                operator.or_, (arg for arg in args if arg is not types.NoneType)
            )
        else:
            return type_, optional, limits


def _is_plain_struct(origin: object) -> bool:
    """Whether it is a struct that is written as a mapping of its fields and nothing else."""
    if not (isinstance(origin, type) and issubclass(origin, msgspec.Struct)):
        return False
    config = origin.__struct_config__
    return not config.array_like and config.tag is None


_MAKERS: dict[object, Callable[[Iterable[object]], object]] = {
    list: list,
    collections.abc.Sequence: list,
    collections.abc.Collection: list,
    tuple: tuple,
}


def _read_anything(value: object) -> object:
    return value


def _read_bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise _expected("true or false", value, _unquoted(value, "true|false"))


def _read_int(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        # YAML has made whole numbers of these; in JSON upstream takes the text at its word.
        raise _expected("a whole number", value, f"write {int(value)}")
    raise _expected("a whole number", value, _unquoted(value, r"[-+]?[0-9]{1,19}"))


def _read_float(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise _expected("a number", value, _unquoted(value, r"[-+]?[0-9]{1,19}(\.[0-9]{1,19})?"))


def _read_float32(value: object) -> float:
    number = _read_float(value)
    if abs(number) >= _FLOAT32_END:
        return number  # the limits will tell
    # The shortest text that is this float32 and no other, as Go would print it.
    return float(str(np.float32(number)))


def _read_text(value: object) -> str:
    if isinstance(value, str):
        return value
    advice = "put it in quotes" if isinstance(value, bool | int | float) else ""
    raise _expected("a text", value, advice)


def _read_bytes(value: object) -> bytes:
    if isinstance(value, str):
        try:
            return base64_bytes(value)
        except ValueError:
            pass
    # Go takes the numbers of the bytes as well.
    if isinstance(value, list) and all(type(byte) is int and 0 <= byte < 256 for byte in value):
        return bytes(value)
    raise _expected("a text in base64", value)


def _read_duration(value: object) -> Duration:
    if not isinstance(value, str):
        advice = f'write a unit with it, as in "{value}s"' if _is_number(value) else ""
        raise _expected('a duration like "15s"', value, advice)
    try:
        return Duration.parse(value)
    except ValueError as error:
        if len(value) > 60:
            raise _expected('a duration like "15s"', value) from None
        raise _WrongError(str(error), _duration_advice(value)) from None


def _duration_advice(text: str) -> str:
    if days := re.fullmatch(r"([0-9]{1,4})d", text):
        return f"write {int(days.group(1)) * 24}h"
    if re.fullmatch(r"[0-9]{1,10}", text):
        return f'write a unit with it, as in "{text}s"'
    return 'write it like "1m30s" or "500ms"'


def _no_duration() -> Duration:
    # Upstream reads null as an empty text here.
    raise _WrongError("null is no duration", "leave the field out")


def _read_quantity(value: object) -> Quantity:
    try:
        return Quantity.from_json(value)
    except ValueError as error:
        raise _WrongError(str(error)) from None


def _expected(what: str, value: object, suggestion: str = "") -> _WrongError:
    return _WrongError(f"expected {what}, got {_shown(value)}", suggestion)


def _shown(value: object) -> str:
    """A value as somebody would write it, where it is short enough to be shown."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{excerpt(value)}"'
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case _:
            return excerpt(repr(value))


def _as_member(value: object, fields: Iterable[str]) -> str:
    """What to write instead of a bare name where a mapping is due."""
    if isinstance(value, str) and "name" in fields and value == excerpt(value):
        return f"write name: {value}"
    return ""


def _unquoted(value: object, pattern: str) -> str:
    """Advice for a text that would be right but for its quotes."""
    is_quoted = isinstance(value, str) and re.fullmatch(pattern, value)
    return f"write {value} without quotes" if is_quoted else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_limits(built: object, shape: _Shape) -> None:
    """Hold a value against its type's `Meta`, the way msgspec would."""
    for limits in shape.limits:
        if _is_number(built):
            _check_number(cast("float", built), limits)
        if isinstance(built, str) and not re.search(limits.pattern or "", built):
            raise _expected(f"a text that matches {limits.pattern}", built)
        if isinstance(built, str | bytes | list | tuple | dict):
            _check_length(len(built), limits)


def _check_number(number: float, limits: Meta) -> None:
    if (
        (limits.ge is not None and number < limits.ge)
        or (limits.gt is not None and number <= limits.gt)
        or (limits.le is not None and number > limits.le)
        or (limits.lt is not None and number >= limits.lt)
    ):
        raise _WrongError(f"must be {_range(limits)}, got {_shown(number)}")
    if limits.multiple_of is not None and number % limits.multiple_of:
        raise _WrongError(f"must be a multiple of {limits.multiple_of}, got {_shown(number)}")


def _range(limits: Meta) -> str:
    if limits.ge is not None and limits.le is not None:
        return f"between {limits.ge} and {limits.le}"
    bounds = (
        ("at least", limits.ge),
        ("more than", limits.gt),
        ("at most", limits.le),
        ("less than", limits.lt),
    )
    return " and ".join(f"{words} {bound}" for words, bound in bounds if bound is not None)


def _check_length(length: int, limits: Meta) -> None:
    if limits.min_length is not None and length < limits.min_length:
        raise _WrongError(f"must have a length of at least {limits.min_length}, got {length}")
    if limits.max_length is not None and length > limits.max_length:
        raise _WrongError(f"must have a length of at most {limits.max_length}, got {length}")


_MSGSPEC_PLACE = re.compile(r" - at `(?:key` in `)?\$(?P<path>.*)`$")
_MSGSPEC_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>[0-9]+)\]")


def _without_path(message: str) -> tuple[str, Path]:
    """Part msgspec's "Expected `int`, got `str` - at `$.a[0]`" into its text and its path."""
    place = _MSGSPEC_PLACE.search(message)
    text = message[: place.start()] if place else message
    steps = _MSGSPEC_STEP.finditer(place.group("path") if place else "")
    path = tuple(step.group("name") or int(step.group("index")) for step in steps)
    return text[:1].lower() + text[1:].replace("`", ""), path


_FLOAT32 = _Leaf(_read_float32, float)
_ANYTHING = _Leaf(_read_anything, lambda: None)
_LEAVES: dict[object, _Leaf] = {
    object: _ANYTHING,
    Any: _ANYTHING,
    bool: _Leaf(_read_bool, bool),
    int: _Leaf(_read_int, int),
    float: _Leaf(_read_float, float),
    str: _Leaf(_read_text, str),
    bytes: _Leaf(_read_bytes, bytes),
    Duration: _Leaf(_read_duration, _no_duration),
    Quantity: _Leaf(_read_quantity, Quantity),
}
