from __future__ import annotations

import pytest

from berthing.api.meta import ApiObject
from berthing.api.pod import Pod
from berthing.explain.changes import changes
from berthing.testing import (
    HOSTNAME,
    ZONE,
    make_affinity_term,
    make_container,
    make_node,
    make_node_term,
    make_pod,
    make_spread_constraint,
    make_taint,
)
from explain.questions import question

WEB = {"app": "web"}
GPU = make_taint("gpu", "true")


def told(pod: Pod, *objects: ApiObject) -> list[tuple[str, list[str]]]:
    return [(each.text, sorted(each.nodes)) for each in changes(question(pod, *objects))]


@pytest.mark.parametrize(
    ("pod", "objects", "expected"),
    [
        pytest.param(
            make_pod(cpu="4"),
            [make_node("a", cpu="1500m"), make_node("b", cpu="1500m"), make_node("c", cpu="1")],
            [("if cpu <= 1500m", ["a", "b"])],
            id="as much of a resource as the roomiest nodes have",
        ),
        pytest.param(
            make_pod(memory="20Gi"),
            [make_node("a", memory="16777777Ki")],
            [("if memory <= 16Gi", ["a"])],
            id="memory in round numbers",
        ),
        pytest.param(
            make_pod(requests={"example.com/gpu": "2"}),
            [make_node("a")],
            [("if it asked for no example.com/gpu", ["a"])],
            id="a resource that no node has",
        ),
        pytest.param(make_pod(cpu="8", memory="90Gi"), [make_node("a")], [], id="two things short"),
        pytest.param(
            make_pod(),
            [make_node("a", taints=[GPU]), make_node("b", taints=[GPU, make_taint("old")])],
            [("with a toleration for gpu=true:NoSchedule", ["a"])],
            id="one toleration, where one is enough",
        ),
        pytest.param(
            make_pod(),
            [make_node("a", cordoned=True)],
            [("with a toleration for node.kubernetes.io/unschedulable:NoSchedule", ["a"])],
            id="a cordon",
        ),
        pytest.param(
            make_pod(node_selector={"disk": "ssd", "os": "linux"}),
            [make_node("a", labels={"os": "linux"})],
            [("without nodeSelector disk=ssd", ["a"])],
            id="the label of the nodeSelector that is in the way",
        ),
        pytest.param(
            make_pod(node_affinity=[make_node_term({"disk": "ssd", "gen": "5"})]),
            [make_node("a", labels={"gen": "5"}), make_node("b")],
            [
                ("without required node affinity", ["a", "b"]),
                ("without disk In (ssd) in required node affinity", ["a"]),
            ],
            id="one condition of node affinity, or all of it",
        ),
        pytest.param(
            make_pod(labels=WEB, spread=[make_spread_constraint(WEB)]),
            [
                make_node("a", zone="a"),
                make_node("b", zone="b", cordoned=True),
                *(make_pod(f"w{i}", labels=WEB, node_name="a") for i in range(2)),
            ],
            [
                ("with a toleration for node.kubernetes.io/unschedulable:NoSchedule", ["b"]),
                (f"with maxSkew 3 over {ZONE}", ["a"]),
                (f"without the spread constraint over {ZONE}", ["a"]),
            ],
            id="a spread constraint that allows more, or none",
        ),
        pytest.param(
            make_pod(pod_affinity=[make_affinity_term({"app": "db"})]),
            [make_node("a")],
            [(f"without required affinity to pods with app=db in one {HOSTNAME}", ["a"])],
            id="a required affinity term",
        ),
        pytest.param(
            make_pod(
                pod_anti_affinity=[make_affinity_term(WEB), make_affinity_term({"app": "db"})]
            ),
            [make_node("a"), make_pod("w", labels=WEB, node_name="a")],
            [(f"without required anti-affinity to pods with app=web in one {HOSTNAME}", ["a"])],
            id="a required anti-affinity term",
        ),
        pytest.param(
            make_pod(labels={**WEB, "tier": "front"}),
            [
                make_node("a"),
                make_pod("shy", node_name="a", pod_anti_affinity=[make_affinity_term(WEB)]),
            ],
            [("without its label app=web", ["a"])],
            id="a label by which others keep it away",
        ),
        pytest.param(
            make_pod(host_ports=[80, 8080]),
            [make_node("a"), make_pod("w", node_name="a", host_ports=[80])],
            [("without host port 80/TCP", ["a"])],
            id="a host port",
        ),
        pytest.param(
            make_pod(node_name="gone"),
            [make_node("a")],
            [("without nodeName gone", ["a"])],
            id="nodeName",
        ),
    ],
)
def test_single_changes(
    pod: Pod, objects: list[ApiObject], expected: list[tuple[str, list[str]]]
) -> None:
    assert told(pod, *objects) == expected


def test_what_keeps_the_pods_wishes_comes_first_then_what_gives_more_nodes() -> None:
    pod = make_pod(cpu="4", node_selector={"disk": "ssd"})
    found = told(
        pod,
        make_node("small", cpu="3", labels={"disk": "ssd"}),
        *(make_node(f"plain{i}") for i in range(3)),
        make_node("tainted", labels={"disk": "ssd"}, taints=[GPU]),
    )
    assert [text for text, _ in found] == [
        "if cpu <= 3",
        "with a toleration for gpu=true:NoSchedule",
        "without nodeSelector disk=ssd",
    ]


def test_what_is_told_of_a_resource_holds_for_several_containers() -> None:
    containers = [make_container(f"c{i}", cpu="1") for i in range(3)]
    (change,) = changes(question(make_pod(containers=containers), make_node("a", cpu="2")))
    assert change.text == "if cpu <= 2"
    asked = question(change.pod, make_node("a", cpu="2"))
    assert asked.pod.requests["cpu"] == 2000
    assert asked.decision.chosen == "a"


def test_nodes_where_others_are_nominated_do_not_count() -> None:
    nominated = make_pod("first", cpu="3", priority=10, nominated_node_name="a")
    found = told(make_pod(cpu="8"), make_node("a"), make_node("b", cpu="1"), nominated)
    # With 4 node a would do, were it not for the pod that is nominated there.
    assert found == [("if cpu <= 1", ["a", "b"])]
