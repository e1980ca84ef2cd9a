"""Requests over the network: HTTP/1.1, a connection per request under way, kept for the next one.

A request that finds its connection closed under it is sent again only if that can do no harm: if
it reads, was sent over a connection that had been used before, and nothing of an answer came.
Whoever writes learns that there is no answer, and must find out himself.

Why not a library: docs/decisions/0004-own-http-client.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from berthing.client.dialing import Dialer
from berthing.client.endpoint import Endpoint
from berthing.client.http_connection import ConnectionLostError, HttpConnection, HttpStream
from berthing.client.identity import Credentials, Identity
from berthing.client.transport import Request, Response

_UNAUTHORIZED: Final = 401
# API servers close a connection that was idle for 90 s.
_MAX_IDLE_SECONDS: Final = 60.0
# After so long a connection may well have been closed without our having looked.
_DOUBTFUL_SECONDS: Final = 1.0


class HttpTransport:
    """Carries requests to one API server."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials, *, user_agent: str) -> None:
        self._dialer = Dialer(endpoint)
        self._credentials = credentials
        self._user_agent = user_agent
        self._identity = Identity()
        # The head of every request, from the host on.
        self._head = b""
        # The one used last comes first: the others may grow old.
        self._idle: list[HttpConnection] = []
        self._open: set[HttpConnection] = set()

    async def send(self, request: Request) -> Response:
        """Send a request and wait for the whole answer."""
        identity = await self._credentials.identity()
        response = await self._send(request, identity)
        if response.status == _UNAUTHORIZED and self._credentials.refused(identity):
            return await self._send(request, await self._credentials.identity())
        return response

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[HttpStream]:
        """Send a request and read the answer while it comes."""
        identity = await self._credentials.identity()
        connection, stream = await self._open_stream(request, identity)
        if stream.status == _UNAUTHORIZED and self._credentials.refused(identity):
            connection.abort()
            identity = await self._credentials.identity()
            connection, stream = await self._open_stream(request, identity)
        try:
            yield stream
        finally:
            self._give_back(connection)

    async def close(self) -> None:
        """Close all connections; requests under way fail."""
        for connection in tuple(self._open):
            connection.abort()

    async def _send(self, request: Request, identity: Identity) -> Response:
        data = self._rendered(request, identity)
        connection, was_used = await self._connection(identity)
        try:
            return await connection.exchange(data)
        except ConnectionLostError as error:
            if not _is_harmless(request, error, was_used=was_used):
                raise
        finally:
            self._give_back(connection)
        return await self._send(request, identity)

    async def _open_stream(
        self, request: Request, identity: Identity
    ) -> tuple[HttpConnection, HttpStream]:
        data = self._rendered(request, identity)
        connection, was_used = await self._connection(identity)
        try:
            return connection, await connection.open(data)
        except BaseException as error:
            connection.abort()
            if not _is_harmless(request, error, was_used=was_used):
                raise
        return await self._open_stream(request, identity)

    def _rendered(self, request: Request, identity: Identity) -> bytes:
        if identity is not self._identity or not self._head:
            self._become(identity)
        path = f"{self._dialer.address.path}{request.path}"
        lines = [f"{request.method} {path} HTTP/1.1\r\n"]
        lines += [f"{name}: {value}\r\n" for name, value in request.headers.items()]
        if request.body or request.method != "GET":
            lines.append(f"content-length: {len(request.body)}\r\n")
        return b"".join(("".join(lines).encode("latin-1"), self._head, request.body))

    def _become(self, identity: Identity) -> None:
        if identity.certificate != self._identity.certificate:
            # Connections belong to whoever opened them.
            for connection in tuple(self._idle):
                connection.abort()
        self._identity = identity
        headers = (
            ("host", self._dialer.address.host_and_port),
            ("user-agent", self._user_agent),
            *identity.headers,
        )
        lines = [f"{name}: {value}\r\n" for name, value in headers]
        self._head = "".join((*lines, "\r\n")).encode("latin-1")

    async def _connection(self, identity: Identity) -> tuple[HttpConnection, bool]:
        """A connection, and whether it was used before."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection = self._idle.pop()
            if now - connection.idle_since > _DOUBTFUL_SECONDS:
                # Twice round the loop, and a close that has come by now has been seen.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            if connection.is_usable and now - connection.idle_since < _MAX_IDLE_SECONDS:
                return connection, True
            connection.abort()
        connection = HttpConnection(identity.certificate, self._forget)
        await self._dialer.dial(connection, identity.certificate)
        self._open.add(connection)
        return connection, False

    def _give_back(self, connection: HttpConnection) -> None:
        is_ours = connection.certificate == self._identity.certificate
        if connection.is_reusable and is_ours:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)
        else:
            connection.abort()

    def _forget(self, connection: HttpConnection) -> None:
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)


def _is_harmless(request: Request, error: BaseException, *, was_used: bool) -> bool:
    """Whether a request can be sent again, as if it had not been sent the first time."""
    has_no_answer = isinstance(error, ConnectionLostError) and not error.answer_began
    return has_no_answer and was_used and request.method == "GET"
