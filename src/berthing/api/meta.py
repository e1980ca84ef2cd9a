"""What all API objects have in common: metadata, owners, conditions, list metadata, status.

Upstream: apimachinery/pkg/apis/meta/v1/types.go (v1.36.4).
Differs:  only what a scheduler reads is kept.  Unknown fields, `managedFields` above all, are
          skipped while decoding and never become objects.

Rules for every type of this room:

1. Names are upstream's in snake_case; `rename` makes the wire names.  Odd ones are spelt out.
2. Values are frozen and hold nothing that changes, so they can be shared and never form cycles.
   That is why the garbage collector need not track them (`gc=False`): 50,000 pods cost it nothing.
3. No field is required and what is absent has Go's zero value: "", 0, (), or an empty mapping.
   None stands for absent only where upstream has a pointer and tells it from the zero value.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, NewType

import msgspec

from berthing.api.frozen import EMPTY

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

# A time on the wire; one without a zone is no time.
Time = Annotated[datetime, msgspec.Meta(tz=True)]

# A time with microseconds stays text: API servers insist on six digits, and a datetime that
# falls on a full second would be written without any.
MicroTime = NewType("MicroTime", str)


def micro_time(moment: datetime) -> MicroTime:
    """Write a time with microseconds, as leases and events want it; the zone must be known."""
    return MicroTime(moment.isoformat(timespec="microseconds").replace("+00:00", "Z"))


class Value(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A part of an API object."""


class OwnerReference(Value, frozen=True, kw_only=True):
    """An object that this one belongs to; at most one owner is the controller."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectMeta(Value, frozen=True, kw_only=True):
    """What identifies an object, and how it is labelled."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: Mapping[str, str] = EMPTY
    annotations: Mapping[str, str] = EMPTY
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages this object, if any does."""
        for owner in self.owner_references:
            if owner.controller:
                return owner
        return None


class ApiObject(Value, frozen=True, kw_only=True):
    """An object with a name of its own in the API; `kinds.kind_of` says what it is."""

    metadata: ObjectMeta = ObjectMeta()

    @property
    def name(self) -> str:
        """The name, unique among its kind in its namespace."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """The namespace; empty for what lives in none."""
        return self.metadata.namespace

    @property
    def key(self) -> str:
        """`namespace/name`, or the name alone of what lives in no namespace."""
        metadata = self.metadata
        return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


class ListMeta(Value, frozen=True, kw_only=True):
    """Where a list stands in the history of the cluster, and whether it goes on."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: Int64 | None = None


class Condition(Value, frozen=True, kw_only=True):
    """One aspect of how an object is doing."""

    type: str = ""
    status: str = ""
    observed_generation: Int64 = 0
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class StatusCause(Value, frozen=True, kw_only=True):
    """One of several reasons for a failure, and the field it is about."""

    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(Value, frozen=True, kw_only=True):
    """What a failure is about, and when it is worth trying again."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[StatusCause, ...] = ()
    retry_after_seconds: Int32 = 0


class Status(Value, frozen=True, kw_only=True):
    """What an API server answers instead of an object, mostly because something failed."""

    status: str = ""
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None
    code: Int32 = 0
