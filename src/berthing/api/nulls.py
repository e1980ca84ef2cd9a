"""Explicit nulls in JSON: what Go makes of them.

    "containers": null     in an object, null stands for an absent field
    "labels": {"a": null}  in a map or list, for the zero value: the label is there, and empty

Our types take null where upstream has pointers and times, which covers what API servers send in
masses.  Anywhere else decoding stops, and only then this module is asked to take the nulls out.
It walks no further than the type does, so that what is skipped anyway costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from msgspec import inspect

# Takes the nulls out of a JSON value of one type.
Clean = Callable[[object], object]


def without_nulls(value: object, type_: type) -> object:
    """The same JSON value with no nulls in it but those that the type takes.

    Fields that the type does not know go as well.
    """
    clean = _cleaner_of(type_)
    return value if clean is None else clean(value)


@lru_cache
def _cleaner_of(type_: type) -> Clean | None:
    return _cleaner(inspect.type_info(type_))


def _cleaner(info: inspect.Type) -> Clean | None:
    """How values of a type are cleaned; None if nothing in them can be."""
    match info:
        case inspect.Metadata():
            return _cleaner(info.type)
        case inspect.UnionType():
            present = [each for each in info.types if not isinstance(each, inspect.NoneType)]
            return _cleaner(present[0]) if len(present) == 1 else None
        case inspect.StructType():
            return _struct_cleaner(info)
        case inspect.DictType():
            return _dict_cleaner(info)
        case inspect.VarTupleType():
            return _tuple_cleaner(info)
        case _:
            return None


def _struct_cleaner(info: inspect.StructType) -> Clean:
    cleaners = {field.encode_name: _cleaner(field.type) for field in info.fields}

    def clean(value: object) -> object:
        if not isinstance(value, dict):
            return value
        cleaned = {}
        for name, inner in value.items():
            if inner is not None and name in cleaners:
                clean_inner = cleaners[name]
                cleaned[name] = inner if clean_inner is None else clean_inner(inner)
        return cleaned

    return clean


def _dict_cleaner(info: inspect.DictType) -> Clean:
    clean_element = _element_cleaner(info.value_type)

    def clean(value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {key: clean_element(element) for key, element in value.items()}

    return clean


def _tuple_cleaner(info: inspect.VarTupleType) -> Clean:
    clean_element = _element_cleaner(info.item_type)

    def clean(value: object) -> object:
        return [clean_element(each) for each in value] if isinstance(value, list) else value

    return clean


def _element_cleaner(info: inspect.Type) -> Clean:
    zero, clean = _zero(info), _cleaner(info)

    def clean_element(value: object) -> object:
        if value is None:
            return zero
        return value if clean is None else clean(value)

    return clean_element


def _zero(info: inspect.Type) -> object:
    match info:
        case inspect.Metadata():
            return _zero(info.type)
        case inspect.StrType():
            return ""
        case inspect.BoolType():
            return False
        case inspect.IntType():
            return 0
        case inspect.StructType() | inspect.DictType():
            return {}
        case inspect.VarTupleType():
            return []
        case _:
            # Quantities read null as zero themselves, and optional values take it.
            return None
