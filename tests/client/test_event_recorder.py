"""Events: what is written, what becomes a series, and what is done when writing fails."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from berthing.api.errors import NoAnswerError
from berthing.api.meta import ObjectMeta
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.client.event_recorder import MAX_TRIES, MAX_WAITING, EventBroadcaster, Recorder
from berthing.simulate import virtual_time
from berthing.simulate.virtual_time import run
from client.fake_server import HANG, Answer, FakeServer, settle, status_answer
from client.objects import pod

POD = pod("web", 7)
CREATE = "POST /apis/events.k8s.io/v1/namespaces/default/events"


@asynccontextmanager
async def recording(server: FakeServer) -> AsyncIterator[tuple[Recorder, EventBroadcaster]]:
    broadcaster = EventBroadcaster(
        server.client(),
        hostname="host",
        now=virtual_time.now,
        random=random.Random(1),
    )
    task = asyncio.create_task(broadcaster.run())
    try:
        yield broadcaster.recorder("default-scheduler"), broadcaster
    finally:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def failed(recorder: Recorder, regarding: object = POD, note: str = "no room") -> None:
    recorder.event(
        regarding, type_="Warning", reason="FailedScheduling", action="Scheduling", note=note
    )


def written(*notes: str, regarding: object = POD) -> list[Any]:
    """Record an event for each note; what was sent."""
    server = FakeServer().will(*[Answer(201)] * len(notes))

    async def story() -> None:
        async with recording(server) as (recorder, broadcaster):
            for note in notes:
                failed(recorder, regarding, note)
                await broadcaster.wait_written()

    run(story())
    return server.bodies()


def test_an_event() -> None:
    assert written("no room") == [
        {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"web.{int(virtual_time.EPOCH * 1e9):x}", "namespace": "default"},
            "eventTime": "2026-01-01T00:00:00.000000Z",
            "reportingController": "default-scheduler",
            "reportingInstance": "default-scheduler-host",
            "action": "Scheduling",
            "reason": "FailedScheduling",
            "regarding": {
                "apiVersion": "v1",
                "kind": "Pod",
                "namespace": "default",
                "name": "web",
                "uid": "uid-web",
                "resourceVersion": "7",
            },
            "note": "no room",
            "type": "Warning",
        }
    ]


def test_an_event_about_something_without_a_namespace_is_kept_in_default() -> None:
    [event] = written("full", regarding=Node(metadata=ObjectMeta(name="node-1")))
    assert event["metadata"]["namespace"] == "default"


def test_events_at_one_and_the_same_time_have_names_of_their_own() -> None:
    server = FakeServer().will(*[Answer(201)] * 3)

    async def story() -> None:
        async with recording(server) as (recorder, broadcaster):
            for version in range(3):
                failed(recorder, pod("web", version))
            await broadcaster.wait_written()

    run(story())
    assert len({body["metadata"]["name"] for body in server.bodies()}) == 3


@pytest.mark.parametrize("char", ["x", "é"])
def test_a_long_note_is_cut(char: str) -> None:
    [event] = written(char * 2000)
    note = event["note"]
    assert note.endswith(f"{char} ...")
    assert 1022 < len(note.encode()) <= 1024
    assert written("x" * 1024)[0]["note"] == "x" * 1024


def test_the_second_event_of_a_kind_makes_a_series_and_more_are_only_counted() -> None:
    server = FakeServer().will(*[Answer(201)] * 2)

    async def story() -> None:
        async with recording(server) as (recorder, broadcaster):
            for _ in range(5):
                failed(recorder)
                await broadcaster.wait_written()
                await asyncio.sleep(1)

    run(story())
    name = server.bodies()[0]["metadata"]["name"]
    assert server.asked == [CREATE, f"PATCH {CREATE[5:]}/{name}"]
    assert server.bodies()[1] == {
        "series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}
    }
    assert server.requests[1].headers["content-type"] == "application/strategic-merge-patch+json"


def test_another_state_of_the_object_is_another_event() -> None:
    server = FakeServer().will(*[Answer(201)] * 2)

    async def story() -> None:
        async with recording(server) as (recorder, _):
            failed(recorder, pod("web", 7))
            failed(recorder, pod("web", 8))
            await settle()

    run(story())
    assert server.asked == [CREATE, CREATE]


def test_a_series_ends_with_its_count_after_six_minutes_of_silence() -> None:
    server = FakeServer().will(*[Answer(201)] * 4)

    async def story() -> None:
        async with recording(server) as (recorder, broadcaster):
            for _ in range(3):
                failed(recorder)
                await broadcaster.wait_written()
            await asyncio.sleep(13 * 60)
            failed(recorder)
            await broadcaster.wait_written()

    run(story())
    assert [body.get("series", {}).get("count") for body in server.bodies()] == [None, 2, 3, None]


def test_a_series_that_goes_on_is_written_every_half_hour() -> None:
    server = FakeServer().will(*[Answer(201)] * 3)

    async def story() -> None:
        async with recording(server) as (recorder, _):
            for _ in range(30):
                failed(recorder)
                await asyncio.sleep(61)

    run(story())
    assert [body.get("series", {}).get("count") for body in server.bodies()] == [None, 2, 30]


def test_a_series_whose_event_has_expired_is_made_anew() -> None:
    server = FakeServer().will(Answer(201), status_answer(404, "NotFound"), Answer(201))

    async def story() -> None:
        async with recording(server) as (recorder, broadcaster):
            failed(recorder)
            await broadcaster.wait_written()
            failed(recorder)
            await broadcaster.wait_written()

    run(story())
    assert server.asked[2] == CREATE
    assert server.bodies()[2]["series"]["count"] == 2


@pytest.mark.parametrize("failure", [NoAnswerError("reset"), status_answer(503)])
def test_an_event_that_fails_is_tried_again_later(failure: Answer | Exception) -> None:
    server = FakeServer().will(failure, Answer(201))

    async def story() -> None:
        async with recording(server) as (recorder, _):
            failed(recorder)
            await asyncio.sleep(9)
            assert len(server.requests) == 1
            await asyncio.sleep(4)
            assert server.bodies()[0] == server.bodies()[1]

    run(story())


def test_an_event_is_tried_twelve_times() -> None:
    server = FakeServer().will(*[NoAnswerError("reset")] * MAX_TRIES)

    async def story() -> None:
        async with recording(server) as (recorder, _):
            failed(recorder)
            await asyncio.sleep(1000)

    run(story())
    assert not server.answers


@pytest.mark.parametrize(
    "refusal", [status_answer(403, "Forbidden"), status_answer(409, "AlreadyExists")]
)
def test_an_event_that_is_refused_is_not_tried_again(refusal: Answer) -> None:
    server = FakeServer().will(refusal)

    async def story() -> None:
        async with recording(server) as (recorder, _):
            failed(recorder)
            await asyncio.sleep(1000)

    run(story())


def test_what_is_too_much_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    server = FakeServer().will(*[Answer(201)] * (MAX_WAITING + 1))

    async def story() -> None:
        async with recording(server) as (recorder, broadcaster):
            for version in range(MAX_WAITING + 10):
                failed(recorder, pod("web", version))
            await broadcaster.wait_written()
            failed(recorder, pod("web", 9999))
            await broadcaster.wait_written()

    with caplog.at_level(logging.WARNING):
        run(story())
    assert not server.answers
    assert sum("dropped" in record.message for record in caplog.records) == 10


def test_recording_does_not_wait_for_a_server_that_hangs() -> None:
    server = FakeServer().will(HANG, Answer(201))

    async def story() -> None:
        async with recording(server) as (recorder, _):
            failed(recorder, pod("a", 1))
            failed(recorder, pod("b", 1))
            await settle()
            assert len(server.requests) == 2

    run(story())


def test_what_is_no_event_is_reported_and_not_raised(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        async with recording(FakeServer()) as (recorder, _):
            failed(recorder, "no object")
            recorder.event(Pod(), type_="Odd", reason="R", action="A", note="n")
            await settle()

    run(story())
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
