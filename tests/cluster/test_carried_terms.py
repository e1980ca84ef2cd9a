"""Which terms of running pods speak of a kind of pod, and where their carriers are."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from berthing.api.core import Namespace
from berthing.api.frozen import FrozenDict
from berthing.api.meta import ObjectMeta
from berthing.api.pod import Pod, PodAffinityTerm
from berthing.api.pod_info import PodInfo
from berthing.cluster.carried_terms import TermKind
from berthing.cluster.cluster import Cluster
from berthing.cluster.counters import PodClass
from berthing.testing import ZONE, make_affinity_term, make_node, make_pod

WEB, DB = FrozenDict({"app": "web"}), FrozenDict({"app": "db"})
A_WEB, A_DB = PodClass("default", WEB), PodClass("default", DB)

# Carriers of each kind of term with its weight.
Heard = Mapping[tuple[TermKind, int], Mapping[str, int]]


def zonal(
    labels: Mapping[str, str], *, namespace_labels: Mapping[str, str] | None = None
) -> PodAffinityTerm:
    return make_affinity_term(labels, topology_key=ZONE, namespace_labels=namespace_labels)


def make_loner(
    name: str = "loner", node_name: str = "a1", *, away: PodAffinityTerm | None = None
) -> Pod:
    """A pod that keeps web pods away."""
    return make_pod(name, pod_anti_affinity=[away or zonal(WEB)], node_name=node_name)


def cluster_with(*pods: Pod) -> Cluster:
    cluster = Cluster()
    for name in ("a1", "a2", "b1"):
        cluster.set_node(make_node(name, zone=name[0]))
    for pod in pods:
        cluster.set_pod(PodInfo.of(pod))
    return cluster


def label_namespace(cluster: Cluster, name: str, **labels: str) -> None:
    cluster.set_namespace(Namespace(metadata=ObjectMeta(name=name, labels=FrozenDict(labels))))


def heard(cluster: Cluster, pod: PodClass = A_WEB) -> Heard:
    """What is said of such a pod, and by how many pods on each node."""
    return {
        (term.kind, term.weight): {
            name: int(carriers.counts[row])
            for row, name in enumerate(cluster.nodes.names)
            if carriers.counts[row]
        }
        for term, carriers in cluster.terms.speaking_of(pod).items()
    }


LONERS = (TermKind.REQUIRED_ANTI_AFFINITY, 0)


def test_each_kind_of_term_is_told_apart() -> None:
    talkative = make_pod(
        pod_affinity=[zonal(WEB)],
        pod_anti_affinity=[zonal(WEB)],
        preferred_pod_affinity=[(3, zonal(WEB)), (4, zonal(WEB))],
        preferred_pod_anti_affinity=[(3, zonal(WEB))],
        node_name="a1",
    )
    assert heard(cluster_with(talkative)) == {
        (TermKind.REQUIRED_AFFINITY, 0): {"a1": 1},
        (TermKind.REQUIRED_ANTI_AFFINITY, 0): {"a1": 1},
        (TermKind.PREFERRED_AFFINITY, 3): {"a1": 1},
        (TermKind.PREFERRED_AFFINITY, 4): {"a1": 1},
        (TermKind.PREFERRED_ANTI_AFFINITY, 3): {"a1": 1},
    }


def test_replicas_carry_one_term() -> None:
    replicas = [make_loner(f"loner-{node}-{i}", node) for node in ("a1", "b1") for i in range(3)]
    cluster = cluster_with(*replicas)
    assert len(cluster.terms.all()) == 1
    assert heard(cluster) == {LONERS: {"a1": 3, "b1": 3}}


def test_a_term_that_a_pod_names_twice_is_carried_twice() -> None:
    twice = make_pod(preferred_pod_affinity=[(3, zonal(WEB))] * 2, node_name="a1")
    cluster = cluster_with(twice)
    assert heard(cluster) == {(TermKind.PREFERRED_AFFINITY, 3): {"a1": 2}}
    cluster.remove_pod(twice.metadata.uid)
    assert heard(cluster) == {}


def test_terms_speak_only_of_the_pods_they_select() -> None:
    cluster = cluster_with(make_loner())
    assert heard(cluster, A_WEB) == {LONERS: {"a1": 1}}
    assert heard(cluster, A_DB) == {}
    assert heard(cluster, PodClass("elsewhere", WEB)) == {}


def test_a_term_goes_with_the_last_pod_that_carries_it() -> None:
    pods = [make_loner("one"), make_loner("other", "b1")]
    cluster = cluster_with(*pods)
    cluster.remove_pod(pods[0].metadata.uid)
    assert heard(cluster) == {LONERS: {"b1": 1}}
    cluster.remove_pod(pods[1].metadata.uid)
    assert heard(cluster) == {}
    assert not cluster.terms.all()


def test_a_term_that_comes_back_is_heard_again() -> None:
    cluster = cluster_with()
    assert heard(cluster) == {}
    for _ in range(2):
        cluster.set_pod(PodInfo.of(make_loner()))
        assert heard(cluster) == {LONERS: {"a1": 1}}
        cluster.remove_pod(make_loner().metadata.uid)
        assert heard(cluster) == {}


def test_a_new_term_is_heard_by_pods_that_were_asked_about_before() -> None:
    cluster = cluster_with(make_loner())
    heard(cluster, A_WEB)
    heard(cluster, A_DB)
    cluster.set_pod(PodInfo.of(make_loner("other", "b1", away=zonal(DB))))
    assert heard(cluster, A_WEB) == {LONERS: {"a1": 1}}
    assert heard(cluster, A_DB) == {LONERS: {"b1": 1}}


def test_carriers_wait_unheard_for_their_node() -> None:
    cluster = cluster_with(make_loner(node_name="c1"))
    assert heard(cluster) == {}
    cluster.set_node(make_node("c1"))
    assert heard(cluster) == {LONERS: {"c1": 1}}
    cluster.remove_node("c1")
    assert heard(cluster) == {}


def test_carriers_are_summed_up_per_domain() -> None:
    cluster = cluster_with(make_loner("one"), make_loner("two", "a2"), make_loner("three", "b1"))
    (carriers,) = cluster.terms.speaking_of(A_WEB).values()
    codes = cluster.nodes.labels(ZONE).codes[: cluster.nodes.n_rows]
    assert carriers.sums(ZONE).per_row(codes).tolist() == [2, 2, 1]


def test_a_namespace_is_taken_as_it_is_labelled_now() -> None:
    in_prod = zonal(WEB, namespace_labels={"env": "prod"})
    cluster = cluster_with(make_loner(away=in_prod))
    assert heard(cluster) == {}
    label_namespace(cluster, "default", env="prod")
    assert heard(cluster) == {LONERS: {"a1": 1}}
    label_namespace(cluster, "other", env="test")
    assert heard(cluster) == {LONERS: {"a1": 1}}
    label_namespace(cluster, "default", env="test")
    assert heard(cluster) == {}
    label_namespace(cluster, "default", env="prod")
    cluster.remove_namespace("default")
    assert heard(cluster) == {}


def test_what_was_forgotten_is_worked_out_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berthing.cluster.carried_terms._MOST_REMEMBERED", 1)
    cluster = cluster_with(make_loner())
    heard(cluster, A_WEB)
    heard(cluster, A_DB)
    cluster.set_pod(PodInfo.of(make_loner("other", "b1")))
    assert heard(cluster, A_WEB) == {LONERS: {"a1": 1, "b1": 1}}
    assert heard(cluster, A_DB) == {}
