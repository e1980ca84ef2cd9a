"""Stateful sets number their pods, and never have two of one number."""

from __future__ import annotations

from berthing.api.apps import StatefulSet
from embedded.planes import running, story


@story
async def test_the_next_pod_comes_once_the_last_is_ready() -> None:
    async with running() as world:
        await world.stateful_set(3)
        assert list(world.phases()) == ["db-0"]
        await world.bind()
        assert list(world.phases()) == ["db-0"]
        await world.pass_time(1)
        assert world.phases() == {"db-0": "Running", "db-1": "Pending"}


@story
async def test_all_come_at_once_where_order_does_not_matter() -> None:
    async with running() as world:
        await world.stateful_set(3, podManagementPolicy="Parallel")
        assert list(world.phases()) == ["db-0", "db-1", "db-2"]
        assert world.pod("db-2").metadata.labels == {
            "app": "db",
            "statefulset.kubernetes.io/pod-name": "db-2",
            "apps.kubernetes.io/pod-index": "2",
        }


@story
async def test_a_deleted_pod_comes_again_under_its_name_once_it_is_gone() -> None:
    async with running() as world:
        await world.stateful_set(2, podManagementPolicy="Parallel")
        await world.bind()
        await world.pass_time(2)
        old = world.pod("db-0").metadata.uid
        await world.delete_pod("db-0")
        assert world.phases() == {"db-0": "going", "db-1": "Running"}
        await world.pass_time(1)
        assert world.phases() == {"db-0": "Pending", "db-1": "Running"}
        assert world.pod("db-0").metadata.uid != old


@story
async def test_the_last_pods_go_first() -> None:
    async with running() as world:
        await world.stateful_set(3, podManagementPolicy="Parallel")
        await world.bind()
        await world.pass_time(2)
        await world.patch(StatefulSet, "db", replicas=1)
        await world.pass_time(2)
        assert list(world.phases()) == ["db-0"]


@story
async def test_in_order_they_go_one_by_one() -> None:
    async with running() as world:
        await world.stateful_set(3)
        for _ in range(3):
            await world.bind()
            await world.pass_time(2)
        await world.patch(StatefulSet, "db", replicas=1)
        assert world.phases() == {"db-0": "Running", "db-1": "Running", "db-2": "going"}
        await world.pass_time(1)
        assert world.phases() == {"db-0": "Running", "db-1": "going"}
