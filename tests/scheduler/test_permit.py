"""Permit: a pod that has its node may have to wait for somebody's word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from berthing.framework import Plugin, Status, Wait
from berthing.testing import make_node, make_pod
from scheduler.stories import World, make_plugin, samples, scheduling, story

UID = "uid-of-default/a"


def holds(name: str, seconds: float, calls: list[str] | None = None) -> type[Plugin]:
    return make_plugin(name, calls=calls, permit=Wait(seconds), reserve=None)


def waiting(world: World) -> Any:
    return world.plugin("A").handle.waiting_pod(UID)


@story
async def test_a_pod_waits_until_it_is_allowed() -> None:
    async with scheduling(holds("A", 60), nodes=[make_node("n")]) as world:
        await world.comes(make_pod("a"))
        assert world.where("a") == "assumed on n"
        assert world.api.said == ["nominate a to n"], "others may want to know already"
        waiting(world).allow("A")
        await world.a_moment()
        assert world.where("a") == "bound to n"
        assert waiting(world) is None
        metrics = world.scheduler.metrics
        assert samples(metrics.permit_wait_duration_seconds, "Success") == 1
        points = metrics.framework_extension_point_duration_seconds
        assert samples(points, "Permit", "Wait") == 1


@story
async def test_all_who_asked_for_it_must_allow_it() -> None:
    free = make_plugin("Free", permit=None)
    async with scheduling(holds("A", 60), free, holds("B", 60), nodes=[make_node("n")]) as world:
        await world.comes(make_pod("a"))
        pod = waiting(world)
        assert pod.pending_plugins == ["A", "B"]
        pod.allow("B")
        pod.allow("Free")
        await world.a_moment()
        assert pod.pending_plugins == ["A"]
        assert world.where("a") == "assumed on n"
        pod.allow("A")
        await world.a_moment()
        assert world.where("a") == "bound to n"
        assert not pod.reject("B", "too late"), "the first word counts"


@story
async def test_the_first_time_that_is_over_turns_the_pod_back() -> None:
    calls: list[str] = []
    plugins = [holds("A", 90, calls), holds("B", 1.5, calls)]
    async with scheduling(*plugins, nodes=[make_node("n", cpu="1")]) as world:
        await world.comes(make_pod("a", cpu="1"))
        await world.pass_time(1.5)
        text = "rejected due to timeout after waiting 1.5s at plugin B"
        assert world.api.conditions("a") == [f"Unschedulable: 0/1 nodes are available: 1 {text}."]
        assert world.where("a") == "unschedulable"
        assert list(world.waiting("a").unschedulable_plugins) == ["B"]
        assert world.requested_cpu("n") == 0
        assert calls[-2:] == ["B unreserve", "A unreserve"]
        assert world.api.said[-1] == "nominate a to nowhere"
        waits = world.scheduler.metrics.permit_wait_duration_seconds
        assert samples(waits, "Unschedulable") == 1


@story
async def test_no_plugin_holds_a_pod_for_more_than_a_quarter_of_an_hour() -> None:
    async with scheduling(holds("A", 3600), nodes=[make_node("n")]) as world:
        await world.comes(make_pod("a"))
        await world.pass_time(899)
        assert world.where("a") == "assumed on n"
        await world.pass_time(1.5)
        (told,) = world.api.conditions("a")
        assert "1 rejected due to timeout after waiting 15m0s at plugin A" in told


@story
async def test_a_plugin_may_turn_back_a_pod_that_waits() -> None:
    async with scheduling(holds("A", 60), nodes=[make_node("n")]) as world:
        await world.comes(make_pod("a"))
        assert waiting(world).reject("A", "the others did not come")
        await world.a_moment()
        assert world.api.conditions("a") == [
            "Unschedulable: 0/1 nodes are available: 1 the others did not come."
        ]
        assert list(world.waiting("a").unschedulable_plugins) == ["A"]


@story
async def test_the_handle_turns_back_a_pod_in_nobodys_name() -> None:
    async with scheduling(holds("A", 60), nodes=[make_node("n")]) as world:
        handle = world.plugin("A").handle
        assert not handle.reject_waiting_pod(UID)
        await world.comes(make_pod("a"))
        seen: list[str] = []
        handle.iterate_waiting_pods(lambda pod: seen.append(pod.pod.name))
        assert seen == ["a"]
        assert handle.reject_waiting_pod(UID)
        await world.a_moment()
        assert world.api.conditions("a") == ["Unschedulable: 0/1 nodes are available: 1 removed."]
        assert world.where("a") == "error backoff", "no plugin's event could wake it"


@story
async def test_a_pod_that_waits_can_be_preempted_and_comes_again() -> None:
    async with scheduling(holds("A", 60), nodes=[make_node("n")]) as world:
        await world.comes(make_pod("a"))
        assert waiting(world).preempt("Other", "preempted by somebody")
        await world.a_moment()
        assert world.api.conditions("a") == [
            "SchedulerError: waiting on permit for pod: preempted by somebody"
        ]
        assert world.where("a") == "error backoff"
        waits = world.scheduler.metrics.permit_wait_duration_seconds
        assert samples(waits, "Error") == 1


def later_no(*_: object) -> Status:
    return Status.unschedulable("not you")


def later_error(*_: object) -> Status:
    raise OSError("not me")


REFUSALS: Mapping[str, tuple[object, str]] = {
    "a no": (later_no, "Unschedulable: 0/1 nodes are available: 1 not you."),
    "an error": (later_error, 'SchedulerError: running Permit plugin "B": not me'),
}


@pytest.mark.parametrize("refusal", REFUSALS)
@story
async def test_a_refusal_counts_more_than_a_wish_to_wait(refusal: str) -> None:
    answer, message = REFUSALS[refusal]
    calls: list[str] = []
    plugins = [
        holds("A", 60, calls),
        make_plugin("B", permit=answer),
        make_plugin("C", calls=calls, permit=None),
    ]
    async with scheduling(*plugins, nodes=[make_node("n", cpu="1")]) as world:
        await world.comes(make_pod("a", cpu="1"))
        assert world.api.conditions("a") == [message]
        assert calls == ["A reserve", "A permit", "A unreserve"]
        assert world.requested_cpu("n") == 0
        assert waiting(world) is None


@story
async def test_others_that_wait_for_the_room_are_told_but_not_the_pod_itself() -> None:
    async with scheduling(holds("A", 60), nodes=[make_node("n", cpu="1")]) as world:
        await world.comes(make_pod("a", cpu="1"))
        await world.comes(make_pod("b", cpu="1"))
        assert world.where("b") == "unschedulable"
        waiting(world).reject("A", "no")
        await world.a_moment()
        assert world.where("a") == "unschedulable"
        assert world.where("b") == "assumed on n"


@story
async def test_a_wish_that_makes_no_sense_costs_the_attempt_and_not_the_scheduler() -> None:
    calls: list[str] = []
    async with scheduling(
        make_plugin("A", calls=calls, reserve=None, permit=Wait("soon")),  # type: ignore[arg-type]
        nodes=[make_node("n", cpu="1")],
    ) as world:
        await world.comes(make_pod("a", cpu="1"))
        assert world.where("a") == "error backoff"
        assert calls[-1] == "A unreserve"
        assert world.requested_cpu("n") == 0
