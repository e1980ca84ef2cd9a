"""Requests to the API server, decoded, under the limits of `clientConnection`.

Upstream: client-go/rest/request.go, with_retry.go (v1.36.4).
Differs:  writes in flight are bounded; every request has a deadline; a 429 that names no time is
          tried again after a second.

A request that the server turned away with a time to come back (429, or 5xx with Retry-After) is
sent again, up to 10 times.  After a 5xx it may have been carried out the first time.  All else is
for the caller to decide.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from functools import lru_cache
from types import NoneType
from typing import Final, TypeVar, cast

import msgspec

from berthing.api.decode import DecodeError, decode_as, encode, encode_value
from berthing.api.errors import BadAnswerError, ClientError, TimedOutError, api_error
from berthing.api.frozen import FrozenDict
from berthing.api.meta import ApiObject, Value
from berthing.client.rate_limit import RateLimit
from berthing.client.transport import Request, Response, Stream, Transport

T = TypeVar("T")

NO_LIMIT: Final = -1.0
# Longer than an API server takes to give up on a write (34 s), so that its own answer, which says
# more than our silence, has time to come.
TIMEOUT_SECONDS: Final = 40.0
_RETRIES: Final = 10
_MAX_RETRY_AFTER_SECONDS: Final = 60.0
_FIRST_ERROR: Final = 400
_TOO_MANY: Final = 429
_FIRST_SERVER_ERROR: Final = 500
# A page of an error is enough.
_ERROR_BODY_BYTES: Final = 65536


class ApiClient:
    """Sends requests within limits and decodes the answers.

    One client is one user of the server's patience: give events a client of their own, over the
    same transport, so that they do not stand in the way of bindings.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        random: random.Random,
        qps: float = NO_LIMIT,
        burst: int = 0,
        max_writes_in_flight: int = 64,
    ) -> None:
        self._transport = transport
        self._random = random
        self._limit = RateLimit(qps=qps, burst=burst)
        self._writes = asyncio.Semaphore(max_writes_in_flight)

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        content_type: str = "application/json",
        type_: type[T],
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> T:
        """Send one request and decode the answer; raises ApiError for an error answer.

        The answer comes as it is with the type bytes, and not at all with the type of None.
        """
        headers = _READING if body is None else _writing(content_type)
        request = Request(method=method, path=path, headers=headers, body=_encoded(body))
        response = await self._sent(request, timeout_seconds)
        if response.status >= _FIRST_ERROR:
            raise api_error(response.status, response.body)
        return _decoded(response.body, type_)

    @asynccontextmanager
    async def open(
        self, path: str, *, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> AsyncIterator[Stream]:
        """GET an answer that is read while it comes; only its beginning has a deadline.

        Not counted against the limit, as upstream does not count watches.
        """
        request = Request(method="GET", path=path, headers=_READING)
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(timeout_seconds):
                    stream = await stack.enter_async_context(self._transport.open(request))
                    if stream.status >= _FIRST_ERROR:
                        raise api_error(stream.status, await _error_body(stream))
            except TimeoutError as error:
                raise _timed_out(request, timeout_seconds) from error
            yield stream

    async def _sent(self, request: Request, timeout_seconds: float) -> Response:
        for _ in range(_RETRIES):
            response = await self._sent_once(request, timeout_seconds)
            delay = _retry_after_seconds(response)
            if delay is None:
                return response
            # Those who were turned away together need not come back together.
            await asyncio.sleep(delay * (1 + 0.2 * self._random.random()))
        return await self._sent_once(request, timeout_seconds)

    async def _sent_once(self, request: Request, timeout_seconds: float) -> Response:
        await self._limit.wait()
        async with _UNBOUNDED if request.method == "GET" else self._writes:
            try:
                async with asyncio.timeout(timeout_seconds):
                    return await self._transport.send(request)
            except TimeoutError as error:
                raise _timed_out(request, timeout_seconds) from error


_UNBOUNDED: Final = nullcontext()


def _timed_out(request: Request, seconds: float) -> TimedOutError:
    return TimedOutError(f"{request.method} {request.path}: no answer in {seconds:g} s")


def _retry_after_seconds(response: Response) -> float | None:
    """When the server wants to see the request again; None if it does not."""
    if response.status != _TOO_MANY and response.status < _FIRST_SERVER_ERROR:
        return None
    text = response.headers.get("retry-after", "")
    if text.isdigit():
        return min(float(text), _MAX_RETRY_AFTER_SECONDS)
    return 1.0 if response.status == _TOO_MANY else None


async def _error_body(stream: Stream) -> bytes:
    body = b""
    try:
        async for chunk in stream:
            body += chunk
            if len(body) > _ERROR_BODY_BYTES:
                break
    except ClientError:
        pass  # The code alone says enough.
    return body


_READING: Final = FrozenDict({"accept": "application/json"})


@lru_cache
def _writing(content_type: str) -> Mapping[str, str]:
    return FrozenDict({"accept": "application/json", "content-type": content_type})


def _encoded(body: object) -> bytes:
    match body:
        case None:
            return b""
        case bytes():
            return body
        case ApiObject():
            return encode(body)
        case Value():
            return encode_value(body)
        case _:
            return msgspec.json.encode(body)


def _decoded(body: bytes, type_: type[T]) -> T:
    if type_ is NoneType:
        return cast("T", None)
    if type_ is bytes:
        return cast("T", body)
    try:
        if issubclass(type_, ApiObject):
            return decode_as(body, type_)
        return msgspec.json.decode(body, type=type_)
    except (DecodeError, msgspec.DecodeError) as error:
        raise BadAnswerError(f"expected a {type_.__name__}: {error}") from error
