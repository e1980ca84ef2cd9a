"""What becomes of a silent node, and of the pods on it."""

from __future__ import annotations

import asyncio

from berthing.api.node import Node
from berthing.simulate.virtual_time import VirtualTimeLoop
from embedded.planes import NODES, Plane, as_tree, running, story

MERGE = "application/merge-patch+json"
UNREACHABLE = "node.kubernetes.io/unreachable"
NOT_READY = "node.kubernetes.io/not-ready"


def taints(world: Plane, name: str = "n") -> list[tuple[str, str]]:
    return [(each.key, each.effect) for each in world.the_node(name).spec.taints]


def ready(world: Plane, name: str = "n") -> str:
    return {each.type: each.status for each in world.the_node(name).status.conditions}["Ready"]


@story
async def test_a_silent_node_is_tainted_after_its_grace_period_and_not_before() -> None:
    async with running() as world:
        world.plane.kubelets.fail("n")
        await world.pass_time(35)
        assert (ready(world), taints(world)) == ("True", [])
        await world.pass_time(20)
        assert ready(world) == "Unknown"
        assert taints(world) == [(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")]


@story
async def test_taints_of_its_owner_stay_and_those_of_its_health_go_when_it_recovers() -> None:
    async with running() as world:
        await world.patch(Node, "n", taints=[{"key": "mine", "effect": "NoSchedule"}])
        world.plane.kubelets.fail("n")
        await world.pass_time(55)
        assert len(taints(world)) == 3
        world.plane.kubelets.recover("n")
        await world.pass_time(5)
        assert (ready(world), taints(world)) == ("True", [("mine", "NoSchedule")])


@story
async def test_a_node_that_says_it_is_not_ready_gets_the_other_taint() -> None:
    async with running() as world:
        patch = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
        world.objects.patch(
            NODES, ("", "n"), as_tree(patch), content_type=MERGE, subresource="status"
        )
        await world.pass_time(6)
        assert taints(world) == [(NOT_READY, "NoSchedule"), (NOT_READY, "NoExecute")]


@story
async def test_pods_of_a_silent_node_are_deleted_and_replaced_but_never_confirmed() -> None:
    async with running() as world:
        await world.replica_set(2)
        await world.bind()
        await world.pass_time(2)
        world.plane.kubelets.fail("n")
        await world.pass_time(55)
        assert sorted(world.phases().values()) == ["Pending", "Pending", "going", "going"]
        await world.pass_time(600)
        assert sorted(world.phases().values()) == ["Pending", "Pending", "going", "going"]


@story
async def test_a_pod_stays_as_long_as_it_tolerates() -> None:
    async with running() as world:
        patient = {"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute"}
        await world.replica_set(1, "stays", pod={"tolerations": [patient]})
        a_while = {**patient, "tolerationSeconds": 60}
        await world.replica_set(1, "leaves", pod={"tolerations": [a_while]})
        await world.bind()
        await world.pass_time(2)
        world.plane.kubelets.fail("n")
        await world.pass_time(60)
        assert list(world.phases().values()) == ["Running", "Running"]
        await world.pass_time(60)
        phases = sorted((name.partition("-")[0], phase) for name, phase in world.phases().items())
        assert phases == [("leaves", "Pending"), ("leaves", "going"), ("stays", "Running")]


@story
async def test_pods_of_a_node_that_is_gone_are_removed() -> None:
    async with running() as world:
        await world.stateful_set(1)
        await world.bind()
        await world.pass_time(2)
        world.plane.kubelets.fail("n")
        await world.pass_time(55)
        # Nobody knows whether it still runs: no second one.
        assert world.phases() == {"db-0": "going"}
        world.objects.delete(NODES, ("", "n"), {})
        await world.pass_time(6)
        assert world.phases() == {"db-0": "Pending"}


@story
async def test_jobs_that_ended_there_are_not_run_again() -> None:
    async with running() as world:
        await world.job(parallelism=1, completions=1, seconds=1)
        await world.bind()
        await world.pass_time(3)
        assert list(world.phases().values()) == ["Succeeded"]
        world.objects.delete(NODES, ("", "n"), {})
        await world.pass_time(6)
        assert world.phases() == {}


@story
async def test_a_process_that_was_held_up_takes_no_node_for_dead() -> None:
    async with running() as world:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        # Nothing at all was done for an hour, by kubelets or by anybody else.
        loop.pass_time(3600)
        await world.pass_time(30)
        assert (ready(world), taints(world)) == ("True", [])
