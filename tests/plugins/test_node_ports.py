from __future__ import annotations

import pytest

from berthing.api.pod import ContainerPort, Pod
from berthing.api.pod_info import PodInfo
from berthing.framework import QueueingHint, Status
from berthing.plugins.node_ports import NodePorts
from berthing.testing import make_container, make_node, make_pod
from plugins.harness import cluster_of, fake_handle, filter_all

TAKEN = Status.unschedulable("node(s) didn't have free ports for the requested pod ports")
PLUGIN = NodePorts(None, fake_handle())


def port(number: int, *, ip: str = "", protocol: str = "TCP") -> ContainerPort:
    return ContainerPort(container_port=80, host_port=number, host_ip=ip, protocol=protocol)


@pytest.mark.parametrize(
    ("held", "wanted", "expected"),
    [
        pytest.param([], [port(80)], None, id="nothing is held"),
        pytest.param([port(80)], [], None, id="nothing is wanted"),
        pytest.param([port(80)], [port(80)], TAKEN, id="the same port"),
        pytest.param([port(80)], [port(81)], None, id="another port"),
        pytest.param([port(80)], [port(80, protocol="UDP")], None, id="another protocol"),
        pytest.param([port(80, protocol="")], [port(80)], TAKEN, id="no protocol is TCP"),
        pytest.param(
            [port(80, ip="10.0.0.1")], [port(80, ip="10.0.0.2")], None, id="another address"
        ),
        pytest.param(
            [port(80, ip="10.0.0.1")], [port(80, ip="10.0.0.1")], TAKEN, id="the same address"
        ),
        pytest.param(
            [port(80, ip="10.0.0.1")], [port(80)], TAKEN, id="every address is wanted, one is held"
        ),
        pytest.param(
            [port(80, ip="0.0.0.0")],
            [port(80, ip="10.0.0.1")],
            TAKEN,
            id="one address is wanted, every one is held",
        ),
        pytest.param([port(81)], [port(80), port(81)], TAKEN, id="the second of two ports"),
    ],
)
def test_filter(
    held: list[ContainerPort], wanted: list[ContainerPort], expected: Status | None
) -> None:
    holder = make_pod("holder", node_name="node", host_ports=held)
    cluster = cluster_of([make_node(), holder])
    assert filter_all(PLUGIN, make_pod(host_ports=wanted), cluster) == {"node": expected}


def test_only_nodes_with_a_holder_are_rejected() -> None:
    holder = make_pod("holder", node_name="b", host_ports=[80])
    cluster = cluster_of([make_node("a"), make_node("b"), holder])
    assert filter_all(PLUGIN, make_pod(host_ports=[80]), cluster) == {"a": None, "b": TAKEN}


def test_a_port_is_free_again_once_all_its_holders_are_gone() -> None:
    holders = [make_pod(name, node_name="node", host_ports=[80]) for name in ("one", "two")]
    cluster = cluster_of([make_node(), *holders])
    pod = make_pod(host_ports=[80])
    cluster.remove_pod(holders[0].metadata.uid)
    assert filter_all(PLUGIN, pod, cluster) == {"node": TAKEN}
    cluster.remove_pod(holders[1].metadata.uid)
    assert filter_all(PLUGIN, pod, cluster) == {"node": None}


@pytest.mark.parametrize(
    ("restart_policy", "expected"),
    [
        pytest.param("Always", TAKEN, id="a sidecar keeps its port"),
        pytest.param("", None, id="an init container is over before"),
    ],
)
def test_init_containers(restart_policy: str, expected: Status | None) -> None:
    init = make_container(host_ports=[80], restart_policy=restart_policy)
    holder = make_pod("holder", node_name="node", init_containers=[init])
    cluster = cluster_of([make_node(), holder])
    assert filter_all(PLUGIN, make_pod(host_ports=[80]), cluster) == {"node": expected}


WEB = make_pod(host_ports=[80])


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param(
            make_pod("gone", node_name="n", host_ports=[80]),
            QueueingHint.QUEUE,
            id="it ran with the port",
        ),
        pytest.param(
            make_pod("gone", nominated_node_name="n", host_ports=[80]),
            QueueingHint.QUEUE,
            id="it was nominated with the port",
        ),
        pytest.param(
            make_pod("gone", host_ports=[80]), QueueingHint.SKIP, id="it had no place anywhere"
        ),
        pytest.param(
            make_pod("gone", node_name="n", host_ports=[81]),
            QueueingHint.SKIP,
            id="it had another port",
        ),
        pytest.param(make_pod("gone", node_name="n"), QueueingHint.SKIP, id="it had no port"),
    ],
)
def test_hint(gone: Pod, expected: QueueingHint) -> None:
    assert PLUGIN.after_pod_deletion(PodInfo.of(WEB), gone, None) is expected


def test_events() -> None:
    labels = [registered.event.label for registered in PLUGIN.events_to_register()]
    assert labels == ["PodDelete", "NodeAdd"]
