"""The cluster as a story: nodes and pods come, change and go, and what is counted follows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from berthing.api.labels import EVERYTHING
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.cluster.audit import check
from berthing.cluster.cluster import Cluster
from berthing.cluster.counters import CounterKey, PodSelector
from berthing.testing import make_affinity_term, make_node, make_pod

ALL_PODS = CounterKey((PodSelector(EVERYTHING, namespace_selector=EVERYTHING),))
STAYING_PODS = CounterKey(ALL_PODS.selectors, counts_terminating=False)


def cluster_of(*names: str) -> Cluster:
    cluster = Cluster()
    for name in names:
        cluster.set_node(make_node(name))
    return cluster


def info(name: str, node_name: str = "", *, cpu: str = "1", uid: str = "") -> PodInfo:
    return PodInfo.of(make_pod(name, node_name=node_name, cpu=cpu, uid=uid))


def pods_on(cluster: Cluster, node_name: str) -> list[str]:
    row = cluster.row(node_name)
    assert row is not None
    return [pod.pod.name for pod in row.pods]


def cpu_on(cluster: Cluster, node_name: str) -> int:
    """What its pods request, in millis."""
    row = cluster.row(node_name)
    assert row is not None
    return row.requested.get("cpu", 0)


# A pod's life.


def test_an_assumed_pod_takes_room_like_one_that_runs() -> None:
    cluster = cluster_of("a")
    cluster.assume(info("p"), "a")
    assert cluster.is_assumed("uid-of-default/p")
    assert cpu_on(cluster, "a") == 1000


def test_an_assumed_pod_that_is_confirmed_stays() -> None:
    cluster = cluster_of("a")
    pod = info("p")
    cluster.assume(pod, "a")
    cluster.set_pod(info("p", "a"))
    cluster.forget(pod.uid)
    assert not cluster.is_assumed(pod.uid)
    assert pods_on(cluster, "a") == ["p"]


def test_a_forgotten_pod_gives_its_room_back() -> None:
    cluster = cluster_of("a")
    pod = info("p")
    cluster.assume(pod, "a")
    cluster.forget(pod.uid)
    assert cluster.pod(pod.uid) is None
    assert cpu_on(cluster, "a") == 0


def test_an_assumed_pod_that_shows_up_elsewhere_is_there() -> None:
    cluster = cluster_of("a", "b")
    cluster.assume(info("p"), "a")
    cluster.set_pod(info("p", "b"))
    assert (pods_on(cluster, "a"), pods_on(cluster, "b")) == ([], ["p"])
    assert (cpu_on(cluster, "a"), cpu_on(cluster, "b")) == (0, 1000)


@pytest.mark.parametrize("node_name", ["a", "b"], ids=["where it runs", "elsewhere"])
def test_a_pod_that_is_there_cannot_be_assumed(node_name: str) -> None:
    cluster = cluster_of("a", "b")
    cluster.set_pod(info("p", "a"))
    with pytest.raises(ValueError, match="default/p is on node 'a' already"):
        cluster.assume(info("p"), node_name)
    assert pods_on(cluster, "a") == ["p"]
    assert not cluster.is_assumed("uid-of-default/p")


def test_a_pod_of_the_same_name_is_another_pod() -> None:
    cluster = cluster_of("a")
    cluster.set_pod(info("p", "a", uid="old"))
    cluster.set_pod(info("p", "a", uid="new"))
    assert cpu_on(cluster, "a") == 2000
    cluster.remove_pod("old")
    assert [pod.uid for pod in cluster.pods_on(0)] == ["new"]


def test_a_resized_pod_takes_what_it_takes_now() -> None:
    cluster = cluster_of("a")
    cluster.set_pod(info("p", "a", cpu="1"))
    cluster.set_pod(info("p", "a", cpu="3"))
    assert cpu_on(cluster, "a") == 3000
    assert cluster.nodes.pod_counts[0] == 1


def test_a_pod_that_is_to_end_is_not_counted_by_who_counts_those_that_stay() -> None:
    cluster = cluster_of("a")
    everyone, staying = map(cluster.counters.counter, (ALL_PODS, STAYING_PODS))
    cluster.set_pod(info("p", "a"))
    deleted = make_pod("p", node_name="a", cpu="1", deleted=datetime(2024, 1, 1, tzinfo=UTC))
    cluster.set_pod(PodInfo.of(deleted))
    assert (everyone.total, staying.total) == (1, 0)


def test_a_change_that_counts_for_nothing_leaves_no_trace() -> None:
    cluster = cluster_of("a")
    cluster.set_pod(info("p", "a"))
    then = cluster.nodes.usage_changes.now
    again = PodInfo.of(make_pod("p", node_name="a", cpu="1", annotations={"note": "new"}))
    cluster.set_pod(again)
    assert cluster.nodes.usage_changes.since(then) == []
    assert list(cluster.pods_on(0)) == [again]


def test_what_is_not_there_can_be_removed() -> None:
    cluster = cluster_of("a")
    cluster.remove_pod("nobody")
    cluster.forget("nobody")
    cluster.remove_node("nothing")
    assert len(cluster.nodes) == 1


# Pods without a node, and nodes that come and go.


def test_a_pod_that_is_seen_before_its_node_waits_for_it() -> None:
    cluster = cluster_of("a")
    counter = cluster.counters.counter(ALL_PODS)
    cluster.set_pod(info("p", "b"))
    assert cluster.pod("uid-of-default/p") is not None
    assert counter.total == 0
    cluster.set_node(make_node("b"))
    assert counter.total == 1
    assert cpu_on(cluster, "b") == 1000


def test_pods_outlive_their_node_and_are_there_when_it_comes_back() -> None:
    cluster = cluster_of("a", "b")
    for name in ("p", "q", "r"):
        cluster.set_pod(info(name, "a"))
    cluster.remove_node("a")
    cluster.remove_pod("uid-of-default/q")
    cluster.set_node(make_node("c"))
    assert pods_on(cluster, "c") == []
    cluster.set_node(make_node("a"))
    assert pods_on(cluster, "a") == ["p", "r"]
    assert cpu_on(cluster, "a") == 2000
    assert check(cluster) == []


def test_a_pod_that_changes_while_its_node_is_away_counts_as_changed() -> None:
    cluster = cluster_of("a")
    cluster.set_pod(info("p", "a", cpu="1"))
    cluster.remove_node("a")
    cluster.set_pod(info("p", "a", cpu="2"))
    cluster.set_node(make_node("a"))
    assert cpu_on(cluster, "a") == 2000


def test_a_pod_can_be_assumed_on_a_node_that_is_gone() -> None:
    cluster = cluster_of("a")
    cluster.remove_node("a")
    pod = info("p")
    cluster.assume(pod, "a")
    cluster.forget(pod.uid)
    cluster.set_node(make_node("a"))
    assert pods_on(cluster, "a") == []


# The order of pods on a node.


def test_pods_are_told_in_the_order_in_which_they_came() -> None:
    cluster = cluster_of("a")
    for name in ("p", "q", "r"):
        cluster.set_pod(info(name, "a"))
    cluster.set_pod(info("p", "a", cpu="2"))
    assert pods_on(cluster, "a") == ["p", "q", "r"]
    cluster.remove_pod("uid-of-default/p")
    cluster.set_pod(info("p", "a"))
    assert pods_on(cluster, "a") == ["q", "r", "p"]


# What if.


def test_pods_of_a_what_if_are_there_for_as_long_as_one_looks() -> None:
    cluster = cluster_of("a", "b")
    cluster.set_pod(info("p", "a"))
    counter = cluster.counters.counter(ALL_PODS)
    with cluster.with_pods([info("q"), info("r")], "a"):
        assert pods_on(cluster, "a") == ["p", "q", "r"]
        assert cpu_on(cluster, "a") == 3000
        assert counter.total == 3
    assert pods_on(cluster, "a") == ["p"]
    assert cpu_on(cluster, "a") == 1000
    assert counter.total == 1


def test_a_pod_that_is_there_already_is_not_added_and_not_taken_away() -> None:
    cluster = cluster_of("a", "b")
    cluster.assume(info("p"), "b")
    with cluster.with_pods([info("p"), info("q"), info("q")], "a"):
        assert pods_on(cluster, "a") == ["q"]
        assert pods_on(cluster, "b") == ["p"]
    assert pods_on(cluster, "b") == ["p"]
    assert cluster.is_assumed("uid-of-default/p")


def test_a_what_if_that_fails_leaves_nothing_behind() -> None:
    cluster = cluster_of("a")
    with pytest.raises(ZeroDivisionError), cluster.with_pods([info("p")], "a"):
        raise ZeroDivisionError
    assert pods_on(cluster, "a") == []


# What pods carry.


def test_terms_and_ports_come_and_go_with_the_pods_that_carry_them() -> None:
    def carrier(name: str) -> Pod:
        return make_pod(
            name,
            node_name="a",
            host_ports=[80],
            # Said twice, so it counts twice.
            pod_anti_affinity=[make_affinity_term({"app": "web"})] * 2,
        )

    cluster = cluster_of("a")
    cluster.set_pod(PodInfo.of(carrier("p")))
    cluster.set_pod(PodInfo.of(carrier("q")))
    (carriers,) = cluster.terms.all().values()
    assert carriers.counts[0] == 4
    cluster.remove_pod("uid-of-default/p")
    assert carriers.counts[0] == 2
    assert len(cluster.ports.held_on(0)) == 1
    cluster.remove_pod("uid-of-default/q")
    assert not cluster.terms.all()
    assert not cluster.ports.held_on(0)
