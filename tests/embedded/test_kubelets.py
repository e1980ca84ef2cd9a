"""Fake kubelets: what becomes of a pod once it has a node."""

from __future__ import annotations

from berthing.embedded.kubelets import LEASE_NAMESPACE, LEASES
from embedded.planes import NODES, PODS, Plane, as_tree, running, story


async def pod(world: Plane, name: str = "p", **spec: object) -> None:
    tree = {"metadata": {"name": name}, "spec": {"containers": [{"name": "main"}], **spec}}
    world.objects.create(PODS, "default", as_tree(tree))
    await world.pass_time()


@story
async def test_a_pod_runs_a_moment_after_it_is_bound() -> None:
    async with running() as world:
        await pod(world)
        await world.pass_time(10)
        assert world.phases() == {"p": "Pending"}
        await world.bind("p")
        assert world.phases() == {"p": "Pending"}
        await world.pass_time(1)
        assert world.phases() == {"p": "Running"}
        ready = world.pod("p").condition("Ready")
        assert ready is not None
        assert ready.status == "True"
        assert world.pod("p").status.start_time is not None


@story
async def test_a_pod_that_is_bound_while_it_is_made_runs_too() -> None:
    async with running() as world:
        await pod(world, nodeName="n")
        await world.pass_time(1)
        assert world.phases() == {"p": "Running"}


@story
async def test_a_pod_that_sleeps_is_over_when_it_wakes() -> None:
    async with running() as world:
        main = {"name": "main", "command": ["sleep", "3.5"]}
        await pod(world, containers=[main], restartPolicy="Never")
        await world.bind("p")
        await world.pass_time(3.75)
        assert world.phases() == {"p": "Running"}
        await world.pass_time(0.5)
        assert world.phases() == {"p": "Succeeded"}


@story
async def test_one_that_would_be_restarted_goes_on() -> None:
    async with running() as world:
        await pod(world, containers=[{"name": "main", "command": ["sleep", "1"]}])
        await world.bind("p")
        await world.pass_time(10)
        assert world.phases() == {"p": "Running"}


@story
async def test_a_deleted_pod_is_gone_a_moment_later() -> None:
    async with running() as world:
        await pod(world)
        await world.bind("p")
        await world.pass_time(1)
        await world.delete_pod("p")
        assert world.phases() == {"p": "going"}
        await world.pass_time(1)
        assert world.phases() == {}


@story
async def test_nodes_are_ready_and_their_leases_renewed() -> None:
    async with running() as world:
        conditions = {each.type: each.status for each in world.the_node().status.conditions}
        assert conditions == {"Ready": "True"}
        first = world.store.get(LEASES, (LEASE_NAMESPACE, "n"))
        await world.pass_time(10)
        second = world.store.get(LEASES, (LEASE_NAMESPACE, "n"))
        assert first is not None
        assert second is not None
        assert second.revision > first.revision


@story
async def test_a_kubelet_that_failed_does_nothing_until_it_recovers() -> None:
    async with running() as world:
        await pod(world, "starting")
        await pod(world, "going")
        await world.bind("going")
        await world.pass_time(1)
        await world.bind("starting")
        world.plane.kubelets.fail("n")
        await world.delete_pod("going")
        await world.pass_time(10)
        assert world.phases() == {"starting": "Pending", "going": "going"}
        world.plane.kubelets.recover("n")
        await world.pass_time(2)
        assert world.phases() == {"starting": "Running"}


@story
async def test_a_machine_in_the_place_of_a_dead_one_lives() -> None:
    async with running() as world:
        world.plane.kubelets.fail("n")
        world.objects.delete(NODES, ("", "n"), {})
        await world.pass_time()
        await world.node("n")
        await pod(world)
        await world.bind("p")
        await world.pass_time(1)
        assert world.phases() == {"p": "Running"}
