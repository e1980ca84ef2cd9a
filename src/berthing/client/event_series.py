"""Which events are one and the same, happening again.

Upstream: client-go/tools/events/event_broadcaster.go (v1.36.4).
Differs:  10,000 events are remembered, where upstream remembers any number for 6 minutes.

    first ---> written as it is
    second ---> the first becomes a series with a count of 2, which is written
    more ---> only counted; every 30 minutes the count is written
    none for 6 minutes ---> the final count is written, and the next one is a first again

Events are the same if they are about the same state of the same object, for the same reason; what
their notes say does not matter, and a series keeps the note of its first event.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

from berthing.api.events import Event, EventSeries

FINISH_SECONDS: Final = 6 * 60.0
REFRESH_SECONDS: Final = 30 * 60.0


# More events than this are taken for new ones, the oldest first: a pod is scheduled once, and a
# thousand pods a second would fill the memory with what is never asked for again.
_MAX_REMEMBERED: Final = 10_000


class _Seen(msgspec.Struct):
    event: Event
    last_seen: float


class EventSeriesCache:
    """Turns events that are the same into series; times are in seconds, as `now` gives them."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, ...], _Seen] = {}

    def add(self, event: Event, now: float) -> Event | None:
        """What is to be written now that the event has happened: it, a series, or nothing."""
        key = _key(event)
        seen = self._seen.get(key)
        if seen is None:
            self._seen[key] = _Seen(event, now)
            if len(self._seen) > _MAX_REMEMBERED:
                del self._seen[next(iter(self._seen))]
            return event
        before = seen.event.series
        count = before.count + 1 if before else 2
        series = EventSeries(count=count, last_observed_time=event.event_time)
        seen.event = replace(seen.event, series=series)
        seen.last_seen = now
        return seen.event if before is None else None

    def refreshed(self) -> list[Event]:
        """Series that go on, to be written again so that they do not expire."""
        return [seen.event for seen in self._seen.values() if seen.event.series is not None]

    def finished(self, now: float) -> list[Event]:
        """Forget what has not happened for a while; series among it are to be written at last."""
        over = [key for key, seen in self._seen.items() if seen.last_seen < now - FINISH_SECONDS]
        events = [self._seen.pop(key).event for key in over]
        return [event for event in events if event.series is not None]


def _key(event: Event) -> tuple[str, ...]:
    # Uid and resource version stand for all that is known of the object.
    regarding = event.regarding
    return (
        regarding.uid,
        regarding.resource_version,
        regarding.name,
        event.reason,
        event.type,
        event.action,
        event.reporting_controller,
    )
