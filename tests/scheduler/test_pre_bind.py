"""PreBind: who has work before the binding, in which order, and what if it fails."""

from __future__ import annotations

import asyncio
from typing import Any

from berthing.config.features import FeatureGates
from berthing.framework import Plugin, PreBindPreFlightResult, Status
from berthing.testing import make_node, make_pod
from scheduler.fake_api import refusal
from scheduler.stories import World, make_plugin, samples, scheduling, story

UID = "uid-of-default/a"
PARALLEL = PreBindPreFlightResult(allow_parallel=True)


def works(
    name: str,
    seconds: float,
    calls: list[str],
    *,
    pre_flight: object = None,
    ends: object = None,
) -> type[Plugin]:
    """A plugin whose PreBind takes its time."""

    async def pre_bind(*_: object) -> object:
        calls.append(f"{name} begins")
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            calls.append(f"{name} called off")
            raise
        calls.append(f"{name} ends")
        if isinstance(ends, Exception):
            raise ends
        return ends

    return make_plugin(name, pre_bind_pre_flight=pre_flight, pre_bind=pre_bind)


@story
async def test_where_the_pod_will_be_is_told_before_work_that_may_take_long() -> None:
    calls: list[str] = []
    async with scheduling(works("A", 5, calls), nodes=[make_node("n")]) as world:
        await world.comes(make_pod("a"))
        assert world.api.said == ["nominate a to n"]
        await world.pass_time(5)
        assert world.where("a") == "bound to n"
        points = world.scheduler.metrics.framework_extension_point_duration_seconds
        assert samples(points, "PreBindPreFlight", "Success") == 1
        assert samples(points, "PreBind", "Success") == 1


@story
async def test_without_work_nothing_is_told() -> None:
    calls: list[str] = []
    async with scheduling(
        works("A", 5, calls, pre_flight=Status.skip()), nodes=[make_node("n")]
    ) as world:
        await world.comes(make_pod("a"))
        assert world.where("a") == "bound to n"
        assert world.api.said[0] == "bind a to n"
        assert calls == []
        points = world.scheduler.metrics.framework_extension_point_duration_seconds
        assert samples(points, "PreBindPreFlight", "Skip") == 1
        assert samples(points, "PreBind", "Success") == 1


@story
async def test_with_the_gate_off_nobody_is_asked_and_nothing_told() -> None:
    calls: list[str] = []
    gates = FeatureGates().setting({"NominatedNodeNameForExpectation": False})
    async with scheduling(
        works("A", 5, calls, pre_flight=Status.skip()), nodes=[make_node("n")], gates=gates
    ) as world:
        await world.comes(make_pod("a"))
        await world.pass_time(5)
        assert calls == ["A begins", "A ends"]
        assert world.api.said[0] == "bind a to n"


@story
async def test_a_pod_is_bound_though_the_announcement_failed() -> None:
    async with scheduling(works("A", 5, []), nodes=[make_node("n")]) as world:
        world.api.status_mishaps.append(refusal(503, "ServiceUnavailable", "away"))
        await world.comes(make_pod("a"))
        await world.pass_time(5)
        assert world.where("a") == "bound to n"


@story
async def test_one_after_the_other_unless_both_agree_to_run_together() -> None:
    calls: list[str] = []
    plugins = [
        works("A", 1, calls),
        works("B", 3, calls, pre_flight=PARALLEL),
        works("C", 2, calls, pre_flight=PARALLEL),
        works("Skips", 1, calls, pre_flight=Status.skip()),
        works("D", 1, calls, pre_flight=PARALLEL),
    ]
    async with scheduling(*plugins, nodes=[make_node("n")]) as world:
        await world.comes(make_pod("a"))
        await world.pass_time(10)
        assert calls == [
            *("A begins", "A ends"),
            *("B begins", "C begins", "C ends", "B ends"),
            # A neighbour that does not agree parts the groups even when it has nothing to do.
            *("D begins", "D ends"),
        ]
        assert world.where("a") == "bound to n"


@story
async def test_of_several_that_run_together_the_first_failure_calls_off_the_others() -> None:
    calls: list[str] = []
    plugins = [
        works("A", 9, calls, pre_flight=PARALLEL),
        works("B", 1, calls, pre_flight=PARALLEL, ends=OSError("no such volume")),
    ]
    async with scheduling(*plugins, nodes=[make_node("n", cpu="1")]) as world:
        await world.comes(make_pod("a", cpu="1"))
        await world.pass_time(1)
        assert calls == ["A begins", "B begins", "B ends", "A called off"]
        assert world.api.conditions("a") == [
            'SchedulerError: running PreBind plugin "B": no such volume'
        ]
        assert world.requested_cpu("n") == 0


@story
async def test_a_no_here_is_told_as_one_and_still_comes_again_by_itself() -> None:
    """No event brings such a pod back: plugins register none for PreBind."""
    async with scheduling(
        works("A", 1, [], ends=Status.unschedulable("volume is elsewhere")),
        nodes=[make_node("n")],
    ) as world:
        await world.comes(make_pod("a"))
        await world.pass_time(1)
        assert world.api.conditions("a") == ["Unschedulable: volume is elsewhere"]
        assert world.where("a") == "error backoff"
        assert world.api.said[-1] == "nominate a to nowhere"


@story
async def test_a_pre_flight_that_fails_ends_the_binding() -> None:
    cases: list[tuple[object, str]] = [
        (OSError("no"), 'SchedulerError: running PreBindPreFlight "A": no'),
        (
            Status.unschedulable("no"),
            'SchedulerError: plugin "A": PreBindPreFlight must not answer Unschedulable',
        ),
    ]
    for answer, told in cases:
        async with scheduling(
            works("A", 1, [], pre_flight=answer), nodes=[make_node("n", cpu="1")]
        ) as world:
            await world.comes(make_pod("a", cpu="1"))
            assert world.api.conditions("a") == [told]
            assert world.requested_cpu("n") == 0


async def begun(world: World) -> Any:
    await world.comes(make_pod("a", cpu="1"))
    return world.plugin("A").handle.pod_in_pre_bind(UID)


@story
async def test_preemption_may_stop_it() -> None:
    calls: list[str] = []
    async with scheduling(works("A", 5, calls), nodes=[make_node("n", cpu="1")]) as world:
        entry = await begun(world)
        assert entry.cancel("preempted by somebody")
        assert not entry.cancel("again")
        await world.a_moment()
        assert calls == ["A begins", "A called off"]
        assert world.api.conditions("a") == ["SchedulerError: preempted by somebody"]
        assert world.where("a") == "error backoff"
        assert world.requested_cpu("n") == 0
        assert world.plugin("A").handle.pod_in_pre_bind(UID) is None


@story
async def test_preemption_stops_even_a_plugin_that_goes_on() -> None:
    async def stubborn(*_: object) -> None:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            await asyncio.sleep(1)

    async with scheduling(
        make_plugin("A", pre_bind=stubborn), nodes=[make_node("n", cpu="1")]
    ) as world:
        (await begun(world)).cancel("preempted by somebody")
        await world.pass_time(1)
        assert world.api.conditions("a") == ["SchedulerError: preempted by somebody"]
        assert "bind a to n" not in world.api.said


@story
async def test_once_the_binding_is_on_its_way_it_is_too_late() -> None:
    async with scheduling(works("A", 5, []), nodes=[make_node("n")]) as world:
        entry = await begun(world)
        world.api.bindings_go_on.clear()
        await world.pass_time(5)
        assert not entry.cancel("preempted by somebody")
        world.api.bindings_go_on.set()
        await world.a_moment()
        assert world.where("a") == "bound to n"


@story
async def test_a_plugin_that_cancels_itself_has_failed() -> None:
    """Its pod must not stay assumed for ever."""

    async def gives_up(*_: object) -> None:
        inner = asyncio.ensure_future(asyncio.sleep(60))
        asyncio.get_running_loop().call_later(1, inner.cancel)
        await inner

    for plugin in (make_plugin("A", pre_bind=gives_up), make_plugin("A", bind=gives_up)):
        async with scheduling(plugin, nodes=[make_node("n")]) as world:
            await world.comes(make_pod("a"))
            await world.pass_time(1)
            assert world.where("a") == "error backoff"
            (told,) = world.api.conditions("a")
            assert told.endswith('plugin "A": CancelledError')
