from __future__ import annotations

import pytest

from berthing.api.field_errors import ROOT, Place, aggregate, as_json, quoted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("web", '"web"', id="plain text only gets quotes"),
        pytest.param('a"b\\c', r'"a\"b\\c"', id="quotes and backslashes are escaped"),
        pytest.param(
            "\a\b\f\n\r\t\v", r'"\a\b\f\n\r\t\v"', id="controls with a letter of their own"
        ),
        pytest.param("\0\x1b\x7f", r'"\x00\x1b\x7f"', id="other controls in two digits"),
        pytest.param("\x85\xad\u2028", r'"\u0085\u00ad\u2028"', id="what shows nothing, in four"),
        pytest.param("\U000e0001", r'"\U000e0001"', id="and in eight"),
        pytest.param("é٥中😀", '"é٥中😀"', id="letters of any script stay"),
    ],
)
def test_texts_are_quoted_as_go_does(text: str, expected: str) -> None:
    assert quoted(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, "null", id="a list that is not there"),
        pytest.param((), "[]", id="an empty list"),
        pytest.param(("a", "b"), '["a","b"]', id="no blanks between values"),
        pytest.param("<&>", r'"\u003c\u0026\u003e"', id="safe to paste into HTML"),
        pytest.param("\u2028é\x1f", '"\\u2028é\\u001f"', id="line separators and controls"),
    ],
)
def test_other_values_are_shown_as_go_writes_json(value: object, expected: str) -> None:
    assert as_json(value) == expected


def test_a_place_says_where_it_is_and_how_upstream_writes_it() -> None:
    values = Place.at("terms", 0).unwritten("preference").child("matchExpressions", 1, "values", 2)
    error = values.noting("app").invalid('"!"', "is odd")
    assert error.path == ("terms", 0, "preference", "matchExpressions", 1, "values", 2)
    assert error.field == "terms[0].matchExpressions[1].values[2][app]"
    assert str(error) == 'terms[0].matchExpressions[1].values[2][app]: Invalid value: "!": is odd'


def test_a_place_may_start_with_an_index() -> None:
    assert ROOT.child(3, "key").field == "[3].key"


def test_an_error_without_a_place_names_none() -> None:
    assert str(ROOT.invalid('"!"', "is odd")) == '<nil>: Invalid value: "!": is odd'


def test_an_unknown_word_comes_with_the_known_ones() -> None:
    error = Place.at("effect").not_supported("<never>", ("NoSchedule", "NoExecute"))
    assert str(error) == (
        r'effect: Unsupported value: "\u003cnever\u003e": '
        'supported values: "NoSchedule", "NoExecute"'
    )


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        pytest.param(["one"], "one", id="one error stands alone"),
        pytest.param(["one", "two"], "[one, two]", id="several stand in brackets"),
        pytest.param(["one", "two", "one"], "[one, two]", id="none is told twice"),
        pytest.param(["one", "one"], "one", id="the same twice is one"),
    ],
)
def test_errors_are_joined_into_one_text(errors: list[str], expected: str) -> None:
    assert aggregate(errors) == expected
