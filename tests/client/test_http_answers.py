"""Answers as servers and those in between write them, and what is no answer."""

from __future__ import annotations

import asyncio

import pytest

from berthing.api.errors import BadAnswerError, NoAnswerError
from berthing.client.transport import Request, Response
from client.http_server import Talk, serving, transport_to

GET = Request(method="GET", path="/api?a=b")


def answer_to(request: Request, *pieces: str) -> Response:
    """Send a request to a server that says these pieces and hangs up."""

    async def story(talk: Talk) -> None:
        await talk.request()
        for piece in pieces:
            await talk.say(piece)
            # Let each be seen on its own.
            await asyncio.sleep(0.001)

    async def send() -> Response:
        async with serving(story) as server, transport_to(server.endpoint()) as transport:
            return await transport.send(request)

    return asyncio.run(send())


@pytest.mark.parametrize(
    ("pieces", "body"),
    [
        pytest.param(("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",), b"abc", id="a length"),
        pytest.param(
            ("HTTP/1.1 200 OK\r\nContent-", "Length: 3\r\n\r\na", "bc"), b"abc", id="in pieces"
        ),
        pytest.param(
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
                "1;x=y\r\nc\r\n0\r\nTrailer: t\r\n\r\n",
            ),
            b"abc",
            id="chunked",
        ),
        pytest.param(("HTTP/1.1 200 OK\r\n\r\n", "ab", "c"), b"abc", id="up to the end"),
        pytest.param(("HTTP/1.1 204 No Content\r\n\r\n",), b"", id="no body"),
        pytest.param(("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",), b"x", id="HTTP/1.0"),
        pytest.param(
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
            ),
            b"abc",
            id="after 1xx",
        ),
    ],
)
def test_whole_answers(pieces: tuple[str, ...], body: bytes) -> None:
    response = answer_to(GET, *pieces)
    assert response.status in (200, 204)
    assert response.body == body
    assert "x-early" not in response.headers


def test_names_of_headers_are_in_lower_case() -> None:
    response = answer_to(GET, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nRetry-AFTER: 7\r\n\r\n")
    assert response.headers["retry-after"] == "7"


def test_large_headers_are_fine() -> None:
    big = "".join(f"X-Warning-{number}: {'w' * 1000}\r\n" for number in range(200))
    response = answer_to(GET, f"HTTP/1.1 200 OK\r\n{big}Content-Length: 1\r\n\r\nx")
    assert response.body == b"x"


def test_headers_without_end_are_not() -> None:
    endless = "".join(f"X-{number}: {'w' * 1000}\r\n" for number in range(1100))
    with pytest.raises(BadAnswerError):
        answer_to(GET, f"HTTP/1.1 200 OK\r\n{endless}")


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param((), id="nothing"),
        pytest.param(("HTTP/1.1 20",), id="half a status line"),
        pytest.param(("HTTP/1.1 100 Continue\r\n\r\n",), id="only a 1xx"),
        pytest.param(("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",), id="half a body"),
        pytest.param(
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",),
            id="no last chunk",
        ),
    ],
)
def test_half_an_answer_is_none(pieces: tuple[str, ...]) -> None:
    with pytest.raises(NoAnswerError, match="broke off"):
        answer_to(GET, *pieces)


@pytest.mark.parametrize(
    "text",
    [
        "SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
    ],
)
def test_what_is_no_http_is_said_to_be_none(text: str) -> None:
    with pytest.raises(BadAnswerError):
        answer_to(GET, text)


def test_a_request_on_the_wire() -> None:
    seen: list[str] = []

    async def story(talk: Talk) -> None:
        for _ in range(2):
            seen.append(await talk.request())
            await talk.answer()

    async def send() -> str:
        async with serving(story) as server:
            endpoint = server.endpoint(server=f"{server.url}/k8s/cluster/")
            async with transport_to(endpoint) as transport:
                await transport.send(GET)
                headers = {"content-type": "application/json"}
                await transport.send(
                    Request(method="POST", path="/x", headers=headers, body=b"{1}")
                )
        return f"127.0.0.1:{server.port}"

    host = asyncio.run(send())
    assert seen == [
        f"GET /k8s/cluster/api?a=b HTTP/1.1\r\nhost: {host}\r\nuser-agent: test\r\n\r\n",
        (
            "POST /k8s/cluster/x HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 3\r\n"
            f"host: {host}\r\nuser-agent: test\r\n\r\n{{1}}"
        ),
    ]
