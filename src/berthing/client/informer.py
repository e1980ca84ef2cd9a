"""Keeps a sink up to date about all objects of one kind, through whatever happens on the way.

    list, page by page ---> watch from there ---> the watch ends ---> watch on from where it ended
          ^                                                                    |
          +------------- the server has forgotten that point, or a frame says ERROR

Upstream: client-go/tools/cache/reflector.go, shared_informer.go (v1.36.4).
Differs:  lists ask for the most recent state, in pages (see `lists`); a watch that says nothing
          for three minutes is cut and resumed, for over HTTP/1.1 nobody else would notice that the
          other side has gone; objects that cannot be read are reported and left as they were.

A watch that ends is nothing special: servers end each after 5 to 10 minutes, as they are asked to.
Whatever fails is tried again, forever, after 0.8 to 30 seconds and some jitter.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from typing import Final, Generic, Never, TypeVar
from urllib.parse import urlencode

import msgspec

from berthing.api.decode import DecodeError, WrongTypeError, decode_watch_event
from berthing.api.errors import (
    ApiError,
    ClientError,
    ExpiredError,
    NoAnswerError,
    NotFoundError,
    error_of,
)
from berthing.api.kinds import kind_of
from berthing.api.meta import ApiObject, Status, Value
from berthing.client.api_client import ApiClient
from berthing.client.backoff import Backoff
from berthing.client.known_objects import KnownObjects, Sink
from berthing.client.lists import PAGE_SIZE, pages
from berthing.client.transport import Stream
from berthing.client.unreadable import unreadable
from berthing.telemetry import logs

T = TypeVar("T", bound=ApiObject)

_log = logs.get("client.informer")

# Of pods that are over a scheduler need not hear; they leave with a deletion.
LIVE_PODS: Final = "status.phase!=Succeeded,status.phase!=Failed"

_MIN_WATCH_SECONDS: Final = 300
# Servers send a bookmark every minute: three have not come.
_SILENCE_SECONDS: Final = 180.0


class Informer(Generic[T]):
    """Lists and watches one kind; the sink hears of every change."""

    def __init__(
        self,
        type_: type[T],
        *,
        client: ApiClient,
        sink: Sink,
        random: random.Random,
        field_selector: str = "",
        page_size: int = PAGE_SIZE,
    ) -> None:
        self._type = type_
        self._client = client
        self._random = random
        self._field_selector = field_selector
        self._page_size = page_size
        self._known = KnownObjects(type_, sink)
        self._backoff = Backoff(initial_seconds=0.8, max_seconds=30, random=random)
        self._synced = asyncio.Event()
        # Where to watch from; empty if only a list can tell.
        self._version = ""
        # Whether the watch brought anything, be it a bookmark.
        self._progressed = False

    @property
    def objects(self) -> Mapping[str, T]:
        """The objects as last seen, by `namespace/name`."""
        return self._known.by_key

    @property
    def is_synced(self) -> bool:
        """Whether all objects have been seen once."""
        return self._synced.is_set()

    async def wait_synced(self) -> None:
        """Return once the sink has heard of all objects."""
        await self._synced.wait()

    async def run(self) -> Never:
        """List and watch until cancelled."""
        while True:
            self._progressed = False
            try:
                if not self._version:
                    await self._list()
                await self._watch()
            except ClientError as error:
                if self._is_not_served(error):
                    self._version = ""
                    self._known.keep_only(())
                    self._synced.set()
                elif _has_lost_track(error):
                    self._version = ""
                _log.warning("List or watch failed", kind=self._kind, err=error)
            if self._progressed:
                self._backoff.reset()
            else:
                await self._backoff.wait()

    def _is_not_served(self, error: ClientError) -> bool:
        """Whether the server does not have the kind, as older ones lack some: so it has no objects.

        Kinds without an API group are everywhere: where they are missing, it is the wrong server.
        """
        return isinstance(error, NotFoundError) and "/" in kind_of(self._type).api_version

    async def _list(self) -> None:
        try:
            version = await self._list_pages(self._page_size)
        except ExpiredError:
            # The server forgets faster than we turn pages.
            version = await self._list_pages(0)
        self._version = version
        self._synced.set()

    async def _list_pages(self, page_size: int) -> str:
        keys: set[str] = set()
        version = ""
        listing = pages(
            self._client, self._type, field_selector=self._field_selector, page_size=page_size
        )
        async for page in listing:
            for item in page.items:
                keys.add(item.key)
                self._known.listed(item)
            keys.update(page.unreadable)
            version = page.resource_version
        self._known.keep_only(keys)
        return version

    async def _watch(self) -> None:
        async with self._client.open(self._watch_path()) as stream:
            try:
                await self._follow(stream)
            except (TimeoutError, NoAnswerError) as error:
                # As good as an end: what came before is applied, what comes next is asked for.
                _log.v4("Watch broke off", kind=self._kind, err=error)

    async def _follow(self, stream: Stream) -> None:
        now = asyncio.get_running_loop().time
        rest = b""
        async with asyncio.timeout(_SILENCE_SECONDS) as silence:
            async for chunk in stream:
                silence.reschedule(now() + _SILENCE_SECONDS)
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._apply(line)
                self._progressed = True
            # What is left of a line is dropped: the watch goes on before it.

    def _watch_path(self) -> str:
        kind = kind_of(self._type)
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            # All watches end at different times, or they would all come back at once.
            "timeoutSeconds": str(int(_MIN_WATCH_SECONDS * (1 + self._random.random()))),
        }
        if self._field_selector:
            query["fieldSelector"] = self._field_selector
        return f"{kind.path}?{urlencode(query)}"

    def _apply(self, line: bytes) -> None:
        try:
            event = decode_watch_event(line, self._type)
        except WrongTypeError as error:
            self._apply_unreadable(line, error)
            return
        except DecodeError as error:
            raise _BrokenWatchError(f"no event: {error}") from error
        if isinstance(event, Status):
            raise _BrokenWatchError(event.message or event.reason) from error_of(event)
        match event.type:
            case "ADDED" | "MODIFIED":
                is_news = self._known.seen(event.object)
            case "DELETED":
                is_news = self._known.deleted(event.object)
            case "BOOKMARK":
                is_news = True
            case _:
                raise _BrokenWatchError(f"unknown event type {event.type!r}")
        if is_news:
            self._version = event.object.metadata.resource_version

    def _apply_unreadable(self, line: bytes, error: WrongTypeError) -> None:
        event = msgspec.json.decode(line, type=_UnreadableEvent)
        stub = unreadable(event.object, self._type, error)
        # That it is gone can be read all the same.
        if event.type == "DELETED":
            self._known.deleted(stub)

    @property
    def _kind(self) -> str:
        return kind_of(self._type).kind


class _UnreadableEvent(Value, frozen=True, kw_only=True):
    type: str
    object: msgspec.Raw


class _BrokenWatchError(ClientError):
    """A watch that may have left something out."""


def _has_lost_track(error: ClientError) -> bool:
    """Whether a list must tell what a watch did not."""
    if isinstance(error, ApiError):
        return isinstance(error, ExpiredError) or error.is_resource_version_too_large
    return isinstance(error, _BrokenWatchError)
