"""One HTTP/1.1 connection: one request at a time, and its answer whole or in pieces.

    idle ---> request written ---> headers ---> body ... ---> complete ---> idle, or closed
                    |                 |            |
                    +----- the connection is lost, or is aborted by whoever no longer waits

Parsing is httptools' (llhttp, the parser of Node); TLS is asyncio's.  1xx answers are skipped.
An answer that says nothing of its length ends with the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from functools import lru_cache
from typing import cast

import httptools

from berthing.api.errors import BadAnswerError, NoAnswerError
from berthing.client.identity import Certificate
from berthing.client.transport import Response

# Of a stream that is read more slowly than it comes, no more than about this much is kept.
_HIGH_WATER_BYTES = 1 << 20
_MAX_HEADER_BYTES = 1 << 20
_FIRST_FINAL_STATUS = 200


class ConnectionLostError(NoAnswerError):
    """The connection broke; `answer_began` if something had come back by then."""

    def __init__(self, message: str, *, answer_began: bool) -> None:
        super().__init__(message)
        self.answer_began = answer_began


class HttpConnection(asyncio.Protocol):
    """A connection; `on_closed` is told when it can no longer be used."""

    def __init__(
        self, certificate: Certificate | None, on_closed: Callable[[HttpConnection], None]
    ) -> None:
        # Whom the server takes us for.
        self.certificate = certificate
        self._on_closed = on_closed
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        # When it was last used, by the loop's clock.
        self.idle_since = 0.0
        self._is_closed = False
        self._is_reading = True
        self._begin(wants_stream=False)
        # Until there is a request, nothing is expected.
        self._is_complete = True

    def _begin(self, *, wants_stream: bool) -> None:
        self._wants_stream = wants_stream
        self._headers: dict[str, str] = {}
        self._header_bytes = 0
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._status = 0
        self._answer_began = False
        self._is_complete = False
        self._keeps_alive = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def is_usable(self) -> bool:
        """Whether another request may be sent."""
        return not self._is_closed

    @property
    def is_reusable(self) -> bool:
        """Whether the answer is complete, and the server keeps the connection open."""
        transport = self._transport
        return (
            self._is_complete
            and self._keeps_alive
            and not self._is_closed
            and transport is not None
            and not transport.get_write_buffer_size()
        )

    def abort(self) -> None:
        """Drop the connection at once, with whatever is still on its way."""
        self._closed()
        if self._transport is not None:
            self._transport.abort()

    async def exchange(self, data: bytes) -> Response:
        """Send a request and wait for the whole answer."""
        self._send(data, wants_stream=False)
        while not self._is_complete:
            await self._wait()
        return Response(status=self._status, headers=self._headers, body=b"".join(self._body))

    async def open(self, data: bytes) -> HttpStream:
        """Send a request and wait for the headers of the answer."""
        self._send(data, wants_stream=True)
        while not self._status:
            await self._wait()
        return HttpStream(self, self._status, self._headers)

    async def read(self) -> bytes:
        """The next piece of the body; empty at its end."""
        while not self._body and not self._is_complete:
            await self._wait()
        # Several pieces at once are handed on as one: readers look for the ends of lines.
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        self._body.clear()
        self._body_bytes = 0
        if not self._is_reading and self._transport is not None and not self._is_closed:
            self._is_reading = True
            self._transport.resume_reading()
        return body

    def _send(self, data: bytes, *, wants_stream: bool) -> None:
        assert self._transport is not None, "it has been opened"
        self._begin(wants_stream=wants_stream)
        self._parser = httptools.HttpResponseParser(self)
        if self._is_closed:
            self._fail("the server has closed the connection")
        self._transport.write(data)

    async def _wait(self) -> None:
        if self._error is not None:
            raise self._error
        self._waiter = self._loop.create_future()
        await self._waiter

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _fail(self, message: str) -> None:
        if not self._is_complete and self._error is None:
            self._error = ConnectionLostError(message, answer_began=self._answer_began)
        self._wake()

    def _closed(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._on_closed(self)

    # What asyncio tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open, TLS included."""
        # Of uvloop's transports, those with TLS are no instances of it.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Feed the parser, which calls the methods below."""
        if self._is_complete or self._is_closed:
            # Nobody asked: whatever this is, it is not the answer to the next request.
            self.abort()
            return
        self._answer_began = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._break("the server wants to speak another protocol")
        except httptools.HttpParserError as error:
            self._break(f"the answer is no HTTP: {error}")

    def eof_received(self) -> None:
        """The other side will send no more."""
        self._closed()

    def connection_lost(self, error: Exception | None) -> None:
        """It is over, and an answer that does not tell its length is complete."""
        self._closed()
        if self._status and not self._has_length and not self._is_complete and error is None:
            self.on_message_complete()
        else:
            self._fail(f"the connection broke off{f': {error}' if error else ''}")

    def _break(self, message: str) -> None:
        if self._error is None:
            self._error = BadAnswerError(message)
        self.abort()
        self._wake()

    # What the parser tells.

    def on_message_begin(self) -> None:
        """An answer begins, or a 1xx; two answers to one request are one too many."""
        if self._is_complete:
            raise ValueError("more than one answer")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header, of this answer or of a 1xx that goes before it."""
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > _MAX_HEADER_BYTES:
            raise ValueError(f"headers of more than {_MAX_HEADER_BYTES} bytes")
        self._headers[_header_name(name)] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """The answer has begun, unless it is a 1xx."""
        status = self._parser.get_status_code()
        if status < _FIRST_FINAL_STATUS:
            self._headers = {}
            return
        self._status = status
        if self._wants_stream:
            self._wake()

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body; stop reading while nobody takes them."""
        self._body.append(body)
        if not self._wants_stream:
            return
        self._wake()
        self._body_bytes += len(body)
        if self._body_bytes > _HIGH_WATER_BYTES and self._is_reading:
            assert self._transport is not None, "it is what data comes from"
            self._is_reading = False
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        """The answer is complete, unless it is a 1xx."""
        if not self._status:
            return
        self._is_complete = True
        self._keeps_alive = self._parser.should_keep_alive()
        self._wake()

    @property
    def _has_length(self) -> bool:
        return "content-length" in self._headers or "transfer-encoding" in self._headers


@lru_cache(maxsize=256)
def _header_name(name: bytes) -> str:
    return name.decode("latin-1").lower()


class HttpStream:
    """An answer that is read while it comes."""

    def __init__(self, connection: HttpConnection, status: int, headers: Mapping[str, str]) -> None:
        self._connection = connection
        self.status = status
        self.headers = headers

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The body in pieces; raises NoAnswerError if it breaks off."""
        while piece := await self._connection.read():
            yield piece
