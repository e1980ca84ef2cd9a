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
