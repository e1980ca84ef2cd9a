"""A JSON Schema of the configuration, so that editors complete it and underline mistakes.

It is made of the very types that files are read into, in draft 07, which editors know best.
Every object is closed.  Under `pluginConfig` the plugin's name decides what `args` may be.

A schema sees one object at a time and finds fewer mistakes than `berthing config check`.  It
underlines some that kube-scheduler lets pass: what nobody looks at, as the arguments of
NodeResourcesFit where it is disabled, or what has no effect, as an unknown operator in a preferred
term.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec import inspect

from berthing.config.default_plugins import IN_TREE, IN_TREE_ARGS, INVALID_PLUGINS
from berthing.config.durations import Duration
from berthing.config.schema_fields import FIELDS, RULES
from berthing.config.v1 import (
    ALL_PLUGINS,
    API_VERSION,
    KIND,
    MULTI_POINT,
    KubeSchedulerConfiguration,
    Plugin,
    PluginConfig,
    Plugins,
    PluginSet,
)

Schema: TypeAlias = dict[str, object]

_DIALECT = "http://json-schema.org/draft-07/schema#"

# Go's duration text, but for how long it may be.
_DURATION = r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"

_NO_TYPES: Mapping[str, type[msgspec.Struct]] = {}


def schema(args_types: Mapping[str, type[msgspec.Struct]] = _NO_TYPES) -> Schema:
    """The schema; `args_types` are the arguments of plugins that are not built in, by plugin."""
    maker = _SchemaMaker({**IN_TREE_ARGS, **args_types})
    root = maker.object_of(KubeSchedulerConfiguration)
    return {
        "$schema": _DIALECT,
        "title": KIND,
        **root,
        "required": ["apiVersion", "kind"],
        "definitions": dict(sorted(maker.definitions.items())),
    }


def args_schema(type_: type[msgspec.Struct]) -> Schema:
    """The schema of one plugin's arguments, or an exception: what has none cannot be read either."""
    return _SchemaMaker(_NO_TYPES).object_of(type_)


class _SchemaMaker:
    """Makes a definition of each type that it comes upon."""

    def __init__(self, args_types: Mapping[str, type[msgspec.Struct]]) -> None:
        self._args_types = args_types
        self._names: dict[type, str] = {}
        self.definitions: dict[str, Schema] = {}

    def object_of(self, type_: type[msgspec.Struct], **instead: Schema) -> Schema:
        """A closed object with the fields of a type, some of them replaced."""
        fields = _fields(type_)
        required = [field.encode_name for field in fields if field.required]
        return {
            "description": _first_line(type_),
            "type": "object",
            "properties": {
                name: instead.get(name) or self._property(type_, field)
                for name, field in ((field.encode_name, field) for field in fields)
            },
            **({"required": required} if required else {}),
            "additionalProperties": False,
            **RULES.get(type_, {}),
        }

    def _property(self, owner: type, field: inspect.Field) -> Schema:
        words = FIELDS.get(owner, {}).get(field.encode_name, {})
        typed = {} if "type" in words else self._type(field.type)
        # A Duration is the one type for which null does not mean unset, unless it may be unset.
        plain_duration = isinstance(field.type, inspect.StructType) and field.type.cls is Duration
        typed = typed if "const" in words or plain_duration else _nullable(typed)
        if "enum" in words:
            words = {**words, "enum": _with(_items(words["enum"]), None)}
        return {**typed, **words, **_default(field)}

    def _type(self, info: inspect.Type) -> Schema:
        match info:
            case inspect.Metadata(type=inner, extra_json_schema=extra):
                return {**self._type(inner), **(extra or {})}
            case inspect.UnionType(types=types):
                return self._union(types)
            case inspect.StructType(cls=cls):
                return _DURATION_TEXT if cls is Duration else self._reference(cls)
            case inspect.DictType(value_type=value):
                return {"type": "object", "additionalProperties": _nullable(self._type(value))}
            case (
                inspect.VarTupleType(item_type=item)
                | inspect.ListType(item_type=item)
                | inspect.CollectionType(item_type=item)
                | inspect.SetType(item_type=item)
                | inspect.FrozenSetType(item_type=item)
            ):
                return {"type": "array", "items": _nullable(self._type(item))}
            case _:
                return _scalar(info)

    def _union(self, types: Sequence[inspect.Type]) -> Schema:
        some = [self._type(each) for each in types if not isinstance(each, inspect.NoneType)]
        either: Schema = some[0] if len(some) == 1 else {"anyOf": some}
        return either if len(some) == len(types) else _nullable(either)

    def _reference(self, type_: type[msgspec.Struct]) -> Schema:
        if type_ not in self._names:
            self._names[type_] = self._free_name(type_.__name__)
            self.definitions[self._names[type_]] = self._definition(type_)
        return {"$ref": f"#/definitions/{self._names[type_]}"}

    def _free_name(self, name: str) -> str:
        """The name of a type; with a number if types of several plugins share it."""
        taken = {*self._names.values(), *(f"{plugin}Args" for plugin in self._args_types)}
        numbered = (f"{name}-{number}" for number in itertools.count(2))
        return next(each for each in itertools.chain([name], numbered) if each not in taken)

    def _definition(self, type_: type[msgspec.Struct]) -> Schema:
        if type_ is Plugins:
            return self.object_of(
                type_, **{field.encode_name: self._point(field) for field in _fields(Plugins)}
            )
        if type_ is PluginConfig:
            return self._plugin_config()
        return self.object_of(type_)

    def _point(self, field: inspect.Field) -> Schema:
        """What can be enabled and disabled at one point."""
        point = field.encode_name
        names = [
            name
            for name in {**IN_TREE, **self._args_types}
            if point == MULTI_POINT or name not in IN_TREE or point in IN_TREE[name].points
        ]
        wrong = sorted({*INVALID_PLUGINS, *IN_TREE} - {*names})
        enabled = self.object_of(Plugin, name=_plugin_name(names, refused=wrong))
        disabled = self.object_of(Plugin, name=_plugin_name([ALL_PLUGINS, *names]))
        words = FIELDS[PluginSet]
        self.definitions[f"{point}Plugins"] = self.object_of(
            PluginSet,
            enabled={"type": ["array", "null"], "items": _nullable(enabled), **words["enabled"]},
            disabled={"type": ["array", "null"], "items": _nullable(disabled), **words["disabled"]},
        )
        reference: Schema = {"$ref": f"#/definitions/{point}Plugins"}
        return {**_nullable(reference), **FIELDS[Plugins][point]}

    def _plugin_config(self) -> Schema:
        """The name of the plugin decides which type its arguments have."""
        for plugin, type_ in self._args_types.items():
            self.definitions[f"{plugin}Args"] = self._args(plugin, type_)
        return {
            **self.object_of(
                PluginConfig, name=_plugin_name(self._args_types, refused=sorted(INVALID_PLUGINS))
            ),
            "allOf": [
                {
                    "if": {"properties": {"name": {"const": plugin}}, "required": ["name"]},
                    "then": {
                        "properties": {"args": _nullable({"$ref": f"#/definitions/{plugin}Args"})}
                    },
                }
                for plugin in self._args_types
            ],
        }

    def _args(self, plugin: str, type_: type[msgspec.Struct]) -> Schema:
        """Arguments may say what they are."""
        made = self.object_of(type_)
        header: Schema = {
            "apiVersion": {
                "description": "The version of this format.",
                "enum": [API_VERSION, "", None],
            },
            "kind": {
                "description": "What these arguments are.",
                "enum": [f"{plugin}Args", "", None],
            },
        }
        return {**made, "properties": {**header, **_properties(made)}}


_DURATION_TEXT: Schema = {
    "type": "string",
    "pattern": _DURATION,
    "examples": ["15s", "1m30s", "500ms"],
}


def _fields(type_: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(type_)
    return info.fields if isinstance(info, inspect.StructType) else ()


def _first_line(type_: type) -> str:
    return (type_.__doc__ or type_.__name__).strip().partition("\n")[0]


def _scalar(info: inspect.Type) -> Schema:
    """A type without parts; what JSON Schema cannot say may be anything."""
    match info:
        case inspect.BoolType():
            return {"type": "boolean"}
        case inspect.IntType() | inspect.FloatType():
            number = "integer" if isinstance(info, inspect.IntType) else "number"
            return {"type": number, **_limits(info)}
        case inspect.StrType(pattern=pattern, min_length=shortest, max_length=longest):
            limits = {"pattern": pattern, "minLength": shortest, "maxLength": longest}
            return {"type": "string", **_given(limits)}
        case inspect.BytesType():
            return {"type": "string", "contentEncoding": "base64"}
        case inspect.LiteralType(values=values):
            return {"enum": list(values)}
        case inspect.EnumType(cls=cls):
            return {"enum": [member.value for member in cls]}
        case _:
            return {}


def _limits(info: inspect.IntType | inspect.FloatType) -> Schema:
    return _given(
        {
            "minimum": info.ge,
            "maximum": info.le,
            "exclusiveMinimum": info.gt,
            "exclusiveMaximum": info.lt,
            "multipleOf": info.multiple_of,
        }
    )


def _given(keywords: Mapping[str, object]) -> Schema:
    return {name: value for name, value in keywords.items() if value is not None}


def _nullable(typed: Schema) -> Schema:
    """The same, or null, which means unset."""
    if "$ref" in typed or "anyOf" in typed:
        return {"anyOf": _with(_items(typed.get("anyOf", [typed])), {"type": "null"})}
    if "enum" in typed:
        return {**typed, "enum": _with(_items(typed["enum"]), None)}
    if isinstance(typed.get("type"), str):
        return {**typed, "type": [typed["type"], "null"]}
    return typed


def _with(items: list[object], item: object) -> list[object]:
    return items if item in items else [*items, item]


def _plugin_name(names: Iterable[str], *, refused: Sequence[str] = ()) -> Schema:
    """Any name but the refused ones; `names` are those to propose."""
    return {
        **FIELDS[Plugin]["name"],
        "anyOf": [{"enum": [*names]}, {"type": ["string", "null"]}],
        **({"not": {"enum": [*refused]}} if refused else {}),
    }


def _default(field: inspect.Field) -> Schema:
    """The default, where it says more than that there is nothing."""
    default = field.default
    if default is msgspec.NODEFAULT or isinstance(default, msgspec.Struct):
        return {"default": str(default)} if isinstance(default, Duration) else {}
    return {} if default in (None, "", b"", ()) else {"default": _json(default)}


def _json(value: object) -> object:
    match value:
        case Duration():
            return str(value)
        case msgspec.Struct():
            names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
            return {encoded: _json(getattr(value, name)) for name, encoded in names}
        case list() | tuple() | set() | frozenset():
            return [_json(item) for item in value]
        case _:
            return msgspec.to_builtins(value)


def _items(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _properties(made: Schema) -> Schema:
    properties = made["properties"]
    return properties if isinstance(properties, dict) else {}
