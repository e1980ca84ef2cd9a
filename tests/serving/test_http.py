"""The HTTP server on loopback, on the loop that commands run on: what it answers, and whom it turns away."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from berthing.cli.event_loop import run_loop
from berthing.serving import http
from berthing.serving.http import Handler, Request, Response, ServeError, Server

LOOPBACK = "127.0.0.1"


def echo(request: Request) -> Response:
    words = ";".join(f"{key}={','.join(values)}" for key, values in request.query.items())
    return Response(f"{request.path}?{words}".encode())


def broken(_: Request) -> Response:
    raise RuntimeError("a mistake")


ROUTES: dict[str, Handler] = {"/echo": echo, "/broken": broken, "/": echo}


@asynccontextmanager
async def serving(routes: dict[str, Handler] = ROUTES) -> AsyncIterator[int]:
    server = Server(routes)
    port = await server.listen(host=LOOPBACK, port=0)
    try:
        yield port
    finally:
        await server.close()


@asynccontextmanager
async def client(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def exchange(port: int, sent: bytes) -> bytes:
    """Send all of it, and read until the server closes, in whatever way."""
    received = b""
    async with client(port) as (reader, writer):
        with suppress(ConnectionError):
            writer.write(sent)
            while part := await reader.read(1_000_000):
                received += part
    return received


def answers(sent: bytes) -> bytes:
    async def run() -> bytes:
        async with serving() as port:
            return await exchange(port, sent)

    return run_loop(run())


def get(target: str, *headers: str) -> bytes:
    lines = [f"GET {target} HTTP/1.1", "Host: a", *headers, "", ""]
    return "\r\n".join(lines).encode()


def test_a_page() -> None:
    answer = answers(get("/echo?verbose&exclude=a&exclude=b%20c", "Connection: close"))
    head, body = answer.split(b"\r\n\r\n")
    assert head.split(b"\r\n") == [
        b"HTTP/1.1 200 OK",
        b"Content-Type: text/plain; charset=utf-8",
        b"Content-Length: 28",
        b"Cache-Control: no-cache, private",
        b"X-Content-Type-Options: nosniff",
        b"Connection: close",
    ]
    assert body == b"/echo?verbose=;exclude=a,b c"


def test_a_connection_serves_several_requests() -> None:
    answer = answers(get("/echo") + get("/echo?b") + get("/none", "Connection: close"))
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert answer.endswith(b"404 page not found\n")


def test_only_the_head_of_a_page() -> None:
    answer = answers(b"HEAD /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert b"Content-Length: 6" in answer
    assert answer.endswith(b"\r\n\r\n")


def test_old_clients_get_one_answer() -> None:
    assert answers(b"GET /echo HTTP/1.0\r\n\r\n").endswith(b"/echo?")


def test_a_page_that_fails_does_not_stop_the_others() -> None:
    answer = answers(get("/broken") + get("/echo", "Connection: close"))
    assert answer.startswith(b"HTTP/1.1 500 Internal Server Error")
    assert answer.endswith(b"/echo?")
    assert b"a mistake" not in answer


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400", id="TLS"),
        pytest.param(b"hello\r\n\r\n", b"400", id="no HTTP"),
        pytest.param(b"GET /\xff\xfe HTTP/1.1\r\nHost: a\r\n\r\n", b"400", id="broken path"),
        pytest.param(b"GET http:// HTTP/1.1\r\nHost: a\r\n\r\n", b"400", id="no path"),
        pytest.param(get("/echo?" + "&".join(["a"] * 101)), b"400", id="too many words"),
        pytest.param(
            b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", b"405", id="write"
        ),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"400", id="HTTP/2"),
        pytest.param(get("/" + "a" * 20_000)[:-2], b"431", id="endless path"),
        pytest.param(get("/", "A: " + "a" * 20_000)[:-2], b"431", id="endless header"),
        pytest.param(
            b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n" + b"a" * 20_000,
            b"431",
            id="endless body",
        ),
    ],
)
def test_what_is_refused(sent: bytes, status: bytes) -> None:
    answer = answers(sent)
    assert answer.split(b" ")[1] == status
    assert b"Connection: close" in answer


def test_an_upgrade_is_not_taken_up() -> None:
    answer = answers(get("/echo", "Upgrade: h2c", "Connection: Upgrade"))
    assert answer.startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("sent", [b"", b"GET /echo HTTP/1.1\r\nHost"], ids=["silent", "stuck"])
def test_slow_clients_are_cut_off(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "REQUEST_SECONDS", 0.01)
    assert answers(sent) == b""


def test_idle_clients_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "IDLE_SECONDS", 0.01)
    assert answers(get("/echo")).endswith(b"/echo?")


def test_who_asks_on_without_reading_is_cut_off() -> None:
    large = Response(b"x" * 50_000_000)

    async def run() -> int:
        async with serving({"/large": lambda _: large}) as port:
            return len(await exchange(port, get("/large") * 3))

    assert run_loop(run()) < 2 * len(large.body)


def test_no_more_clients_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_CONNECTIONS", 1)

    async def run() -> None:
        async with serving() as port, client(port) as (reader, writer):
            writer.write(get("/echo"))
            assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
            assert await exchange(port, get("/echo")) == b""

    run_loop(run())


def test_a_port_that_is_taken() -> None:
    async def run() -> None:
        with socket.create_server((LOOPBACK, 0)) as other:
            port = other.getsockname()[1]
            with pytest.raises(ServeError, match=rf"127\.0\.0\.1:{port}: another program listens"):
                await Server(ROUTES).listen(host=LOOPBACK, port=port)

    run_loop(run())


def test_an_address_of_another_machine() -> None:
    async def run() -> None:
        with pytest.raises(ServeError, match=r"cannot serve on 192\.0\.2\.1:80"):
            await Server(ROUTES).listen(host="192.0.2.1", port=80)

    run_loop(run())


def test_closing_ends_idle_connections_and_frees_the_port() -> None:
    async def run() -> None:
        server = Server(ROUTES)
        port = await server.listen(host=LOOPBACK, port=0)
        async with client(port) as (reader, writer):
            writer.write(get("/echo"))
            await reader.readuntil(b"/echo?")
            await server.close()
            assert await reader.read() == b""
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(LOOPBACK, port)

    run_loop(run())
