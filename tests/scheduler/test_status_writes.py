"""Words about pods on their way to the API server: in order, newest first, and none too late."""

from __future__ import annotations

import pytest

from berthing.testing import make_node, make_pod
from scheduler.fake_api import refusal
from scheduler.stories import World, scheduling, story

NODE = make_node("n", cpu="1")
AWAY = refusal(503, "ServiceUnavailable", "away")


async def two_words(world: World) -> None:
    """The first is held on its way, a second one follows."""
    world.api.patches_go_on.clear()
    await world.comes(make_pod("a", cpu="2"))
    await world.comes(make_node("n2", cpu="1"))
    world.scheduler.queue.activate([world.api.pod("a")], now=0)
    await world.a_moment()
    assert len(world.api.events("a")) == 2
    assert len(world.api.conditions("a")) == 1, "one write at a time"


@story
async def test_words_arrive_in_order() -> None:
    async with scheduling(nodes=[NODE]) as world:
        await two_words(world)
        world.api.patches_go_on.set()
        await world.a_moment()
        assert world.api.conditions("a") == [
            "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.",
            "Unschedulable: 0/2 nodes are available: 2 Insufficient cpu.",
        ]


@story
async def test_a_word_that_could_not_be_written_gives_way_to_a_newer_one() -> None:
    async with scheduling(nodes=[NODE]) as world:
        await two_words(world)
        world.api.status_mishaps.append(AWAY)
        world.api.patches_go_on.set()
        await world.pass_time(1)
        assert len(world.api.conditions("a")) == 2
        (condition,) = world.api.pod("a").status.conditions
        assert condition.message.startswith("0/2")


@story
async def test_it_is_written_again_and_again_while_the_api_server_is_away() -> None:
    async with scheduling(nodes=[NODE]) as world:
        world.api.status_mishaps.extend([AWAY] * 7)
        await world.comes(make_pod("a", cpu="2"))
        tries = []
        for _ in range(7):
            tries.append(len(world.api.conditions("a")))
            await world.pass_time(15)
        assert tries == [1, 5, 5, 6, 6, 7, 7], "1, 2, 4, 8, 16, 30 s after one another"
        (condition,) = world.api.pod("a").status.conditions
        assert condition.reason == "Unschedulable"


@story
async def test_it_is_written_once_others_have_ended_their_conflicts() -> None:
    async with scheduling(nodes=[NODE]) as world:
        world.api.status_mishaps.extend([refusal(409, "Conflict", "the pod was modified")] * 5)
        await world.comes(make_pod("a", cpu="2"))
        await world.pass_time(60)
        (condition,) = world.api.pod("a").status.conditions
        assert condition.reason == "Unschedulable"


@story
async def test_a_refusal_is_final(caplog: pytest.LogCaptureFixture) -> None:
    async with scheduling(nodes=[NODE]) as world:
        world.api.status_mishaps.append(refusal(422, "Invalid", "too long"))
        await world.comes(make_pod("a", cpu="2"))
        await world.pass_time(60)
        assert len(world.api.conditions("a")) == 1
        assert "Error updating pod" in caplog.text


@story
async def test_nothing_more_is_said_of_a_pod_that_is_gone() -> None:
    async with scheduling(nodes=[NODE]) as world:
        world.api.status_mishaps.extend([AWAY] * 2)
        await world.comes(make_pod("a", cpu="2"))
        await world.goes(make_pod("a"))
        await world.pass_time(60)
        assert len(world.api.conditions("a")) == 1


@story
async def test_nothing_more_is_said_of_a_pod_that_somebody_bound() -> None:
    async with scheduling(nodes=[NODE]) as world:
        world.api.status_mishaps.extend([AWAY] * 2)
        await world.comes(make_pod("a", cpu="2"))
        await world.comes(make_pod("a", cpu="2", node_name="n"))
        await world.pass_time(60)
        assert len(world.api.conditions("a")) == 1


@story
async def test_a_binding_waits_for_a_word_on_its_way_and_drops_what_was_not_sent() -> None:
    async with scheduling(nodes=[NODE]) as world:
        await two_words(world)
        await world.comes(make_node("big", cpu="4"))
        assert world.where("a") == "assumed on big"
        assert "bind a to big" not in world.api.said
        world.api.patches_go_on.set()
        await world.a_moment()
        assert world.where("a") == "bound to big"
        assert len(world.api.conditions("a")) == 1
        assert world.api.said.index("bind a to big") > world.api.said.index(
            "unscheduled a: " + world.api.conditions("a")[0]
        )


@story
async def test_a_binding_does_not_wait_for_a_word_that_waits_for_its_next_try() -> None:
    async with scheduling(nodes=[NODE]) as world:
        world.api.status_mishaps.extend([AWAY] * 6)
        await world.comes(make_pod("a", cpu="2"))
        await world.pass_time(20)
        await world.comes(make_node("big", cpu="4"))
        assert world.where("a") == "bound to big"
