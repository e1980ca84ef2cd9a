"""The audit: silent about a cluster that is in order, and loud about one that is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from berthing.api.core import Service
from berthing.api.frozen import FrozenDict
from berthing.api.labels import EVERYTHING
from berthing.api.meta import ObjectMeta
from berthing.api.pod_info import PodInfo
from berthing.cluster.audit import check, facts, rebuilt
from berthing.cluster.cluster import Cluster, pod_class
from berthing.cluster.counters import CounterKey, PodClass, PodSelector
from berthing.testing import HOSTNAME, ZONE, make_affinity_term, make_node, make_pod, make_taint

ALL_PODS = CounterKey((PodSelector(EVERYTHING, namespace_selector=EVERYTHING),))


def a_cluster() -> Cluster:
    """One of everything, and a row that is free."""
    cluster = Cluster()
    for name in ("gone", "a", "b"):
        cluster.set_node(
            make_node(name, zone="z", images={"web:1": 10}, taints=[make_taint("taint")])
        )
    pod = make_pod(
        "p",
        node_name="a",
        cpu="1",
        host_ports=[80],
        pod_anti_affinity=[make_affinity_term({}, topology_key=ZONE)],
    )
    cluster.set_pod(PodInfo.of(pod))
    cluster.assume(PodInfo.of(make_pod("q")), "b")
    cluster.objects.set(Service(metadata=ObjectMeta(name="s", namespace="default")))
    cluster.counters.counter(ALL_PODS).sums(ZONE)
    for carriers in cluster.terms.speaking_of(pod_class(PodInfo.of(pod))).values():
        carriers.sums(ZONE)
    cluster.remove_node("gone")
    return cluster


def test_a_cluster_in_order_gives_nothing_to_say() -> None:
    assert check(a_cluster()) == []


def test_a_rebuild_knows_all_that_the_cluster_knows() -> None:
    cluster = a_cluster()
    assert dict(facts(rebuilt(cluster))) == dict(facts(cluster))


def test_a_difference_is_told_in_a_sentence() -> None:
    cluster = a_cluster()
    cluster.nodes.requested_of("cpu")[1] += 7
    assert check(cluster) == ["requested cpu of node a: 1007 here, 1000 if built anew"]


def spoil_a_free_row(cluster: Cluster) -> None:
    cluster.nodes.requested_of("cpu")[0] = 1


def spoil_allocatable(cluster: Cluster) -> None:
    cluster.nodes.allocatable_of("memory")[1] = 1


def spoil_non_zero_requested(cluster: Cluster) -> None:
    cluster.nodes.non_zero_requested_of("memory")[1] = 1


def spoil_pod_counts(cluster: Cluster) -> None:
    cluster.nodes.pod_counts[2] = 0


def spoil_cordons(cluster: Cluster) -> None:
    cluster.nodes.unschedulable[1] = True


def spoil_taints(cluster: Cluster) -> None:
    cluster.nodes.taint_codes[1] = 0


def spoil_labels(cluster: Cluster) -> None:
    cluster.nodes.labels(HOSTNAME).codes[1] = 0


def spoil_node_counts(cluster: Cluster) -> None:
    cluster.nodes.labels(ZONE).node_counts[1] += 1


def spoil_a_counter(cluster: Cluster) -> None:
    cluster.counters.counter(ALL_PODS).counts[2] = 5


def spoil_a_total(cluster: Cluster) -> None:
    cluster.counters.counter(ALL_PODS).total = 5


def spoil_sums(cluster: Cluster) -> None:
    cluster.counters.counter(ALL_PODS).sums(ZONE).totals[1] = 5


def forget_sums(cluster: Cluster) -> None:
    cluster.nodes.labels(ZONE).sums.clear()


def forget_a_counter(cluster: Cluster) -> None:
    for _, _, counters in cluster.counters.classes():
        assert isinstance(counters, list)
        counters.clear()


def add_a_class(cluster: Cluster) -> None:
    cluster.counters.add_pod(PodClass("nowhere", FrozenDict()), 1)


def spoil_carried_terms(cluster: Cluster) -> None:
    (term,) = cluster.terms.all()
    cluster.terms.add(term, 2)


def spoil_ports(cluster: Cluster) -> None:
    cluster.ports.release(PodInfo.of(make_pod(host_ports=[80])).host_ports, 1)


def spoil_images(cluster: Cluster) -> None:
    cluster.images.all()["web:1"].on[0] = True


def spoil_image_counts(cluster: Cluster) -> None:
    cluster.images.all()["web:1"].node_count = 3


def narrow_a_column(cluster: Cluster) -> None:
    cluster.nodes.pod_counts = cluster.nodes.pod_counts[:-1]


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_a_free_row,
        spoil_allocatable,
        spoil_non_zero_requested,
        spoil_pod_counts,
        spoil_cordons,
        spoil_taints,
        spoil_labels,
        spoil_node_counts,
        spoil_a_counter,
        spoil_a_total,
        spoil_sums,
        forget_sums,
        forget_a_counter,
        add_a_class,
        spoil_carried_terms,
        spoil_ports,
        spoil_images,
        spoil_image_counts,
        narrow_a_column,
    ],
    ids=lambda spoil: spoil.__name__.replace("_", " "),
)
def test_whatever_is_wrong_is_found(spoil: Callable[[Cluster], None]) -> None:
    cluster = a_cluster()
    spoil(cluster)
    assert check(cluster) != []
