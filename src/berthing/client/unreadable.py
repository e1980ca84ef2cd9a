"""Objects that an API server has and we cannot read.

That takes a field of a type that no version of Kubernetes gives it, so it should not happen.  If it
does, all other objects go on as before, and this one stays as it was when it could be read.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from berthing.api.decode import DecodeError
from berthing.api.meta import ApiObject, ObjectMeta, Value
from berthing.telemetry import logs

T = TypeVar("T", bound=ApiObject)

_log = logs.get("client.unreadable")


def unreadable(raw: msgspec.Raw, type_: type[T], error: DecodeError) -> T:
    """Report an object that we cannot read; one that has of it what tells it from others."""
    _log.error(error, "Object cannot be read and is left as it was")
    try:
        names = msgspec.json.decode(raw, type=_Named).metadata
    except msgspec.DecodeError:
        names = _Names()
    return type_(
        metadata=ObjectMeta(
            name=names.name,
            namespace=names.namespace,
            uid=names.uid,
            resource_version=names.resource_version,
        )
    )


class _Names(Value, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _Named(Value, frozen=True, kw_only=True):
    metadata: _Names = _Names()
