"""Pods that each built-in plugin has a say in land where they should, with us and with kube-scheduler.

All cases are in one cluster at once, each on nodes of its own: pods choose them by a label.  Nodes
and pods are called <case>-<name>, and only the names are written below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from berthing.api.core import Service
from berthing.api.events import Event
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.testing import (
    HOSTNAME,
    ZONE,
    make_affinity_term,
    make_node,
    make_node_term,
    make_pod,
    make_spread_constraint,
    make_taint,
    tolerate,
)
from e2e.api_client import path
from e2e.berthing_run import Berthing
from e2e.control_plane import ControlPlane
from e2e.kube_scheduler import kube_scheduler
from e2e.pods import add_priority_class, create_pod, of_class

NOWHERE = ""
GIBIBYTE = 1 << 30
RESTARTS_ALL = "RestartAllContainersOnContainerExits"

DEDICATED = make_taint("dedicated")
SLOW = make_taint("slow", effect="PreferNoSchedule")
WEB = {"app": "web"}
DATABASE = {"app": "db"}
SHOP = {"app": "shop"}


class Case(NamedTuple):
    """Nodes, pods that are there, and pods that come, with the node that each should get."""

    nodes: Sequence[Node]
    pods: Mapping[str, tuple[Pod, str]]
    there: Sequence[Pod] = ()


def there(name: str, node: str, *, cpu: str = "", memory: str = "", **labels: str) -> Pod:
    """A pod that is on a node already."""
    return make_pod(name, node_name=node, cpu=cpu, memory=memory, labels=labels, image="there")


def busy(node: str) -> Pod:
    """What makes a node the last choice."""
    return there(f"on-{node}", node, cpu="3", memory="12Gi")


CASES: dict[str, Case] = {
    "scheduling-gates": Case(
        nodes=[make_node("open")],
        pods={
            "gated": (make_pod(scheduling_gates=["wait"]), NOWHERE),
            "free": (make_pod(), "open"),
        },
    ),
    "priority-sort": Case(
        nodes=[make_node("small", pods="1")],
        pods={
            "a-minor": (make_pod(), NOWHERE),
            "b-major": (make_pod(), "small"),
        },
    ),
    "node-unschedulable": Case(
        nodes=[make_node("open"), make_node("cordoned", cordoned=True)],
        there=[busy("open")],
        pods={
            "plain": (make_pod(), "open"),
            "tolerant": (
                make_pod(tolerations=[tolerate(make_taint("node.kubernetes.io/unschedulable"))]),
                "cordoned",
            ),
        },
    ),
    "node-name": Case(
        nodes=[make_node("empty"), make_node("named")],
        there=[busy("named")],
        # It is there, and takes the last room.
        pods={
            "named": (make_pod(node_name="named", cpu="1"), "named"),
            "big": (make_pod(node_name="", cpu="4"), "empty"),
        },
    ),
    "taint-toleration": Case(
        nodes=[make_node("free"), make_node("tainted", taints=[DEDICATED])],
        there=[busy("free")],
        pods={
            "plain": (make_pod(), "free"),
            "tolerant": (make_pod(tolerations=[tolerate(DEDICATED)]), "tainted"),
        },
    ),
    "taint-toleration-score": Case(
        nodes=[make_node("fast"), make_node("slow", taints=[SLOW])],
        there=[busy("fast")],
        pods={"plain": (make_pod(), "fast")},
    ),
    "node-affinity": Case(
        nodes=[
            make_node("ssd-a", zone="a", labels={"disk": "ssd"}),
            make_node("ssd-b", zone="b", labels={"disk": "ssd"}),
            make_node("hdd", zone="b"),
        ],
        there=[busy("ssd-a")],
        pods={
            "required": (make_pod(node_affinity=[make_node_term({"disk": "ssd"})]), "ssd-b"),
            "preferred": (
                make_pod(
                    node_affinity=[make_node_term({"disk": "ssd"})],
                    preferred_node_affinity=[(10, make_node_term({ZONE: "a"}))],
                ),
                "ssd-a",
            ),
        },
    ),
    "node-ports": Case(
        nodes=[make_node("free"), make_node("taken")],
        there=[busy("free"), make_pod("server", host_ports=[8080], node_name="taken")],
        pods={"server": (make_pod(host_ports=[8080]), "free")},
    ),
    "node-resources-fit": Case(
        nodes=[
            make_node("small", cpu="1"),
            make_node("large", cpu="8"),
            make_node("gpu", cpu="2", resources={"example.com/gpu": "1"}),
        ],
        there=[busy("large")],
        pods={
            "big": (make_pod(cpu="3"), "large"),
            "learning": (make_pod(requests={"example.com/gpu": "1"}), "gpu"),
            "second-learning": (make_pod(requests={"example.com/gpu": "2"}), NOWHERE),
        },
    ),
    "node-resources-fit-score": Case(
        nodes=[make_node("empty"), make_node("used")],
        there=[there("one", "used", cpu="1", memory="4Gi")],
        pods={"plain": (make_pod(cpu="1", memory="4Gi"), "empty")},
    ),
    # Both have as much left over; the pod evens out what is taken of one, and tilts the other.
    "balanced-allocation": Case(
        nodes=[make_node("evened"), make_node("tilted")],
        there=[
            there("of-memory", "evened", cpu="1", memory="12Gi"),
            there("of-cpu", "tilted", cpu="3", memory="4Gi"),
        ],
        pods={"plain": (make_pod(cpu="1"), "evened")},
    ),
    "image-locality": Case(
        nodes=[
            make_node("has-it", images={"registry/model:v1": 80 * GIBIBYTE}),
            make_node("has-not"),
        ],
        there=[there("small", "has-it", cpu="100m", memory="400Mi")],
        pods={"model": (make_pod(image="registry/model:v1"), "has-it")},
    ),
    "topology-spread": Case(
        nodes=[make_node("a", zone="a"), make_node("b", zone="b")],
        there=[there("web-1", "a", app="web"), busy("b")],
        pods={
            "required": (make_pod(labels=WEB, spread=[make_spread_constraint(WEB)]), "b"),
        },
    ),
    "topology-spread-score": Case(
        nodes=[make_node("a", zone="a"), make_node("b", zone="b")],
        there=[
            *(there(f"web-{number}", "a", app="web") for number in range(4)),
            there("other", "b", cpu="1", memory="4Gi"),
        ],
        pods={
            "preferred": (
                make_pod(
                    labels=WEB,
                    spread=[make_spread_constraint(WEB, when_unsatisfiable="ScheduleAnyway")],
                ),
                "b",
            ),
        },
    ),
    # Nobody says so; but there is a service of such pods, and those are spread.
    "topology-spread-by-default": Case(
        nodes=[make_node("a", zone="a"), make_node("b", zone="b")],
        there=[
            *(there(f"shop-{number}", "a", app="shop") for number in range(4)),
            there("other", "b", cpu="1", memory="4Gi"),
        ],
        pods={"of-service": (make_pod(labels=SHOP), "b"), "other": (make_pod(labels=WEB), "a")},
    ),
    "inter-pod-affinity": Case(
        nodes=[make_node("a", zone="a"), make_node("b", zone="b"), make_node("c", zone="c")],
        there=[there("db", "a", app="db"), busy("a"), busy("b")],
        pods={
            "with": (
                make_pod(pod_affinity=[make_affinity_term(DATABASE, topology_key=ZONE)]),
                "a",
            ),
            "with-nobody": (
                make_pod(pod_affinity=[make_affinity_term({"app": "none"})]),
                NOWHERE,
            ),
        },
    ),
    "inter-pod-anti-affinity": Case(
        nodes=[make_node("a", zone="a"), make_node("b", zone="b")],
        there=[there("db", "a", app="db"), busy("b")],
        pods={
            "without": (
                make_pod(pod_anti_affinity=[make_affinity_term(DATABASE, topology_key=ZONE)]),
                "b",
            ),
        },
    ),
    "inter-pod-affinity-score": Case(
        nodes=[make_node("a"), make_node("b")],
        there=[there("db", "a", app="db", cpu="1", memory="4Gi")],
        pods={
            "rather-with": (
                make_pod(preferred_pod_affinity=[(100, make_affinity_term(DATABASE))]),
                "a",
            ),
        },
    ),
    "node-declared-features": Case(
        nodes=[make_node("old"), make_node("new", declared_features=[RESTARTS_ALL])],
        there=[busy("new")],
        pods={"restarting": (make_pod(), "new")},
    ),
}
# What a container has beyond what schedulers read.
RESTART_RULE = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}
CONTAINERS = {
    "node-declared-features": {"restartPolicy": "Never", "restartPolicyRules": [RESTART_RULE]}
}
LANDINGS = [
    pytest.param(f"{case}-{pod}", node and f"{case}-{node}", id=f"{case}: {pod}")
    for case, told in CASES.items()
    for pod, (_, node) in told.pods.items()
]


@pytest.fixture(scope="module")
def cluster(servers: ControlPlane) -> Iterator[ControlPlane]:
    """All nodes."""
    add_priority_class(servers, "major", 1000)
    service = {"metadata": {"name": "shop"}, "spec": {"selector": SHOP, "ports": [{"port": 80}]}}
    servers.client.request("POST", path(Service, "default"), msgspec.json.encode(service))
    servers.add_nodes(*(placed(node, case) for case, told in CASES.items() for node in told.nodes))
    yield servers
    servers.wipe()


@pytest.fixture(scope="module", params=["berthing", "kube-scheduler"])
def landed(
    request: pytest.FixtureRequest, cluster: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, str]]:
    """The node of each pod, once one of the schedulers has done all it can."""
    for case, told in CASES.items():
        for pod in told.there:
            create_pod(cluster, there_in(pod, case))
        for name, (pod, _) in told.pods.items():
            create_pod(cluster, coming(pod, name, case), container=CONTAINERS.get(case))
    run = {"berthing": by_berthing, "kube-scheduler": by_kube_scheduler}[request.param]
    yield run(cluster, tmp_path_factory.mktemp("scheduler"))
    for pod in cluster.client.list(Pod):
        cluster.client.delete(Pod, pod.name)
    for event in cluster.client.list(Event):
        cluster.client.delete(Event, event.name)


@pytest.mark.parametrize(("pod", "node"), LANDINGS)
def test_it_lands_where_it_should(landed: Mapping[str, str], pod: str, node: str) -> None:
    assert landed[pod] == node


def by_berthing(cluster: ControlPlane, directory: Path) -> Mapping[str, str]:
    berthing = Berthing(kubeconfig=cluster.scheduler_kubeconfig, config={}, directory=directory)
    berthing.start()
    try:
        landed = wait_settled(cluster)
    finally:
        exit_code = berthing.process.stop()
    assert exit_code == 0
    assert "forbidden" not in berthing.log()
    return landed


def by_kube_scheduler(cluster: ControlPlane, directory: Path) -> Mapping[str, str]:
    upstream = kube_scheduler(cluster, {}, directory=directory)
    upstream.start()
    try:
        return wait_settled(cluster)
    finally:
        upstream.stop()


def wait_settled(cluster: ControlPlane) -> Mapping[str, str]:
    """Where pods are once each is bound, or somebody said why not."""
    pods = cluster.client.wait_for(Pod, lambda pods: all(map(is_settled, pods.values())))
    return {pod.name: pod.spec.node_name for pod in pods.values()}


def is_settled(pod: Pod) -> bool:
    return bool(pod.spec.node_name) or pod.condition("PodScheduled") is not None


def placed(node: Node, case: str) -> Node:
    """A node of a case."""
    name = f"{case}-{node.name}"
    labels = {**node.metadata.labels, HOSTNAME: name, "case": case}
    metadata = msgspec.structs.replace(node.metadata, name=name, labels=labels)
    return msgspec.structs.replace(node, metadata=metadata)


def there_in(pod: Pod, case: str) -> Pod:
    metadata = msgspec.structs.replace(pod.metadata, name=f"{case}-there-{pod.name}")
    spec = msgspec.structs.replace(pod.spec, node_name=f"{case}-{pod.spec.node_name}")
    return msgspec.structs.replace(pod, metadata=metadata, spec=spec)


def coming(pod: Pod, name: str, case: str) -> Pod:
    metadata = msgspec.structs.replace(pod.metadata, name=f"{case}-{name}")
    spec = msgspec.structs.replace(
        pod.spec,
        node_selector={**pod.spec.node_selector, "case": case},
        node_name=pod.spec.node_name and f"{case}-{pod.spec.node_name}",
    )
    ours = msgspec.structs.replace(pod, metadata=metadata, spec=spec)
    return of_class("major", ours) if name == "b-major" else ours
