"""API objects from JSON, as API servers and `kubectl -o json` write it, and back.

    DecodeError             what went wrong, in which object, at which path
      MalformedError        not JSON (or YAML) at all, or not an object
      WrongTypeError        a field has a value of the wrong type, or one out of range
      UnknownKindError      a kind that no scheduler reads

One object, a list and a line of a watch each have a function.  Lists are decoded item by item,
so that a bad item is reported by name, what items have in common is shared before the next one
is read, and a null in one costs the others nothing.

Decoded objects make no reference cycles and the garbage collector does not track them (see
`meta`), so there is little to gain by turning it off for a large list.  Whether to do that, or to
call `gc.freeze()` once a long-lived state has been read, is left to the caller.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Final, Generic, Never, TypeVar

import msgspec

from berthing.api.kinds import find_kind, kind_of
from berthing.api.meta import ApiObject, ListMeta, Status, Value
from berthing.api.nulls import without_nulls
from berthing.api.quantity import Quantity
from berthing.api.resource_list import ResourceList
from berthing.api.sharing import shared

T = TypeVar("T", bound=ApiObject)
V = TypeVar("V", bound=Value)
R = TypeVar("R")

Json = bytes | str | msgspec.Raw


class DecodeError(ValueError):
    """A text that is no object we can read.

    `path` leads to the culprit inside the object, as spec.containers[0].image; `what` names the
    object as far as it is known, as "Pod default/web"; `place` says where in a larger text it
    stands, as "items[3]" or "document 2".
    """

    def __init__(self, message: str, *, path: str = "", what: str = "", place: str = "") -> None:
        super().__init__(": ".join(part for part in (place, what, path, message) if part))
        self.message = message
        self.path = path
        self.what = what
        self.place = place

    def at(self, place: str) -> DecodeError:
        """The same error, with the place where the object stands."""
        place = f"{place}.{self.place}" if self.place else place
        return type(self)(self.message, path=self.path, what=self.what, place=place)


class MalformedError(DecodeError):
    """Not JSON or YAML at all, or not an object."""


class WrongTypeError(DecodeError):
    """A field has a value of the wrong type, or one out of range."""


class UnknownKindError(DecodeError):
    """An object of a kind that no scheduler reads."""


# Told of every object that is left out because its kind is unknown.
Skip = Callable[[UnknownKindError], None]


class ObjectList(msgspec.Struct, Generic[T], frozen=True):
    """A list as an API server sends it: objects of one kind at one point in time."""

    items: tuple[T, ...]
    metadata: ListMeta = ListMeta()


class WatchEvent(msgspec.Struct, Generic[T], frozen=True):
    """A change: ADDED, MODIFIED or DELETED, with the object as it was left.

    A BOOKMARK has an object that is empty but for its resource version.
    """

    type: str
    object: T


class TypeMeta(Value, frozen=True, kw_only=True):
    """What an object says it is."""

    api_version: str = ""
    kind: str = ""


def decode_object(text: Json) -> ApiObject:
    """Read one object of whatever kind it says it is."""
    meta = _read(text, TypeMeta)
    kind = find_kind(meta.api_version, meta.kind)
    return _refuse(text, meta) if kind is None else decode_as(text, kind.type)


def decode_as(text: Json, type_: type[T]) -> T:
    """Read one object that is known to be of this type, whatever it says itself."""
    return shared(_read(text, type_))


def decode_list(text: Json, type_: type[T]) -> ObjectList[T]:
    """Read a list of objects that are known to be of this type."""
    body = _read(text, _ListBody)
    kind = kind_of(type_)
    if body.kind not in ("", "List", kind.list_kind):
        message = f"expected a {kind.list_kind}, got a {body.kind}"
        raise UnknownKindError(message, what=_described(text, body.kind))
    return ObjectList(_read_items(body.items, lambda item: decode_as(item, type_)), body.metadata)


def decode_objects(text: Json, *, skip: Skip | None = None) -> tuple[ApiObject, ...]:
    """Read an object, or the items of a list: of a PodList, say, or of a List of mixed kinds.

    With `skip`, objects of unknown kinds are told to it and left out.
    """
    body = _read(text, _ListBody)
    if not body.kind.endswith("List"):
        return _unless_unknown(lambda: (decode_object(text),), skip)
    kind = find_kind(body.api_version, body.kind.removesuffix("List"))
    if kind is not None:
        type_ = kind.type
        return _read_items(body.items, lambda item: decode_as(item, type_))
    if (body.api_version, body.kind) == ("v1", "List"):
        items = _read_items(body.items, lambda item: decode_objects(item, skip=skip))
        return tuple(itertools.chain.from_iterable(items))
    return _unless_unknown(lambda: _refuse(text, body), skip)


def decode_watch_event(line: Json, type_: type[T]) -> WatchEvent[T] | Status:
    """Read a line of a watch; a Status is the server's way to say that the watch is over."""
    body = _read(line, _WatchLine)
    if body.type == "ERROR":
        return _read(body.object, Status)
    return WatchEvent(body.type, decode_as(body.object, type_))


def encode(obj: ApiObject) -> bytes:
    """Write an object as JSON, with apiVersion and kind, without what has its zero value."""
    kind = kind_of(type(obj))
    meta = encode_value(TypeMeta(api_version=kind.api_version, kind=kind.kind))
    body = encode_value(obj)
    return meta[:-1] + b"," + body[1:] if len(body) > len(b"{}") else meta


def encode_value(value: Value) -> bytes:
    """Write an object, or a part of one, as JSON without a word on what it is."""
    return _ENCODER.encode(value)


_ENCODER: Final = msgspec.json.Encoder(enc_hook=str)


class _ListBody(TypeMeta, frozen=True, kw_only=True):
    metadata: ListMeta = ListMeta()
    items: tuple[msgspec.Raw, ...] = ()


class _WatchLine(Value, frozen=True, kw_only=True):
    type: str = ""
    object: msgspec.Raw = msgspec.Raw(b"{}")


def _unless_unknown(
    read: Callable[[], tuple[ApiObject, ...]], skip: Skip | None
) -> tuple[ApiObject, ...]:
    try:
        return read()
    except UnknownKindError as error:
        if skip is None:
            raise
        skip(error)
        return ()


def _refuse(text: Json, meta: TypeMeta) -> Never:
    raise UnknownKindError(_unknown(meta), what=_described(text, meta.kind))


def _read_items(items: tuple[msgspec.Raw, ...], read: Callable[[Json], R]) -> tuple[R, ...]:
    objects: list[R] = []
    try:
        for item in items:
            objects.append(read(item))  # noqa: PERF401  # how far it came is told in the error
    except DecodeError as error:
        raise error.at(f"items[{len(objects)}]") from error
    except RecursionError as error:  # lists in lists in lists
        raise _malformed(error) from error
    return tuple(objects)


def _read(text: Json, type_: type[V]) -> V:
    try:
        return _read_strictly(text, type_)
    except msgspec.ValidationError as error:
        return _read_again(text, type_, error)
    except _MALFORMED as error:
        raise _malformed(error) from error


_MALFORMED: Final = (msgspec.DecodeError, UnicodeError, RecursionError)


def _malformed(error: Exception) -> MalformedError:
    is_deep = isinstance(error, RecursionError)
    return MalformedError("nested too deeply" if is_deep else _lower_first(str(error)))


def _read_strictly(text: Json, type_: type[V]) -> V:
    value = _decoder(type_).decode(text)
    assert isinstance(value, type_), "or it would not have been decoded"
    return value


@lru_cache
def _decoder(type_: type[Value]) -> msgspec.json.Decoder[Value]:
    # Numbers with a fraction or an exponent stay text up to the quantity that reads them: a
    # float would lose digits.  No other field takes them.
    return msgspec.json.Decoder(type_, dec_hook=_read_custom, float_hook=str)


def _read_custom(type_: type, value: object) -> object:
    if type_ is ResourceList:
        return ResourceList.from_json(value)
    if type_ is Quantity:
        return Quantity.from_json(value)
    raise NotImplementedError(f"no way is known to read a {type_.__name__}")


def _read_again(text: Json, type_: type[V], error: msgspec.ValidationError) -> V:
    """Read a text that did not fit its type: without the nulls, or for a better message."""
    value = _untyped(text)
    if not isinstance(value, dict):
        raise MalformedError(f"expected an object, got `{_json_type(value)}`") from error
    if "got `null`" in str(error):
        try:
            plain = without_nulls(value, type_)
            return _read_strictly(_PLAIN_ENCODER.encode(plain), type_)
        except msgspec.ValidationError as other_error:
            error = other_error
    message, path = _split(error)
    raise WrongTypeError(
        message, path=_with_keys(path, message, value), what=_name(_kind_name(type_, value), value)
    ) from error


def _untyped(text: Json) -> object:
    try:
        return _UNTYPED.decode(text)
    except _MALFORMED as error:
        raise _malformed(error) from error


_UNTYPED: Final = msgspec.json.Decoder(float_hook=Decimal)
_PLAIN_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")


def _unknown(meta: TypeMeta) -> str:
    if not meta.kind or not meta.api_version:
        return "no apiVersion or no kind"
    return f"no scheduler reads a {meta.kind} of {meta.api_version}"


def _described(text: Json, kind: str) -> str:
    value = _untyped(text)
    return _name(kind, value) if isinstance(value, dict) else kind


def _kind_name(type_: type, value: dict[str, object]) -> str:
    if issubclass(type_, ApiObject):
        return kind_of(type_).kind
    kind = value.get("kind")
    return kind if isinstance(kind, str) else ""


def _name(kind: str, value: dict[str, object]) -> str:
    """`Pod default/web`, or less if less is known."""
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        return kind
    names = [metadata.get("namespace"), metadata.get("name")]
    key = "/".join(name for name in names if isinstance(name, str) and name)
    return f"{kind} {key}".strip()


def _lower_first(text: str) -> str:
    return text if text.startswith("JSON") else text[:1].lower() + text[1:]


# msgspec ends its messages like this: "Expected `str`, got `int` - at `$.metadata.labels[...]`".
_MESSAGE: Final = re.compile(r"(?P<message>.*?)(?: - at `\$\.?(?P<path>.*)`)?", re.DOTALL)
_STEP: Final = re.compile(r"\[(?P<index>\d+)\]|(?P<any>\[\.\.\.\])|\.?(?P<name>[^.\[]+)")


def _split(error: msgspec.ValidationError) -> tuple[str, str]:
    match = _MESSAGE.fullmatch(str(error))
    assert match is not None, "every text is a message without a path, if nothing more"
    return _lower_first(match["message"]), match["path"] or ""


def _with_keys(path: str, message: str, value: object) -> str:
    """The path with the keys of maps in it, for which msgspec writes `[...]`."""
    steps = list(_STEP.finditer(path))
    got = _GOT.search(message)
    keys = _keys(value, steps, got[1]) if got else None
    if keys is None:
        return path
    return "".join(f"[{keys.pop(0)}]" if step["any"] else step[0] for step in steps)


_GOT: Final = re.compile(r"got `(\w+)`")


def _keys(value: object, steps: list[re.Match[str]], got: str) -> list[str] | None:
    """Keys with which the steps lead to a value of the JSON type `got`; None if none do."""
    if not steps:
        return [] if _json_type(value) == got else None
    step, rest = steps[0], steps[1:]
    if step["any"] and isinstance(value, dict):
        for key, each in value.items():
            if (keys := _keys(each, rest, got)) is not None:
                return [key, *keys]
    elif step["index"] and isinstance(value, list):
        return _keys(value[int(step["index"])], rest, got)
    elif step["name"] and isinstance(value, dict):
        return _keys(value.get(step["name"]), rest, got)
    return None


def _json_type(value: object) -> str:
    names = {type(None): "null", dict: "object", list: "array", Decimal: "float"}
    return names.get(type(value), type(value).__name__)
