"""Nodes in columns: rows that are kept, freed and used again, and columns that grow."""

from __future__ import annotations

import numpy as np
import pytest

from berthing.api.node import Node
from berthing.cluster.node_table import NodeTable
from berthing.testing import HOSTNAME, ZONE, make_node, make_taint

GPU = "example.com/gpu"


def table_of(*nodes: Node) -> NodeTable:
    table = NodeTable()
    for node in nodes:
        table.add(node)
    return table


# Rows.


def test_a_node_keeps_its_row_while_it_lives() -> None:
    table = table_of(make_node("a"), make_node("b"))
    table.update(0, make_node("a", cpu="8"))
    assert (table.row("a"), table.row("b")) == (0, 1)


def test_a_freed_row_is_used_again() -> None:
    table = table_of(make_node("a"), make_node("b"))
    table.remove(0)
    assert table.row("a") is None
    assert table.add(make_node("c")) == 0
    assert (table.n_rows, len(table)) == (2, 2)


def test_a_freed_row_bears_nothing_of_its_node() -> None:
    taints = [make_taint("a")]
    table = table_of(
        make_node("a", zone="z", cordoned=True, taints=taints, declared_features=["F"])
    )
    zone = table.labels(ZONE)
    table.remove(0)
    assert not table.alive[0]
    assert not table.unschedulable[0]
    assert not table.allocatable[:, 0].any()
    assert table.names == [""]
    assert table.objects == [None]
    assert table.taint_lists.values[table.taint_codes[0]] == ()
    assert table.feature_sets.values[table.feature_codes[0]] == frozenset()
    assert zone.values.values[zone.codes[0]] is None


def test_a_node_on_a_freed_row_offers_only_its_own() -> None:
    table = table_of(make_node("a", resources={GPU: "2"}))
    table.remove(0)
    table.add(make_node("b", cpu="1"))
    assert table.allocatable_of(GPU)[0] == 0
    assert table.allocatable_of("cpu")[0] == 1000


def test_an_update_takes_back_what_is_not_offered_any_more() -> None:
    table = table_of(make_node("a", resources={GPU: "2"}, cordoned=True, zone="z"))
    zone = table.labels(ZONE)
    table.update(0, make_node("a"))
    assert table.allocatable_of(GPU)[0] == 0
    assert not table.unschedulable[0]
    assert zone.codes[0] == 0


# Growth.


def test_columns_grow_when_they_are_full() -> None:
    table = NodeTable()
    first_capacity = table.capacity
    hostname = table.labels(HOSTNAME)
    for number in range(first_capacity + 1):
        row = table.add(make_node(f"node-{number}", cpu=str(number + 1)))
        table.use(row, {"cpu": number}, (number, 0), sign=1)
    assert table.capacity == 2 * first_capacity
    assert len(hostname.codes) == table.capacity
    numbers = np.arange(first_capacity + 1)
    assert (table.allocatable_of("cpu")[: table.n_rows] == 1000 * (numbers + 1)).all()
    assert (table.requested_of("cpu")[: table.n_rows] == numbers).all()
    assert (table.non_zero_requested_of("cpu")[: table.n_rows] == numbers).all()
    assert (table.pod_counts[: table.n_rows] == 1).all()


def test_what_has_joined_grows_along_until_it_leaves() -> None:
    class Follower:
        capacity = 0

        def grow(self, capacity: int) -> None:
            self.capacity = capacity

    table, stays, leaves = NodeTable(), Follower(), Follower()
    table.join(stays)
    table.join(leaves)
    table.leave(leaves)
    for number in range(table.capacity + 1):
        table.add(make_node(f"node-{number}"))
    assert (stays.capacity, leaves.capacity) == (table.capacity, 0)


@pytest.mark.parametrize("count", [1, 64, 65], ids=["one", "all there is room for", "one more"])
def test_what_was_handed_out_stays_as_it_was(count: int) -> None:
    table = table_of(*(make_node(f"node-{number}") for number in range(count)))
    names, alive = table.names_now(), table.alive_now()
    table.remove(0)
    table.add(make_node("other"))
    table.add(make_node("one more"))
    assert names == tuple(f"node-{number}" for number in range(count))
    assert alive.tolist() == [True] * count
    assert table.names_now()[0] == "other"
    assert table.names_now()[-1] == "one more"


# Resources.


def test_a_resource_that_nobody_has_heard_of_is_offered_and_requested_nowhere() -> None:
    table = table_of(make_node("a"))
    assert not table.allocatable_of(GPU).any()
    assert not table.requested_of(GPU).any()


def test_a_resource_is_first_heard_of_from_a_pod() -> None:
    table = table_of(make_node("a"), make_node("b"))
    table.use(1, {GPU: 2}, (100, 200), sign=1)
    assert table.requested_of(GPU)[:2].tolist() == [0, 2]
    assert table.allocatable_of(GPU)[:2].tolist() == [0, 0]
    assert table.non_zero_requested_of("memory")[:2].tolist() == [0, 200]


def test_what_a_pod_took_is_free_again_though_the_sum_was_more_than_there_are_numbers() -> None:
    table = table_of(make_node("a"))
    most = 2**63 - 1
    for _ in range(2):
        table.use(0, {"memory": most}, (0, most), sign=1)
    table.use(0, {"memory": most}, (0, most), sign=-1)
    assert table.requested_of("memory")[0] == most
    assert table.non_zero_requested_of("memory")[0] == most


# Whole values by number.


def test_nodes_with_equal_taints_share_a_number() -> None:
    first, second = make_taint("first"), make_taint("second")
    table = table_of(
        make_node("a", taints=[first, second]),
        make_node("b", taints=[first, second]),
        make_node("c", taints=[second, first]),
    )
    a, b, c = table.taint_codes[:3]
    assert a == b
    # Their order decides which one a user is told about.
    assert table.taint_lists.values[c] == (second, first)


def test_features_are_told_apart_whatever_their_order() -> None:
    table = table_of(
        make_node("a", declared_features=["F", "G"]), make_node("b", declared_features=["G", "F"])
    )
    assert table.feature_codes[0] == table.feature_codes[1] != 0


# What changed.


def test_logs_tell_changes_of_the_object_from_changes_of_its_use() -> None:
    table = table_of(make_node("a"), make_node("b"))
    node_changes, usage_changes = table.node_changes.now, table.usage_changes.now
    table.update(1, make_node("b", cpu="8"))
    table.use(0, {}, (100, 0), sign=1)
    assert table.node_changes.since(node_changes) == [1]
    assert table.usage_changes.since(usage_changes) == [0]


def test_a_node_that_goes_and_one_that_comes_are_changes() -> None:
    table = table_of(make_node("a"), make_node("b"))
    then = table.node_changes.now
    table.remove(1)
    table.add(make_node("c"))
    table.add(make_node("d"))
    assert table.node_changes.since(then) == [1, 2]
