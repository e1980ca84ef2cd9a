"""How soft spread constraints rank the nodes that passed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log

import numpy as np
import pytest

from berthing.api.labels import LabelSelector, LabelSelectorRequirement
from berthing.api.node import Node
from berthing.api.pod import Pod, TopologySpreadConstraint
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Rows
from berthing.config.args import PodTopologySpreadArgs
from berthing.framework import CycleState, Status
from berthing.plugins.pod_topology_spread import PodTopologySpread
from berthing.plugins.topology_spread_scoring import rounded, spread_out
from berthing.testing import (
    HOSTNAME,
    ZONE,
    make_node,
    make_pod,
    make_spread_constraint,
    make_taint,
)
from plugins.harness import cluster_of, fake_handle, score_all

WEB = {"app": "web"}

NODES = (
    make_node("a1", zone="a"),
    make_node("a2", zone="a"),
    make_node("b1", zone="b"),
    make_node("c1", zone="c"),
)


def soft(
    topology_key: str = ZONE,
    *,
    max_skew: int = 1,
    selector: Mapping[str, str] | LabelSelector = WEB,
    node_affinity_policy: str = "",
    node_taints_policy: str = "",
) -> TopologySpreadConstraint:
    return make_spread_constraint(
        selector,
        topology_key=topology_key,
        max_skew=max_skew,
        when_unsatisfiable="ScheduleAnyway",
        node_affinity_policy=node_affinity_policy,
        node_taints_policy=node_taints_policy,
    )


def running(**per_node: int) -> list[Pod]:
    return [
        make_pod(f"{node}-{number}", labels=WEB, node_name=node)
        for node, count in per_node.items()
        for number in range(count)
    ]


def plugin() -> PodTopologySpread:
    return PodTopologySpread(PodTopologySpreadArgs(), fake_handle())


def scored(
    constraints: Iterable[TopologySpreadConstraint],
    pods: Iterable[Pod],
    *,
    nodes: Iterable[Node] = NODES,
    feasible: Iterable[str] | None = None,
    node_selector: Mapping[str, str] | None = None,
) -> Mapping[str, int] | None:
    pod = make_pod(labels=WEB, spread=constraints, node_selector=node_selector or {})
    return score_all(plugin(), pod, cluster_of((*nodes, *pods)), feasible=feasible)


def raw(pod: Pod, cluster: Cluster) -> list[int]:
    state, info, by = CycleState(), PodInfo.of(pod), plugin()
    by.pre_score(state, info, cluster.rows())
    return [int(score) for score in by.score_nodes(state, info, cluster.rows())]


def test_the_raw_score_weighs_pods_by_the_logarithm_of_the_domains() -> None:
    pod = make_pod(labels=WEB, spread=[soft(max_skew=3), soft(HOSTNAME, max_skew=2)])
    cluster = cluster_of((*NODES, *running(a1=3, b1=1)))
    zone, host = log(3 + 2), log(4 + 2)
    assert raw(pod, cluster) == [
        round(3 * zone + 2 + 3 * host + 1),
        round(3 * zone + 2 + 1),
        round(1 * zone + 2 + 1 * host + 1),
        3,
    ]


def test_the_emptier_a_nodes_zone_the_better_the_node() -> None:
    # Raw scores are 6, 6, 3 and 0: three zones weigh ln(5) = 1.6 a pod.
    assert scored([soft()], running(a1=3, a2=1, b1=2)) == {"a1": 0, "a2": 0, "b1": 50, "c1": 100}


def test_without_any_pods_all_nodes_get_most() -> None:
    assert scored([soft()], []) == dict.fromkeys(("a1", "a2", "b1", "c1"), 100)


def test_the_skew_waters_differences_down() -> None:
    # Raw scores are 3 and 0; with 5 more each, 100 * (8 + 5 - 8) / 8 is left of the difference.
    pods = running(a1=2)
    assert scored([soft()], pods) == {"a1": 0, "a2": 0, "b1": 100, "c1": 100}
    assert scored([soft(max_skew=6)], pods) == {"a1": 62, "a2": 62, "b1": 100, "c1": 100}


def test_hostnames_count_the_pods_on_the_node_only() -> None:
    assert scored([soft(HOSTNAME)], running(a1=2)) == {"a1": 0, "a2": 100, "b1": 100, "c1": 100}


def test_pods_on_nodes_that_did_not_pass_count_for_their_zone() -> None:
    assert scored([soft()], running(a1=2), feasible=["a2", "b1"]) == {"a2": 0, "b1": 100}


def test_only_domains_of_nodes_that_passed_are_domains() -> None:
    # One zone and two hosts, though there are three and four.
    zone, host = 5 * log(1 + 2), 5 * log(2 + 2)
    lowest, highest = round(zone), round(zone + host)
    scores = scored([soft(), soft(HOSTNAME)], running(a1=5), feasible=["a1", "a2"])
    assert scores == {"a1": 100 * lowest // highest, "a2": 100}


def test_a_node_without_one_of_the_labels_gets_nothing() -> None:
    nodes = (*NODES, make_node("nowhere"))
    scores = scored([soft(), soft(HOSTNAME)], running(a1=1), nodes=nodes)
    assert scores is not None
    assert scores["nowhere"] == 0
    assert scores["c1"] == 100


def test_a_node_without_one_of_the_labels_does_not_count() -> None:
    nodes = (
        make_node("a1", zone="a", labels={"rack": "1"}),
        make_node("a2", zone="a", labels={"rack": "2"}),
        make_node("nowhere", labels={"rack": "1"}),
    )
    # The first rack is not fuller than the other: its pods are on a node without a zone.
    scores = scored([soft(), soft("rack")], running(nowhere=3), nodes=nodes)
    assert scores == {"a1": 100, "a2": 100, "nowhere": 0}


def test_if_all_nodes_lack_the_label_all_get_nothing() -> None:
    assert scored([soft("rack")], running(a1=1)) == dict.fromkeys(("a1", "a2", "b1", "c1"), 0)


def test_rows_without_a_node_do_not_matter() -> None:
    cluster = cluster_of((*NODES, make_node("gone", zone="d")))
    cluster.remove_node("gone")
    whole = cluster_of(NODES)
    pod = make_pod(labels=WEB, spread=[soft(), soft(HOSTNAME)])
    for each in (cluster, whole):
        for other in running(a1=3, b1=1):
            each.set_pod(PodInfo.of(other))
    assert score_all(plugin(), pod, cluster) == score_all(plugin(), pod, whole)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("Ignore", {"a1": 0, "b1": 100}, id="ignored, its pods count"),
        pytest.param("Honor", {"a1": 100, "b1": 100}, id="honoured, its pods do not count"),
    ],
)
def test_pods_on_a_tainted_node(policy: str, expected: Mapping[str, int]) -> None:
    tainted = make_node("a2", zone="a", taints=[make_taint("gpu")])
    nodes = (make_node("a1", zone="a"), tainted, make_node("b1", zone="b"))
    constraint = soft(node_taints_policy=policy)
    assert scored([constraint], running(a2=2), nodes=nodes, feasible=["a1", "b1"]) == expected


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("Ignore", {"a1": 0, "b1": 100}, id="ignored, its pods count"),
        pytest.param("Honor", {"a1": 100, "b1": 100}, id="honoured, its pods do not count"),
    ],
)
def test_pods_on_a_node_that_the_pod_cannot_use(policy: str, expected: Mapping[str, int]) -> None:
    ssd = {"disk": "ssd"}
    nodes = (
        make_node("a1", zone="a", labels=ssd),
        make_node("a2", zone="a"),
        make_node("b1", zone="b", labels=ssd),
    )
    constraint = soft(node_affinity_policy=policy)
    pods, feasible = running(a2=2), ["a1", "b1"]
    scores = scored([constraint], pods, nodes=nodes, feasible=feasible, node_selector=ssd)
    assert scores == expected


def test_a_selector_that_selects_all_counts_nobody() -> None:
    everything = soft(max_skew=3, selector=LabelSelector())
    assert scored([everything], running(a1=3)) == dict.fromkeys(("a1", "a2", "b1", "c1"), 100)
    by_host = soft(HOSTNAME, max_skew=3, selector=LabelSelector())
    assert scored([by_host], running(a1=3)) == dict.fromkeys(("a1", "a2", "b1", "c1"), 100)


@pytest.mark.parametrize(
    ("constraints", "nodes"),
    [
        pytest.param([make_spread_constraint(WEB)], NODES, id="only hard constraints"),
        pytest.param([soft()], (), id="no nodes"),
    ],
)
def test_the_plugin_sits_out(
    constraints: list[TopologySpreadConstraint], nodes: tuple[Node, ...]
) -> None:
    cluster = cluster_of(nodes)
    pod = PodInfo.of(make_pod(labels=WEB, spread=constraints))
    assert plugin().pre_score(CycleState(), pod, cluster.rows()) == Status.skip()


def test_a_selector_with_a_mistake_ends_the_attempt() -> None:
    broken = LabelSelector(match_expressions=(LabelSelectorRequirement("app", "Near"),))
    pod = PodInfo.of(make_pod(labels=WEB, spread=[soft(selector=broken)]))
    with pytest.raises(ValueError, match='pod\'s soft topology spread constraints: "Near" is not'):
        plugin().pre_score(CycleState(), pod, cluster_of(NODES).rows())


def test_nodes_may_be_scored_in_any_order() -> None:
    cluster = cluster_of((*NODES, *running(a1=3, b1=1)))
    pod = PodInfo.of(make_pod(labels=WEB, spread=[soft(), soft(HOSTNAME)]))
    by, state = plugin(), CycleState()
    by.pre_score(state, pod, cluster.rows())
    forwards = by.score_nodes(state, pod, cluster.rows())
    backwards = by.score_nodes(state, pod, Rows(cluster, np.array([3, 2, 1, 0])))
    assert forwards.tolist() == backwards.tolist()[::-1]


def test_halves_are_rounded_up_and_less_is_not() -> None:
    just_below = np.nextafter(0.5, 0)
    scores = np.array([0.0, just_below, 0.5, 1.5, 2.4, 2.5])
    assert rounded(scores).tolist() == [0, 0, 1, 2, 2, 3]


def test_nothing_to_normalize() -> None:
    none = np.zeros(0, np.int64)
    assert spread_out(none, None).tolist() == []
