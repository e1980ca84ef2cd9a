"""A node label as a column, and counts summed up per value of it."""

from __future__ import annotations

from berthing.cluster.counters import RowCounter
from berthing.cluster.labels import ABSENT, LabelColumn
from berthing.cluster.node_table import NodeTable
from berthing.testing import ZONE, make_node


def column_of(*zones: str | None) -> LabelColumn:
    """A column with a row per zone; None for a node without one."""
    column = LabelColumn(ZONE, max(len(zones), 1))
    for row, zone in enumerate(zones):
        column.set(row, {} if zone is None else {ZONE: zone})
    return column


def table_of(*zones: str) -> NodeTable:
    """A table with a node per zone, named by its number; no zone for the empty text."""
    table = NodeTable()
    for row, zone in enumerate(zones):
        table.add(make_node(str(row), zone=zone))
    return table


def sums_by_zone(counter: RowCounter, table: NodeTable) -> dict[str | None, int]:
    """What is counted in each zone that has any."""
    totals = counter.sums(ZONE).per_value.tolist()
    return {
        value: total
        for value, total in zip(table.labels(ZONE).values.values, totals, strict=True)
        if total
    }


# The column.


def test_rows_with_one_value_share_a_code() -> None:
    column = column_of("a", "b", None, "a")
    assert column.codes[0] == column.codes[3] != column.codes[1]
    assert column.codes[2] == ABSENT
    assert column.values.values == [None, "a", "b"]


def test_an_empty_value_is_a_value() -> None:
    column = column_of("", None)
    assert column.codes[0] != column.codes[1] == ABSENT


def test_nodes_are_counted_per_value_as_they_come_change_and_go() -> None:
    column = column_of("a", "a", "b", None)
    assert column.node_counts[1:] == [2, 1]
    column.set(0, {ZONE: "b"})
    assert column.node_counts[1:] == [1, 2]
    column.set(1, {})
    assert column.node_counts[1:] == [0, 2]
    column.set(3, {ZONE: "c"})
    assert column.node_counts[1:] == [0, 2, 1]


def test_other_labels_do_not_matter() -> None:
    column = column_of("a")
    column.set(0, {ZONE: "a", "disk": "fast"})
    assert column.node_counts[1:] == [1]


def test_a_column_keeps_its_codes_when_it_grows() -> None:
    column = column_of("a", "b")
    column.grow(4)
    assert column.codes.tolist() == [1, 2, ABSENT, ABSENT]


def test_a_column_made_late_knows_the_nodes_that_are_there() -> None:
    assert table_of("a", "", "b", "a").labels(ZONE).codes[:4].tolist() == [1, ABSENT, 2, 1]


# Sums.


def test_counts_are_summed_up_per_value() -> None:
    table = table_of("a", "b", "a", "")
    counter = RowCounter(table)
    for row, amount in ((0, 1), (1, 2), (2, 3), (3, 4)):
        counter.add(row, amount)
    assert sums_by_zone(counter, table) == {"a": 4, "b": 2, None: 4}


def test_sums_follow_their_counts() -> None:
    table = table_of("a", "b", "a")
    counter = RowCounter(table)
    assert sums_by_zone(counter, table) == {}
    counter.add(0, 1)
    counter.add(1, 1)
    counter.add(2, 2)
    counter.add(1, -1)
    assert sums_by_zone(counter, table) == {"a": 3}


def test_a_row_takes_its_count_along_to_another_value() -> None:
    table = table_of("a", "b")
    counter = RowCounter(table)
    counter.add(0, 3)
    assert sums_by_zone(counter, table) == {"a": 3}
    table.update(0, make_node("0", zone="b"))
    assert sums_by_zone(counter, table) == {"b": 3}
    table.update(0, make_node("0"))
    assert sums_by_zone(counter, table) == {None: 3}
    table.update(0, make_node("0", zone="a"))
    assert sums_by_zone(counter, table) == {"a": 3}


def test_sums_know_values_that_come_later() -> None:
    table = table_of("a")
    counter = RowCounter(table)
    sums = counter.sums(ZONE)
    for row in range(1, 20):
        table.add(make_node(str(row), zone=f"zone-{row}"))
        counter.add(row, row)
    assert sums_by_zone(counter, table) == {f"zone-{row}": row for row in range(1, 20)}
    assert sums.per_row(table.labels(ZONE).codes[:20]).tolist() == list(range(20))


def test_there_are_as_many_sums_as_values_however_old_the_counter() -> None:
    table = table_of("a")
    old = RowCounter(table).sums(ZONE)
    for row in range(1, 6):
        table.add(make_node(str(row), zone=f"zone-{row}"))
    young = RowCounter(table).sums(ZONE)
    assert old.per_value.shape == young.per_value.shape == (7,)


def test_each_row_is_told_the_sum_of_its_value() -> None:
    table = table_of("a", "b", "a")
    counter = RowCounter(table)
    counter.add(0, 1)
    counter.add(2, 1)
    codes = table.labels(ZONE).codes
    assert counter.sums(ZONE).per_row(codes[[1, 2]]).tolist() == [0, 2]


def test_counts_and_sums_outlive_a_growing_table() -> None:
    table = table_of("a")
    counter = RowCounter(table)
    counter.add(0, 5)
    sums_by_zone(counter, table)
    for row in range(1, 2 * table.capacity):
        table.add(make_node(str(row), zone="b"))
    counter.add(table.n_rows - 1, 2)
    assert len(counter.counts) == table.capacity
    assert sums_by_zone(counter, table) == {"a": 5, "b": 2}
    # Moving a row reads its count from where the counts live now.
    table.update(table.n_rows - 1, make_node(str(table.n_rows - 1), zone="a"))
    assert sums_by_zone(counter, table) == {"a": 7}


def test_counts_on_nodes_without_the_label_are_told_apart() -> None:
    table = table_of("a", "")
    counter = RowCounter(table)
    assert not counter.has_any_with(ZONE)
    counter.add(1, 2)
    assert not counter.has_any_with(ZONE)
    counter.add(0, 1)
    assert counter.has_any_with(ZONE)
    counter.add(0, -1)
    assert not counter.has_any_with(ZONE)
