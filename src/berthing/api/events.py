"""Events, by which users are told what happened to an object.

Upstream: api/events/v1/types.go, and api/core/v1/types.go for the older form (v1.36.4).
An API server keeps one and the same event for both; they differ in the names of fields.
"""

from __future__ import annotations

import msgspec

from berthing.api.core import EventSource, ObjectReference
from berthing.api.meta import ApiObject, Int32, MicroTime, Time, Value


class EventSeries(Value, frozen=True, kw_only=True):
    """How often the same event happened, and when last."""

    count: Int32 = 0
    last_observed_time: MicroTime | None = None


class Event(ApiObject, frozen=True, kw_only=True):
    """An event of events.k8s.io."""

    event_time: MicroTime | None = None
    series: EventSeries | None = None
    reporting_controller: str = ""
    reporting_instance: str = ""
    action: str = ""
    reason: str = ""
    regarding: ObjectReference = ObjectReference()
    related: ObjectReference | None = None
    note: str = ""
    type: str = ""
    deprecated_source: EventSource = EventSource()
    deprecated_first_timestamp: Time | None = None
    deprecated_last_timestamp: Time | None = None
    deprecated_count: Int32 = 0


class CoreEvent(ApiObject, frozen=True, kw_only=True):
    """An event of the core API, as `kubectl get events` shows it."""

    involved_object: ObjectReference = ObjectReference()
    reason: str = ""
    message: str = ""
    source: EventSource = EventSource()
    first_timestamp: Time | None = None
    last_timestamp: Time | None = None
    count: Int32 = 0
    type: str = ""
    event_time: MicroTime | None = None
    series: EventSeries | None = None
    action: str = ""
    related: ObjectReference | None = None
    reporting_controller: str = msgspec.field(default="", name="reportingComponent")
    reporting_instance: str = ""
