"""Bindings are counted by the pieces of a watch, however it is cut up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from berthing.api.errors import NoAnswerError
from berthing.bench.drain.bindings import Frames, Lines, watched
from berthing.bench.drain.errors import DrainError
from berthing.client.transport import Request, Response, Stream


def frame(body: bytes) -> bytes:
    return len(body).to_bytes(4) + body


def event(type_: str) -> bytes:
    # As an API server writes it: the type first, then the pod, in which any word may stand.
    pod = b"k8s\x00" + b"x" * 64 + b"ADDED" + bytes(range(256))
    return frame(b"\n" + bytes([len(type_)]) + type_.encode() + b"\x12\xc2\n" + pod)


@pytest.mark.parametrize("size", [1, 3, 4, 5, 100, 10_000])
def test_frames_however_they_are_cut(size: int) -> None:
    bodies = [b"", b"a", b"bc" * 30, b"", b"d"]
    sent = b"".join(map(frame, bodies))
    frames = Frames()
    chunks = [sent[start : start + size] for start in range(0, len(sent), size)]
    assert [piece for chunk in chunks for piece in frames.feed(chunk)] == bodies


@pytest.mark.parametrize("size", [1, 2, 10_000])
def test_lines_however_they_are_cut(size: int) -> None:
    sent = b"a\nbc\n\nd\ne"
    lines = Lines()
    chunks = [sent[start : start + size] for start in range(0, len(sent), size)]
    assert [piece for chunk in chunks for piece in lines.feed(chunk)] == [b"a", b"bc", b"", b"d"]


class FakeStream:
    def __init__(
        self, content_type: str, chunks: list[bytes], *, status: int, breaks: bool
    ) -> None:
        self.status = status
        self.headers: Mapping[str, str] = {"content-type": content_type}
        self._chunks = chunks
        self._breaks = breaks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk
        if self._breaks:
            raise NoAnswerError("connection reset")


class FakeTransport:
    """An API server that answers every watch in the same way."""

    def __init__(
        self, content_type: str, *chunks: bytes, status: int = 200, breaks: bool = False
    ) -> None:
        self._stream = FakeStream(content_type, list(chunks), status=status, breaks=breaks)

    async def send(self, request: Request) -> Response:
        raise NotImplementedError

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Stream]:
        assert "fieldSelector=spec.nodeName%21%3D" in request.path
        yield self._stream

    async def close(self) -> None: ...


def count(transport: FakeTransport, wanted: int) -> int:
    async def run() -> int:
        async with watched(transport, "/api/v1/pods", since="7") as bindings:
            await bindings.wait(wanted, patience_seconds=10)
            assert 0 < bindings.first_at <= bindings.last_at
            return bindings.count

    return asyncio.run(run())


def test_protobuf_is_counted_by_type() -> None:
    sent = event("ADDED") + event("MODIFIED") + event("ADDED")
    protobuf = "application/vnd.kubernetes.protobuf;stream=watch"
    assert count(FakeTransport(protobuf, sent[:50], sent[50:]), 2) == 2


def test_json_is_counted_by_type() -> None:
    lines = b'{"type":"ADDED","object":{}}\n{"type":"DELETED","object":{}}\n'
    assert count(FakeTransport("application/json", lines, lines), 2) == 2


@pytest.mark.parametrize(
    ("transport", "fault"),
    [
        pytest.param(FakeTransport("application/json"), "ended the watch", id="ended"),
        pytest.param(
            FakeTransport("application/json", breaks=True), "broke: connection reset", id="broken"
        ),
        pytest.param(FakeTransport("", status=403), "status 403", id="refused"),
    ],
)
def test_a_watch_that_does_not_go_on(transport: FakeTransport, fault: str) -> None:
    with pytest.raises(DrainError, match=fault):
        count(transport, 1)
