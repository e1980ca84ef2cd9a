"""An API server that answers as a test tells it to, in the order in which it is told."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from berthing.api.decode import encode
from berthing.api.frozen import EMPTY
from berthing.api.meta import ApiObject
from berthing.client.api_client import ApiClient
from berthing.client.transport import Request, Response

# Never comes to an end.
HANG = object()


@dataclass
class Answer:
    """One answer; `body` in pieces is read as a stream, and an exception among them is raised."""

    status: int = 200
    body: bytes | list[object] = b"{}"
    headers: Mapping[str, str] = EMPTY


@dataclass
class FakeServer:
    """Gives its answers one after the other; what was asked is in `requests`."""

    answers: deque[Answer | Exception | object] = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    def will(self, *answers: Answer | Exception | object) -> FakeServer:
        self.answers.extend(answers)
        return self

    async def send(self, request: Request) -> Response:
        answer = await self._answer(request)
        assert isinstance(answer.body, bytes)
        return Response(status=answer.status, headers=answer.headers, body=answer.body)

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[_Stream]:
        answer = await self._answer(request)
        yield _Stream(answer)

    async def close(self) -> None:
        pass

    async def _answer(self, request: Request) -> Answer:
        self.requests.append(request)
        assert self.answers, f"nobody said how to answer {request.method} {request.path}"
        answer = self.answers.popleft()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(0)
            if answer is HANG:
                await asyncio.Event().wait()
        finally:
            self.in_flight -= 1
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, Answer)
        return answer

    @property
    def asked(self) -> list[str]:
        return [f"{request.method} {request.path}" for request in self.requests]

    def bodies(self) -> list[Any]:
        return [msgspec.json.decode(each.body) for each in self.requests if each.body]

    def queries(self) -> list[dict[str, str]]:
        queries = [parse_qs(urlsplit(request.path).query) for request in self.requests]
        return [{name: values[0] for name, values in query.items()} for query in queries]

    def client(self, **settings: Any) -> ApiClient:
        return ApiClient(self, random=random.Random(1), **settings)


class _Stream:
    def __init__(self, answer: Answer) -> None:
        self.status = answer.status
        self.headers = answer.headers
        self._body = answer.body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = [self._body] if isinstance(self._body, bytes) else self._body
        for piece in pieces:
            await asyncio.sleep(0)
            match piece:
                case bytes():
                    yield piece
                case Exception():
                    raise piece
                case float() | int():
                    await asyncio.sleep(piece)
                case _:
                    await asyncio.Event().wait()


def status_answer(code: int, reason: str = "", message: str = "", **headers: str) -> Answer:
    status = {"kind": "Status", "code": code, "reason": reason, "message": message or reason}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(code, msgspec.json.encode(status), named)


def json_answer(value: object) -> Answer:
    return Answer(
        200, encode(value) if isinstance(value, ApiObject) else msgspec.json.encode(value)
    )


def page(*items: ApiObject, version: int, more: str = "") -> Answer:
    raw = [msgspec.Raw(encode(item)) for item in items]
    metadata = {"resourceVersion": str(version), "continue": more}
    return json_answer({"metadata": metadata, "items": raw})


def watch(*pieces: object) -> Answer:
    return Answer(200, list(pieces))


def line(type_: str, obj: ApiObject) -> bytes:
    return msgspec.json.encode({"type": type_, "object": msgspec.Raw(encode(obj))}) + b"\n"


def error_line(code: int, reason: str) -> bytes:
    status = {"kind": "Status", "code": code, "reason": reason, "message": reason}
    return msgspec.json.encode({"type": "ERROR", "object": status}) + b"\n"


def now() -> float:
    """Seconds since the test began."""
    return asyncio.get_running_loop().time()


async def settle() -> None:
    """Let everything happen that can happen without time going by."""
    await asyncio.sleep(1e-6)
