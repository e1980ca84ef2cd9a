"""Who else lives in the cluster: users, nodes that come and go, kubelets, another scheduler.

They act on the store directly: their own troubles are none of ours.  What they do at once, a
scheduler hears of as its watches have it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Final

from msgspec.structs import replace

from berthing.api.decode import encode
from berthing.api.kinds import kind_of
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.embedded.objects import NAMESPACES as NAMESPACE_KIND
from berthing.embedded.pods import PODS
from berthing.embedded.refusals import Refused
from berthing.embedded.server import ApiServer
from berthing.embedded.store import Stored
from berthing.embedded.trees import Json, Tree, branch_at, read_tree, value_at, with_value
from berthing.simulate.faults import pods
from berthing.simulate.faults.trace import Trace
from berthing.simulate.faults.troubles import Troubles
from berthing.testing import ZONE, make_node, make_pod

NODES: Final = kind_of(Node)
_ZONES: Final = ("z1", "z2", "z3")
_SIZES: Final = ("1", "2", "4", "8")


class Inhabitants:
    """Does one thing after the other, as chance has it."""

    def __init__(
        self,
        api: ApiServer,
        *,
        troubles: Troubles,
        chance: Random,
        trace: Trace,
        upset: Callable[[str], None],
    ) -> None:
        """Take whom to tell of nodes on which there may be too much now, through no fault of ours."""
        self._api = api
        self._chance = chance
        self._trace = trace
        self._upset = upset
        self._pods_made = 0
        self._most_nodes = chance.randint(3, 7)
        self._rates: dict[Callable[[], None], float] = {
            self._pod_comes: chance.uniform(0.4, 1.5),
            self._pod_goes: chance.uniform(0.0, 0.6),
            self._gate_opens: 0.2,
            self._pod_is_relabelled: chance.uniform(0.0, 0.2),
            self._pod_is_held_no_more: 0.1,
            self._pod_is_nominated: chance.uniform(0.0, 0.1),
            self._namespace_is_relabelled: chance.uniform(0.0, 0.1),
            self._heartbeat: 0.1,
            self._pod_is_replaced: troubles.pods_replaced,
            self._other_scheduler_binds: troubles.other_scheduler,
            self._pod_comes_with_its_node: troubles.other_scheduler / 4,
            self._node_comes: troubles.nodes_come_and_go,
            self._node_goes: troubles.nodes_come_and_go,
            self._node_is_cordoned: troubles.nodes_change,
            self._node_is_relabelled: troubles.nodes_change,
            self._node_is_tainted: troubles.nodes_change / 2,
            self._node_is_resized: troubles.nodes_change / 2,
        }

    def settle_in(self) -> None:
        """What is there at the beginning."""
        for name in pods.NAMESPACES[1:]:
            labels: Tree = {"team": name[-1]} if self._chance.random() < 0.5 else {}
            self._api.objects.create(
                NAMESPACE_KIND, "", {"metadata": {"name": name, "labels": labels}}
            )
        for _ in range(self._chance.randint(1, self._most_nodes)):
            self._node_comes()
        for _ in range(self._chance.randint(0, 12)):
            self._pod_comes()

    async def live(self, seconds: float) -> None:
        """Go on for so long."""
        actions, rates = list(self._rates), list(self._rates.values())
        whole = sum(rates)
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while True:
            await asyncio.sleep(self._chance.expovariate(whole))
            if loop.time() >= end:
                return
            self._chance.choices(actions, rates)[0]()

    async def keep_house(self) -> None:
        """Kubelets start and end pods, and pods of nodes that are gone are removed."""
        while True:
            await asyncio.sleep(1)
            for stored in list(self._api.store.all(PODS)):
                self._look_after(stored)

    def finish(self) -> None:
        """Say the last word about all that somebody has to agree to."""
        for _ in range(len(self._pods())):
            self._pod_is_held_no_more()

    # Pods.

    def _pods(self, admits: Callable[[Pod], bool] = lambda _: True) -> list[Stored]:
        return [
            stored
            for stored in self._api.store.all(PODS)
            if isinstance(stored.object, Pod) and admits(stored.object)
        ]

    def _some_pod(self, admits: Callable[[Pod], bool] = lambda _: True) -> Stored | None:
        found = self._pods(admits)
        return self._chance.choice(found) if found else None

    def _pod_comes(self) -> None:
        self._create(pods.some_pod(self._chance, self._new_name()))

    def _new_name(self) -> str:
        self._pods_made += 1
        return f"pod-{self._pods_made}"

    def _create(self, pod: Pod) -> None:
        tree = with_value(
            read_tree(encode(pod)),
            ("spec", "terminationGracePeriodSeconds"),
            self._chance.choice((0, 1, 5)),
        )
        stored = self._api.objects.create(PODS, pod.namespace, tree)
        self._trace.tell(f"created {_named(stored)} for {pod.spec.scheduler_name}")

    def _pod_goes(self) -> None:
        stored = self._some_pod()
        if stored is not None:
            self._delete(stored)

    def _delete(self, stored: Stored, *, at_once: bool = False) -> None:
        options: Tree = {"gracePeriodSeconds": 0} if at_once else {}
        self._api.objects.delete(PODS, stored.key, options)
        self._trace.tell(f"deleted {_named(stored)}")

    def _pod_is_replaced(self) -> None:
        # Mostly one that waits, or is about to be bound.
        is_any = self._chance.random() < 0.3
        stored = self._some_pod(
            lambda pod: not pod.metadata.finalizers and (is_any or not pod.spec.node_name)
        )
        if stored is None:
            return
        self._delete(stored, at_once=True)
        namespace, name = stored.key
        made = pods.some_pod(self._chance, name)
        self._create(_in_namespace(made, namespace))

    def _gate_opens(self) -> None:
        stored = self._some_pod(lambda pod: bool(pod.spec.scheduling_gates))
        if stored is not None:
            self._update(stored, ("spec", "schedulingGates"), [])

    def _pod_is_relabelled(self) -> None:
        stored = self._some_pod()
        if stored is not None:
            app = self._chance.choice(("web", "api", "db", "cache", "batch", "other"))
            self._update(stored, ("metadata", "labels", "app"), app)

    def _pod_is_held_no_more(self) -> None:
        stored = self._some_pod(lambda pod: bool(pod.metadata.finalizers))
        if stored is not None:
            self._update(stored, ("metadata", "finalizers"), [])

    def _pod_is_nominated(self) -> None:
        """As an autoscaler does that knows where there is room, or will be."""
        stored, node = self._some_pod(lambda pod: not pod.spec.node_name), self._some_node()
        if stored is not None and node is not None:
            path = ("status", "nominatedNodeName")
            self._update(stored, path, node.key[1], subresource="status")

    def _pod_comes_with_its_node(self) -> None:
        node = self._some_node()
        if node is not None:
            name = node.key[1]
            self._upset(name)
            self._create(make_pod(self._new_name(), cpu="500m", uid="", node_name=name))

    def _other_scheduler_binds(self) -> None:
        stored, node = self._some_pod(lambda pod: not pod.spec.node_name), self._some_node()
        if stored is None or node is None:
            return
        name = node.key[1]
        try:
            self._api.objects.bind(stored.key, {"target": {"kind": "Node", "name": name}})
        except Refused:
            return
        self._upset(name)
        self._trace.tell(f"another scheduler bound {_named(stored)} to {name}")

    def _look_after(self, stored: Stored) -> None:
        pod = stored.object
        assert isinstance(pod, Pod), "these are pods"
        if not pod.spec.node_name:
            return
        chance = self._chance
        if self._api.store.get(NODES, ("", pod.spec.node_name)) is None:
            if chance.random() < 0.3:
                self._delete(stored, at_once=True)
        elif pod.metadata.deletion_timestamp is not None:
            if chance.random() < 0.5:
                self._delete(stored, at_once=True)
        elif pod.status.phase == "Pending":
            if chance.random() < 0.7:
                self._set_phase(stored, "Running")
        elif pod.status.phase == "Running" and chance.random() < 0.01:
            self._set_phase(stored, chance.choice(("Succeeded", "Failed")))

    def _set_phase(self, stored: Stored, phase: str) -> None:
        tree = with_value(stored.tree, ("status", "phase"), phase)
        self._api.objects.update(PODS, stored.key, tree, subresource="status")
        self._trace.tell(f"{_named(stored)} is {phase}")

    # Nodes.

    def _some_node(self) -> Stored | None:
        found = list(self._api.store.all(NODES))
        return self._chance.choice(found) if found else None

    def _node_comes(self) -> None:
        name = f"node-{self._chance.randrange(self._most_nodes)}"
        if self._api.store.get(NODES, ("", name)) is not None:
            return
        chance = self._chance
        node = make_node(
            name,
            cpu=chance.choice(_SIZES),
            memory="8Gi",
            pods=chance.choice(("3", "20")),
            zone=chance.choice(_ZONES),
            labels={pods.DISK: chance.choice(pods.DISKS)},
        )
        # Pods of an earlier node of that name may still be there.
        self._upset(name)
        self._api.objects.create(NODES, "", read_tree(encode(node)))
        self._trace.tell(f"node {name} comes")

    def _node_goes(self) -> None:
        node = self._some_node()
        if node is not None:
            self._api.objects.delete(NODES, node.key, {})
            self._trace.tell(f"node {node.key[1]} goes")

    def _node_is_cordoned(self) -> None:
        node = self._some_node()
        if node is not None:
            is_cordoned = value_at(node.tree, "spec", "unschedulable") is True
            self._update(node, ("spec", "unschedulable"), not is_cordoned)

    def _node_is_relabelled(self) -> None:
        node = self._some_node()
        if node is None:
            return
        key, values = self._chance.choice(((ZONE, _ZONES), (pods.DISK, pods.DISKS)))
        self._update(node, ("metadata", "labels", key), self._chance.choice(values))

    def _node_is_tainted(self) -> None:
        node = self._some_node()
        if node is None:
            return
        taint: Tree = {"key": pods.DEDICATED, "effect": "NoSchedule"}
        self._update(
            node, ("spec", "taints"), [] if value_at(node.tree, "spec", "taints") else [taint]
        )

    def _node_is_resized(self) -> None:
        node = self._some_node()
        if node is None:
            return
        self._upset(node.key[1])
        offer = branch_at(node.tree, "status", "allocatable")
        resized: Tree = {**offer, "cpu": self._chance.choice(_SIZES)}
        self._update(node, ("status", "allocatable"), resized, subresource="status")

    def _heartbeat(self) -> None:
        node = self._some_node()
        if node is not None:
            condition: Tree = {
                "type": "Ready",
                "status": "True",
                "lastHeartbeatTime": f"2026-01-01T00:00:{self._chance.randrange(60):02}Z",
            }
            self._update(node, ("status", "conditions"), [condition], subresource="status")

    # Namespaces.

    def _namespace_is_relabelled(self) -> None:
        name = self._chance.choice(pods.NAMESPACES[1:])
        stored = self._api.objects.get(NAMESPACE_KIND, ("", name))
        team = self._chance.choice(("a", "b", "c"))
        self._update(stored, ("metadata", "labels", "team"), team)

    def _update(
        self, stored: Stored, path: tuple[str, ...], value: Json, *, subresource: str = ""
    ) -> None:
        tree = with_value(stored.tree, path, value)
        self._api.objects.update(stored.kind, stored.key, tree, subresource=subresource)
        self._trace.tell(f"{_named(stored)}: {'.'.join(path)} = {value}")


def _named(stored: Stored) -> str:
    return f"{stored.kind.resource} {'/'.join(part for part in stored.key if part)}"


def _in_namespace(pod: Pod, namespace: str) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, namespace=namespace))
