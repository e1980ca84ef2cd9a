"""Tunnels through proxies: HTTP and HTTPS with CONNECT, SOCKS5, with and without a login."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from berthing.api.errors import NotSentError
from berthing.client.transport import Request
from client.certificates import authority
from client.http_server import Talk, serving, transport_to

Opening = Callable[[Talk], Awaitable[int]]

GET = Request(method="GET", path="/")


async def answering(talk: Talk) -> None:
    while True:
        await talk.request()
        await talk.answer("reached")


def sent_through(
    opening: Opening, url: str = "http://127.0.0.1:{}", *, tls: bool = False, **endpoint: Any
) -> str:
    """Send a request through a proxy that opens its tunnel in this way."""

    async def send() -> str:
        async with serving(answering) as server, proxying(opening, tls=tls) as port:
            target = server.endpoint(proxy_url=url.format(port), **endpoint)
            async with transport_to(target) as transport:
                return (await transport.send(GET)).body.decode()

    return asyncio.run(send())


@asynccontextmanager
async def proxying(opening: Opening, *, tls: bool) -> AsyncIterator[int]:
    async def story(talk: Talk) -> None:
        port = await opening(talk)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(pump(talk.reader, writer))
            tasks.create_task(pump(reader, talk.writer))

    async with serving(story, tls=tls) as proxy:
        yield proxy.port


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    finally:
        writer.close()


async def connect(talk: Talk) -> int:
    head = (await talk.reader.readuntil(b"\r\n\r\n")).decode()
    method, target, _ = head.split("\r\n")[0].split()
    assert method == "CONNECT"
    assert f"Host: {target}" in head
    await talk.say("HTTP/1.1 200 Connection established\r\nVia: proxy\r\n\r\n")
    return int(target.rpartition(":")[2])


def test_an_http_proxy() -> None:
    assert sent_through(connect) == "reached"


def test_an_http_proxy_with_a_login() -> None:
    async def opening(talk: Talk) -> int:
        head = (await talk.reader.readuntil(b"\r\n\r\n")).decode()
        login = base64.b64encode(b"user:p@ss").decode()
        assert f"Proxy-Authorization: Basic {login}\r\n" in head
        await talk.say("HTTP/1.0 200 OK\r\n\r\n")
        return int(head.split()[1].rpartition(":")[2])

    assert sent_through(opening, "http://user:p%40ss@127.0.0.1:{}") == "reached"


def test_an_https_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Proxies are trusted by the system's authorities.
    trusted = tmp_path / "ca.pem"
    trusted.write_bytes(authority().pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    assert sent_through(connect, "https://127.0.0.1:{}", tls=True) == "reached"


def test_a_proxy_that_says_no() -> None:
    async def opening(talk: Talk) -> int:
        await talk.reader.readuntil(b"\r\n\r\n")
        await talk.say("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        await talk.closed()
        return 0

    with pytest.raises(
        NotSentError, match=r"through proxy 127.0.0.1:\d+: it answers 'HTTP/1.1 407"
    ):
        sent_through(opening)


@pytest.mark.parametrize("said", ["", "x" * 100_000])
def test_something_that_is_no_proxy(said: str) -> None:
    async def opening(talk: Talk) -> int:
        await talk.reader.readuntil(b"\r\n\r\n")
        await talk.say(said)
        raise EOFError

    with pytest.raises(NotSentError, match="does not answer as a proxy does"):
        sent_through(opening)


def test_the_server_behind_a_proxy_must_be_the_right_one() -> None:
    with pytest.raises(NotSentError, match=r"through proxy .*certificate is not trusted"):
        sent_through(connect, tls_server_name="other.example.com")


async def socks5(talk: Talk) -> int:
    version, count = await talk.reader.readexactly(2)
    assert version == 5
    methods = await talk.reader.readexactly(count)
    if 2 in methods:
        await talk.say(bytes((5, 2)))
        await talk.reader.readexactly(1)
        for expected in (b"user", b"pass"):
            [length] = await talk.reader.readexactly(1)
            assert await talk.reader.readexactly(length) == expected
        await talk.say(bytes((1, 0)))
    else:
        await talk.say(bytes((5, 0)))
    assert await talk.reader.readexactly(4) == bytes((5, 1, 0, 3))
    [length] = await talk.reader.readexactly(1)
    assert await talk.reader.readexactly(length) == b"127.0.0.1"
    port = int.from_bytes(await talk.reader.readexactly(2), "big")
    await talk.say(bytes((5, 0, 0, 1)) + bytes(6))
    return port


@pytest.mark.parametrize("url", ["socks5://127.0.0.1:{}", "socks5h://user:pass@127.0.0.1:{}"])
def test_a_socks_proxy(url: str) -> None:
    assert sent_through(socks5, url) == "reached"


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ((b"HT",), "no SOCKS5 proxy"),
        ((bytes((5, 255)),), "another kind of login"),
        ((bytes((5, 0)), bytes((5, 5, 0, 1)) + bytes(6)), "host refused the connection"),
        ((bytes((5, 0)), bytes((5, 99, 0, 1)) + bytes(6)), "code 99"),
        ((bytes((5, 0)),), "does not answer as a proxy does"),
    ],
)
def test_a_socks_proxy_that_says_no(answers: tuple[bytes, ...], problem: str) -> None:
    async def opening(talk: Talk) -> int:
        for answer in answers:
            await talk.reader.read(100)
            await talk.say(answer)
        raise EOFError

    with pytest.raises(NotSentError, match=problem):
        sent_through(opening, "socks5://127.0.0.1:{}")


def test_a_socks_proxy_that_does_not_know_us() -> None:
    async def opening(talk: Talk) -> int:
        await talk.reader.readexactly(4)
        await talk.say(bytes((5, 2)))
        await talk.reader.read(100)
        await talk.say(bytes((1, 1)))
        raise EOFError

    with pytest.raises(NotSentError, match="user name and password"):
        sent_through(opening, "socks5://user:wrong@127.0.0.1:{}")
