from __future__ import annotations

import numpy as np

from berthing.framework import Status, Verdicts

CORDONED = Status.unresolvable("node(s) were unschedulable")
FULL = Status.unschedulable("Too many pods")


def mask(*values: bool) -> np.typing.NDArray[np.bool_]:
    return np.array(values, np.bool_)


def test_all_pass() -> None:
    verdicts = Verdicts.all_pass(3)
    assert verdicts.fits.tolist() == [True, True, True]
    assert verdicts[1] is None


def test_reject_tells_only_the_rejected_rows() -> None:
    verdicts = Verdicts.reject(mask(True, False), CORDONED)
    assert verdicts[0] == CORDONED
    assert verdicts[1] is None


def test_a_row_belongs_to_the_first_plugin_that_rejects_it() -> None:
    first = Verdicts.reject(mask(True, False, False), CORDONED)
    later = Verdicts.reject(mask(True, True, False), FULL)
    merged = first.then(later)
    assert [merged[row] for row in range(3)] == [CORDONED, FULL, None]


def test_merging_keeps_each_plugins_stamp() -> None:
    merged = (
        Verdicts.reject(mask(True, False), FULL)
        .by("NodePorts")
        .then(Verdicts.reject(mask(False, True), FULL).by("NodeResourcesFit"))
    )
    assert [merged[0], merged[1]] == [FULL.by("NodePorts"), FULL.by("NodeResourcesFit")]


def test_from_one_answer_per_row_equal_answers_are_kept_once() -> None:
    verdicts = Verdicts.of([FULL, None, Status.unschedulable("Too many pods"), Status()])
    assert verdicts.codes.tolist() == [1, 0, 1, 0]
    assert verdicts.statuses == (FULL,)


def test_counts_per_status() -> None:
    verdicts = Verdicts.of([FULL, CORDONED, FULL, None])
    assert verdicts.counts() == [(FULL, 2), (CORDONED, 1)]


def test_no_rows_at_all() -> None:
    empty = Verdicts.of([])
    assert len(empty) == 0
    assert empty.then(Verdicts.all_pass(0)).counts() == []
