"""PostFilter makes room, or does not: what becomes of the pod's nomination."""

from __future__ import annotations

import pytest

from berthing.framework import Plugin, PostFilterResult, Status
from berthing.testing import make_node, make_pod
from scheduler.stories import World, make_plugin, samples, scheduling, story

NODE = make_node("n", cpu="1")
FITS_NOT = "0/1 nodes are available: 1 Insufficient cpu."
NO = Status.unschedulable("nobody to evict")


def nominations(world: World) -> dict[str, list[str]]:
    """The pods that are nominated, by node."""
    return {
        node: [each.pod.name for each in pods]
        for node, pods in world.scheduler.queue.nominator.by_node.items()
    }


def post_filter(*results: object) -> list[type[Plugin]]:
    return [make_plugin(f"P{number}", post_filter=result) for number, result in enumerate(results)]


@story
async def test_room_that_was_made_is_kept_for_the_pod() -> None:
    async with scheduling(*post_filter(PostFilterResult(None, "n")), nodes=[NODE]) as world:
        await world.comes(make_pod("a", cpu="2", priority=5))
        assert world.api.conditions("a") == [f"Unschedulable: {FITS_NOT}"]
        assert world.api.said[-1] == "nominate a to n"
        assert nominations(world) == {"n": ["a"]}
        assert world.api.pod("a").status.nominated_node_name == "n"
        points = world.scheduler.metrics.framework_extension_point_duration_seconds
        assert samples(points, "PostFilter", "Success") == 1


@story
async def test_the_nomination_counts_before_the_api_server_has_heard_of_it() -> None:
    async with scheduling(*post_filter(PostFilterResult(None, "n")), nodes=[NODE]) as world:
        world.api.patches_go_on.clear()
        await world.comes(make_pod("a", cpu="2", priority=5))
        assert nominations(world) == {"n": ["a"]}
        await world.comes(make_pod("b", cpu="1"))
        assert world.where("b") == "unschedulable", "the room is not for the less important"
        await world.comes(make_pod("c", cpu="1", priority=9))
        assert world.where("c") == "bound to n"
        world.api.patches_go_on.set()


@story
async def test_the_nomination_ends_with_the_pods_own_node() -> None:
    async with scheduling(*post_filter(PostFilterResult(None, "n")), nodes=[NODE]) as world:
        await world.comes(make_pod("a", cpu="2", priority=5))
        world.api.bindings_go_on.clear()
        await world.comes(make_node("n", cpu="2"))
        assert world.where("a") == "assumed on n"
        assert nominations(world) == {}
        world.api.bindings_go_on.set()
        await world.a_moment()
        assert world.api.pod("a").status.nominated_node_name == ""


@pytest.mark.parametrize(
    ("results", "kept", "words"),
    [
        pytest.param([PostFilterResult(NO, "")], {}, " nobody to evict", id="taken back"),
        pytest.param([PostFilterResult(NO)], {"n": ["a"]}, " nobody to evict", id="left alone"),
        pytest.param([OSError("lost")], {"n": ["a"]}, " lost", id="a plugin that broke leaves it"),
        pytest.param([], {}, "", id="without plugins there is no use for it"),
        pytest.param(
            [PostFilterResult(NO), PostFilterResult(Status.unschedulable("nor a claim"), "")],
            {},
            " nobody to evict, nor a claim",
            id="all are asked, and the last who cares decides",
        ),
        pytest.param(
            [PostFilterResult(Status.unresolvable("never")), PostFilterResult(NO, "")],
            {"n": ["a"]},
            " never",
            id="a firm no ends it",
        ),
        pytest.param(
            [PostFilterResult(NO, "other"), PostFilterResult(None)],
            {"n": ["a"]},
            "",
            id="who makes room has the only word",
        ),
        pytest.param(
            ["nonsense"],
            {"n": ["a"]},
            """ plugin "P0": PostFilter returned 'nonsense'""",
            id="what makes no sense is an error",
        ),
    ],
)
@story
async def test_an_earlier_nomination(
    results: list[object], kept: dict[str, list[str]], words: str
) -> None:
    async with scheduling(*post_filter(*results), nodes=[NODE]) as world:
        await world.comes(make_pod("a", cpu="2", nominated_node_name="n"))
        assert nominations(world) == kept
        # A nomination that ends wakes the pod itself, too, as it does upstream.
        assert world.api.conditions("a")[0] == f"Unschedulable: {FITS_NOT}{words}"
        assert ("nominate a to nowhere" in world.api.said) == (not kept)
        assert world.where("a") == "unschedulable"


@story
async def test_errors_and_failed_bindings_take_it_back() -> None:
    async with scheduling(make_plugin("P", bind=OSError("cut")), nodes=[NODE]) as world:
        await world.comes(make_pod("a", nominated_node_name="n"))
        assert nominations(world) == {}
        assert world.api.pod("a").status.nominated_node_name == ""


@story
async def test_those_who_respected_a_nomination_hear_of_its_end() -> None:
    async with scheduling(*post_filter(PostFilterResult(None, "n")), nodes=[NODE]) as world:
        await world.comes(make_pod("a", cpu="2", priority=5))
        await world.comes(make_pod("b", cpu="1"))
        assert world.where("b") == "unschedulable"
        await world.goes(world.api.pod("a"))
        assert world.where("b") == "bound to n"
