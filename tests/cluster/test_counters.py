"""Running pods of some kind, counted per node while pods, nodes and namespaces change."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from berthing.api.core import Namespace
from berthing.api.frozen import FrozenDict
from berthing.api.labels import EVERYTHING, NOTHING, as_selector, from_labels
from berthing.api.meta import ObjectMeta
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.cluster.counters import CounterKey, PodClass, PodSelector, RowCounter
from berthing.testing import ZONE, make_node, make_pod, make_selector

WEB, DB = {"app": "web"}, {"app": "db"}
DEFAULT = frozenset({"default"})
PROD = from_labels({"env": "prod"})

ALL_WEB = CounterKey((PodSelector(from_labels(WEB), DEFAULT),))
WEB_IN_PROD = CounterKey((PodSelector(from_labels(WEB), namespace_selector=PROD),))


def cluster_with(*names: str) -> Cluster:
    """A cluster of nodes, each in the zone of its first letter."""
    cluster = Cluster()
    for name in names:
        cluster.set_node(make_node(name, zone=name[0]))
    return cluster


def run(cluster: Cluster, pod: Pod) -> None:
    cluster.set_pod(PodInfo.of(pod))


def by_node(cluster: Cluster, key: CounterKey) -> Mapping[str, int]:
    """The pods counted on each node that has any."""
    counts = cluster.counters.counter(key).counts
    return {name: int(counts[row]) for row, name in enumerate(cluster.nodes.names) if counts[row]}


def label_namespace(cluster: Cluster, name: str, **labels: str) -> None:
    cluster.set_namespace(Namespace(metadata=ObjectMeta(name=name, labels=FrozenDict(labels))))


# Which pods are meant.


@pytest.mark.parametrize(
    ("selector", "pod", "namespace_labels", "is_meant"),
    [
        pytest.param(
            PodSelector(from_labels(WEB), DEFAULT), PodClass("default", WEB), {}, True, id="both"
        ),
        pytest.param(
            PodSelector(from_labels(WEB), DEFAULT), PodClass("default", DB), {}, False, id="labels"
        ),
        pytest.param(
            PodSelector(from_labels(WEB), DEFAULT), PodClass("b", WEB), {}, False, id="namespace"
        ),
        pytest.param(
            PodSelector(EVERYTHING, DEFAULT), PodClass("default", {}), {}, True, id="any labels"
        ),
        pytest.param(
            PodSelector(NOTHING, DEFAULT), PodClass("default", WEB), {}, False, id="no labels"
        ),
        pytest.param(
            PodSelector(EVERYTHING, namespace_selector=EVERYTHING),
            PodClass("b", {}),
            {},
            True,
            id="any namespace",
        ),
        pytest.param(
            PodSelector(EVERYTHING, namespace_selector=PROD),
            PodClass("b", {}),
            {"env": "prod"},
            True,
            id="a namespace by its labels",
        ),
        pytest.param(
            PodSelector(EVERYTHING, DEFAULT, PROD), PodClass("b", {}), {}, False, id="neither"
        ),
        pytest.param(
            PodSelector(EVERYTHING, DEFAULT, PROD),
            PodClass("default", {}),
            {},
            True,
            id="by name, whatever its labels",
        ),
    ],
)
def test_selects(
    selector: PodSelector, pod: PodClass, namespace_labels: Mapping[str, str], *, is_meant: bool
) -> None:
    assert selector.selects(pod, namespace_labels) is is_meant


def selecting(*labels: Mapping[str, str]) -> CounterKey:
    return CounterKey(tuple(PodSelector(from_labels(each), DEFAULT) for each in labels))


def test_a_pod_must_match_all_selectors_of_a_counter() -> None:
    cluster = cluster_with("a1", "b1")
    run(cluster, make_pod("one", labels={"x": "1"}, node_name="a1"))
    run(cluster, make_pod("both", labels={"x": "1", "y": "1"}, node_name="b1"))
    assert by_node(cluster, selecting({"x": "1"})) == {"a1": 1, "b1": 1}
    assert by_node(cluster, selecting({"x": "1"}, {"y": "1"})) == {"b1": 1}


def test_counters_that_ask_the_same_are_one() -> None:
    cluster = cluster_with()
    one_of_one = as_selector(make_selector({"app": ("web",)}))
    key = CounterKey((PodSelector(one_of_one, DEFAULT),))
    assert cluster.counters.counter(key) is cluster.counters.counter(ALL_WEB)


# Pods come, change and go.


@pytest.mark.parametrize("asked_first", [True, False], ids=["asked before", "asked after"])
def test_pods_are_counted_whenever_it_is_asked(*, asked_first: bool) -> None:
    cluster = cluster_with("a1", "a2")
    if asked_first:
        assert by_node(cluster, ALL_WEB) == {}
    for index in range(3):
        run(cluster, make_pod(f"web-{index}", labels=WEB, node_name="a1"))
    run(cluster, make_pod("db", labels=DB, node_name="a2"))
    run(cluster, make_pod("web", namespace="b", labels=WEB, node_name="a2"))
    assert by_node(cluster, ALL_WEB) == {"a1": 3}
    assert cluster.counters.counter(ALL_WEB).total == 3


def test_a_pod_that_is_gone_is_not_counted() -> None:
    cluster = cluster_with("a1")
    pods = [make_pod(f"web-{index}", labels=WEB, node_name="a1") for index in range(2)]
    for pod in pods:
        run(cluster, pod)
    counter = cluster.counters.counter(ALL_WEB)
    for left, pod in enumerate(reversed(pods)):
        assert counter.total == len(pods) - left
        cluster.remove_pod(pod.metadata.uid)
    assert by_node(cluster, ALL_WEB) == {}
    run(cluster, pods[0])
    assert by_node(cluster, ALL_WEB) == {"a1": 1}


def test_a_pod_counts_by_its_labels_of_now() -> None:
    cluster = cluster_with("a1")
    counter = cluster.counters.counter(ALL_WEB)
    run(cluster, make_pod(labels=WEB, node_name="a1"))
    run(cluster, make_pod(labels=DB, node_name="a1"))
    assert counter.total == 0
    run(cluster, make_pod(labels=WEB, node_name="a1"))
    assert counter.total == 1


def test_an_assumed_pod_counts_until_it_is_forgotten_and_once_when_confirmed() -> None:
    cluster = cluster_with("a1")
    pod = PodInfo.of(make_pod(labels=WEB))
    cluster.assume(pod, "a1")
    assert by_node(cluster, ALL_WEB) == {"a1": 1}
    cluster.forget(pod.uid)
    assert by_node(cluster, ALL_WEB) == {}
    cluster.assume(pod, "a1")
    run(cluster, make_pod(labels=WEB, node_name="a1"))
    assert by_node(cluster, ALL_WEB) == {"a1": 1}


def test_pods_on_their_way_out_count_where_it_is_wanted() -> None:
    cluster = cluster_with("a1")
    without = CounterKey(ALL_WEB.selectors, counts_terminating=False)
    run(cluster, make_pod(labels=WEB, node_name="a1"))
    assert by_node(cluster, ALL_WEB) == by_node(cluster, without) == {"a1": 1}
    leaving = make_pod(labels=WEB, node_name="a1", deleted=datetime(2026, 1, 1, tzinfo=UTC))
    run(cluster, leaving)
    assert by_node(cluster, ALL_WEB) == {"a1": 1}
    assert by_node(cluster, without) == {}


# Nodes come, change and go.


def zone_sums(cluster: Cluster, counter: RowCounter) -> Mapping[str | None, int]:
    values = cluster.nodes.labels(ZONE).values.values
    totals = counter.sums(ZONE).per_value.tolist()
    return {value: total for value, total in zip(values, totals, strict=True) if total}


def test_pods_wait_uncounted_for_their_node() -> None:
    cluster = cluster_with()
    run(cluster, make_pod(labels=WEB, node_name="a1"))
    counter = cluster.counters.counter(ALL_WEB)
    assert counter.total == 0
    cluster.set_node(make_node("a1", zone="a"))
    assert zone_sums(cluster, counter) == {"a": 1}
    cluster.remove_node("a1")
    assert zone_sums(cluster, counter) == {}
    cluster.set_node(make_node("a1", zone="b"))
    assert zone_sums(cluster, counter) == {"b": 1}


def test_a_row_used_again_starts_from_nothing() -> None:
    cluster = cluster_with("a1")
    run(cluster, make_pod(labels=WEB, node_name="a1"))
    counter = cluster.counters.counter(ALL_WEB)
    assert zone_sums(cluster, counter) == {"a": 1}
    cluster.remove_node("a1")
    cluster.set_node(make_node("b1", zone="b"))
    assert by_node(cluster, ALL_WEB) == zone_sums(cluster, counter) == {}


def test_counters_outlive_a_growing_cluster() -> None:
    cluster = cluster_with("a1")
    run(cluster, make_pod("first", labels=WEB, node_name="a1"))
    counter = cluster.counters.counter(ALL_WEB)
    for index in range(2 * cluster.nodes.capacity):
        cluster.set_node(make_node(f"b{index}", zone="b"))
    run(cluster, make_pod("last", labels=WEB, node_name="b100"))
    assert by_node(cluster, ALL_WEB) == {"a1": 1, "b100": 1}
    assert zone_sums(cluster, counter) == {"a": 1, "b": 1}


# Namespaces change.


def test_a_namespace_is_taken_as_it_is_labelled_now() -> None:
    cluster = cluster_with("a1")
    for index in range(2):
        run(cluster, make_pod(f"web-{index}", labels=WEB, node_name="a1"))
    run(cluster, make_pod("db", labels=DB, node_name="a1"))
    assert by_node(cluster, WEB_IN_PROD) == {}
    label_namespace(cluster, "default", env="prod")
    assert by_node(cluster, WEB_IN_PROD) == {"a1": 2}
    label_namespace(cluster, "default", env="prod", more="labels")
    assert by_node(cluster, WEB_IN_PROD) == {"a1": 2}
    label_namespace(cluster, "default", env="test")
    assert by_node(cluster, WEB_IN_PROD) == {}


def test_a_namespace_that_is_gone_has_no_labels() -> None:
    cluster = cluster_with("a1")
    label_namespace(cluster, "default", env="prod")
    run(cluster, make_pod(labels=WEB, node_name="a1"))
    assert by_node(cluster, WEB_IN_PROD) == {"a1": 1}
    cluster.remove_namespace("default")
    assert by_node(cluster, WEB_IN_PROD) == {}


def test_pods_that_come_after_a_namespace_changed_count_by_its_labels() -> None:
    cluster = cluster_with("a1")
    assert by_node(cluster, WEB_IN_PROD) == {}
    label_namespace(cluster, "default", env="prod")
    run(cluster, make_pod(labels=WEB, node_name="a1"))
    assert by_node(cluster, WEB_IN_PROD) == {"a1": 1}
    label_namespace(cluster, "other", env="test")
    assert by_node(cluster, WEB_IN_PROD) == {"a1": 1}


# Counters are forgotten.


def test_the_counter_not_asked_for_longest_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berthing.cluster.counters._MOST_COUNTERS", 2)
    cluster = cluster_with("a1")
    run(cluster, make_pod("before", labels={**WEB, **DB, "x": "1"}, node_name="a1"))
    first = cluster.counters.counter(selecting({"app": "db"}))
    second = cluster.counters.counter(selecting({"x": "1"}))
    assert cluster.counters.counter(selecting({"app": "db"})) is first
    cluster.counters.counter(ALL_WEB)
    assert cluster.counters.counter(selecting({"app": "db"})) is first
    assert cluster.counters.counter(selecting({"x": "1"})) is not second


def test_a_counter_asked_for_again_counts_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berthing.cluster.counters._MOST_COUNTERS", 1)
    cluster = cluster_with("a1")
    forgotten = cluster.counters.counter(ALL_WEB)
    run(cluster, make_pod("before", labels=WEB, node_name="a1"))
    assert by_node(cluster, selecting(DB)) == {}
    run(cluster, make_pod("after", labels=WEB, node_name="a1"))
    # Nobody keeps it up to date any more, nor does it grow.
    assert forgotten.total == 1
    assert by_node(cluster, ALL_WEB) == {"a1": 2}
