"""Bindings, counted as they happen, at the least cost to everybody else on the machine.

    watch pods with a node  ->  a pod that gets one comes into view: ADDED  ->  count, time

The watch asks for protobuf, which an API server writes faster than JSON, and nothing of it is
decoded: pieces are told apart by their lengths, and counted by the word in front.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Final
from urllib.parse import urlencode

from berthing.api.errors import ClientError
from berthing.bench.drain.errors import DrainError
from berthing.client.transport import Request, Stream, Transport

_PROTOBUF: Final = "application/vnd.kubernetes.protobuf;stream=watch"
_LENGTH_BYTES: Final = 4
# An event begins with a few bytes of framing and its type; the pod comes after.
_HEAD_BYTES: Final = 64
_OK: Final = 200


class Bindings:
    """How many pods have been bound, when the first was and when the last."""

    def __init__(self) -> None:
        self.count = 0
        self.first_at = 0.0
        self.last_at = 0.0
        self._fault = ""
        self._changed = asyncio.Event()

    def add(self, count: int) -> None:
        """So many were bound just now."""
        now = time.perf_counter()
        self.first_at = self.first_at or now
        self.last_at = now
        self.count += count
        self._changed.set()

    def end(self, fault: str) -> None:
        """No more will be counted, for this reason; the first one counts."""
        self._fault = self._fault or fault
        self._changed.set()

    async def wait(self, count: int, *, patience_seconds: float) -> None:
        """Wait until so many are bound.

        Raises TimeoutError if none was bound for too long, DrainError if nobody counts any more.
        """
        while self.count < count:
            if self._fault:
                raise DrainError(self._fault)
            self._changed.clear()
            async with asyncio.timeout(patience_seconds):
                await self._changed.wait()


@asynccontextmanager
async def watched(transport: Transport, path: str, *, since: str) -> AsyncIterator[Bindings]:
    """Count the pods of a list that get a node, from a resource version on."""
    query = urlencode(
        {
            "watch": 1,
            "fieldSelector": "spec.nodeName!=",
            "resourceVersion": since,
            "timeoutSeconds": 3600,
        }
    )
    request = Request(
        method="GET",
        path=f"{path}?{query}",
        headers={"accept": f"{_PROTOBUF}, application/json"},
    )
    async with transport.open(request) as stream:
        if stream.status != _OK:
            raise DrainError(f"the API server refused to be watched: status {stream.status}")
        bindings = Bindings()
        reading = asyncio.create_task(_read(stream, bindings), name="count bindings")
        try:
            yield bindings
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading


async def _read(stream: Stream, bindings: Bindings) -> None:
    is_protobuf = "protobuf" in stream.headers.get("content-type", "")
    pieces = Frames() if is_protobuf else Lines()
    try:
        async for chunk in stream:
            if bound := sum(b"ADDED" in piece[:_HEAD_BYTES] for piece in pieces.feed(chunk)):
                bindings.add(bound)
    except ClientError as error:
        bindings.end(f"the watch on pods broke: {error}")
    finally:
        bindings.end("the API server ended the watch on pods")


class Frames:
    """Pieces of a protobuf watch: four bytes of length, and so many more."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The pieces that are complete with this chunk."""
        self._rest += chunk
        start = 0
        while (body := start + _LENGTH_BYTES) <= len(self._rest):
            end = body + int.from_bytes(self._rest[start:body])
            if end > len(self._rest):
                break
            yield bytes(self._rest[body : min(end, body + _HEAD_BYTES)])
            start = end
        del self._rest[:start]


class Lines:
    """Pieces of a JSON watch."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The pieces that are complete with this chunk."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        yield from lines
