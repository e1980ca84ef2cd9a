from __future__ import annotations

import pytest

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.taints import Taint, Toleration
from berthing.framework import QueueingHint, Status
from berthing.plugins.taint_toleration import TaintToleration
from berthing.testing import make_node, make_pod, make_taint, make_toleration, tolerate
from plugins.harness import cluster_of, fake_handle, filter_all, score_all

REJECTED = Status.unresolvable("node(s) had untolerated taint(s)")
PLUGIN = TaintToleration(None, fake_handle())

GPU = make_taint("gpu", "true")
LEAVING = make_taint("leaving", effect="NoExecute")
BUSY = make_taint("busy", effect="PreferNoSchedule")
SLOW = make_taint("slow", effect="PreferNoSchedule")


@pytest.mark.parametrize(
    ("taints", "tolerations", "expected"),
    [
        pytest.param([], [], None, id="no taints"),
        pytest.param([GPU], [], REJECTED, id="NoSchedule keeps off"),
        pytest.param([LEAVING], [], REJECTED, id="NoExecute keeps off"),
        pytest.param([BUSY], [], None, id="PreferNoSchedule lets in"),
        pytest.param([GPU], [tolerate(GPU)], None, id="tolerated"),
        pytest.param([GPU, LEAVING], [tolerate(GPU)], REJECTED, id="one of two is not tolerated"),
        pytest.param(
            [GPU, LEAVING], [tolerate(LEAVING), tolerate(GPU)], None, id="each has its toleration"
        ),
        pytest.param([GPU, LEAVING], [make_toleration()], None, id="everything is tolerated"),
        pytest.param(
            [GPU],
            [make_toleration("gpu", value="false")],
            REJECTED,
            id="another value is tolerated",
        ),
        pytest.param(
            [GPU], [make_toleration("gpu", effect="NoExecute")], REJECTED, id="another effect"
        ),
        pytest.param([make_taint(effect="Odd")], [], None, id="an unknown effect does nothing"),
    ],
)
def test_filter(
    taints: list[Taint], tolerations: list[Toleration], expected: Status | None
) -> None:
    cluster = cluster_of([make_node(taints=taints)])
    assert filter_all(PLUGIN, make_pod(tolerations=tolerations), cluster) == {"node": expected}


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        pytest.param([], REJECTED, id="numbers are not compared"),
        pytest.param(
            ["TaintTolerationComparisonOperators"], None, id="numbers are compared under the gate"
        ),
    ],
)
def test_comparison(gates: list[str], expected: Status | None) -> None:
    plugin = TaintToleration(None, fake_handle(gates=gates))
    pod = make_pod(tolerations=[make_toleration("level", operator="Gt", value="5")])
    cluster = cluster_of([make_node(taints=[make_taint("level", "7")])])
    assert filter_all(plugin, pod, cluster) == {"node": expected}


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        pytest.param([], {"none": 100, "one": 50, "two": 0}, id="fewer taints are better"),
        pytest.param(
            [tolerate(BUSY)], {"none": 100, "one": 100, "two": 0}, id="tolerated ones do not count"
        ),
        pytest.param(
            [tolerate(BUSY), tolerate(SLOW)],
            {"none": 100, "one": 100, "two": 100},
            id="without any left all nodes are alike",
        ),
        pytest.param(
            [make_toleration("busy", effect="NoSchedule")],
            {"none": 100, "one": 50, "two": 0},
            id="tolerations of other effects do not matter",
        ),
    ],
)
def test_score(tolerations: list[Toleration], expected: dict[str, int]) -> None:
    nodes = [
        make_node("none", taints=[GPU]),
        make_node("one", taints=[BUSY]),
        make_node("two", taints=[SLOW, BUSY]),
    ]
    assert score_all(PLUGIN, make_pod(tolerations=tolerations), cluster_of(nodes)) == expected


def test_only_nodes_that_passed_are_compared() -> None:
    nodes = [make_node("one", taints=[BUSY]), make_node("two", taints=[SLOW, BUSY])]
    scores = score_all(PLUGIN, make_pod(), cluster_of(nodes), feasible=["one"])
    assert scores == {"one": 0}


def test_a_share_is_cut_down_before_it_is_turned_round() -> None:
    soft = [make_taint(f"t{i}", effect="PreferNoSchedule") for i in range(3)]
    nodes = [make_node(f"n{count}", taints=soft[:count]) for count in range(4)]
    scores = score_all(PLUGIN, make_pod(), cluster_of(nodes))
    assert scores == {"n0": 100, "n1": 67, "n2": 34, "n3": 0}


TAINTED, CLEAN = make_node(taints=[GPU]), make_node()
BUSY_NODE = make_node(taints=[BUSY])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, CLEAN, QueueingHint.QUEUE, id="a new node without taints"),
        pytest.param(None, TAINTED, QueueingHint.SKIP, id="a new node with a taint"),
        pytest.param(TAINTED, CLEAN, QueueingHint.QUEUE, id="a taint is taken away"),
        pytest.param(CLEAN, TAINTED, QueueingHint.SKIP, id="a taint is added"),
        pytest.param(CLEAN, CLEAN, QueueingHint.SKIP, id="the node was open all along"),
        pytest.param(TAINTED, TAINTED, QueueingHint.SKIP, id="the taint stays"),
        pytest.param(TAINTED, BUSY_NODE, QueueingHint.QUEUE, id="the taint gets milder"),
    ],
)
def test_hint_about_nodes(old: Node | None, new: Node, expected: QueueingHint) -> None:
    assert PLUGIN.after_node_change(PodInfo.of(make_pod()), old, new) is expected


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param(make_pod(tolerations=[tolerate(GPU)]), QueueingHint.QUEUE, id="its own"),
        pytest.param(make_pod("other"), QueueingHint.SKIP, id="another pod's"),
    ],
)
def test_hint_about_tolerations(changed: Pod, expected: QueueingHint) -> None:
    pod = make_pod()
    assert PLUGIN.after_toleration_change(PodInfo.of(pod), pod, changed) is expected
