"""Bind: who takes the pod, and every way in which it may come to nothing.

However it ends: the room is given back, others that wait for it are told, and the pod is tried
again, unless it is gone or has a node.
"""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from berthing.api.pod import Pod
from berthing.framework import Status, Wait
from berthing.testing import make_node, make_pod
from scheduler.fake_api import LostAnswerError, refusal
from scheduler.stories import World, make_plugin, samples, scheduling, story

NODES = (make_node("n", cpu="1"),)


def pod(name: str = "a") -> Pod:
    return make_pod(name, cpu="1")


def on(node_name: str, pod: Pod) -> Pod:
    return replace(pod, spec=replace(pod.spec, node_name=node_name))


async def held_in_binding(world: World) -> None:
    """Pod a is on its way to the API server, and b waits for its room."""
    world.api.bindings_go_on.clear()
    await world.comes(pod("a"))
    await world.comes(pod("b"))
    assert (world.where("a"), world.where("b")) == ("assumed on n", "unschedulable")


async def bindings_go_on(world: World) -> None:
    world.api.bindings_go_on.set()
    await world.a_moment()


# Who takes it.


@story
async def test_the_first_plugin_that_does_not_skip_takes_it() -> None:
    calls: list[str] = []
    plugins = [
        make_plugin("A", calls=calls, bind=Status.skip()),
        make_plugin("B", calls=calls, bind=None),
        make_plugin("C", calls=calls, bind=None),
    ]
    async with scheduling(*plugins, nodes=NODES) as world:
        await world.comes(pod())
        assert calls == ["A bind", "B bind"]
        assert world.attempts() == {"scheduled": 1}
        points = world.scheduler.metrics.framework_extension_point_duration_seconds
        assert samples(points, "Bind", "Success") == 1
        await world.comes(on("n", pod()))


@story
async def test_a_pod_that_nobody_takes_is_tried_again() -> None:
    async with scheduling(make_plugin("A", bind=Status.skip()), nodes=NODES) as world:
        world.plugin("DefaultBinder").bind = world.plugin("A").bind
        await world.comes(pod())
        assert world.api.conditions("a") == ["SchedulerError: no Bind plugin took the pod"]
        assert world.where("a") == "error backoff"


@story
async def test_a_plugin_that_says_no_or_breaks() -> None:
    cases: list[tuple[object, str]] = [
        (Status.unschedulable("not like this"), "Unschedulable: not like this"),
        (OSError("line cut"), 'SchedulerError: running Bind plugin "A": line cut'),
    ]
    for answer, told in cases:
        async with scheduling(make_plugin("A", bind=answer), nodes=NODES) as world:
            await world.comes(pod())
            assert world.api.conditions("a") == [told]
            assert world.where("a") == "error backoff", "no event could bring it back"
            assert world.requested_cpu("n") == 0


# What the API server has against it.


@story
async def test_a_refusal_is_told_and_the_room_goes_to_whoever_waits_for_it() -> None:
    calls: list[str] = []
    async with scheduling(make_plugin("A", calls=calls, reserve=None), nodes=NODES) as world:
        await held_in_binding(world)
        world.api.bind_mishaps.append(refusal(422, "Invalid", "node n is full"))
        await bindings_go_on(world)
        assert world.api.conditions("a") == [
            'SchedulerError: running Bind plugin "DefaultBinder": node n is full'
        ]
        assert calls == ["A reserve", "A unreserve", "A reserve"]
        assert world.where("a") == "error backoff"
        assert world.where("b") == "bound to n"
        assert world.attempts() == {"unschedulable": 1, "error": 1, "scheduled": 1}


@story
async def test_somebody_else_bound_it_elsewhere_and_the_watch_is_late() -> None:
    async with scheduling(nodes=(*NODES, make_node("m", cpu="0"))) as world:
        await held_in_binding(world)
        world.api.is_watched = False
        world.api.show(on("m", pod("a")))
        await bindings_go_on(world)
        (told,) = world.api.conditions("a")
        assert told.endswith('"DefaultBinder": pod a is already assigned to node "m"')
        assert world.scheduler.queue.get("uid-of-default/a") is not None
        world.api.catch_up()
        await world.a_moment()
        assert (world.where("a"), world.where("b")) == ("bound to m", "bound to n")
        assert world.requested_cpu("m") == world.requested_cpu("n") == 1000


@story
async def test_the_answer_was_lost_and_the_watch_has_shown_the_pod_bound() -> None:
    calls: list[str] = []
    async with scheduling(make_plugin("A", calls=calls, reserve=None), nodes=NODES) as world:
        world.api.bind_mishaps.append(LostAnswerError())
        await world.comes(pod())
        assert world.where("a") == "bound to n"
        assert world.requested_cpu("n") == 1000
        assert world.api.conditions("a") == [], "nobody is told that it failed"
        assert calls == ["A reserve", "A unreserve"]


@story
async def test_the_answer_was_lost_and_the_watch_is_late() -> None:
    async with scheduling(nodes=NODES) as world:
        world.api.bindings_go_on.clear()
        await world.comes(pod())
        world.api.is_watched = False
        world.api.bind_mishaps.append(LostAnswerError())
        await bindings_go_on(world)
        assert world.scheduler.queue.pending()["backoff"] == 1
        world.api.catch_up()
        await world.a_moment()
        assert world.where("a") == "bound to n"
        assert world.requested_cpu("n") == 1000


# What happens meanwhile.


@story
async def test_the_pod_is_deleted_before_the_binding() -> None:
    async with scheduling(nodes=NODES) as world:
        await held_in_binding(world)
        await world.goes(pod("a"))
        assert world.where("a") == "gone"
        assert world.api.said[-1] == "bind b to n", "its room is free at once"
        await bindings_go_on(world)
        assert world.where("b") == "bound to n"
        assert world.api.conditions("a") == []
        assert world.attempts() == {"unschedulable": 1, "error": 1, "scheduled": 1}


@story
async def test_the_pod_is_about_to_be_deleted() -> None:
    async with scheduling(nodes=NODES) as world:
        await held_in_binding(world)
        leaving = world.api.pod("a")
        when = datetime(2026, 1, 1, tzinfo=UTC)
        await world.comes(
            replace(leaving, metadata=replace(leaving.metadata, deletion_timestamp=when))
        )
        assert world.api.said[-1] == "bind b to n"
        world.api.bind_mishaps.append(refusal(409, "Conflict", "pod a is being deleted"))
        await bindings_go_on(world)
        assert world.where("b") == "bound to n"
        await world.pass_time(2)
        assert world.api.events("a")[-1].endswith("skip schedule deleting pod: default/a")
        assert world.where("a") == "gone"


@story
async def test_the_pod_is_deleted_just_after_the_binding() -> None:
    async with scheduling(nodes=NODES) as world:
        await world.comes(pod("a"))
        await world.comes(pod("b"))
        await world.goes(world.api.pod("a"))
        assert world.where("b") == "bound to n"
        assert world.requested_cpu("n") == 1000


@story
async def test_the_pod_is_deleted_while_it_waits_to_be_permitted() -> None:
    calls: list[str] = []
    hold = make_plugin("Hold", calls=calls, reserve=None, permit=Wait(60))
    async with scheduling(hold, nodes=NODES) as world:
        await world.comes(pod("a"))
        await world.comes(pod("b"))
        await world.goes(pod("a"))
        assert world.where("a") == "gone"
        assert world.where("b") == "assumed on n"
        assert "Hold unreserve" in calls
        assert world.plugin("Hold").handle.waiting_pod("uid-of-default/a") is None
        assert world.api.conditions("a") == []


@story
async def test_another_pod_of_the_same_name_takes_its_place() -> None:
    async with scheduling(nodes=NODES) as world:
        world.api.bindings_go_on.clear()
        await world.comes(pod("a"))
        await world.comes(make_pod("a", cpu="1", uid="another"))
        await bindings_go_on(world)
        assert world.where("a") == "bound to n"
        assert world.api.pod("a").metadata.uid == "another"
        assert world.requested_cpu("n") == 1000


@story
async def test_the_node_is_gone() -> None:
    async with scheduling(nodes=NODES) as world:
        await held_in_binding(world)
        await world.goes(*NODES)
        world.api.bind_mishaps.append(refusal(404, "NotFound", 'node "n" not found'))
        await bindings_go_on(world)
        assert world.where("a") == "error backoff"
        await world.comes(make_node("n", cpu="2"))
        await world.pass_time(3)
        assert (world.where("a"), world.where("b")) == ("bound to n", "bound to n")


@story
async def test_the_pod_changes_and_is_tried_again_as_it_is_now() -> None:
    async with scheduling(nodes=NODES) as world:
        await held_in_binding(world)
        changed = world.api.pod("a")
        labels = make_pod(labels={"new": "label"}).metadata.labels
        await world.comes(replace(changed, metadata=replace(changed.metadata, labels=labels)))
        assert world.where("a") == "assumed on n"
        world.api.bind_mishaps.append(refusal(500, "InternalError", "try again"))
        await bindings_go_on(world)
        assert world.waiting("a").pod_info.labels == {"new": "label"}


@story
async def test_a_failure_waits_for_an_attempt_that_is_under_way() -> None:
    """PostFilter awaits, and what it sees must not change under it."""

    seen: list[int] = []

    async def slowly(*_: object) -> None:
        seen.append(world.requested_cpu("n"))
        await world.pass_time(5)
        seen.append(world.requested_cpu("n"))
        raise OSError("nothing found")

    async with scheduling(make_plugin("Slow", post_filter=slowly), nodes=NODES) as world:
        world.api.bindings_go_on.clear()
        world.api.bind_mishaps.append(refusal(500, "InternalError", "try again"))
        await world.comes(pod("a"), pod("b"))
        await bindings_go_on(world)
        assert world.where("a") == "assumed on n"
        await world.pass_time(5)
        assert seen == [1000, 1000]
        assert world.where("a") == "error backoff"
        assert world.where("b") == "bound to n"
