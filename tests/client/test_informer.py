"""An informer's way from list to watch and back, whatever the server does to it."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from berthing.api.errors import NoAnswerError, NotSentError
from berthing.api.meta import ObjectMeta
from berthing.api.pod import Pod
from berthing.client.informer import LIVE_PODS, Informer
from berthing.simulate.virtual_time import run
from client.fake_server import (
    HANG,
    Answer,
    FakeServer,
    error_line,
    json_answer,
    line,
    now,
    page,
    settle,
    status_answer,
    watch,
)
from client.objects import Heard, pod

BOOKMARK = Pod(metadata=ObjectMeta(resource_version="50"))


def told(server: FakeServer, *, seconds: float = 1e-6, field_selector: str = "") -> list[str]:
    """Run an informer for a while; the news it told."""

    async def story() -> list[str]:
        async with running(server, field_selector=field_selector) as (_, heard):
            await asyncio.sleep(seconds)
            return heard.news

    return run(story())


@asynccontextmanager
async def running(
    server: FakeServer, *, field_selector: str = ""
) -> AsyncIterator[tuple[Informer[Pod], Heard]]:
    heard = Heard()
    informer = Informer(
        Pod,
        client=server.client(),
        sink=heard,
        random=random.Random(1),
        field_selector=field_selector,
        page_size=2,
    )
    task = asyncio.create_task(informer.run())
    try:
        yield informer, heard
    finally:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def test_lists_and_then_watches_from_where_the_list_stood() -> None:
    server = FakeServer().will(
        page(pod("a", 1), version=10), watch(line("ADDED", pod("b", 11)), HANG)
    )
    assert told(server) == ["+a@1", "+b@11"]
    assert server.queries()[0] == {"limit": "2"}
    assert server.queries()[1]["resourceVersion"] == "10"
    assert server.queries()[1]["allowWatchBookmarks"] == "true"
    assert 300 <= int(server.queries()[1]["timeoutSeconds"]) <= 600


def test_the_field_selector_holds_for_lists_and_watches() -> None:
    server = FakeServer().will(page(version=10), watch(HANG))
    told(server, field_selector=LIVE_PODS)
    assert [query["fieldSelector"] for query in server.queries()] == [LIVE_PODS, LIVE_PODS]


def test_pages_are_turned_until_there_is_no_more() -> None:
    server = FakeServer().will(
        page(pod("a", 1), pod("b", 2), version=10, more="next"),
        page(pod("c", 3), version=10),
        watch(HANG),
    )
    assert told(server) == ["+a@1", "+b@2", "+c@3"]
    assert server.queries()[1] == {"limit": "2", "continue": "next"}


def test_a_list_of_nothing_may_have_no_items_at_all() -> None:
    server = FakeServer().will(
        json_answer({"metadata": {"resourceVersion": "10"}, "items": None}), watch(HANG)
    )
    assert told(server) == []
    assert server.queries()[1]["resourceVersion"] == "10"


def test_a_list_that_expires_between_pages_is_asked_for_as_a_whole() -> None:
    server = FakeServer().will(
        page(pod("a", 1), pod("b", 2), version=10, more="next"),
        status_answer(410, "Expired"),
        page(pod("a", 1), pod("c", 12), version=12),
        watch(HANG),
    )
    assert told(server) == ["+a@1", "+b@2", "+c@12", "-b@2"]
    assert server.queries()[2] == {}
    assert server.queries()[3]["resourceVersion"] == "12"


def test_synced_means_that_the_sink_has_heard_of_everything() -> None:
    server = FakeServer().will(status_answer(500), page(pod("a", 1), version=10), watch(HANG))

    async def story() -> None:
        async with running(server) as (informer, heard):
            await settle()
            assert not informer.is_synced
            await informer.wait_synced()
            assert heard.news == ["+a@1"]
            assert list(informer.objects) == ["default/a"]

    run(story())


def test_a_watch_that_ends_is_resumed_from_the_last_event() -> None:
    server = FakeServer().will(
        page(version=10),
        watch(line("ADDED", pod("a", 11)) + line("MODIFIED", pod("a", 12))),
        watch(line("DELETED", pod("a", 13)), HANG),
    )
    assert told(server) == ["+a@11", "a@11>12", "-a@12"]
    assert server.queries()[2]["resourceVersion"] == "12"


def test_a_watch_that_ends_is_resumed_from_the_last_bookmark() -> None:
    server = FakeServer().will(page(version=10), watch(line("BOOKMARK", BOOKMARK)), watch(HANG))
    assert told(server) == []
    assert server.queries()[2]["resourceVersion"] == "50"


def test_a_watch_that_breaks_off_is_resumed_without_what_came_in_part() -> None:
    whole, part = line("ADDED", pod("a", 11)), line("ADDED", pod("b", 12))[:40]
    server = FakeServer().will(
        page(version=10),
        watch(whole + part, NoAnswerError("reset")),
        watch(line("ADDED", pod("b", 12)), HANG),
    )
    assert told(server) == ["+a@11", "+b@12"]
    assert server.queries()[2]["resourceVersion"] == "11"


def test_an_end_in_the_middle_of_a_line_is_no_event() -> None:
    server = FakeServer().will(
        page(version=10),
        watch(line("ADDED", pod("a", 11)), line("ADDED", pod("b", 12)).rstrip()),
        watch(HANG),
    )
    assert told(server) == ["+a@11"]
    assert server.queries()[2]["resourceVersion"] == "11"


def test_lines_may_come_in_any_pieces() -> None:
    text = line("ADDED", pod("a", 11)) + line("ADDED", pod("b", 12))
    server = FakeServer().will(
        page(version=10), watch(*(text[at : at + 7] for at in range(0, len(text), 7)), HANG)
    )
    assert told(server) == ["+a@11", "+b@12"]


def test_events_that_come_twice_are_told_once() -> None:
    server = FakeServer().will(
        page(pod("a", 9), version=10),
        watch(line("ADDED", pod("a", 9)) + line("MODIFIED", pod("a", 11)) * 2, HANG),
    )
    assert told(server) == ["+a@9", "a@9>11"]


@pytest.mark.parametrize(
    "forgotten",
    [
        pytest.param(status_answer(410, "Expired"), id="410 for the watch"),
        pytest.param(watch(error_line(410, "Expired")), id="410 in the watch"),
        pytest.param(watch(error_line(500, "InternalError")), id="another error in the watch"),
        pytest.param(watch(b"<html>\n"), id="a line that is no JSON"),
        pytest.param(watch(line("NOVELTY", pod("a", 11))), id="an event of a type unknown to us"),
        pytest.param(
            Answer(
                504,
                b'{"code":504,"reason":"Timeout","details":'
                b'{"causes":[{"reason":"ResourceVersionTooLarge"}]}}',
            ),
            id="a server that has not got that far",
        ),
    ],
)
def test_a_server_that_lost_track_is_asked_for_a_list(forgotten: Answer) -> None:
    server = FakeServer().will(
        page(pod("a", 1), pod("b", 2), version=10),
        forgotten,
        page(pod("b", 22), pod("c", 23), version=30),
        watch(HANG),
    )
    assert told(server, seconds=60) == ["+a@1", "+b@2", "b@2>22", "+c@23", "-a@1"]
    assert server.queries()[3]["resourceVersion"] == "30"


def test_a_list_after_a_watch_starts_over_with_pages() -> None:
    server = FakeServer().will(
        page(version=10), status_answer(410, "Expired"), page(version=20), watch(HANG)
    )
    told(server, seconds=60)
    assert server.queries()[2] == {"limit": "2"}


@pytest.mark.parametrize(
    "failure",
    [
        NotSentError("refused"),
        NoAnswerError("reset"),
        status_answer(500),
        status_answer(401),
        status_answer(403),
    ],
)
def test_a_watch_that_does_not_begin_is_tried_again_later(failure: Answer | Exception) -> None:
    server = FakeServer().will(page(version=10), failure, watch(HANG))

    async def story() -> None:
        async with running(server):
            await settle()
            assert len(server.requests) == 2
            await asyncio.sleep(1.6)
            assert server.queries()[2]["resourceVersion"] == "10"

    run(story())


def test_a_list_that_fails_is_tried_again_less_and_less_often() -> None:
    server = FakeServer().will(*[status_answer(500)] * 60)
    told(server, seconds=600)
    # Delays of 0.8, 1.6, 3.2, ... 30, 30 seconds, each up to doubled.
    assert 10 < len(server.requests) < 27


def test_a_watch_that_ends_at_once_over_and_over_is_not_hurried_after() -> None:
    server = FakeServer().will(page(version=10), *[watch()] * 60)
    told(server, seconds=600)
    assert len(server.requests) < 28


def test_the_delay_is_short_again_after_things_went_well() -> None:
    server = FakeServer().will(
        *[status_answer(500)] * 6,
        page(version=10),
        watch(line("BOOKMARK", BOOKMARK)),
        status_answer(500),
        watch(HANG),
    )

    async def story() -> None:
        async with running(server) as (informer, _):
            await informer.wait_synced()
            since = now()
            await asyncio.sleep(1.7)
            assert not server.answers, f"{now() - since} s after the list"

    run(story())


def test_a_watch_that_says_nothing_for_three_minutes_is_cut_and_resumed() -> None:
    server = FakeServer().will(
        page(version=10),
        watch(100, line("ADDED", pod("a", 11)), 100, line("BOOKMARK", BOOKMARK), HANG),
        watch(HANG),
    )

    async def story() -> None:
        async with running(server):
            await asyncio.sleep(379)
            assert len(server.requests) == 2
            await asyncio.sleep(2)
            assert server.queries()[2]["resourceVersion"] == "50"

    run(story())


def test_an_object_that_cannot_be_read_is_left_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    bad = {"metadata": {"name": "a", "namespace": "default"}, "spec": {"nodeName": 5}}
    bad_page = {"metadata": {"resourceVersion": "30"}, "items": [bad, {"metadata": {"name": "z"}}]}
    event = b'{"type":"MODIFIED","object":{"metadata":{"name":"a"},"spec":{"nodeName":5}}}\n'
    server = FakeServer().will(
        page(pod("a", 1), pod("b", 2), version=10),
        watch(event, line("MODIFIED", pod("b", 12))),
        status_answer(410, "Expired"),
        json_answer(bad_page),
        watch(HANG),
    )
    with caplog.at_level(logging.ERROR):
        assert told(server, seconds=60) == ["+a@1", "+b@2", "b@2>12", "+z@", "-b@12"]
    assert "spec.nodeName" in str([vars(record) for record in caplog.records])


def test_an_object_that_cannot_be_read_can_be_deleted() -> None:
    event = (
        b'{"type":"DELETED","object":{"metadata":{"name":"a","namespace":"default",'
        b'"uid":"uid-a","resourceVersion":"11"},"spec":{"nodeName":5}}}\n'
    )
    server = FakeServer().will(page(pod("a", 1), version=10), watch(event, HANG))
    assert told(server) == ["+a@1", "-a@1"]
