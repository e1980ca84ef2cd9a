"""Carries a client's requests to an API server in this very process.

    client ---> InMemoryTransport ---> ApiServer

Nothing gets lost here and nothing takes time; but as over a network, no answer comes before others
had their turn, and a request that is cancelled before that was not carried out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Final

import msgspec

from berthing.api.frozen import EMPTY
from berthing.client.transport import Request, Response, Stream
from berthing.embedded.server import ApiServer
from berthing.embedded.watching import Watch


class InMemoryConfig(msgspec.Struct, frozen=True):
    """What plugins are told about how the cluster is reached."""

    server: str = "in-memory"
    kubeconfig: str = ""


IN_MEMORY: Final = InMemoryConfig()


class InMemoryTransport:
    """Requests of one client to one API server."""

    def __init__(self, api: ApiServer) -> None:
        self._api = api
        # In the order in which they were opened; the values say nothing.
        self._watches: dict[Watch, None] = {}

    async def send(self, request: Request) -> Response:
        """Have a request carried out; the answer to a watch is whole once the watch is over."""
        async with self.open(request) as stream:
            body = b"".join([chunk async for chunk in stream])
            return Response(status=stream.status, headers=stream.headers, body=body)

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Stream]:
        """Have a request carried out, and read the answer while it comes."""
        await asyncio.sleep(0)
        answer = self._api.answer(request)
        if not isinstance(answer, Watch):
            yield _Whole(Response(status=answer.status, headers=answer.headers, body=answer.body))
            return
        self._watches[answer] = None
        try:
            async with aclosing(answer.__aiter__()) as lines:
                yield _Lines(lines)
        finally:
            # A watch that nobody has begun to read does not see its reader go.
            answer.close()
            del self._watches[answer]

    async def close(self) -> None:
        """End all watches of this client."""
        for watch in tuple(self._watches):
            watch.close()


class _Whole:
    """An answer that came in one piece."""

    def __init__(self, response: Response) -> None:
        self.status = response.status
        self.headers = response.headers
        self._body = response.body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """That piece."""
        yield self._body


class _Lines:
    """A watch that is under way."""

    status = 200
    headers = EMPTY

    def __init__(self, lines: AsyncIterator[bytes]) -> None:
        self._lines = lines

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Its lines, as they come."""
        return self._lines
