from __future__ import annotations

import pytest
from msgspec.structs import replace

from berthing.api.node import Node
from berthing.api.pod import Container, ContainerRestartRule, Pod
from berthing.api.pod_info import PodInfo
from berthing.framework import QueueingHint, Status
from berthing.plugins.node_declared_features import GATE, NodeDeclaredFeatures
from berthing.testing import make_node, make_pod
from plugins.harness import cluster_of, fake_handle, filter_all

RESTART = "RestartAllContainersOnContainerExits"
USER_NAMESPACES = "UserNamespacesHostNetworkSupport"
REJECTED = Status.unresolvable("node(s) didn't match Pod's required features")
PLUGIN = NodeDeclaredFeatures(None, fake_handle(gates=[GATE]))


def restarting(action: str = "RestartAllContainers", *, in_init: bool = False) -> Pod:
    container = Container(restart_policy_rules=(ContainerRestartRule(action=action),))
    if in_init:
        return make_pod(init_containers=[container])
    return make_pod(containers=[container])


def on_host_network(pod: Pod, *, host_users: bool | None) -> Pod:
    return replace(pod, spec=replace(pod.spec, host_network=True, host_users=host_users))


NEEDS_BOTH = on_host_network(restarting(), host_users=False)


@pytest.mark.parametrize(
    ("pod", "declared", "expected"),
    [
        pytest.param(make_pod(), [], None, id="nothing is needed"),
        pytest.param(restarting(), [], REJECTED, id="a restart of all containers is needed"),
        pytest.param(restarting(in_init=True), [], REJECTED, id="an init container needs it"),
        pytest.param(restarting("Restart"), [], None, id="restarting one container is nothing new"),
        pytest.param(restarting(), [RESTART, "Other"], None, id="declared among others"),
        pytest.param(restarting(), ["Other"], REJECTED, id="others are declared"),
        pytest.param(
            on_host_network(make_pod(), host_users=False),
            [],
            REJECTED,
            id="a user namespace on the host's network is needed",
        ),
        pytest.param(
            on_host_network(make_pod(), host_users=None), [], None, id="the host's users are meant"
        ),
        pytest.param(
            on_host_network(make_pod(), host_users=False),
            [USER_NAMESPACES],
            None,
            id="user namespaces are declared",
        ),
        pytest.param(NEEDS_BOTH, [RESTART], REJECTED, id="one of two is declared"),
        pytest.param(NEEDS_BOTH, [RESTART, USER_NAMESPACES], None, id="both are declared"),
    ],
)
def test_filter(pod: Pod, declared: list[str], expected: Status | None) -> None:
    cluster = cluster_of([make_node(declared_features=declared)])
    assert filter_all(PLUGIN, pod, cluster) == {"node": expected}


def test_without_the_gate_anything_goes() -> None:
    plugin = NodeDeclaredFeatures(None, fake_handle())
    assert filter_all(plugin, restarting(), cluster_of([make_node()])) == {"node": None}
    assert plugin.events_to_register() == ()


DECLARING = make_node(declared_features=[RESTART])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, make_node(), QueueingHint.QUEUE, id="a new node"),
        pytest.param(make_node(), DECLARING, QueueingHint.QUEUE, id="a feature is declared"),
        pytest.param(DECLARING, make_node(), QueueingHint.QUEUE, id="a feature is gone"),
        pytest.param(DECLARING, DECLARING, QueueingHint.SKIP, id="the features stay"),
    ],
)
def test_hint_about_nodes(old: Node | None, new: Node, expected: QueueingHint) -> None:
    assert PLUGIN.after_node_change(PodInfo.of(restarting()), old, new) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(restarting(), make_pod(), QueueingHint.QUEUE, id="it needs less"),
        pytest.param(
            restarting(),
            make_pod(labels={"a": "b"}, containers=restarting().spec.containers),
            QueueingHint.SKIP,
            id="it needs the same",
        ),
        pytest.param(
            make_pod("other"),
            make_pod("other", containers=restarting().spec.containers),
            QueueingHint.SKIP,
            id="another pod needs more",
        ),
    ],
)
def test_hint_about_the_pod(old: Pod, new: Pod, expected: QueueingHint) -> None:
    assert PLUGIN.after_pod_change(PodInfo.of(restarting()), old, new) is expected
