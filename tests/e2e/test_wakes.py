"""A pod that becomes possible is tried again because of just that event, and not before.

    it fits nowhere ---> a change that cannot help ---> a change that helps ---> it is bound
        attempt 1           its hint says no               attempt 2

That there were two attempts in all is what the scheduler counted for the pod in the end; that the
first change was seen by then, and who was asked about it, shows in its metrics, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
import pytest

from berthing.api.core import Namespace
from berthing.api.frozen import EMPTY
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.testing import (
    ZONE,
    make_affinity_term,
    make_node,
    make_node_term,
    make_pod,
    make_spread_constraint,
    make_taint,
    make_toleration,
)
from e2e.api_client import path
from e2e.berthing_run import Berthing, Metrics
from e2e.control_plane import ControlPlane
from e2e.load import check_settled
from e2e.pods import create_pod
from e2e.waiting import wait_until

Change = Callable[[ControlPlane], object]

# API servers taint new nodes until a controller has looked at them.
NEW = make_toleration("node.kubernetes.io/not-ready")
RESTARTS_ALL = "RestartAllContainersOnContainerExits"
RESTART_RULE = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}

JSON_PATCH = "application/json-patch+json"

WEB = {"app": "web"}
DATABASE = {"app": "db"}
AWAY_FROM_ZONE = make_affinity_term(WEB, topology_key=ZONE)
SPREAD_ANYWHERE = make_spread_constraint(WEB, node_affinity_policy="Ignore")


class Wake(NamedTuple):
    """Who turns the pod down, and what happens then.

    event    what is called in metrics what helps
    useless  what happens before and cannot help; the same event, unless `instead` names another
    """

    plugin: str
    event: str
    nodes: Sequence[Node]
    pod: Pod
    useless: Change
    useful: Change
    there: Sequence[Pod] = ()
    instead: str = ""
    container: Mapping[str, object] = EMPTY


def waiting(**parts: object) -> Pod:
    """The pod that waits."""
    return make_pod("waiting", tolerations=[NEW], **parts)  # type: ignore[arg-type]  # as make_pod has them


def on(node: str, name: str, **parts: object) -> Pod:
    """A pod that is on a node."""
    return make_pod(name, node_name=node, **parts)  # type: ignore[arg-type]  # as make_pod has them


def node_comes(node: Node) -> Change:
    # With the taint of a new one: taking that away would be another event.
    return lambda cluster: cluster.client.create(node)


def node_goes(name: str) -> Change:
    return lambda cluster: cluster.client.delete(Node, name)


def pod_comes(pod: Pod) -> Change:
    return lambda cluster: create_pod(cluster, pod)


def pod_goes(name: str) -> Change:
    return lambda cluster: cluster.client.delete(Pod, name)


def node_changes(name: str, *, subresource: str = "", **change: object) -> Change:
    return lambda cluster: cluster.client.patch(Node, name, change, subresource=subresource)


def pod_changes(name: str, *, subresource: str = "", **change: object) -> Change:
    return lambda cluster: cluster.client.patch(Pod, name, change, subresource=subresource)


def namespace_labels(name: str, **labels: str) -> Change:
    change = {"metadata": {"labels": labels}}
    return lambda cluster: cluster.client.patch(Namespace, name, change)


def node_labels(name: str, **labels: str) -> Change:
    return node_changes(name, metadata={"labels": labels})


def pod_labels(name: str, **labels: str) -> Change:
    return pod_changes(name, metadata={"labels": labels})


def allocatable(name: str, **amounts: str) -> Change:
    return node_changes(name, subresource="status", status={"allocatable": amounts})


def resized(name: str, **requests: str) -> Change:
    container = {"name": "main", "image": "app", "resources": {"requests": requests}}
    return pod_changes(name, subresource="resize", spec={"containers": [container]})


def tolerates_all(name: str) -> Change:
    """Tolerations can only be added."""
    add = {"op": "add", "path": "/spec/tolerations/-", "value": {"operator": "Exists"}}
    body, where = msgspec.json.encode([add]), path(Pod, "default", name)
    return lambda cluster: cluster.client.request("PATCH", where, body, content_type=JSON_PATCH)


def tainted(name: str, *keys: str) -> Change:
    taints = [{"key": key, "effect": "NoSchedule"} for key in keys]
    return node_changes(name, spec={"taints": taints})


WAKES: dict[str, Wake] = {
    "a node with room comes": Wake(
        plugin="NodeResourcesFit",
        event="NodeAdd",
        nodes=[make_node("small", cpu="1")],
        pod=waiting(cpu="2"),
        useless=node_comes(make_node("small-too", cpu="1")),
        useful=node_comes(make_node("large", cpu="4")),
    ),
    "a node grows": Wake(
        plugin="NodeResourcesFit",
        event="NodeUpdateNodeAllocatable",
        nodes=[make_node("node", cpu="1")],
        pod=waiting(cpu="2"),
        useless=allocatable("node", memory="32Gi"),
        useful=allocatable("node", cpu="2"),
    ),
    "a pod leaves its room": Wake(
        plugin="NodeResourcesFit",
        event="AssignedPodDelete",
        nodes=[make_node("node", cpu="2")],
        there=[on("node", "there", cpu="1")],
        pod=waiting(cpu="2"),
        instead="AssignedPodUpdatePodLabel",
        useless=pod_labels("there", tier="front"),
        useful=pod_goes("there"),
    ),
    "a pod shrinks": Wake(
        plugin="NodeResourcesFit",
        event="AssignedPodUpdatePodScaleDown",
        nodes=[make_node("node", cpu="2")],
        there=[on("node", "there", cpu="1", memory="2Gi")],
        pod=waiting(cpu="1500m"),
        useless=resized("there", cpu="1", memory="1Gi"),
        useful=resized("there", cpu="500m", memory="1Gi"),
    ),
    "the pod itself asks for less": Wake(
        plugin="NodeResourcesFit",
        event="UnschedulablePodUpdatePodScaleDown",
        nodes=[make_node("node", cpu="2")],
        pod=waiting(cpu="3"),
        instead="UnschedulablePodUpdatePodLabel",
        useless=pod_labels("waiting", tier="front"),
        useful=resized("waiting", cpu="2"),
    ),
    "a node gets the label": Wake(
        plugin="NodeAffinity",
        event="NodeUpdateNodeLabel",
        nodes=[make_node("node")],
        pod=waiting(node_affinity=[make_node_term({"disk": "ssd"})]),
        useless=node_labels("node", disk="hdd"),
        useful=node_labels("node", disk="ssd"),
    ),
    "a node with the label comes": Wake(
        plugin="NodeAffinity",
        event="NodeAdd",
        nodes=[make_node("node")],
        pod=waiting(node_selector={"disk": "ssd"}),
        useless=node_comes(make_node("plain")),
        useful=node_comes(make_node("fast", labels={"disk": "ssd"})),
    ),
    "a taint goes": Wake(
        plugin="TaintToleration",
        event="NodeUpdateNodeTaint",
        nodes=[make_node("node", taints=[make_taint("one"), make_taint("two")])],
        pod=waiting(),
        useless=tainted("node", "two"),
        useful=tainted("node"),
    ),
    "the pod itself tolerates the taint": Wake(
        plugin="TaintToleration",
        event="UnschedulablePodUpdatePodToleration",
        nodes=[make_node("node", taints=[make_taint("one")])],
        pod=waiting(),
        instead="UnschedulablePodUpdatePodLabel",
        useless=pod_labels("waiting", tier="front"),
        useful=tolerates_all("waiting"),
    ),
    "a node is opened": Wake(
        plugin="NodeUnschedulable",
        event="NodeUpdateNodeTaint",
        nodes=[
            make_node("node", cordoned=True, taints=[make_taint("one", effect="PreferNoSchedule")])
        ],
        pod=waiting(),
        useless=tainted("node"),
        useful=node_changes("node", spec={"unschedulable": None}),
    ),
    "a pod gives back the port": Wake(
        plugin="NodePorts",
        event="AssignedPodDelete",
        nodes=[make_node("node")],
        there=[on("node", "same", host_ports=[8080]), on("node", "other", host_ports=[9090])],
        pod=waiting(host_ports=[8080]),
        useless=pod_goes("other"),
        useful=pod_goes("same"),
    ),
    "a node declares the feature": Wake(
        plugin="NodeDeclaredFeatures",
        event="NodeUpdateNodeDeclaredFeature",
        nodes=[make_node("node")],
        pod=waiting(),
        container={"restartPolicy": "Never", "restartPolicyRules": [RESTART_RULE]},
        instead="NodeUpdateNodeLabel",
        useless=node_labels("node", disk="ssd"),
        useful=node_changes(
            "node", subresource="status", status={"declaredFeatures": [RESTARTS_ALL]}
        ),
    ),
    "a pod comes that is wanted near": Wake(
        plugin="InterPodAffinity",
        event="AssignedPodAdd",
        nodes=[make_node("node")],
        pod=waiting(pod_affinity=[make_affinity_term(DATABASE)]),
        useless=pod_comes(on("node", "web", labels=WEB)),
        useful=pod_comes(on("node", "db", labels=DATABASE)),
    ),
    "a pod becomes one that is wanted near": Wake(
        plugin="InterPodAffinity",
        event="AssignedPodUpdatePodLabel",
        nodes=[make_node("node")],
        there=[on("node", "there", labels=WEB)],
        pod=waiting(pod_affinity=[make_affinity_term(DATABASE)]),
        useless=pod_labels("there", tier="front"),
        useful=pod_labels("there", app="db"),
    ),
    "a pod goes that is not wanted near": Wake(
        plugin="InterPodAffinity",
        event="AssignedPodDelete",
        nodes=[make_node("node")],
        there=[on("node", "db", labels=DATABASE), on("node", "web", labels=WEB)],
        pod=waiting(pod_anti_affinity=[make_affinity_term(DATABASE)]),
        useless=pod_goes("web"),
        useful=pod_goes("db"),
    ),
    "a pod goes that wants others away": Wake(
        plugin="InterPodAffinity",
        event="AssignedPodDelete",
        nodes=[make_node("node")],
        there=[
            on("node", "lonely", pod_anti_affinity=[make_affinity_term(WEB)]),
            on("node", "other"),
        ],
        pod=waiting(labels=WEB),
        useless=pod_goes("other"),
        useful=pod_goes("lonely"),
    ),
    "the pod itself is no longer unwanted": Wake(
        plugin="InterPodAffinity",
        event="UnschedulablePodUpdatePodLabel",
        nodes=[make_node("node")],
        there=[on("node", "lonely", pod_anti_affinity=[make_affinity_term(WEB)])],
        pod=waiting(labels=WEB),
        instead="NodeUpdateNodeLabel",
        useless=node_labels("node", disk="ssd"),
        useful=pod_labels("waiting", app="api"),
    ),
    "a node becomes part of the domain": Wake(
        plugin="InterPodAffinity",
        event="NodeUpdateNodeLabel",
        nodes=[make_node("node")],
        there=[on("node", "db", labels=DATABASE)],
        pod=waiting(pod_affinity=[make_affinity_term(DATABASE, topology_key=ZONE)]),
        useless=node_labels("node", disk="ssd"),
        useful=node_changes("node", metadata={"labels": {ZONE: "a"}}),
    ),
    "a node comes out of reach of a pod that wants others away": Wake(
        plugin="InterPodAffinity",
        event="NodeAdd",
        nodes=[make_node("node", zone="a")],
        there=[on("node", "lonely", pod_anti_affinity=[AWAY_FROM_ZONE])],
        pod=waiting(labels=WEB),
        useless=node_comes(make_node("near", zone="a")),
        useful=node_comes(make_node("far", zone="b")),
    ),
    "a node gets out of reach of a pod that wants others away": Wake(
        plugin="InterPodAffinity",
        event="NodeUpdateNodeLabel",
        nodes=[make_node("node", zone="a"), make_node("near", zone="a")],
        there=[on("node", "lonely", pod_anti_affinity=[AWAY_FROM_ZONE])],
        pod=waiting(labels=WEB),
        useless=node_labels("near", disk="ssd"),
        useful=node_changes("near", metadata={"labels": {ZONE: "b"}}),
    ),
    "a namespace gets the label": Wake(
        plugin="InterPodAffinity",
        event="NamespaceUpdate",
        nodes=[make_node("node")],
        there=[on("node", "db", labels=DATABASE)],
        pod=waiting(
            pod_affinity=[make_affinity_term(DATABASE, namespace_labels={"wakes": "pods"})]
        ),
        useless=namespace_labels("kube-public", wakes="nobody"),
        useful=namespace_labels("default", wakes="pods"),
    ),
    "a domain has fewer pods": Wake(
        plugin="PodTopologySpread",
        event="AssignedPodDelete",
        nodes=[make_node("a", zone="a"), make_node("b", zone="b")],
        there=[on("a", "web", labels=WEB), on("a", "db", labels=DATABASE)],
        pod=waiting(labels=WEB, node_selector={ZONE: "a"}, spread=[SPREAD_ANYWHERE]),
        useless=pod_goes("db"),
        useful=pod_goes("web"),
    ),
    "the emptiest domain has more pods": Wake(
        plugin="PodTopologySpread",
        event="AssignedPodAdd",
        nodes=[make_node("a", zone="a"), make_node("b", zone="b")],
        there=[on("a", "web", labels=WEB)],
        pod=waiting(labels=WEB, node_selector={ZONE: "a"}, spread=[SPREAD_ANYWHERE]),
        useless=pod_comes(on("b", "db", labels=DATABASE)),
        useful=pod_comes(on("b", "web-2", labels=WEB)),
    ),
    "the emptiest domain is gone": Wake(
        plugin="PodTopologySpread",
        event="NodeDelete",
        nodes=[make_node("a", zone="a"), make_node("b", zone="b"), make_node("nowhere")],
        there=[on("a", "web", labels=WEB)],
        pod=waiting(labels=WEB, node_selector={ZONE: "a"}, spread=[SPREAD_ANYWHERE]),
        useless=node_goes("nowhere"),
        useful=node_goes("b"),
    ),
    "a node becomes part of a domain to spread over": Wake(
        plugin="PodTopologySpread",
        event="NodeUpdateNodeLabel",
        nodes=[make_node("node")],
        pod=waiting(labels=WEB, spread=[make_spread_constraint(WEB)]),
        useless=node_labels("node", disk="ssd"),
        useful=node_changes("node", metadata={"labels": {ZONE: "a"}}),
    ),
}


@pytest.fixture(scope="module")
def berthing(servers: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Berthing]:
    """One for all: each pod is bound and gone before the next one comes."""
    berthing = Berthing(
        kubeconfig=servers.scheduler_kubeconfig,
        config={},
        directory=tmp_path_factory.mktemp("berthing"),
    )
    berthing.start()
    yield berthing
    assert berthing.process.stop() == 0
    assert "forbidden" not in berthing.log()
    servers.wipe()


@pytest.fixture
def cluster(servers: ControlPlane, berthing: Berthing) -> Iterator[ControlPlane]:
    """A cluster without anything, as the scheduler knows it."""
    yield servers
    for pod in servers.client.list(Pod):
        servers.client.delete(Pod, pod.name)
    for node in servers.client.list(Node):
        servers.client.delete(Node, node.name)
    check_settled(berthing, pods=0)
    wait_until(lambda: berthing.metric("scheduler_cache_size", type="nodes") == 0)


@pytest.mark.parametrize("wake", WAKES.values(), ids=WAKES.keys())
def test_a_pod_is_woken(cluster: ControlPlane, berthing: Berthing, wake: Wake) -> None:
    begin = berthing.metrics()
    cluster.add_nodes(*wake.nodes)
    for pod in wake.there:
        create_pod(cluster, pod)
    wait_known(berthing, wake, begin)
    before = berthing.metrics()

    create_pod(cluster, wake.pod, container=wake.container)
    berthing.wait_metric("scheduler_unschedulable_pods", 1, plugin=wake.plugin)
    wake.useless(cluster)
    wait_seen(berthing, wake, before)
    since = Since(before, berthing.metrics())
    assert since.hints(wake, "QueueSkip") == (0 if wake.instead else 1)
    assert since.attempts == 1

    wake.useful(cluster)
    cluster.client.wait_for(Pod, lambda pods: bool(pods["default/waiting"].spec.node_name))
    wait_until(lambda: Since(before, berthing.metrics()).scheduled == 1)
    since = Since(before, berthing.metrics())
    # One that failed and one that did not, whenever that may have been.
    assert since.attempts_of_the_pod == 2
    assert since.hints(wake, "Queue") == 1
    assert since.moved_by(wake.event) == 1


class Since:
    """What has been counted since a moment."""

    def __init__(self, before: Metrics, now: Metrics) -> None:
        self._before = before
        self._now = now

    @property
    def attempts(self) -> float:
        return self._sum("scheduler_schedule_attempts_total")

    @property
    def scheduled(self) -> float:
        return self._sum("scheduler_pod_scheduling_attempts_count")

    @property
    def attempts_of_the_pod(self) -> float:
        return self._sum("scheduler_pod_scheduling_attempts_sum")

    def hints(self, wake: Wake, hint: str) -> float:
        """How often the plugin said so about the event."""
        name = "scheduler_queueing_hint_execution_duration_seconds_count"
        return self._sum(name, plugin=wake.plugin, event=wake.event, hint=hint)

    def moved_by(self, event: str) -> float:
        return self._sum("scheduler_queue_incoming_pods_total", event=event)

    def seen(self, event: str) -> float:
        return self._sum("scheduler_event_handling_duration_seconds_count", event=event)

    def _sum(self, name: str, **labels: str) -> float:
        return self._now.sum(name, **labels) - self._before.sum(name, **labels)


def wait_known(berthing: Berthing, wake: Wake, begin: Metrics) -> None:
    """Wait until the scheduler knows who is there, and the nodes as they are meant to be."""

    def knows() -> bool:
        now = berthing.metrics()
        nodes = now.sum("scheduler_cache_size", type="nodes")
        pods = now.sum("scheduler_cache_size", type="pods")
        # Each is made with a taint that is then taken away.
        ready = Since(begin, now).seen("NodeUpdateNodeTaint")
        return (nodes, ready, pods) == (len(wake.nodes), len(wake.nodes), len(wake.there))

    wait_until(knows)


def wait_seen(berthing: Berthing, wake: Wake, before: Metrics) -> None:
    """Wait until the scheduler has seen what cannot help."""
    event = wake.instead or wake.event
    wait_until(lambda: Since(before, berthing.metrics()).seen(event) >= 1)
