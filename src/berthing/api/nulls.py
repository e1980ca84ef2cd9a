"""Explicit nulls in JSON: what Go makes of them.

    "containers": null     in an object, null stands for an absent field
    "labels": {"a": null}  in a map or list, for the zero value: the label is there, and empty

Our types take null where upstream has pointers and times, which covers what API servers send in
masses.  Anywhere else decoding stops, and only then this module is asked to take the nulls out.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import inspect


def without_nulls(value: object, type_: type) -> object:
    """The same JSON value with no nulls in it but those that the type takes.

    Fields that the type does not know go as well.
    """
    return _clean(value, _type_info(type_))


@lru_cache
def _type_info(type_: type) -> inspect.Type:
    return inspect.type_info(type_)


def _clean(value: object, info: inspect.Type) -> object:
    if isinstance(info, inspect.Metadata):
        return _clean(value, info.type)
    if isinstance(info, inspect.UnionType):
        return _clean_optional(value, info)
    if isinstance(value, dict) and isinstance(info, inspect.StructType):
        return {
            field.encode_name: _clean(value[field.encode_name], field.type)
            for field in info.fields
            if value.get(field.encode_name) is not None
        }
    if isinstance(value, dict) and isinstance(info, inspect.DictType):
        return {key: _clean_element(each, info.value_type) for key, each in value.items()}
    if isinstance(value, list) and isinstance(info, inspect.VarTupleType):
        return [_clean_element(each, info.item_type) for each in value]
    return value


def _clean_optional(value: object, info: inspect.UnionType) -> object:
    present = [each for each in info.types if not isinstance(each, inspect.NoneType)]
    return _clean(value, present[0]) if len(present) == 1 else value


def _clean_element(value: object, info: inspect.Type) -> object:
    return _zero(info) if value is None else _clean(value, info)


def _zero(info: inspect.Type) -> object:
    match info:
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
