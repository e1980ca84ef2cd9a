"""Writes the events that `kubectl describe` shows, in the background, as well as it can.

Upstream: client-go/tools/events/event_recorder.go, event_broadcaster.go (v1.36.4).
Differs:  at most 1,000 events wait, those that are tried again included, where upstream keeps any
          number of the latter; errors of the server (429 and 5xx) are tried again as well; events
          are always written to events.k8s.io/v1, which every API server has had since v1.19.

    recorder.event() ---> the same as before? (`event_series`) ---> queue ---> writers ---> server
                                                                      ^           |
                                                                      +- later ---+ no answer

Recording never fails and never waits.  When too many wait, the new one is dropped.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import UTC, datetime
from types import NoneType
from typing import Final

import msgspec
from msgspec.structs import replace

from berthing.api.core import ObjectReference
from berthing.api.errors import (
    AlreadyExistsError,
    ApiError,
    ClientError,
    NotFoundError,
    ServerError,
    TooManyRequestsError,
)
from berthing.api.events import Event
from berthing.api.kinds import kind_of
from berthing.api.meta import ApiObject, ObjectMeta, micro_time
from berthing.client.api_client import ApiClient
from berthing.client.event_series import FINISH_SECONDS, REFRESH_SECONDS, EventSeriesCache
from berthing.telemetry import logs

_log = logs.get("client.event_recorder")

MAX_WAITING: Final = 1000
MAX_TRIES: Final = 12
_WRITERS: Final = 32
_RETRY_SECONDS: Final = 10.0
_RETRY_JITTER: Final = 0.25
# What an API server accepts at most.
_NOTE_BYTES: Final = 1024
_CUT: Final = " ..."
_TYPES: Final = ("Normal", "Warning")


class _Write(msgspec.Struct):
    event: Event
    tries: int = 0


class EventBroadcaster:
    """Takes events from recorders and writes them; one for the whole process."""

    def __init__(
        self,
        client: ApiClient,
        *,
        hostname: str,
        now: Callable[[], float],
        random: random.Random,
    ) -> None:
        self._client = client
        self._hostname = hostname
        self._now = now
        self._random = random
        self._series = EventSeriesCache()
        self._queue: asyncio.Queue[_Write] = asyncio.Queue()
        # Writes in the queue, under way, or to be tried again later.
        self._waiting = 0
        self._last_nanos = 0

    def recorder(self, reporting_controller: str) -> Recorder:
        """A recorder that speaks for a controller: under a profile's schedulerName."""
        return Recorder(self, reporting_controller, f"{reporting_controller}-{self._hostname}")

    async def run(self) -> None:
        """Write events until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for number in range(_WRITERS):
                tasks.create_task(self._write_events(), name=f"event writer {number}")
            tasks.create_task(self._finish_series(), name="finish event series")
            tasks.create_task(self._refresh_series(), name="refresh event series")

    async def wait_written(self) -> None:
        """Return once nothing is left to be written but what failed and waits to be tried again."""
        await self._queue.join()

    def record(self, event: Event) -> None:
        """Take an event that is complete but for its name and time."""
        now = self._now()
        # Names are made of the time: no two events may have the same.
        self._last_nanos = max(int(now * 1e9), self._last_nanos + 1)
        name = f"{event.regarding.name}.{self._last_nanos:x}"
        namespace = event.regarding.namespace or "default"
        dated = replace(
            event,
            metadata=ObjectMeta(name=name, namespace=namespace),
            event_time=micro_time(datetime.fromtimestamp(now, UTC)),
        )
        if (due := self._series.add(dated, now)) is not None:
            self._enqueue(due)

    def _enqueue(self, event: Event) -> None:
        if self._waiting == MAX_WAITING:
            _log.warning(
                "Event dropped, too many wait to be written",
                regarding=event.regarding.name,
                reason=event.reason,
            )
            return
        self._waiting += 1
        self._queue.put_nowait(_Write(event))

    async def _write_events(self) -> None:
        while True:
            write = await self._queue.get()
            try:
                if await self._is_settled(write):
                    self._waiting -= 1
                else:
                    self._write_later(write)
            finally:
                self._queue.task_done()

    async def _is_settled(self, write: _Write) -> bool:
        """Write an event; False if it is worth another try."""
        write.tries += 1
        try:
            await self._write(write.event)
        except ClientError as error:
            is_settled = write.tries == MAX_TRIES or not _may_pass(error, write.event)
            _log.warning(
                "Unable to write event",
                regarding=write.event.regarding.name,
                reason=write.event.reason,
                retry=not is_settled,
                err=error,
            )
            return is_settled
        return True

    async def _write(self, event: Event) -> None:
        path = f"{_PATH}/namespaces/{event.namespace}/events"
        if event.series is not None:
            try:
                return await self._client.request(
                    "PATCH",
                    f"{path}/{event.name}",
                    body={"series": event.series},
                    content_type="application/strategic-merge-patch+json",
                    type_=NoneType,
                )
            except NotFoundError:
                pass  # It expired: make it anew.
        return await self._client.request("POST", path, body=event, type_=NoneType)

    def _write_later(self, write: _Write) -> None:
        delay = _RETRY_SECONDS * (1 + _RETRY_JITTER * self._random.random())
        asyncio.get_running_loop().call_later(delay, self._queue.put_nowait, write)

    async def _finish_series(self) -> None:
        while True:
            await asyncio.sleep(FINISH_SECONDS)
            for event in self._series.finished(self._now()):
                self._enqueue(event)

    async def _refresh_series(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            for event in self._series.refreshed():
                self._enqueue(event)


class Recorder:
    """Records events in the name of one controller."""

    def __init__(
        self, broadcaster: EventBroadcaster, reporting_controller: str, reporting_instance: str
    ) -> None:
        self._broadcaster = broadcaster
        self._controller = reporting_controller
        self._instance = reporting_instance

    def event(self, regarding: object, *, type_: str, reason: str, action: str, note: str) -> None:
        """Record an event about an object: type Normal or Warning, a CamelCase reason, a text."""
        if not isinstance(regarding, ApiObject) or type_ not in _TYPES:
            _log.error(
                None,
                "Event not recorded: it needs an API object, and a type of Normal or Warning",
                regarding=type(regarding).__name__,
                type=type_,
                reason=reason,
            )
            return
        self._broadcaster.record(
            Event(
                reporting_controller=self._controller,
                reporting_instance=self._instance,
                action=action,
                reason=reason,
                regarding=_reference(regarding),
                note=_cut(note),
                type=type_,
            )
        )


def _reference(obj: ApiObject) -> ObjectReference:
    kind = kind_of(type(obj))
    metadata = obj.metadata
    return ObjectReference(
        api_version=kind.api_version,
        kind=kind.kind,
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
    )


def _cut(note: str) -> str:
    text = note.encode()
    if len(text) <= _NOTE_BYTES:
        return note
    # Half a character at the end is left out.
    return text[: _NOTE_BYTES - len(_CUT)].decode(errors="ignore") + _CUT


def _may_pass(error: ClientError, event: Event) -> bool:
    if isinstance(error, AlreadyExistsError):
        # A series whose first event was still on its way when the patch did not find it.
        return event.series is not None
    return isinstance(error, ServerError | TooManyRequestsError) or not isinstance(error, ApiError)


_PATH: Final = "/apis/events.k8s.io/v1"
