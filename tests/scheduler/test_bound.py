"""A pod on its straight way: chosen, bound, and told so."""

from __future__ import annotations

from datetime import UTC, datetime

from berthing.framework import Status
from berthing.testing import make_node, make_pod
from scheduler.stories import PROFILE, make_plugin, samples, scheduling, story, value


@story
async def test_a_pod_is_bound_and_told() -> None:
    async with scheduling(nodes=[make_node("n", cpu="2")]) as world:
        await world.comes(make_pod("a", cpu="1"))
        assert world.where("a") == "bound to n"
        assert world.api.said == [
            "bind a to n",
            "event a: Normal Scheduled Binding: Successfully assigned default/a to n",
        ]
        assert world.requested_cpu("n") == 1000
        assert world.attempts() == {"scheduled": 1}
        assert not world.scheduler.queue.in_flight


@story
async def test_room_is_taken_before_the_binding_is_through() -> None:
    async with scheduling(nodes=[make_node("n", cpu="1")]) as world:
        world.api.bindings_go_on.clear()
        await world.comes(make_pod("a", cpu="1"), make_pod("b", cpu="1"))
        assert world.where("a") == "assumed on n"
        assert world.where("b") == "unschedulable"
        world.api.bindings_go_on.set()
        await world.a_moment()
        assert world.where("a") == "bound to n"


@story
async def test_bindings_go_on_beside_each_other() -> None:
    async with scheduling(nodes=[make_node("n")]) as world:
        world.api.bindings_go_on.clear()
        await world.comes(*(make_pod(f"p{number}") for number in range(5)))
        assert world.api.said == [f"bind p{number} to n" for number in range(5)]
        assert value(world.scheduler.metrics.goroutines, "binding") == 5
        world.api.bindings_go_on.set()
        await world.a_moment()
        assert len(world.api.nodes_of_pods()) == 5
        assert value(world.scheduler.metrics.goroutines, "binding") == 0


@story
async def test_the_watch_may_show_the_binding_before_the_answer_comes() -> None:
    async with scheduling(nodes=[make_node("n", cpu="1")]) as world:
        world.api.bindings_go_on.clear()
        await world.comes(make_pod("a", cpu="1"))
        world.api.show(make_pod("a", cpu="1", node_name="n"))
        world.api.bind_mishaps.append(RuntimeError("already there"))
        world.api.bindings_go_on.set()
        await world.a_moment()
        assert world.where("a") == "bound to n"
        assert world.requested_cpu("n") == 1000


@story
async def test_a_pod_that_is_being_deleted_is_not_tried() -> None:
    async with scheduling(nodes=[make_node("n")]) as world:
        await world.comes(make_pod("a", deleted=datetime(2026, 1, 1, tzinfo=UTC)))
        assert world.where("a") == "gone"
        assert world.api.said == [
            "event a: Warning FailedScheduling Scheduling: skip schedule deleting pod: default/a"
        ]
        assert world.attempts() == {}


@story
async def test_a_pod_that_has_its_node_already_is_not_tried_again() -> None:
    """An update in the middle of an attempt may queue a pod that is then assumed."""
    async with scheduling(nodes=[make_node("n")]) as world:
        world.api.bindings_go_on.clear()
        await world.comes(make_pod("a"))
        world.scheduler.queue.update(world.scheduler.cluster.pod("uid-of-default/a"), now=0)  # type: ignore[arg-type]
        await world.a_moment()
        assert world.api.said == ["bind a to n"]
        assert world.where("a") == "assumed on n"
        world.api.bindings_go_on.set()


@story
async def test_pods_of_two_profiles_are_bound_by_their_own_plugins() -> None:
    calls: list[str] = []
    first = make_plugin("First", calls=calls, reserve=None)
    second = make_plugin("Second", calls=calls, reserve=Status.unschedulable("not here"))
    async with scheduling(
        nodes=[make_node("n")], profiles={PROFILE: [first], "other": [second]}
    ) as world:
        await world.comes(
            make_pod("a"),
            make_pod("b", scheduler_name="other"),
            make_pod("c", scheduler_name="nobody"),
        )
        assert calls == ["First reserve", "Second reserve", "Second unreserve"]
        assert world.where("a") == "bound to n"
        assert world.where("b") == "unschedulable"
        assert world.where("c") == "gone", "nobody here has anything to do with it"
        assert world.attempts() == {"scheduled": 1}
        assert world.attempts("other") == {"unschedulable": 1}


@story
async def test_what_is_measured_of_a_pod_that_is_bound() -> None:
    async with scheduling(
        make_plugin("P", reserve=None, permit=None, post_bind=None), nodes=[make_node("n")]
    ) as world:
        await world.comes(make_pod("a"))
        metrics = world.scheduler.metrics
        assert samples(metrics.scheduling_attempt_duration_seconds, "scheduled", PROFILE) == 1
        assert samples(metrics.scheduling_algorithm_duration_seconds) == 1
        assert samples(metrics.pod_scheduling_attempts) == 1
        assert samples(metrics.pod_scheduling_sli_duration_seconds, "1") == 1
        points = metrics.framework_extension_point_duration_seconds
        for point in ("Reserve", "Permit", "Bind", "PostBind"):
            assert samples(points, point, "Success", PROFILE) == 1, point
