"""Stopping: what is under way comes to its end, and nothing new begins."""

from __future__ import annotations

import asyncio

from berthing.framework import Wait
from berthing.testing import make_node, make_pod
from scheduler.fake_api import refusal
from scheduler.stories import World, make_plugin, scheduling, story

NODE = make_node("n", cpu="1")


def finishing(world: World) -> asyncio.Task[None]:
    world.scheduler.stop()
    return asyncio.create_task(world.scheduler.finish(), name="finish")


@story
async def test_bindings_come_to_their_end() -> None:
    async with scheduling(nodes=[NODE], stops=True) as world:
        world.api.bindings_go_on.clear()
        await world.comes(make_pod("a"))
        finish = finishing(world)
        await world.comes(make_pod("b"))
        assert not finish.done()
        world.api.bindings_go_on.set()
        await finish
        assert world.where("a") == "bound to n"
        assert world.where("b") == "active", "for whoever comes after us"


@story
async def test_who_waits_to_be_permitted_is_turned_back_and_told() -> None:
    async with scheduling(make_plugin("Hold", permit=Wait(600)), nodes=[NODE], stops=True) as world:
        await world.comes(make_pod("a", cpu="1"))
        await finishing(world)
        assert world.api.conditions("a") == [
            "Unschedulable: 0/1 nodes are available: 1 the scheduler stops."
        ]
        assert world.api.pod("a").status.nominated_node_name == ""
        assert world.requested_cpu("n") == 0


@story
async def test_what_was_not_told_yet_is_told() -> None:
    async with scheduling(nodes=[NODE], stops=True) as world:
        world.api.status_mishaps.append(refusal(503, "ServiceUnavailable", "away"))
        await world.comes(make_pod("a", cpu="2"))
        assert world.api.pod("a").status.conditions == ()
        await finishing(world)
        assert len(world.api.pod("a").status.conditions) == 1


@story
async def test_an_idle_scheduler_stops_at_once() -> None:
    async with scheduling(stops=True) as world:
        await finishing(world)


@story
async def test_closing_lets_go_of_everything() -> None:
    """Only the API server knows what became of what was under way."""

    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    closed: list[str] = []
    plugin = make_plugin("Never", pre_bind=never)

    async def close(self: object) -> None:
        closed.append("Never")

    plugin.close = close  # type: ignore[method-assign]
    async with scheduling(plugin, nodes=[NODE], stops=True) as world:
        world.api.status_mishaps.extend([refusal(503, "ServiceUnavailable", "away")] * 9)
        await world.comes(make_pod("a"), make_pod("b", cpu="2"))
        world.scheduler.stop()
        await world.scheduler.close()
        assert closed == ["Never"]
        left = {task.get_name() for task in asyncio.all_tasks() - {asyncio.current_task()}}
        assert left <= {"scheduler"}
