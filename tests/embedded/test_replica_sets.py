"""Replica sets keep as many pods as they say, whatever becomes of these."""

from __future__ import annotations

from berthing.api.apps import ReplicaSet
from berthing.api.kinds import kind_of
from berthing.api.scheduling import PriorityClass
from embedded.planes import PODS, as_tree, running, story


@story
async def test_pods_are_made_from_the_template_and_belong_to_their_maker() -> None:
    async with running() as world:
        await world.replica_set(3)
        assert len(world.pods()) == 3
        for pod in world.pods():
            assert pod.name.startswith("web-")
            assert pod.metadata.labels == {"app": "web"}
            owner = pod.metadata.controller
            assert owner is not None
            assert (owner.api_version, owner.kind, owner.name) == ("apps/v1", "ReplicaSet", "web")


@story
async def test_more_are_made_when_more_are_wanted() -> None:
    async with running() as world:
        await world.replica_set(2)
        before = {pod.name for pod in world.pods()}
        await world.patch(ReplicaSet, "web", replicas=5)
        assert len(world.pods()) == 5
        assert before < {pod.name for pod in world.pods()}


@story
async def test_those_go_first_that_have_no_node_then_those_that_are_not_ready() -> None:
    async with running() as world:
        await world.replica_set(3)
        ready, bound, _ = (pod.name for pod in world.pods())
        await world.bind(ready)
        await world.pass_time(2)
        await world.bind(bound)
        await world.patch(ReplicaSet, "web", replicas=1)
        assert world.phases() == {ready: "Running", bound: "going"}


@story
async def test_a_pod_that_is_deleted_is_replaced_before_it_is_gone() -> None:
    async with running() as world:
        await world.replica_set(1)
        (old,) = world.pods()
        await world.bind()
        await world.delete_pod(old.name)
        assert sorted(world.phases().values()) == ["Pending", "going"]
        await world.pass_time(2)
        (new,) = world.pods()
        assert new.name != old.name


@story
async def test_its_status_counts_pods_and_ready_ones() -> None:
    async with running() as world:
        await world.replica_set(2)
        await world.bind(world.pods()[0].name)
        await world.pass_time(2)
        status = world.status(ReplicaSet, "web")
        assert (status["replicas"], status["readyReplicas"]) == (2, 1)


@story
async def test_pods_of_others_with_the_same_labels_do_not_count() -> None:
    async with running() as world:
        alike = as_tree({"metadata": {"name": "alike", "labels": {"app": "web"}}, "spec": {}})
        world.objects.create(PODS, "default", alike)
        await world.replica_set(2)
        assert len(world.pods()) == 3


@story
async def test_what_is_refused_is_tried_again_until_it_works() -> None:
    async with running() as world:
        await world.replica_set(2, pod={"priorityClassName": "high"})
        assert world.pods() == []
        high = as_tree({"metadata": {"name": "high"}, "value": 7})
        world.objects.create(kind_of(PriorityClass), "", high)
        await world.pass_time(10)
        assert [pod.priority for pod in world.pods()] == [7, 7]


@story
async def test_more_pods_than_are_made_at_once_are_made_all_the_same() -> None:
    async with running() as world:
        await world.replica_set(250)
        assert len(world.pods()) == 250
