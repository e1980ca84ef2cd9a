"""Which nodes hard spread constraints rule out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import pytest

from berthing.api.labels import LabelSelector, LabelSelectorRequirement
from berthing.api.node import Node
from berthing.api.pod import Pod, TopologySpreadConstraint
from berthing.api.pod_info import PodInfo
from berthing.config.args import PodTopologySpreadArgs
from berthing.framework import CycleState, Status
from berthing.plugins.pod_topology_spread import PodTopologySpread
from berthing.plugins.topology_spread_filtering import REASON_MISSING_LABEL, REASON_SKEW
from berthing.testing import (
    ZONE,
    make_node,
    make_node_term,
    make_pod,
    make_spread_constraint,
    make_taint,
    make_toleration,
)
from plugins.harness import cluster_of, fake_handle, filter_all

SKEW = Status.unschedulable(REASON_SKEW)
MISSING = Status.unresolvable(REASON_MISSING_LABEL)

WEB = {"app": "web"}
SPREAD_WEB = make_spread_constraint(WEB)

# Three zones, of two nodes, one node and one node.
NODES = (
    make_node("a1", zone="a"),
    make_node("a2", zone="a"),
    make_node("b1", zone="b"),
    make_node("c1", zone="c"),
)


def running(node: str, count: int = 1, **labels: str) -> list[Pod]:
    return [
        make_pod(f"{node}-{labels}-{number}", labels=labels or WEB, node_name=node)
        for number in range(count)
    ]


def web(*constraints: TopologySpreadConstraint) -> Pod:
    return make_pod(labels=WEB, spread=constraints or (SPREAD_WEB,))


def rejected(pod: Pod, pods: Iterable[Pod], nodes: Iterable[Node] = NODES) -> Mapping[str, Status]:
    """The nodes that are turned down, and why."""
    plugin = PodTopologySpread(PodTopologySpreadArgs(), fake_handle())
    verdicts = filter_all(plugin, pod, cluster_of((*nodes, *pods)))
    return {name: status for name, status in verdicts.items() if status is not None}


@pytest.mark.parametrize(
    ("pods", "max_skew", "expected"),
    [
        pytest.param([], 1, set(), id="nobody is there yet"),
        pytest.param(running("a1"), 1, {"a1", "a2"}, id="a zone that is ahead is full"),
        pytest.param(
            [*running("a1"), *running("a2"), *running("b1")],
            1,
            {"a1", "a2", "b1"},
            id="only the emptiest zone is left",
        ),
        pytest.param(running("a1"), 2, set(), id="a zone may be ahead by the skew"),
        pytest.param(
            [*running("a1", 2), *running("b1", 1), *running("c1", 1)],
            2,
            set(),
            id="what counts is the lead over the emptiest zone",
        ),
        pytest.param(running("a1", 3, app="api"), 1, set(), id="others are not counted"),
    ],
)
def test_skew(pods: list[Pod], max_skew: int, expected: set[str]) -> None:
    pod = web(make_spread_constraint(WEB, max_skew=max_skew))
    assert rejected(pod, pods) == dict.fromkeys(expected, SKEW)


def test_a_pod_that_its_own_selector_leaves_out_does_not_count_itself() -> None:
    pod = make_pod(labels={"app": "api"}, spread=[SPREAD_WEB])
    assert rejected(pod, running("a1")) == {}
    assert rejected(pod, running("a1", 2)) == {"a1": SKEW, "a2": SKEW}


def test_pods_of_other_namespaces_are_not_counted() -> None:
    elsewhere = make_pod("p", namespace="elsewhere", labels=WEB, node_name="a1")
    assert rejected(web(), [elsewhere]) == {}


def test_pods_on_their_way_out_are_not_counted() -> None:
    leaving = make_pod("p", labels=WEB, node_name="a1", deleted=datetime(2030, 1, 1, tzinfo=UTC))
    assert rejected(web(), [leaving]) == {}


def test_a_selector_that_selects_all_counts_nobody() -> None:
    assert rejected(web(make_spread_constraint(LabelSelector())), running("a1", 5)) == {}


def test_without_a_selector_nobody_is_counted() -> None:
    constraint = TopologySpreadConstraint(
        max_skew=1, topology_key=ZONE, when_unsatisfiable="DoNotSchedule"
    )
    assert rejected(web(constraint), running("a1", 5)) == {}


def test_match_label_keys_count_pods_with_the_same_values_only() -> None:
    constraint = make_spread_constraint(WEB, match_label_keys=["version"])
    pod = make_pod(labels={**WEB, "version": "2"}, spread=[constraint])
    assert rejected(pod, running("a1", 1, app="web", version="1")) == {}
    assert rejected(pod, running("b1", 1, app="web", version="2")) == {"b1": SKEW}


# Nodes without the label.


def test_a_node_without_the_label_cannot_be_helped() -> None:
    nodes = (*NODES, make_node("nowhere"))
    assert rejected(web(), [], nodes) == {"nowhere": MISSING}


def test_an_empty_value_is_a_domain_like_any_other() -> None:
    nodes = (make_node("a1", zone="a"), make_node("blank", labels={ZONE: ""}))
    assert rejected(web(), running("a1"), nodes) == {"a1": SKEW}


def test_a_node_that_lacks_one_of_the_labels_counts_for_none() -> None:
    # The rack in zone c is empty, but its node has no zone.
    racks = {"a1": "1", "b1": "2"}
    nodes = [make_node(name, zone=name[0], labels={"rack": rack}) for name, rack in racks.items()]
    nodes.append(make_node("nowhere", labels={"rack": "3"}))
    pod = web(make_spread_constraint(WEB, topology_key="rack"), SPREAD_WEB)
    pods = [*running("a1"), *running("b1")]
    assert rejected(pod, pods, nodes) == {"nowhere": MISSING}


def test_the_first_constraint_that_objects_is_the_one_that_is_told() -> None:
    nodes = (
        make_node("a1", zone="a", labels={"rack": "1"}),
        make_node("b1", zone="b", labels={"rack": "2"}),
        make_node("rackless", zone="a"),
    )
    by_rack = make_spread_constraint(WEB, topology_key="rack")
    pods = running("a1", 2)
    assert rejected(web(SPREAD_WEB, by_rack), pods, nodes) == {"a1": SKEW, "rackless": SKEW}
    assert rejected(web(by_rack, SPREAD_WEB), pods, nodes) == {"a1": SKEW, "rackless": MISSING}


# How many domains there should be.


@pytest.mark.parametrize(
    ("min_domains", "expected"),
    [
        pytest.param(None, set(), id="without a number, one is enough"),
        pytest.param(3, set(), id="with enough of them, the emptiest counts"),
        pytest.param(4, {"a1", "a2", "b1", "c1"}, id="with too few, the emptiest has none"),
    ],
)
def test_min_domains(min_domains: int | None, expected: set[str]) -> None:
    pods = [*running("a1"), *running("b1"), *running("c1")]
    pod = web(make_spread_constraint(WEB, min_domains=min_domains))
    assert rejected(pod, pods) == dict.fromkeys(expected, SKEW)


# Which nodes take part.

TAINTED = (
    make_node("a1", zone="a"),
    make_node("b1", zone="b", taints=[make_taint("gpu")]),
)


@pytest.mark.parametrize(
    ("policy", "tolerated", "expected"),
    [
        pytest.param("", "", {"a1"}, id="by default tainted nodes take part"),
        pytest.param("Ignore", "", {"a1"}, id="ignored, tainted nodes take part"),
        pytest.param("Honor", "", set(), id="honoured, tainted nodes do not"),
        pytest.param("Honor", "gpu", {"a1"}, id="unless they are tolerated"),
        pytest.param("Honor", "cpu", set(), id="another toleration does not help"),
    ],
)
def test_taints(policy: str, tolerated: str, expected: set[str]) -> None:
    constraint = make_spread_constraint(WEB, node_taints_policy=policy)
    tolerations = [make_toleration(tolerated)] if tolerated else []
    pod = make_pod(labels=WEB, spread=[constraint], tolerations=tolerations)
    assert rejected(pod, running("a1"), TAINTED) == dict.fromkeys(expected, SKEW)


def test_taints_that_only_count_against_a_node_do_not_matter() -> None:
    soft = make_taint("busy", effect="PreferNoSchedule")
    nodes = (make_node("a1", zone="a"), make_node("b1", zone="b", taints=[soft]))
    pod = web(make_spread_constraint(WEB, node_taints_policy="Honor"))
    assert rejected(pod, running("a1"), nodes) == {"a1": SKEW}


DISKS = (
    make_node("a1", zone="a", labels={"disk": "ssd"}),
    make_node("b1", zone="b", labels={"disk": "ssd"}),
    make_node("c1", zone="c", labels={"disk": "hdd"}),
)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("", set(), id="by default nodes that the pod cannot use are left out"),
        pytest.param("Honor", set(), id="honoured, they are left out"),
        pytest.param("Ignore", {"a1", "b1"}, id="ignored, they take part"),
    ],
)
@pytest.mark.parametrize("wanted", ["nodeSelector", "affinity", "field"])
def test_node_affinity(policy: str, expected: set[str], wanted: str) -> None:
    constraint = make_spread_constraint(WEB, node_affinity_policy=policy)
    term = make_node_term({"disk": "ssd"})
    names = (make_node_term(node_name="a1"), make_node_term(node_name="b1"))
    pod = make_pod(
        labels=WEB,
        spread=[constraint],
        node_selector={"disk": "ssd"} if wanted == "nodeSelector" else {},
        node_affinity={"nodeSelector": (), "affinity": (term,), "field": names}[wanted],
    )
    pods = [*running("a1"), *running("b1")]
    assert rejected(pod, pods, DISKS) == dict.fromkeys(expected, SKEW)


# When there is nothing to do, or something is wrong.


@pytest.mark.parametrize(
    "constraints",
    [
        pytest.param([], id="no constraints"),
        pytest.param(
            [make_spread_constraint(WEB, when_unsatisfiable="ScheduleAnyway")],
            id="only soft constraints",
        ),
    ],
)
def test_the_plugin_sits_out_without_hard_constraints(
    constraints: list[TopologySpreadConstraint],
) -> None:
    plugin = PodTopologySpread(PodTopologySpreadArgs(), fake_handle())
    cluster = cluster_of(NODES)
    pod = PodInfo.of(make_pod(labels=WEB, spread=constraints))
    assert plugin.pre_filter(CycleState(), pod, cluster.rows()) == Status.skip()


def test_a_selector_with_a_mistake_ends_the_attempt() -> None:
    broken = LabelSelector(match_expressions=(LabelSelectorRequirement("app", "Near"),))
    plugin = PodTopologySpread(PodTopologySpreadArgs(), fake_handle())
    pod = PodInfo.of(web(make_spread_constraint(broken)))
    with pytest.raises(ValueError, match='pod\'s hard topology spread constraints: "Near" is not'):
        plugin.pre_filter(CycleState(), pod, cluster_of(NODES).rows())


def test_one_plugin_follows_a_cluster_through_its_changes() -> None:
    plugin = PodTopologySpread(PodTopologySpreadArgs(), fake_handle())
    cluster = cluster_of(NODES)
    pod = web()

    def turned_down() -> set[str]:
        verdicts = filter_all(plugin, pod, cluster)
        return {name for name, status in verdicts.items() if status is not None}

    (first,) = running("a1")
    cluster.set_pod(PodInfo.of(first))
    assert turned_down() == {"a1", "a2"}
    cluster.set_node(make_node("d1", zone="d"))
    for node in ("b1", "c1"):
        cluster.set_pod(PodInfo.of(running(node)[0]))
    assert turned_down() == {"a1", "a2", "b1", "c1"}
    cluster.remove_node("d1")
    assert turned_down() == set()
    cluster.set_node(make_node("b1", zone="a"))
    assert turned_down() == {"a1", "a2", "b1"}
    cluster.remove_pod(first.metadata.uid)
    assert turned_down() == set()
