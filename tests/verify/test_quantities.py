from __future__ import annotations

import pytest

from berthing.verify.outcome import BadRowError, Difference
from berthing.verify.quantities import check, recognises

Row = dict[str, object]

READING: Row = {
    "text": "1.5Gi",
    "valid": True,
    "error": None,
    "canonical": "1536Mi",
    "computed": "1536Mi",
    "value": "1610612736",
    "milliValue": "1610612736000",
    "sign": 1,
    "format": "BinarySI",
    "valueOverflow": False,
    "milliValueOverflow": False,
}
OVERFLOW: Row = {
    **READING,
    "text": "9223372036854776",
    "canonical": "9223372036854776",
    "computed": "9223372036854776",
    "value": "9223372036854776",
    "milliValue": "192",
    "format": "DecimalSI",
    "milliValueOverflow": True,
}
REFUSED: Row = {
    **dict.fromkeys(READING),
    "text": "1K",
    "valid": False,
    "error": "unable to parse quantity's suffix",
}
PAIR: Row = {"a": "1Gi", "b": "0.5Gi", "cmp": 1, "sum": "1536Mi", "diff": "512Mi"}

ROWS = [
    pytest.param(READING, id="a quantity"),
    pytest.param(REFUSED, id="no quantity"),
    pytest.param(PAIR, id="a pair"),
]


@pytest.mark.parametrize("row", ROWS)
def test_rows_are_recognised_and_equal(row: Row) -> None:
    assert recognises(row)
    outcome = check(row)
    assert outcome.differences == ()
    assert outcome.on_purpose == ()
    assert outcome.unchecked == ()


@pytest.mark.parametrize("row", ROWS)
def test_every_recorded_answer_is_compared(row: Row) -> None:
    for field in row.keys() - {"text", "a", "b"}:
        differences = check({**row, field: "altered"}).differences
        assert [difference.field for difference in differences] == [field]


def test_a_difference_shows_both_answers() -> None:
    outcome = check({**READING, "value": "1610612735"})
    assert outcome.differences == (Difference("value", "1610612735", "1610612736"),)
    assert outcome.name == '"1.5Gi"'


def test_an_overflow_that_both_see_differs_on_purpose() -> None:
    outcome = check(OVERFLOW)
    assert outcome.differences == ()
    assert outcome.on_purpose == ("quantity-overflow-saturates",)


def test_the_rest_of_such_a_row_is_compared_all_the_same() -> None:
    outcome = check({**OVERFLOW, "value": "0"})
    assert [difference.field for difference in outcome.differences] == ["value"]


def test_an_overflow_that_only_we_see_is_a_difference() -> None:
    differences = check({**OVERFLOW, "milliValueOverflow": False}).differences
    assert [difference.field for difference in differences] == ["milliValue", "milliValueOverflow"]


def test_an_overflow_that_only_upstream_saw_is_a_difference() -> None:
    outcome = check({**READING, "value": "0", "valueOverflow": True})
    assert [difference.field for difference in outcome.differences] == ["value", "valueOverflow"]
    assert outcome.on_purpose == ()


def test_a_text_that_only_upstream_takes_is_a_difference() -> None:
    differences = check({**READING, "text": "1.5GB"}).differences
    assert {"valid", "error", "value"} <= {difference.field for difference in differences}


def test_a_pair_that_only_upstream_takes_is_a_difference() -> None:
    differences = check({**PAIR, "b": "1K"}).differences
    assert [difference.field for difference in differences] == ["cmp", "sum", "diff"]


@pytest.mark.parametrize("row", [READING, PAIR])
def test_fields_of_later_recordings_are_named(row: Row) -> None:
    assert check({**row, "weather": "fine"}).unchecked == ("weather",)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"kind": "labelSelector", "matches": True}, id="a selector"),
        pytest.param({"id": "c1", "text": "kind: Policy", "expect": {}}, id="a configuration"),
        pytest.param({"a": "1", "b": "2"}, id="a pair without an answer"),
        pytest.param({}, id="nothing"),
    ],
)
def test_other_rows_are_not_recognised(row: Row) -> None:
    assert not recognises(row)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        pytest.param(
            {**READING, "text": 15}, "text: expected a quantity's text, got 15", id="text"
        ),
        pytest.param({**PAIR, "b": None}, "b: expected a quantity's text, got None", id="pair"),
    ],
)
def test_a_row_of_another_format_is_told_by_its_field(row: Row, message: str) -> None:
    with pytest.raises(BadRowError, match=message):
        check(row)
