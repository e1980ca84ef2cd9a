"""The log of changed rows, as readers with a good or a bad memory see it."""

from __future__ import annotations

from collections.abc import Iterable

from berthing.cluster.changes import Changes

# More than any log keeps.
MANY = 100_000


def log_of(rows: Iterable[int]) -> Changes:
    changes = Changes()
    for row in rows:
        changes.add(row)
    return changes


def test_a_reader_learns_what_came_after() -> None:
    changes = log_of([1, 2])
    then = changes.now
    changes.add(5)
    changes.add(3)
    assert changes.since(then) == [5, 3]
    assert changes.since(changes.now) == []


def test_each_row_is_told_once() -> None:
    assert log_of([4, 7, 4, 4, 7]).since(0) == [4, 7]


def test_who_never_looked_has_to_look_at_everything() -> None:
    assert log_of([]).since(-1) is None


def test_who_looked_too_long_ago_has_to_look_at_everything() -> None:
    assert log_of(range(MANY)).since(0) is None


def test_a_recent_reader_misses_nothing_however_much_is_dropped() -> None:
    changes = Changes()
    for number in range(MANY):
        then = changes.now
        changes.add(number)
        changes.add(number + 1)
        assert changes.since(then) == [number, number + 1]
    assert changes.now == 2 * MANY
