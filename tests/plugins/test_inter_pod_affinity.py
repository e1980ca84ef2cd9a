"""Which nodes required terms leave to a pod: its own, and those of pods that run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import numpy as np
import pytest

from berthing.api.core import Namespace
from berthing.api.frozen import FrozenDict
from berthing.api.labels import LabelSelector, LabelSelectorRequirement
from berthing.api.meta import ApiObject, ObjectMeta
from berthing.api.pod import Pod, PodAffinityTerm
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Rows
from berthing.config.args import InterPodAffinityArgs
from berthing.framework import CycleState, Status
from berthing.plugins.inter_pod_affinity import (
    AFFINITY_REASON,
    ANTI_AFFINITY_REASON,
    EXISTING_ANTI_AFFINITY_REASON,
    InterPodAffinity,
)
from berthing.testing import HOSTNAME, ZONE, make_affinity_term, make_node, make_pod, make_selector
from plugins.harness import cluster_of, fake_handle, filter_all

NO_AFFINITY = Status.unresolvable(AFFINITY_REASON)
ANTI_AFFINITY = Status.unschedulable(ANTI_AFFINITY_REASON)
EXISTING_ANTI_AFFINITY = Status.unschedulable(EXISTING_ANTI_AFFINITY_REASON)

WEB, DB = {"app": "web"}, {"app": "db"}

# Two zones of two nodes, and a node that belongs to none.
NODES = (
    make_node("a1", zone="a"),
    make_node("a2", zone="a"),
    make_node("b1", zone="b"),
    make_node("b2", zone="b"),
    make_node("nowhere"),
)


def zonal(
    labels: Mapping[str, str] | LabelSelector,
    *,
    namespaces: Iterable[str] = (),
    namespace_labels: Mapping[str, str] | LabelSelector | None = None,
) -> PodAffinityTerm:
    return make_affinity_term(
        labels, topology_key=ZONE, namespaces=namespaces, namespace_labels=namespace_labels
    )


def make_namespace(name: str, **labels: str) -> Namespace:
    return Namespace(metadata=ObjectMeta(name=name, labels=FrozenDict(labels)))


def plugin() -> InterPodAffinity:
    return InterPodAffinity(InterPodAffinityArgs(), fake_handle())


def rejected(pod: Pod, *others: ApiObject) -> Mapping[str, Status]:
    """The nodes that are turned down, among NODES."""
    verdicts = filter_all(plugin(), pod, cluster_of((*NODES, *others)))
    return {name: status for name, status in verdicts.items() if status is not None}


def all_but(*passing: str, told: Status) -> Mapping[str, Status]:
    return {node.name: told for node in NODES if node.name not in passing}


# The pod's own affinity.


def test_affinity_wants_a_domain_with_a_matching_pod() -> None:
    pod = make_pod(pod_affinity=[zonal(DB)])
    db = make_pod("db", labels=DB, node_name="a1")
    assert rejected(pod, db) == all_but("a1", "a2", told=NO_AFFINITY)


def test_affinity_per_node_leaves_the_one_node() -> None:
    pod = make_pod(pod_affinity=[make_affinity_term(DB)])
    db = make_pod("db", labels=DB, node_name="a1")
    assert rejected(pod, db) == all_but("a1", told=NO_AFFINITY)


def test_a_matching_pod_on_a_node_without_the_key_makes_no_domain() -> None:
    pod = make_pod(pod_affinity=[zonal(DB)])
    db = make_pod("db", labels=DB, node_name="nowhere")
    assert rejected(pod, db) == all_but(told=NO_AFFINITY)


def test_only_pods_that_match_all_terms_count() -> None:
    pod = make_pod(
        pod_affinity=[zonal(DB), make_affinity_term({"tier": "fast"}, topology_key=ZONE)]
    )
    either = [
        make_pod("db", labels=DB, node_name="a1"),
        make_pod("fast", labels={"tier": "fast"}, node_name="a2"),
    ]
    both = make_pod("both", labels={**DB, "tier": "fast"}, node_name="b1")
    assert rejected(pod, *either) == all_but(told=NO_AFFINITY)
    assert rejected(pod, *either, both) == all_but("b1", "b2", told=NO_AFFINITY)


def test_terms_with_several_keys_must_all_hold_on_the_node() -> None:
    pod = make_pod(pod_affinity=[zonal(DB), make_affinity_term(DB, topology_key=HOSTNAME)])
    db = make_pod("db", labels=DB, node_name="a1")
    assert rejected(pod, db) == all_but("a1", told=NO_AFFINITY)


def test_pods_on_their_way_out_still_count() -> None:
    pod = make_pod(pod_affinity=[zonal(DB)])
    leaving = make_pod("db", labels=DB, node_name="a1", deleted=datetime(2026, 1, 1, tzinfo=UTC))
    assert rejected(pod, leaving) == all_but("a1", "a2", told=NO_AFFINITY)


# The first pod of a series.


def test_the_first_of_a_series_may_be_anywhere_that_has_the_keys() -> None:
    pod = make_pod(labels=WEB, pod_affinity=[zonal(WEB)])
    assert rejected(pod) == {"nowhere": NO_AFFINITY}


def test_the_second_of_a_series_must_follow_the_first() -> None:
    pod = make_pod(labels=WEB, pod_affinity=[zonal(WEB)])
    first = make_pod("first", labels=WEB, node_name="b2")
    assert rejected(pod, first) == all_but("b1", "b2", told=NO_AFFINITY)


def test_a_pod_that_does_not_match_itself_is_nobodys_first() -> None:
    pod = make_pod(labels=WEB, pod_affinity=[zonal(DB)])
    assert rejected(pod) == all_but(told=NO_AFFINITY)


def test_a_pod_that_matches_one_of_two_terms_is_nobodys_first() -> None:
    pod = make_pod(labels=WEB, pod_affinity=[zonal(WEB), zonal(DB)])
    assert rejected(pod) == all_but(told=NO_AFFINITY)


def test_a_series_starts_anew_where_its_pods_are_in_no_domain() -> None:
    pod = make_pod(labels=WEB, pod_affinity=[zonal(WEB)])
    lost = make_pod("lost", labels=WEB, node_name="nowhere")
    assert rejected(pod, lost) == {"nowhere": NO_AFFINITY}


def test_a_domain_for_one_of_two_keys_is_enough_to_end_the_series_beginning() -> None:
    pod = make_pod(labels=WEB, pod_affinity=[zonal(WEB), make_affinity_term(WEB)])
    lost = make_pod("lost", labels=WEB, node_name="nowhere")
    assert rejected(pod, lost) == all_but(told=NO_AFFINITY)


# The pod's own anti-affinity.


def test_anti_affinity_avoids_domains_with_matching_pods() -> None:
    pod = make_pod(pod_anti_affinity=[zonal(DB)])
    db = make_pod("db", labels=DB, node_name="a1")
    assert rejected(pod, db) == {"a1": ANTI_AFFINITY, "a2": ANTI_AFFINITY}


def test_of_several_anti_affinity_terms_one_is_enough() -> None:
    pod = make_pod(pod_anti_affinity=[zonal(DB), make_affinity_term(WEB)])
    others = [
        make_pod("db", labels=DB, node_name="a1"),
        make_pod("web", labels=WEB, node_name="b1"),
    ]
    assert rejected(pod, *others) == dict.fromkeys(("a1", "a2", "b1"), ANTI_AFFINITY)


def test_two_anti_affinity_terms_on_one_key_add_up() -> None:
    pod = make_pod(pod_anti_affinity=[make_affinity_term(DB), make_affinity_term(WEB)])
    others = [
        make_pod("db", labels=DB, node_name="a1"),
        make_pod("web", labels=WEB, node_name="b1"),
    ]
    assert rejected(pod, *others) == {"a1": ANTI_AFFINITY, "b1": ANTI_AFFINITY}


def test_nodes_without_the_key_suit_anti_affinity() -> None:
    pod = make_pod(pod_anti_affinity=[zonal(DB)])
    db = make_pod("db", labels=DB, node_name="nowhere")
    assert rejected(pod, db) == {}


# The anti-affinity of pods that run.


def test_running_pods_keep_away_whom_they_want_away() -> None:
    loner = make_pod("loner", labels=DB, pod_anti_affinity=[zonal(WEB)], node_name="b1")
    pod = make_pod(labels=WEB)
    assert rejected(pod, loner) == dict.fromkeys(("b1", "b2"), EXISTING_ANTI_AFFINITY)
    assert rejected(make_pod(labels=DB), loner) == {}


def test_running_pods_speak_of_their_own_namespace_unless_they_say_otherwise() -> None:
    here = make_pod("here", pod_anti_affinity=[zonal(WEB)], node_name="b1")
    there = make_pod("there", namespace="b", pod_anti_affinity=[zonal(WEB)], node_name="a1")
    assert rejected(make_pod(labels=WEB), here, there).keys() == {"b1", "b2"}


def test_running_pods_may_select_the_pods_namespace_by_its_labels() -> None:
    prod = zonal(WEB, namespace_labels={"env": "prod"})
    loner = make_pod("loner", namespace="b", pod_anti_affinity=[prod], node_name="a1")
    pod = make_pod(labels=WEB)
    assert rejected(pod, loner, make_namespace("default", env="test")) == {}
    assert rejected(pod, loner, make_namespace("default", env="prod")).keys() == {"a1", "a2"}


# Which of several objections is told.


@pytest.mark.parametrize(
    ("pod", "told"),
    [
        pytest.param(
            make_pod(labels=WEB, pod_affinity=[zonal(DB)], pod_anti_affinity=[zonal(WEB)]),
            NO_AFFINITY,
            id="affinity before all",
        ),
        pytest.param(
            make_pod(labels=WEB, pod_anti_affinity=[zonal(WEB)]),
            ANTI_AFFINITY,
            id="the pod's anti-affinity before that of others",
        ),
        pytest.param(
            make_pod(labels=WEB, pod_anti_affinity=[make_affinity_term(WEB)]),
            ANTI_AFFINITY,
            id="whatever the key",
        ),
        pytest.param(
            make_pod(labels=WEB, pod_anti_affinity=[make_affinity_term(DB)]),
            EXISTING_ANTI_AFFINITY,
            id="else that of others",
        ),
    ],
)
def test_the_objection_that_is_checked_first_is_told(pod: Pod, told: Status) -> None:
    rival = make_pod("rival", labels=WEB, pod_anti_affinity=[zonal(WEB)], node_name="a1")
    assert rejected(pod, rival)["a1"] == told


# Namespaces of the pod's terms.


@pytest.mark.parametrize(
    ("term", "zones"),
    [
        pytest.param(zonal(DB), "", id="its own alone"),
        pytest.param(zonal(DB, namespaces=("b",)), "b", id="one by name"),
        pytest.param(zonal(DB, namespace_labels={"env": "test"}), "a", id="some by label"),
        pytest.param(
            zonal(DB, namespaces=("b",), namespace_labels={"env": "test"}), "ab", id="or by both"
        ),
        pytest.param(zonal(DB, namespace_labels={}), "ab", id="all by the empty selector"),
        pytest.param(
            zonal(
                DB,
                namespace_labels=LabelSelector(
                    match_expressions=(
                        LabelSelectorRequirement(key="env", operator="NotIn", values=("test",)),
                    )
                ),
            ),
            "ab",
            id="all by a selector that is content with no labels",
        ),
    ],
)
def test_namespaces(term: PodAffinityTerm, zones: str) -> None:
    objects = (
        make_namespace("a", env="test"),
        make_namespace("b", env="prod"),
        make_pod("db", namespace="a", labels=DB, node_name="a1"),
        make_pod("db", namespace="b", labels=DB, node_name="b1"),
    )
    pod = make_pod(pod_anti_affinity=[term])
    assert {name[0] for name in rejected(pod, *objects)} == set(zones)


def test_namespaces_are_taken_as_they_are_labelled_now() -> None:
    pod = make_pod(pod_anti_affinity=[zonal(DB, namespace_labels={"env": "test"})])
    cluster = cluster_of((*NODES, make_pod("db", namespace="a", labels=DB, node_name="a1")))

    def is_rejected() -> bool:
        return filter_all(plugin(), pod, cluster)["a1"] is not None

    assert not is_rejected()
    cluster.set_namespace(make_namespace("a", env="test"))
    assert is_rejected()
    cluster.set_namespace(make_namespace("a", env="prod"))
    assert not is_rejected()


# PreFilter.


def pre_filtered(pod: Pod, cluster: Cluster) -> Status | None:
    return plugin().pre_filter(CycleState(), PodInfo.of(pod), cluster.rows())


LONER = make_pod("loner", pod_anti_affinity=[zonal(WEB)], node_name="b1")
LOST_LONER = make_pod("loner", pod_anti_affinity=[zonal(WEB)], node_name="nowhere")


@pytest.mark.parametrize(
    ("pod", "running", "skips"),
    [
        pytest.param(make_pod(), (), True, id="without terms"),
        pytest.param(make_pod(pod_affinity=[zonal(DB)]), (), False, id="affinity"),
        pytest.param(make_pod(pod_anti_affinity=[zonal(DB)]), (), False, id="anti-affinity"),
        pytest.param(
            make_pod(preferred_pod_affinity=[(1, zonal(DB))]), (), True, id="only preferred terms"
        ),
        pytest.param(make_pod(labels=WEB), (LONER,), False, id="a running pod speaks of it"),
        pytest.param(make_pod(labels=DB), (LONER,), True, id="a running pod speaks of others"),
        pytest.param(
            make_pod(labels=WEB), (LOST_LONER,), True, id="a running pod speaks of no domain"
        ),
        pytest.param(
            make_pod(labels=WEB),
            (make_pod("fan", pod_affinity=[zonal(WEB)], node_name="a1"),),
            True,
            id="a running pod wants it near",
        ),
    ],
)
def test_sits_out_where_no_required_term_concerns_the_pod(
    pod: Pod, running: tuple[Pod, ...], *, skips: bool
) -> None:
    status = pre_filtered(pod, cluster_of((*NODES, *running)))
    assert status == (Status.skip() if skips else None)


def test_terms_that_do_not_compile_turn_the_pod_down() -> None:
    bad = make_selector({"app": "no spaces please"})
    status = pre_filtered(make_pod(pod_affinity=[zonal(bad)]), cluster_of(NODES))
    assert status is not None
    assert status.message.startswith("parsing pod: requiredAffinityTerms: ")
    assert status == Status.unresolvable(status.message)


# Rows and what-ifs.


def verdict(pod: PodInfo, cluster: Cluster, *names: str) -> list[Status | None]:
    numbers = [row for row in map(cluster.nodes.row, names) if row is not None]
    rows = Rows(cluster, np.array(numbers, np.intp))
    verdicts = plugin().filter_nodes(CycleState(), pod, rows)
    return [verdicts[index] for index in range(len(rows))]


def test_a_few_rows_are_judged_by_the_whole_cluster() -> None:
    pod = PodInfo.of(make_pod(pod_affinity=[zonal(DB)]))
    cluster = cluster_of((*NODES, make_pod("db", labels=DB, node_name="a1")))
    assert verdict(pod, cluster, "b1", "a2") == [NO_AFFINITY, None]


def test_pods_of_a_what_if_count_while_it_lasts() -> None:
    pod = PodInfo.of(make_pod(labels=WEB, pod_anti_affinity=[zonal(DB)]))
    cluster = cluster_of((*NODES, make_pod("loner", pod_anti_affinity=[zonal(DB)], node_name="b1")))
    db = PodInfo.of(make_pod("db", labels=DB))
    # The second one carries a term that nobody carried before.
    loner = PodInfo.of(make_pod("other-loner", pod_anti_affinity=[make_affinity_term(WEB)]))
    assert verdict(pod, cluster, "a1", "a2") == [None, None]
    with cluster.with_pods([db], "a1"):
        assert verdict(pod, cluster, "a1", "a2") == [ANTI_AFFINITY, ANTI_AFFINITY]
    with cluster.with_pods([loner], "a1"):
        assert verdict(pod, cluster, "a1", "a2") == [EXISTING_ANTI_AFFINITY, None]
    assert verdict(pod, cluster, "a1", "a2") == [None, None]


def test_a_pod_that_is_gone_counts_no_more() -> None:
    pod = PodInfo.of(make_pod(labels=WEB, pod_anti_affinity=[zonal(WEB)]))
    rival = make_pod("rival", labels=WEB, pod_anti_affinity=[zonal(WEB)], node_name="a1")
    cluster = cluster_of((*NODES, rival))
    assert verdict(pod, cluster, "a2") == [ANTI_AFFINITY]
    cluster.remove_pod(rival.metadata.uid)
    assert verdict(pod, cluster, "a2") == [None]


def test_a_node_takes_its_pods_along_to_another_domain() -> None:
    pod = PodInfo.of(make_pod(pod_affinity=[zonal(DB)]))
    cluster = cluster_of((*NODES, make_pod("db", labels=DB, node_name="a1")))
    assert verdict(pod, cluster, "a1", "a2", "b1") == [None, None, NO_AFFINITY]
    cluster.set_node(make_node("a1", zone="b"))
    assert verdict(pod, cluster, "a1", "a2", "b1") == [None, NO_AFFINITY, None]


def test_rows_without_a_node_do_no_harm() -> None:
    pod = PodInfo.of(make_pod(labels=WEB, pod_affinity=[zonal(WEB)]))
    cluster = cluster_of(NODES)
    cluster.remove_node("a1")
    verdicts = plugin().filter_nodes(CycleState(), pod, cluster.rows())
    assert len(verdicts) == len(cluster.rows())
    assert verdict(pod, cluster, "a2", "b1") == [None, None]
