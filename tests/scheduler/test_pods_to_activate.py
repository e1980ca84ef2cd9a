"""Plugins may let other pods go together with the one at hand."""

from __future__ import annotations

from typing import Any

from berthing.framework import CycleState, Status
from berthing.testing import make_node, make_pod
from scheduler.stories import World, make_plugin, scheduling, story


async def with_a_sleeper(world: World, calls: list[str]) -> None:
    await world.comes(make_pod("sleeper", labels={"sleeps": "yes"}))
    assert world.where("sleeper") == "unschedulable"
    calls.clear()


def sleepers_wait(state: CycleState, pod: Any, node_name: str) -> Status | None:
    return Status.unschedulable("sleeps") if pod.labels else None


def wakes(world_of: list[World]) -> Any:
    def wake(state: CycleState, pod: Any, node_name: str) -> None:
        if not pod.labels:
            sleeper = world_of[0].api.pod("sleeper")
            state.pods_to_activate[sleeper.key] = sleeper

    return wake


@story
async def test_they_go_once_the_pod_has_its_node() -> None:
    calls: list[str] = []
    worlds: list[World] = []
    plugins = (
        make_plugin("Sleep", calls=calls, reserve=sleepers_wait),
        make_plugin("Wake", permit=wakes(worlds)),
    )
    async with scheduling(*plugins, nodes=[make_node("n")]) as world:
        worlds.append(world)
        await with_a_sleeper(world, calls)
        world.api.bindings_go_on.clear()
        await world.comes(make_pod("a"))
        assert world.where("a") == "assumed on n"
        assert calls.count("Sleep reserve") == 2, "for a, and for the sleeper"
        world.api.bindings_go_on.set()


@story
async def test_they_go_once_the_pod_is_bound() -> None:
    calls: list[str] = []
    worlds: list[World] = []
    plugins = (
        make_plugin("Sleep", calls=calls, reserve=sleepers_wait),
        make_plugin("Wake", post_bind=wakes(worlds)),
    )
    async with scheduling(*plugins, nodes=[make_node("n")]) as world:
        worlds.append(world)
        await with_a_sleeper(world, calls)
        world.api.bindings_go_on.clear()
        await world.comes(make_pod("a"))
        assert calls.count("Sleep reserve") == 1
        world.api.bindings_go_on.set()
        await world.a_moment()
        assert calls.count("Sleep reserve") == 2


@story
async def test_they_stay_if_the_attempt_fails() -> None:
    calls: list[str] = []
    worlds: list[World] = []
    plugins = (
        make_plugin("Sleep", calls=calls, reserve=sleepers_wait),
        make_plugin("Wake", reserve=wakes(worlds)),
        make_plugin("No", permit=Status.unschedulable("no")),
    )
    async with scheduling(*plugins, nodes=[make_node("n")]) as world:
        worlds.append(world)
        await with_a_sleeper(world, calls)
        await world.comes(make_pod("a"))
        assert world.where("a") == "unschedulable"
        assert calls.count("Sleep reserve") == 1
