"""Requests: decoding, errors, limits, and trying again when the server names a time."""

from __future__ import annotations

import asyncio
from types import NoneType

import pytest

from berthing.api.errors import (
    AlreadyExistsError,
    ApiError,
    BadAnswerError,
    ClientError,
    ConflictError,
    ExpiredError,
    ForbiddenError,
    NotFoundError,
    NotSentError,
    ServerError,
    TimedOutError,
    TooManyRequestsError,
    UnauthorizedError,
)
from berthing.api.meta import ObjectMeta
from berthing.api.pod import Pod
from berthing.simulate.virtual_time import run
from client.fake_server import HANG, Answer, FakeServer, json_answer, now, status_answer, watch

POD = Pod(metadata=ObjectMeta(name="web", namespace="default"))


def test_an_object_comes_back_typed() -> None:
    server = FakeServer().will(json_answer(POD))
    assert run(server.client().request("GET", "/x", type_=Pod)) == POD


def test_bodies_are_json_of_whatever_is_sent() -> None:
    server = FakeServer().will(*[Answer()] * 3)

    async def send() -> None:
        client = server.client()
        await client.request("POST", "/x", body=POD, type_=NoneType)
        await client.request("POST", "/x", body={"a": 1}, type_=NoneType)
        await client.request("PATCH", "/x", body=b"[]", content_type="text/odd", type_=NoneType)

    run(send())
    assert server.bodies() == [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "web", "namespace": "default"},
        },
        {"a": 1},
        [],
    ]
    assert [dict(each.headers)["content-type"] for each in server.requests] == [
        "application/json",
        "application/json",
        "text/odd",
    ]


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        (400, "BadRequest", ApiError),
        (401, "Unauthorized", UnauthorizedError),
        (403, "Forbidden", ForbiddenError),
        (404, "NotFound", NotFoundError),
        (409, "Conflict", ConflictError),
        (409, "AlreadyExists", AlreadyExistsError),
        (410, "Expired", ExpiredError),
        (410, "Gone", ExpiredError),
        (500, "InternalError", ServerError),
        (504, "Timeout", ServerError),
    ],
)
def test_errors_have_a_type_for_what_is_to_be_done(
    code: int, reason: str, expected: type[ApiError]
) -> None:
    server = FakeServer().will(status_answer(code, reason, "this is why"))
    with pytest.raises(ApiError, match="this is why") as caught:
        run(server.client().request("GET", "/x", type_=bytes))
    assert type(caught.value) is expected
    assert caught.value.status.code == code


def test_an_error_that_is_no_status_is_quoted() -> None:
    server = FakeServer().will(Answer(502, b"<html>bad gateway</html>"))
    with pytest.raises(ServerError, match="answered 502: <html>bad gateway</html>"):
        run(server.client().request("GET", "/x", type_=bytes))


def test_an_answer_of_another_shape_is_an_error_that_says_so() -> None:
    server = FakeServer().will(Answer(200, b"<html>"))
    with pytest.raises(BadAnswerError, match="expected a Pod"):
        run(server.client().request("GET", "/x", type_=Pod))


def test_a_request_that_was_turned_away_is_sent_again_when_the_server_says() -> None:
    server = FakeServer().will(status_answer(429, retry_after="3"), json_answer(POD))

    async def wait() -> float:
        await server.client().request("GET", "/x", type_=Pod)
        return now()

    assert 3 <= run(wait()) < 4


def test_server_errors_are_sent_again_only_if_the_server_asks_for_it() -> None:
    server = FakeServer().will(status_answer(503, retry_after="1"), status_answer(503))
    with pytest.raises(ServerError):
        run(server.client().request("GET", "/x", type_=Pod))
    assert len(server.requests) == 2


def test_the_server_is_asked_eleven_times_at_most() -> None:
    server = FakeServer().will(*[status_answer(429, "TooManyRequests")] * 11)
    with pytest.raises(TooManyRequestsError):
        run(server.client().request("GET", "/x", type_=Pod))
    assert not server.answers


def test_an_answer_that_does_not_come_is_given_up() -> None:
    server = FakeServer().will(HANG)
    with pytest.raises(TimedOutError, match="GET /x: no answer in 5 s"):
        run(server.client().request("GET", "/x", type_=Pod, timeout_seconds=5))
    assert server.in_flight == 0


def test_requests_go_out_as_fast_as_qps_and_burst_allow() -> None:
    server = FakeServer().will(*[Answer()] * 6)

    async def times() -> list[float]:
        client = server.client(qps=2, burst=3)

        async def one() -> float:
            await client.request("GET", "/x", type_=NoneType)
            return now()

        return await asyncio.gather(*(one() for _ in range(6)))

    assert run(times()) == pytest.approx([0, 0, 0, 0.5, 1.0, 1.5])


def test_the_burst_comes_back_with_time() -> None:
    server = FakeServer().will(*[Answer()] * 4)

    async def times() -> float:
        client = server.client(qps=2, burst=2)
        await asyncio.gather(*(client.request("GET", "/x", type_=NoneType) for _ in range(2)))
        await asyncio.sleep(100)
        await asyncio.gather(*(client.request("GET", "/x", type_=NoneType) for _ in range(2)))
        return now()

    assert run(times()) == pytest.approx(100)


def test_a_limit_that_lets_nothing_through_is_refused() -> None:
    with pytest.raises(ValueError, match="qps=5 burst=0"):
        FakeServer().client(qps=5, burst=0)


def test_writes_in_flight_are_bounded_and_reads_are_not() -> None:
    server = FakeServer().will(*[Answer()] * 40)

    async def send(method: str) -> int:
        client = server.client(max_writes_in_flight=4)
        server.most_in_flight = 0
        requests = (client.request(method, "/x", type_=NoneType) for _ in range(20))
        await asyncio.gather(*requests)
        return server.most_in_flight

    assert run(send("POST")) == 4
    assert run(send("GET")) == 20


def test_a_write_that_waits_to_be_sent_again_makes_room_for_others() -> None:
    server = FakeServer().will(status_answer(429, retry_after="9"), Answer(), Answer())

    async def second_done() -> float:
        client = server.client(max_writes_in_flight=1)
        first = asyncio.create_task(client.request("POST", "/1", type_=NoneType))
        await asyncio.sleep(1)
        await client.request("POST", "/2", type_=NoneType)
        done = now()
        await first
        return done

    assert run(second_done()) < 2
    assert server.asked == ["POST /1", "POST /2", "POST /1"]


def test_a_stream_that_is_an_error_raises_it() -> None:
    async def read() -> None:
        async with server.client().open("/x"):
            raise AssertionError("there is nothing to read")

    server = FakeServer().will(Answer(410, [status_answer(410, "Expired").body]))
    with pytest.raises(ExpiredError):
        run(read())


def test_only_the_beginning_of_a_stream_has_a_deadline() -> None:
    async def read() -> list[bytes]:
        async with server.client().open("/x", timeout_seconds=5) as stream:
            return [chunk async for chunk in stream]

    server = FakeServer().will(watch(b"1", 100, b"2"), HANG)
    assert run(read()) == [b"1", b"2"]
    with pytest.raises(TimedOutError):
        run(read())


def test_what_the_transport_says_passes_through() -> None:
    server = FakeServer().will(NotSentError("refused"))
    with pytest.raises(ClientError, match="refused"):
        run(server.client().request("POST", "/x", type_=NoneType))
