from __future__ import annotations

import pytest

from berthing.verify.outcome import BadRowError, Difference
from berthing.verify.selectors import check, recognises

Row = dict[str, object]

LABEL_ROW: Row = {
    "kind": "labelSelector",
    "selector": {"matchLabels": {"app": "web"}, "matchExpressions": None},
    "labels": {"app": "web"},
    "valid": True,
    "error": None,
    "matches": True,
    "string": "app=web",
}
NOTHING_ROW: Row = {
    "kind": "labelSelector",
    "selector": None,
    "labels": {},
    "valid": True,
    "error": None,
    "matches": False,
    "string": "",
}
BAD_LABEL_ROW: Row = {
    "kind": "labelSelector",
    "selector": {"matchExpressions": [{"key": "app", "operator": "in", "values": ["web"]}]},
    "labels": {"app": "web"},
    "valid": False,
    "error": '"in" is not a valid label selector operator',
    "matches": False,
}
TERM_ERROR = (
    "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: null: "
    "for 'in', 'notin' operators, values set can't be empty"
)
TERM_ROW: Row = {
    "kind": "nodeSelectorTerm",
    "term": {"matchExpressions": [{"key": "app", "operator": "In", "values": None}]},
    "node": {"name": "n1", "labels": {"app": "web"}},
    "valid": False,
    "error": TERM_ERROR,
    "errors": [TERM_ERROR],
    "fields": ["nodeSelectorTerms[0].matchExpressions[0].values"],
    "matches": False,
    "matchError": TERM_ERROR,
}
TERMS_ROW: Row = {
    **TERM_ROW,
    "kind": "nodeSelector",
    "terms": [TERM_ROW["term"], {"matchExpressions": [{"key": "app", "operator": "Exists"}]}],
    "matches": True,
    "matchError": None,
}
del TERMS_ROW["term"]
TOLERATION_ROW: Row = {
    "kind": "toleration",
    "toleration": {"key": "k", "operator": "Gt", "value": "5"},
    "taint": {"key": "k", "value": "6", "effect": "NoSchedule"},
    "valid": False,
    "validWithComparison": True,
    "error": 'tolerations[0].operator: Unsupported value: "Gt": '
    'supported values: "Equal", "Exists", "Lt", "Gt"',
    "errors": [
        (
            'tolerations[0].operator: Unsupported value: "Gt": '
            'supported values: "Equal", "Exists", "Lt", "Gt"'
        )
    ],
    "fields": ["tolerations[0].operator"],
    "matches": False,
    "matchesWithComparison": True,
}

ROWS = [
    pytest.param(LABEL_ROW, id="label selector"),
    pytest.param(NOTHING_ROW, id="no label selector"),
    pytest.param(BAD_LABEL_ROW, id="bad label selector"),
    pytest.param(TERM_ROW, id="bad term"),
    pytest.param(TERMS_ROW, id="bad term beside a good one"),
    pytest.param(TOLERATION_ROW, id="toleration"),
]


@pytest.mark.parametrize("row", ROWS)
def test_rows_are_recognised_and_equal(row: Row) -> None:
    assert recognises(row)
    outcome = check(row)
    assert outcome.differences == ()
    assert outcome.unchecked == ()


@pytest.mark.parametrize("row", ROWS)
def test_every_recorded_answer_is_compared(row: Row) -> None:
    inputs = {"kind", "selector", "labels", "term", "terms", "node", "toleration", "taint"}
    for field in row.keys() - inputs:
        differences = check({**row, field: "altered"}).differences
        assert [difference.field for difference in differences] == [field]


def test_a_difference_shows_both_answers() -> None:
    outcome = check({**LABEL_ROW, "matches": False})
    assert outcome.differences == (Difference("matches", recorded=False, ours=True),)
    assert '"app": "web"' in outcome.name


def test_an_answer_that_is_missing_but_should_not_be_is_a_difference() -> None:
    row = {field: value for field, value in TERM_ROW.items() if field != "matchError"}
    assert check(row).differences == (Difference("matchError", None, TERM_ERROR),)


def test_fields_of_later_recordings_are_named() -> None:
    assert check({**LABEL_ROW, "weather": "fine"}).unchecked == ("weather",)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"text": "1Gi", "valid": True}, id="a quantity"),
        pytest.param({"kind": "weather", "matches": True}, id="another kind"),
        pytest.param({"kind": ["toleration"], "matches": True}, id="a kind that is no text"),
        pytest.param({"kind": "toleration"}, id="an object that has the name of a kind"),
    ],
)
def test_other_rows_are_not_recognised(row: Row) -> None:
    assert not recognises(row)


def test_a_row_of_another_format_is_told_by_its_field() -> None:
    with pytest.raises(BadRowError, match=r"Expected `object`.*\$\.labels"):
        check({**LABEL_ROW, "labels": ["app"]})
