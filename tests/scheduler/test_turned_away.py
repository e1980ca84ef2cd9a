"""A pod that fits nowhere: what is told, where it waits, and what brings it back."""

from __future__ import annotations

import pytest

from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    Plugin,
    Status,
)
from berthing.testing import make_node, make_pod
from scheduler.stories import PROFILE, make_plugin, samples, scheduling, story

TOO_SMALL = "0/2 nodes are available: 2 Insufficient cpu."

ON_NODE_ADD = ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD))


@story
async def test_it_is_told_why_and_woken_by_the_event_that_helps() -> None:
    nodes = [make_node("n1", cpu="1"), make_node("n2", cpu="1")]
    async with scheduling(nodes=nodes) as world:
        await world.comes(make_pod("a", cpu="2"))
        assert world.where("a") == "unschedulable"
        assert world.api.said == [
            f"event a: Warning FailedScheduling Scheduling: {TOO_SMALL}",
            f"unscheduled a: Unschedulable: {TOO_SMALL}",
        ]
        assert world.attempts() == {"unschedulable": 1}

        await world.comes(make_node("n2", cpu="1", labels={"new": "label"}))
        assert world.where("a") == "unschedulable", "a label makes no room"

        await world.comes(make_node("n3", cpu="2"))
        assert world.where("a") == "bound to n3"
        assert world.attempts() == {"unschedulable": 1, "scheduled": 1}


@story
async def test_the_same_words_are_written_once_and_told_each_time() -> None:
    async with scheduling(nodes=[make_node("n", cpu="1")]) as world:
        await world.comes(make_pod("a", cpu="3"), make_pod("b", cpu="3"))
        world.scheduler.queue.activate([world.api.pod("a")], now=0)
        await world.a_moment()
        assert len(world.api.events("a")) == 2
        assert len(world.api.events("b")) == 1


@story
async def test_without_any_node_it_is_tried_again_after_a_while() -> None:
    async with scheduling() as world:
        await world.comes(make_pod("a"))
        assert world.api.conditions("a") == ["Unschedulable: no nodes available to schedule pods"]
        assert world.where("a") == "error backoff"
        assert world.attempts() == {"unschedulable": 1}
        assert samples(world.scheduler.metrics.scheduling_algorithm_duration_seconds) == 1

        await world.comes(make_node("n"))
        assert world.where("a") == "error backoff", "its wait is not cut short"
        await world.pass_time(2)
        assert world.where("a") == "bound to n"


@story
async def test_an_error_is_told_as_one_and_costs_longer_and_longer_waits() -> None:
    calls: list[str] = []
    broken = make_plugin("Broken", calls=calls, reserve=OSError("disk on fire"))
    async with scheduling(broken, nodes=[make_node("n")]) as world:
        await world.comes(make_pod("a"))
        text = 'running Reserve plugin "Broken": disk on fire'
        assert world.api.conditions("a") == [f"SchedulerError: {text}"]
        assert world.api.events("a") == [f"Warning FailedScheduling Scheduling: {text}"]
        assert world.where("a") == "error backoff"
        assert world.attempts() == {"error": 1}
        assert samples(
            world.scheduler.metrics.scheduling_attempt_duration_seconds, "error", PROFILE
        )
        # 1, 2, 4, 8, 10 s, each until the whole second after it.
        for passed, tries in ((2, 2), (3, 3), (5, 4), (9, 5), (11, 6)):
            await world.pass_time(passed)
            assert calls.count("Broken reserve") == tries


@story
async def test_it_comes_back_after_five_minutes_if_nothing_happens() -> None:
    nobody = make_plugin("Nobody", reserve=Status.unschedulable("not now"))
    async with scheduling(nobody, nodes=[make_node("n")]) as world:
        await world.comes(make_pod("a"))
        await world.pass_time(299)
        assert world.attempts() == {"unschedulable": 1}
        await world.pass_time(60)
        assert world.attempts() == {"unschedulable": 2}


@pytest.mark.parametrize(
    ("answer", "where"),
    [
        pytest.param(Status.unschedulable("no"), "unschedulable", id="a no waits for an event"),
        pytest.param(Status.unresolvable("no"), "unschedulable", id="so does a firm no"),
        pytest.param(Status.pending("no"), "unschedulable", id="and a not yet"),
        pytest.param(Status.skip(), "error backoff", id="what makes no sense is an error"),
        pytest.param("nonsense", "error backoff", id="and so is what is no status"),
    ],
)
@story
async def test_what_reserve_answers(answer: object, where: str) -> None:
    async with scheduling(make_plugin("P", reserve=answer), nodes=[make_node("n")]) as world:
        await world.comes(make_pod("a"))
        assert world.where("a") == where


@story
async def test_a_pod_that_was_put_on_hold_comes_back_without_backoff() -> None:
    def plugin(name: str, answer: Status) -> type[Plugin]:
        return make_plugin(name, reserve=answer, events_to_register=(ON_NODE_ADD,))

    profiles = {
        PROFILE: [plugin("Hold", Status.pending("not yet"))],
        "other": [plugin("No", Status.unschedulable("no"))],
    }
    async with scheduling(nodes=[make_node("n")], profiles=profiles) as world:
        await world.comes(make_pod("held"), make_pod("refused", scheduler_name="other"))
        # One that waits and could be tried at once would be tried for want of anybody else.
        held, refused = world.waiting("held"), world.waiting("refused")
        assert list(held.pending_plugins) == ["Hold"]
        assert list(refused.unschedulable_plugins) == ["No"]
        assert world.api.conditions("held") == [
            "Unschedulable: 0/1 nodes are available: 1 not yet."
        ]
        await world.comes(make_node("m"))
        assert (held.attempts, refused.attempts) == (2, 2)


@story
async def test_what_happens_during_the_attempt_is_not_slept_through() -> None:
    """PostFilter awaits; meanwhile a node comes that would do."""

    async def slowly(*_: object) -> object:
        await world.pass_time(5)
        raise OSError("nothing found")

    async with scheduling(
        make_plugin("Slow", post_filter=slowly), nodes=[make_node("n", cpu="1")]
    ) as world:
        await world.comes(make_pod("a", cpu="2"))
        await world.comes(make_node("m", cpu="2"))
        assert world.where("a") == "gone", "in flight"
        assert world.scheduler.cluster.row("m") is None, "an attempt sees one state of the cluster"
        await world.pass_time(5)
        assert world.where("a") == "bound to m"
