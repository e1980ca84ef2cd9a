"""Jobs have pods run until enough of them have succeeded."""

from __future__ import annotations

from berthing.api.batch import Job
from embedded.planes import PODS, Plane, as_tree, running, story


async def ends(world: Plane, name: str, phase: str) -> None:
    """A pod is over, as its kubelet would say."""
    patch = {"status": {"phase": phase}}
    media_type = "application/merge-patch+json"
    world.objects.patch(
        PODS, ("default", name), as_tree(patch), content_type=media_type, subresource="status"
    )
    await world.pass_time()


@story
async def test_so_many_run_at_a_time_until_so_many_have_succeeded() -> None:
    async with running() as world:
        await world.job(parallelism=2, completions=3)
        assert list(world.phases().values()) == ["Pending", "Pending"]
        await world.bind()
        await world.pass_time(6)
        assert sorted(world.phases().values()) == ["Pending", "Succeeded", "Succeeded"]
        await world.bind()
        await world.pass_time(7)
        assert list(world.phases().values()) == ["Succeeded"] * 3
        status = world.status(Job, "sums")
        assert (status["succeeded"], status["active"]) == (3, 0)
        assert [each["type"] for each in status["conditions"]] == ["Complete"]


@story
async def test_a_pod_that_failed_is_replaced_until_too_many_have() -> None:
    async with running() as world:
        await world.job(completions=1, backoffLimit=1)
        await ends(world, world.pods()[0].name, "Failed")
        assert list(world.phases().values()) == ["Failed", "Pending"]
        await ends(world, world.pods()[1].name, "Failed")
        assert list(world.phases().values()) == ["Failed", "Failed"]
        status = world.status(Job, "sums")
        assert status["failed"] == 2
        assert [each["type"] for each in status["conditions"]] == ["Failed"]


@story
async def test_a_pod_that_succeeded_counts_even_if_it_is_removed() -> None:
    async with running() as world:
        await world.job(parallelism=1, completions=2)
        (first,) = world.pods()
        await ends(world, first.name, "Succeeded")
        await world.delete_pod(first.name)
        assert first.name not in world.phases()
        assert world.status(Job, "sums")["succeeded"] == 1
        assert list(world.phases().values()) == ["Pending"]
        await ends(world, world.pods()[0].name, "Succeeded")
        assert [each["type"] for each in world.status(Job, "sums")["conditions"]] == ["Complete"]


@story
async def test_a_pod_that_is_deleted_before_it_is_over_is_replaced() -> None:
    async with running() as world:
        await world.job(completions=1)
        (first,) = world.pods()
        await world.bind()
        await world.delete_pod(first.name)
        await world.pass_time(2)
        (second,) = world.pods()
        assert second.name != first.name
        assert world.status(Job, "sums")["failed"] == 1
