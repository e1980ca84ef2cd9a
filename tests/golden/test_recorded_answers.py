"""Upstream's recorded answers, replayed: not one may differ."""

from __future__ import annotations

import pytest

from berthing.verify.recordings import replay
from golden.files import golden


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("quantities.jsonl.gz", 1500),
        ("quantity-pairs.jsonl.gz", 500),
        ("selectors.jsonl.gz", 420),
        ("configurations.jsonl.gz", 282),
    ],
)
def test_all_rows_equal(name: str, cases: int) -> None:
    done = replay(golden(name))
    assert done.mismatches == []
    assert done.unchecked == {}
    assert done.matches + done.on_purpose_cases == done.cases == cases
