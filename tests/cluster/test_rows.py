"""Rows as plugins see them: all of them, some of them, and one."""

from __future__ import annotations

import numpy as np
import pytest

from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Rows, as_rows
from berthing.framework import Int64Column
from berthing.testing import ZONE, make_node, make_pod, make_taint

TAINT = make_taint("a")


@pytest.fixture
def cluster() -> Cluster:
    """Three nodes, the second of which is gone; one pod runs on the last."""
    cluster = Cluster()
    cluster.set_node(make_node("first", cpu="1", zone="x"))
    cluster.set_node(make_node("second", cpu="2", zone="y"))
    cluster.set_node(
        make_node(
            "third", cpu="3", zone="z", cordoned=True, taints=[TAINT], declared_features=["F"]
        )
    )
    cluster.remove_node("second")
    cluster.set_pod(
        PodInfo.of(make_pod("p", node_name="third", cpu="500m", requests={"example.com/gpu": "1"}))
    )
    return cluster


def some(cluster: Cluster, *numbers: int) -> Rows:
    return Rows(cluster, np.array(numbers, np.intp))


def test_all_rows_have_the_columns_of_all_nodes(cluster: Cluster) -> None:
    rows = cluster.rows()
    assert len(rows) == 3
    assert list(rows.names) == ["first", "", "third"]
    assert rows.numbers.tolist() == [0, 1, 2]
    assert rows.alive.tolist() == [True, False, True]
    assert rows.unschedulable.tolist() == [False, False, True]
    assert rows.pod_counts.tolist() == [0, 0, 1]
    assert rows.allocatable("cpu").tolist() == [1000, 0, 3000]
    assert rows.requested("cpu").tolist() == [0, 0, 500]
    assert [rows.label(ZONE)[row] for row in range(3)] == ["x", None, "z"]
    assert [rows.taints()[row] for row in range(3)] == [(), (), (TAINT,)]
    assert [rows.declared_features()[row] for row in range(3)] == [set(), set(), {"F"}]


def test_some_rows_have_the_same_columns_in_their_own_order(cluster: Cluster) -> None:
    rows = some(cluster, 2, 0)
    assert len(rows) == 2
    assert list(rows.names) == ["third", "first"]
    assert rows.numbers.tolist() == [2, 0]
    assert rows.alive.tolist() == [True, True]
    assert rows.unschedulable.tolist() == [True, False]
    assert rows.pod_counts.tolist() == [1, 0]
    assert rows.allocatable("cpu").tolist() == [3000, 1000]
    assert rows.requested("cpu").tolist() == [500, 0]
    assert [rows.label(ZONE)[row] for row in range(2)] == ["z", "x"]
    assert [rows.taints()[row] for row in range(2)] == [(TAINT,), ()]
    assert [node.name for node in rows] == ["third", "first"]


def test_no_rows_at_all_are_rows_too(cluster: Cluster) -> None:
    rows = some(cluster)
    assert len(rows) == 0
    assert list(rows.names) == []
    assert list(rows) == []
    assert rows.requested("never.heard/of").tolist() == []


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        pytest.param("cpu", [0, 0, 500], id="what is asked for"),
        pytest.param("memory", [0, 0, 200 * 1024**2], id="the least amount of what is not"),
        pytest.param("example.com/gpu", [0, 0, 1], id="no least amount of anything else"),
        pytest.param("never.heard/of", [0, 0, 0], id="nothing of what nobody has"),
    ],
)
def test_each_container_counts_with_a_least_amount(
    cluster: Cluster, resource: str, expected: list[int]
) -> None:
    assert cluster.rows().non_zero_requested(resource).tolist() == expected
    assert some(cluster, 2, 1).non_zero_requested(resource).tolist() == expected[:0:-1]


def test_names_stay_as_they_were(cluster: Cluster) -> None:
    names = cluster.rows().names
    cluster.set_node(make_node("fourth"))
    assert list(names) == ["first", "", "third"]


def test_a_column_that_was_taken_stays_whole_when_resources_are_new(cluster: Cluster) -> None:
    taken: Int64Column = cluster.rows().allocatable("cpu")
    cluster.rows().allocatable("never.heard/of")
    assert taken.tolist() == [1000, 0, 3000]


def test_one_row_tells_of_its_node(cluster: Cluster) -> None:
    row = cluster.row("third")
    assert row is not None
    assert row.name == row.node.name == "third"
    assert [pod.pod.name for pod in row.pods] == ["p"]
    assert row.allocatable["cpu"] == 3000
    assert row.requested == {"cpu": 500, "example.com/gpu": 1}
    assert row.non_zero_requested == {"cpu": 500, "memory": 200 * 1024**2}
    assert cluster.row("second") is None


def test_a_row_without_a_node_tells_nothing(cluster: Cluster) -> None:
    (row,) = some(cluster, 1)
    assert (row.name, row.node.name, row.pods) == ("", "", ())
    assert (row.allocatable, row.requested, row.used_ports) == ({}, {}, frozenset())


def test_what_is_not_rows_of_a_cluster_is_refused() -> None:
    with pytest.raises(TypeError, match="expected rows of a cluster, got list"):
        as_rows([])
