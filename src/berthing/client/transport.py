"""The seam between the client and whatever carries its requests.

Over a network that is `http_transport`; tests, demos and simulations carry them to an API server
in this very process.  A transport knows nothing of Kubernetes, does not retry what may have been
carried out, and keeps no deadlines: its callers do, by cancelling it, and a cancelled request
leaves nothing behind that a later one could trip over.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import msgspec

from berthing.api.frozen import EMPTY


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request; what identifies us is added by the transport."""

    method: str
    # With the query, and escaped: /api/v1/pods?limit=500.
    path: str
    headers: Mapping[str, str] = EMPTY
    body: bytes = b""


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A whole answer."""

    status: int
    # Names in lower case.
    headers: Mapping[str, str] = EMPTY
    body: bytes = b""


class Stream(Protocol):
    """An answer that is read while it comes."""

    @property
    def status(self) -> int:
        """The status code."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, with names in lower case."""
        ...

    def __aiter__(self) -> AsyncIterator[bytes]:
        """The body in pieces of any size; raises NoAnswerError if it breaks off."""
        ...


class Transport(Protocol):
    """Carries requests to an API server; raises TransportError where there is no answer."""

    async def send(self, request: Request) -> Response:
        """Send a request and wait for the whole answer."""
        ...

    def open(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        """Send a request and read the answer while it comes; leaving the block ends it."""
        ...

    async def close(self) -> None:
        """Close all connections; requests under way fail."""
        ...
