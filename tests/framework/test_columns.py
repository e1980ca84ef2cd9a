from __future__ import annotations

import numpy as np

from berthing.framework import InternedColumn


def zones() -> InternedColumn[str | None]:
    return InternedColumn((None, "a", "b"), np.array([1, 2, 1, 0], np.intp))


def test_a_row_reads_as_its_value() -> None:
    assert [zones()[row] for row in range(4)] == ["a", "b", "a", None]


def test_where_decides_once_per_distinct_value() -> None:
    asked: list[str | None] = []

    def is_a(value: str | None) -> bool:
        asked.append(value)
        return value == "a"

    assert zones().where(is_a).tolist() == [True, False, True, False]
    assert asked == [None, "a", "b"]


def test_gather_measures_once_per_distinct_value() -> None:
    assert zones().gather(lambda value: len(value or "")).tolist() == [1, 1, 1, 0]


def test_a_few_rows_are_not_asked_about_values_of_others() -> None:
    hostnames = InternedColumn([f"host-{i}" for i in range(1000)], np.array([7, 999, 7], np.intp))
    asked: list[str] = []

    def is_last(value: str) -> bool:
        asked.append(value)
        return value == "host-999"

    assert hostnames.where(is_last).tolist() == [False, True, False]
    assert asked == ["host-7", "host-999"]
    assert hostnames.gather(len).tolist() == [6, 8, 6]
