from __future__ import annotations

import pytest

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.framework import QueueingHint, Status
from berthing.plugins.node_unschedulable import CORDON, NodeUnschedulable
from berthing.testing import make_node, make_pod, make_toleration, tolerate
from plugins.harness import cluster_of, fake_handle, filter_all

REJECTED = Status.unresolvable("node(s) were unschedulable")
PLUGIN = NodeUnschedulable(None, fake_handle())

TOLERANT = make_pod(tolerations=[tolerate(CORDON)])
OPEN, CORDONED = make_node(), make_node(cordoned=True)


@pytest.mark.parametrize(
    ("pod", "node", "expected"),
    [
        pytest.param(make_pod(), OPEN, None, id="open node"),
        pytest.param(make_pod(), CORDONED, REJECTED, id="cordoned"),
        pytest.param(TOLERANT, CORDONED, None, id="cordoned, but tolerated"),
        pytest.param(
            make_pod(tolerations=[make_toleration()]), CORDONED, None, id="everything is tolerated"
        ),
        pytest.param(
            make_pod(tolerations=[make_toleration(CORDON.key, effect="NoExecute")]),
            CORDONED,
            REJECTED,
            id="a toleration of another effect does not help",
        ),
        pytest.param(
            make_pod(tolerations=[make_toleration("other")]),
            CORDONED,
            REJECTED,
            id="a toleration of another taint does not help",
        ),
    ],
)
def test_filter(pod: Pod, node: Node, expected: Status | None) -> None:
    assert filter_all(PLUGIN, pod, cluster_of([node])) == {node.name: expected}


def test_each_node_counts_for_itself() -> None:
    cluster = cluster_of([make_node("a"), make_node("b", cordoned=True), make_node("c")])
    assert filter_all(PLUGIN, make_pod(), cluster) == {"a": None, "b": REJECTED, "c": None}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, OPEN, QueueingHint.QUEUE, id="a new node that is open"),
        pytest.param(None, CORDONED, QueueingHint.SKIP, id="a new node that is cordoned"),
        pytest.param(CORDONED, OPEN, QueueingHint.QUEUE, id="a node is uncordoned"),
        pytest.param(OPEN, CORDONED, QueueingHint.SKIP, id="a node is cordoned"),
        pytest.param(OPEN, OPEN, QueueingHint.SKIP, id="a node was open all along"),
        pytest.param(CORDONED, CORDONED, QueueingHint.SKIP, id="a node stays cordoned"),
    ],
)
def test_hint_about_nodes(old: Node | None, new: Node, expected: QueueingHint) -> None:
    assert PLUGIN.after_node_change(PodInfo.of(make_pod()), old, new) is expected


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param(TOLERANT, QueueingHint.QUEUE, id="it tolerates the cordon now"),
        pytest.param(
            make_pod(tolerations=[make_toleration("other")]),
            QueueingHint.SKIP,
            id="it tolerates something else now",
        ),
        pytest.param(
            make_pod("other", tolerations=[tolerate(CORDON)]),
            QueueingHint.SKIP,
            id="another pod tolerates the cordon now",
        ),
    ],
)
def test_hint_about_tolerations(changed: Pod, expected: QueueingHint) -> None:
    pod = make_pod()
    assert PLUGIN.after_toleration_change(PodInfo.of(pod), pod, changed) is expected


def test_events() -> None:
    resources = [registered.event.resource for registered in PLUGIN.events_to_register()]
    assert resources == ["Node", "Pod"]
