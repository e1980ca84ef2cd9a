from __future__ import annotations

import pytest

from berthing.api.core import Service, ServiceSpec
from berthing.api.meta import ApiObject, ObjectMeta
from berthing.api.node_selector import NodeSelectorRequirement
from berthing.api.pod import ContainerPort, Pod
from berthing.explain.report import Report
from berthing.testing import (
    HOSTNAME,
    ZONE,
    make_affinity_term,
    make_node,
    make_node_term,
    make_pod,
    make_spread_constraint,
    make_taint,
)
from explain.questions import question, texts

WEB = {"app": "web"}
NEAR_DB = make_affinity_term({"app": "db"}, topology_key=ZONE)
AWAY_FROM_WEB = make_affinity_term(WEB)


@pytest.mark.parametrize(
    ("pod", "objects", "expected"),
    [
        pytest.param(make_pod(cpu="1"), [make_node("n")], [], id="nothing, where it fits"),
        pytest.param(
            make_pod(cpu="2"),
            [make_node("n", cpu="2"), make_pod("other", cpu="500m", node_name="n")],
            ["cpu: asked 2, free 1500m of 2, short by 500m"],
            id="a resource with what was asked, what is free, and the difference",
        ),
        pytest.param(
            make_pod(cpu="5", memory="20Gi"),
            [make_node("n")],
            [
                "cpu: asked 5, free 4 of 4, short by 1",
                "memory: asked 20Gi, free 16Gi of 16Gi, short by 4Gi",
            ],
            id="each resource that is short",
        ),
        pytest.param(
            make_pod(requests={"example.com/gpu": "1"}),
            [make_node("n")],
            ["example.com/gpu: asked 1, free 0 of 0, short by 1"],
            id="a resource that the node does not have",
        ),
        pytest.param(
            make_pod(),
            [make_node("n", pods="1"), make_pod("other", node_name="n")],
            ["pods: 1 there, 1 allowed"],
            id="a full node",
        ),
        pytest.param(
            make_pod(),
            [
                make_node(
                    "n", taints=[make_taint("gpu", "true"), make_taint("old", effect="NoExecute")]
                )
            ],
            ["taint gpu=true:NoSchedule", "taint old:NoExecute"],
            id="each taint that is not tolerated",
        ),
        pytest.param(
            make_pod(),
            [make_node("n", cordoned=True)],
            ["cordoned (spec.unschedulable)"],
            id="cordon",
        ),
        pytest.param(
            make_pod(node_name="m"),
            [make_node("n")],
            ["spec.nodeName of the pod is m"],
            id="nodeName",
        ),
        pytest.param(
            make_pod(node_selector={"disk": "ssd", "gen": "5"}),
            [make_node("n", labels={"disk": "hdd"})],
            [
                "nodeSelector disk=ssd, and the node has disk=hdd",
                "nodeSelector gen=5, and the node has no such label",
            ],
            id="each unmet label of the nodeSelector",
        ),
        pytest.param(
            make_pod(node_affinity=[make_node_term({"disk": ("ssd", "nvme"), "gen": "5"})]),
            [make_node("n", labels={"disk": "hdd", "gen": "5"})],
            ["node affinity disk In (ssd, nvme), and the node has disk=hdd"],
            id="only what is unmet of a node affinity term",
        ),
        pytest.param(
            make_pod(
                node_affinity=[
                    make_node_term({"disk": "ssd", "gen": "6"}),
                    make_node_term({"disk": "hdd", "gen": "6"}),
                ]
            ),
            [make_node("n", labels={"disk": "hdd", "gen": "5"})],
            ["node affinity gen In (6), and the node has gen=5 (nearest of 2 terms)"],
            id="of several terms the one with the least to mend",
        ),
        pytest.param(
            make_pod(
                node_affinity=[
                    make_node_term(expressions=[NodeSelectorRequirement("gen", "Gt", ("5",))])
                ]
            ),
            [make_node("n", labels={"gen": "5"})],
            ["node affinity gen Gt (5), and the node has gen=5"],
            id="a comparison",
        ),
        pytest.param(
            make_pod(host_ports=[8080]),
            [make_node("n"), make_pod("holder", node_name="n", host_ports=[8080])],
            ["host port 8080/TCP is taken by default/holder"],
            id="who holds the port",
        ),
        pytest.param(
            make_pod(host_ports=[ContainerPort(host_port=53, protocol="UDP"), 8080]),
            [
                make_node("n"),
                make_pod(
                    "dns", node_name="n", host_ports=[ContainerPort(host_port=53, protocol="UDP")]
                ),
            ],
            ["host port 53/UDP is taken by default/dns"],
            id="of several ports the one that is taken",
        ),
        pytest.param(
            make_pod(pod_affinity=[NEAR_DB]),
            [
                make_node("n", zone="a"),
                make_node("m", zone="b"),
                make_pod("db", labels={"app": "db"}, node_name="m"),
            ],
            [f"affinity to pods with app=db: none in {ZONE}=a"],
            id="affinity to pods that are elsewhere",
        ),
        pytest.param(
            make_pod(pod_affinity=[NEAR_DB]),
            [make_node("n")],
            [f"affinity to pods with app=db: the node has no label {ZONE}"],
            id="affinity on a node outside of every zone",
        ),
        pytest.param(
            make_pod(pod_anti_affinity=[AWAY_FROM_WEB]),
            [make_node("n"), *(make_pod(f"w{i}", labels=WEB, node_name="n") for i in range(2))],
            [f"anti-affinity to pods with app=web: 2 pods in {HOSTNAME}=n"],
            id="anti-affinity, with how many are there",
        ),
        pytest.param(
            make_pod(labels=WEB),
            [make_node("n"), make_pod("shy", node_name="n", pod_anti_affinity=[AWAY_FROM_WEB])],
            [f"pods with app=web are kept away by 1 pod in {HOSTNAME}=n"],
            id="anti-affinity of a pod that runs there",
        ),
    ],
)
def test_what_is_in_the_way(pod: Pod, objects: list[ApiObject], expected: list[str]) -> None:
    assert texts(pod, *objects) == expected


SPREAD = make_spread_constraint(WEB)


@pytest.mark.parametrize(
    ("pod", "objects", "expected"),
    [
        pytest.param(
            make_pod(labels=WEB, spread=[SPREAD]),
            [
                make_node("n", zone="a"),
                make_node("m", zone="b"),
                make_pod("w", labels=WEB, node_name="n"),
            ],
            [
                f"spread over {ZONE}: 2 in a with this pod, 0 in the emptiest of 2 domains: skew 2, allowed 1"
            ],
            id="the skew there would be",
        ),
        pytest.param(
            make_pod(labels=WEB, spread=[SPREAD]),
            [make_node("n")],
            [f"spread over {ZONE}: the node has no such label"],
            id="a node outside of every domain",
        ),
        pytest.param(
            make_pod(labels=WEB, spread=[make_spread_constraint(WEB, min_domains=3)]),
            [
                make_node("n", zone="a"),
                make_node("m", zone="b"),
                *(make_pod(f"w{node}", labels=WEB, node_name=node) for node in ("n", "m")),
            ],
            [
                f"spread over {ZONE}: 2 in a with this pod, 0 counted as least, with 2 domains and minDomains 3: skew 2, allowed 1"
            ],
            id="too few domains",
        ),
    ],
)
def test_skew_with_its_numbers(pod: Pod, objects: list[ApiObject], expected: list[str]) -> None:
    assert texts(pod, *objects) == expected


def test_all_plugins_are_heard_not_only_the_first_to_say_no() -> None:
    pod = make_pod(cpu="9", node_selector={"disk": "ssd"})
    assert texts(pod, make_node("n", taints=[make_taint("gpu")])) == [
        "taint gpu:NoSchedule",
        "nodeSelector disk=ssd, and the node has no such label",
        "cpu: asked 9, free 4 of 4, short by 5",
    ]


def test_pods_that_are_only_nominated_are_named_as_the_reason() -> None:
    nominated = make_pod("first", cpu="4", priority=10, nominated_node_name="n")
    assert texts(make_pod(cpu="1"), make_node("n"), nominated) == [
        "Insufficient cpu, with the pods nominated there"
    ]


def test_nodes_that_the_pod_does_not_name() -> None:
    pod = make_pod(node_affinity=[make_node_term(node_name="m")])
    found = texts(pod, make_node("n"), make_node("m", cordoned=True))
    assert found == [
        "not one of the nodes that the pod names",
        "node affinity metadata.name In (m)",
    ]


def test_affinity_of_the_profile() -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: disk, operator: Exists}]
"""
    assert texts(make_pod(), make_node("n"), config=config) == [
        "the profile's addedAffinity does not match the node"
    ]


def test_a_constraint_of_the_profile_has_its_numbers_too() -> None:
    config = f"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {{maxSkew: 1, topologyKey: {HOSTNAME}, whenUnsatisfiable: DoNotSchedule}}
"""
    service = Service(
        metadata=ObjectMeta(name="web", namespace="default"), spec=ServiceSpec(selector=WEB)
    )
    running = make_pod("w", labels=WEB, node_name="n")
    objects = (make_node("n"), make_node("m"), running, service)
    assert texts(make_pod(labels=WEB), *objects, config=config) == [
        f"spread over {HOSTNAME}: 2 in n with this pod, 0 in the emptiest of 2 domains: skew 2, allowed 1"
    ]


def test_closest_are_nodes_with_the_least_in_the_way() -> None:
    nodes = (
        make_node("far", cpu="1", taints=[make_taint("gpu")]),
        make_node("near", cpu="3"),
        make_node("small", cpu="1"),
    )
    report = Report(question(make_pod(cpu="4"), *nodes))
    assert [node.name for node in report.in_the_way] == ["near", "small", "far"]
