"""Connections: kept and used again, lost at the worst moment, given up in the middle."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from types import NoneType

import pytest

from berthing.api.errors import NoAnswerError, NotSentError, TimedOutError
from berthing.client.api_client import ApiClient
from berthing.client.http_transport import HttpTransport
from berthing.client.transport import Request
from client.http_server import Server, Story, Talk, serving, transport_to, until

GET = Request(method="GET", path="/")
POST = Request(method="POST", path="/", body=b"{}")


def play(story: Story, test: Callable[[HttpTransport, Server], Awaitable[None]]) -> None:
    async def both() -> None:
        async with serving(story) as server, transport_to(server.endpoint()) as transport:
            async with asyncio.timeout(20):
                await test(transport, server)

    asyncio.run(both())


async def echo(talk: Talk) -> None:
    """Answer each request with its path."""
    while True:
        await talk.answer((await talk.request()).split()[1])


def test_a_connection_is_used_again() -> None:
    async def test(transport: HttpTransport, server: Server) -> None:
        for number in range(5):
            response = await transport.send(Request(method="POST", path=f"/{number}"))
            assert response.body == f"/{number}".encode()
        assert server.connections == 1

    play(echo, test)


def test_requests_at_one_and_the_same_time_have_connections_of_their_own() -> None:
    async def test(transport: HttpTransport, server: Server) -> None:
        for _ in range(3):
            sent = (transport.send(Request(method="GET", path=f"/{n}")) for n in range(10))
            bodies = [response.body for response in await asyncio.gather(*sent)]
            assert bodies == [f"/{number}".encode() for number in range(10)]
        assert server.connections == 10

    play(echo, test)


@pytest.mark.parametrize("way", ["Connection: close\r\n", "X: y\r\n"])
def test_a_connection_that_is_closed_after_an_answer_is_not_used_again(way: str) -> None:
    async def story(talk: Talk) -> None:
        await talk.request()
        await talk.answer(headers=way)

    async def test(transport: HttpTransport, server: Server) -> None:
        for number in range(1, 4):
            # What the server has closed for all to see costs not even a write anything.
            await transport.send(POST)
            await closed_by_server(transport)
            assert server.connections == number

    play(story, test)


async def closed_by_server(transport: HttpTransport) -> None:
    await until(lambda: not transport._idle)


def test_a_read_on_a_connection_that_was_closed_meanwhile_is_sent_again() -> None:
    async def story(talk: Talk) -> None:
        await talk.request()
        if talk.number == 1:
            await talk.answer()
            await talk.request()
        else:
            await talk.answer("second")

    async def test(transport: HttpTransport, server: Server) -> None:
        await transport.send(GET)
        response = await transport.send(GET)
        assert response.body == b"second"
        assert server.connections == 2

    play(story, test)


def test_a_write_on_a_connection_that_was_closed_meanwhile_is_not() -> None:
    async def story(talk: Talk) -> None:
        await talk.request()
        await talk.answer()
        await talk.request()

    async def test(transport: HttpTransport, server: Server) -> None:
        await transport.send(POST)
        with pytest.raises(NoAnswerError):
            await transport.send(POST)
        assert server.connections == 1

    play(story, test)


@pytest.mark.parametrize("said", ["", "HTTP/1.1 200 OK\r\n"])
def test_a_read_that_is_cut_off_for_another_reason_is_not_sent_again(said: str) -> None:
    async def story(talk: Talk) -> None:
        await talk.request()
        if said and talk.number == 1:
            await talk.answer()
            await talk.request()
        await talk.say(said)

    async def test(transport: HttpTransport, server: Server) -> None:
        if said:
            await transport.send(GET)
        with pytest.raises(NoAnswerError):
            await transport.send(GET)
        assert server.connections == 1

    play(story, test)


def test_a_stream_that_finds_its_connection_closed_opens_another() -> None:
    async def story(talk: Talk) -> None:
        await talk.request()
        await talk.answer("x")
        if talk.number == 1:
            await talk.request()

    async def test(transport: HttpTransport, server: Server) -> None:
        await transport.send(GET)
        async with transport.open(GET) as stream:
            assert [chunk async for chunk in stream] == [b"x"]
        assert server.connections == 2

    play(story, test)


def test_what_nobody_asked_for_is_not_taken_for_an_answer() -> None:
    async def story(talk: Talk) -> None:
        await talk.request()
        await talk.answer("mine")
        await talk.answer("nobody's")
        await talk.closed()

    async def test(transport: HttpTransport, server: Server) -> None:
        for number in range(1, 3):
            assert (await transport.send(GET)).body == b"mine"
            await closed_by_server(transport)
            assert server.connections == number

    play(story, test)


def test_a_request_that_is_given_up_takes_its_connection_with_it() -> None:
    asked = asyncio.Event()

    async def story(talk: Talk) -> None:
        request = await talk.request()
        if "/slow" in request:
            asked.set()
            await talk.closed()
            await talk.answer("too late")
        await talk.answer("quick")

    async def test(transport: HttpTransport, server: Server) -> None:
        slow = asyncio.create_task(transport.send(Request(method="GET", path="/slow")))
        await asked.wait()
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        assert (await transport.send(GET)).body == b"quick"
        assert server.connections == 2

    play(story, test)


def test_a_server_that_does_not_answer_is_given_up_after_a_while() -> None:
    async def story(talk: Talk) -> None:
        await talk.closed()

    async def test(transport: HttpTransport, server: Server) -> None:
        client = ApiClient(transport, random=random.Random(1))
        with pytest.raises(TimedOutError):
            await client.request("POST", "/x", type_=NoneType, timeout_seconds=0.05)
        assert not transport._open

    play(story, test)


def test_closing_fails_what_is_under_way() -> None:
    asked = asyncio.Event()

    async def story(talk: Talk) -> None:
        await talk.request()
        asked.set()
        await talk.closed()

    async def test(transport: HttpTransport, server: Server) -> None:
        request = asyncio.create_task(transport.send(GET))
        await asked.wait()
        await transport.close()
        with pytest.raises(NoAnswerError):
            await request

    play(story, test)


def test_a_stream_comes_as_it_is_sent() -> None:
    read = asyncio.Event()

    async def story(talk: Talk) -> None:
        await talk.request()
        await talk.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await read.wait()
        await talk.say("3\r\ntwo\r\n0\r\n\r\n")
        await talk.closed()

    async def test(transport: HttpTransport, server: Server) -> None:
        chunks = []
        async with transport.open(GET) as stream:
            assert stream.status == 200
            async for chunk in stream:
                chunks.append(chunk)
                read.set()
        assert chunks == [b"one", b"two"]

    play(story, test)


def test_a_stream_that_breaks_off_says_so_after_what_came() -> None:
    async def story(talk: Talk) -> None:
        await talk.request()
        await talk.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")

    async def test(transport: HttpTransport, server: Server) -> None:
        async with transport.open(GET) as stream:
            chunks = aiter(stream)
            assert await anext(chunks) == b"one"
            with pytest.raises(NoAnswerError):
                await anext(chunks)

    play(story, test)


def test_a_stream_that_is_left_is_closed() -> None:
    left = asyncio.Event()

    async def story(talk: Talk) -> None:
        await talk.request()
        await talk.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await talk.closed()
        left.set()

    async def test(transport: HttpTransport, server: Server) -> None:
        async with transport.open(GET) as stream:
            async for _ in stream:
                break
        await left.wait()

    play(story, test)


def test_a_stream_that_is_not_read_is_not_kept_in_memory() -> None:
    size = 64 << 20
    sent = asyncio.Event()

    async def story(talk: Talk) -> None:
        await talk.request()
        await talk.say(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n")
        for _ in range(64):
            await talk.say(bytes(1 << 20))
        sent.set()
        await talk.closed()

    async def test(transport: HttpTransport, server: Server) -> None:
        async with transport.open(GET) as stream:
            [connection] = transport._open
            await until(lambda: not connection._is_reading)
            assert connection._body_bytes < 4 << 20
            assert not sent.is_set()
            assert sum([len(chunk) async for chunk in stream]) == size

    play(story, test)


def test_nobody_there() -> None:
    async def connect() -> None:
        async with serving(echo) as server:
            endpoint = server.endpoint()
        async with transport_to(endpoint) as transport:
            await transport.send(GET)

    with pytest.raises(NotSentError, match=r"cannot connect to https://127.0.0.1:\d+: .*refused"):
        asyncio.run(connect())


def test_nobody_of_that_name() -> None:
    async def connect() -> None:
        async with serving(echo) as server:
            endpoint = server.endpoint(server="https://nobody.invalid:6443")
        async with transport_to(endpoint) as transport:
            await transport.send(GET)

    with pytest.raises(NotSentError, match=r"cannot connect to https://nobody.invalid:6443: "):
        asyncio.run(connect())
