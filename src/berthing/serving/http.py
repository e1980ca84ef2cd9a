"""A small HTTP/1.1 server for what operators ask: is it well, what has it counted.

Answers are made at once by plain functions, so a request never waits inside, and whoever asks can
hold up nothing but himself:

1. A request must be complete within REQUEST_SECONDS and MAX_REQUEST_BYTES; garbage is answered
   with 400 and the connection closed.
2. Who does not read his answers is cut off after IDLE_SECONDS, or when he asks for more before.
3. No more than MAX_CONNECTIONS at a time.

No TLS and no authentication: it is meant for loopback.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final, cast
from urllib.parse import parse_qs

import httptools
import msgspec

from berthing.telemetry import logs

REQUEST_SECONDS: Final = 10.0
IDLE_SECONDS: Final = 60.0
CLOSE_SECONDS: Final = 5.0
MAX_REQUEST_BYTES: Final = 16 * 1024
MAX_CONNECTIONS: Final = 100

PLAIN_TEXT: Final = "text/plain; charset=utf-8"

log = logs.get("serving")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked: a path, and the words behind the question mark with all their values."""

    path: str
    query: Mapping[str, list[str]]


class Response(msgspec.Struct, frozen=True):
    """What is answered."""

    body: bytes
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = PLAIN_TEXT


Handler = Callable[[Request], Response]


class ServeError(Exception):
    """The address cannot be served on; says why."""


class Server:
    """Answers requests by their exact path until it is closed."""

    def __init__(self, routes: Mapping[str, Handler]) -> None:
        self._routes = routes
        self._connections: set[_Connection] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self._server: asyncio.Server | None = None

    async def listen(self, *, host: str, port: int) -> int:
        """Begin to answer; returns the port, which is a free one for port 0."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: _Connection(self), host, port)
        except OSError as error:
            raise ServeError(_why_not(error, host, port)) from error
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def close(self) -> None:
        """Take no more requests, and let answers under way go out for a while."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections):
            connection.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._empty.wait()
        except TimeoutError:
            for connection in list(self._connections):
                connection.abort()

    def entered(self, connection: _Connection) -> bool:
        """Whether there is room for one more; it must say when it left."""
        if len(self._connections) >= MAX_CONNECTIONS:
            return False
        self._connections.add(connection)
        self._empty.clear()
        return True

    def left(self, connection: _Connection) -> None:
        """A connection is gone."""
        self._connections.discard(connection)
        if not self._connections:
            self._empty.set()

    def answer(self, request: Request) -> Response:
        """What the function at this path says."""
        handler = self._routes.get(request.path)
        if handler is None:
            return Response(b"404 page not found\n", HTTPStatus.NOT_FOUND)
        try:
            return handler(request)
        except Exception as error:  # noqa: BLE001 - one page that fails must not take the process down
            log.error(error, "Request failed", path=request.path)
            return Response(b"internal server error\n", HTTPStatus.INTERNAL_SERVER_ERROR)


def _why_not(error: OSError, host: str, port: int) -> str:
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if error.errno == errno.EADDRINUSE:
        return (
            f"cannot serve on {address}: another program listens there already; choose another port"
        )
    return f"cannot serve on {address}: {error.strerror or error}"


class _Connection(asyncio.Protocol):
    """One client; also what its parser calls."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._target = b""
        self._request_bytes = 0
        self._reads_no_answers = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no instances of it.
        transport = cast("asyncio.Transport", transport)
        if not self._server.entered(self):
            transport.abort()
            return
        self._transport = transport
        self._expect_within(REQUEST_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._deadline is not None:
            self._deadline.cancel()
        self._server.left(self)

    def pause_writing(self) -> None:
        self._reads_no_answers = True

    def resume_writing(self) -> None:
        self._reads_no_answers = False

    def data_received(self, data: bytes) -> None:
        self._request_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # Answered as if nothing else had been asked for; what follows is no HTTP/1.1 of ours.
            self.close()
        except (httptools.HttpParserError, ValueError):
            self._refuse(HTTPStatus.BAD_REQUEST)
        if self._request_bytes > MAX_REQUEST_BYTES:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_message_begin(self) -> None:
        self._target = b""
        self._expect_within(REQUEST_SECONDS)

    def on_url(self, part: bytes) -> None:
        self._target += part

    def on_message_complete(self) -> None:
        self._request_bytes = 0
        if self._reads_no_answers:
            self.abort()
            return
        method = self._parser.get_method()
        if method not in (b"GET", b"HEAD"):
            self._refuse(HTTPStatus.METHOD_NOT_ALLOWED)
            return
        response = self._server.answer(_request(self._target))
        self._send(response, keep_alive=self._parser.should_keep_alive(), body=method == b"GET")
        self._expect_within(IDLE_SECONDS)

    def close(self) -> None:
        """Close once all that was answered is on its way."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    def _expect_within(self, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self.abort)

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(Response(f"{status.phrase}\n".encode(), status), keep_alive=False)

    def _send(self, response: Response, *, keep_alive: bool, body: bool = True) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        self._transport.write(
            _head(response, keep_alive=keep_alive) + (response.body if body else b"")
        )
        if not keep_alive:
            self._transport.close()


def _request(target: bytes) -> Request:
    """Read a path with its query; raises ValueError for one that is none."""
    url = httptools.parse_url(target)
    query = parse_qs((url.query or b"").decode("ascii"), keep_blank_values=True, max_num_fields=100)
    return Request(path=(url.path or b"/").decode("ascii"), query=query)


def _head(response: Response, *, keep_alive: bool) -> bytes:
    lines = [
        f"HTTP/1.1 {response.status.value} {response.status.phrase}",
        f"Content-Type: {response.content_type}",
        f"Content-Length: {len(response.body)}",
        "Cache-Control: no-cache, private",
        "X-Content-Type-Options: nosniff",
    ]
    if response.status is HTTPStatus.METHOD_NOT_ALLOWED:
        lines.append("Allow: GET, HEAD")
    if not keep_alive:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode()
