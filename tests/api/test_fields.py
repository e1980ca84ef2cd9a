from __future__ import annotations

import pytest

from berthing.api.fields import (
    EVERY_FIELD,
    FieldRequirement,
    FieldSelectorError,
    escape_value,
    parse_field_selector,
    unescape_value,
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        pytest.param("", "", id="nothing asked"),
        pytest.param("spec.nodeName=", "spec.nodeName=", id="an empty value"),
        pytest.param("a==b", "a=b", id="two signs become one"),
        pytest.param("a!=b", "a!=b", id="not equal"),
        pytest.param("b=1,a=2", "a=2,b=1", id="sorted"),
        pytest.param("a=z,a==b", "a=b,a=z", id="by the text, in which two signs come first"),
        pytest.param(",,a=b,", "a=b", id="commas too many"),
        pytest.param("=", "", id="nothing is always empty"),
        pytest.param("!=,a=b", "a=b", id="and asking the contrary is no different"),
        pytest.param("=x", "=x", id="a field without a name"),
        pytest.param(" a = b ", " a = b ", id="blanks count"),
        pytest.param("a!b=c", "a!b=c", id="an exclamation mark in a name"),
        pytest.param(r"a=x\,y\=z\\", r"a=x\,y\=z\\", id="escaped values"),
        pytest.param(r"a\,b=c", r"a\,b=c", id="a name is left as it is"),
    ],
)
def test_reading_and_writing(text: str, canonical: str) -> None:
    assert str(parse_field_selector(text)) == canonical


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a", "invalid selector: 'a'; can't understand 'a'", id="no sign"),
        pytest.param("a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'", id="in a part"),
        pytest.param(
            "a=b=c",
            "invalid field selector: unescaped character in value: 61",
            id="a sign in a value, told by its number",
        ),
        pytest.param(
            r"a=\b",
            r"invalid field selector: invalid escape sequence: \b",
            id="escaped for nothing",
        ),
        pytest.param(
            "a=b\\", "invalid field selector: invalid escape sequence: \\", id="nothing to escape"
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_upstreams_words(text: str, expected: str) -> None:
    with pytest.raises(FieldSelectorError) as caught:
        parse_field_selector(text)
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        pytest.param("a=b", {"a": "b"}, True, id="equal"),
        pytest.param("a=b", {"a": "c"}, False, id="not equal"),
        pytest.param("a=", {}, True, id="a missing field is empty"),
        pytest.param("a!=", {}, False, id="so it is not other than empty"),
        pytest.param("a!=b", {}, True, id="but other than anything else"),
        pytest.param("a=b,c!=d", {"a": "b", "c": "d"}, False, id="all must hold"),
        pytest.param(r"a=x\,y", {"a": "x,y"}, True, id="values are compared unescaped"),
        pytest.param("", {"a": "b"}, True, id="nothing asked"),
    ],
)
def test_matching(text: str, fields: dict[str, str], expected: bool) -> None:
    assert parse_field_selector(text).matches(fields) is expected


def test_selectors_that_ask_the_same_are_equal() -> None:
    assert parse_field_selector("a=z,a==b,a=z") == parse_field_selector("a=b,a=z")
    assert hash(parse_field_selector("a==b")) == hash(parse_field_selector("a=b"))
    assert parse_field_selector("a=b") != parse_field_selector("a!=b")
    assert parse_field_selector("=") == EVERY_FIELD


def test_requirements_are_exposed() -> None:
    selector = parse_field_selector("status.phase!=Failed,spec.nodeName=n")
    assert selector.requirements == (
        FieldRequirement("spec.nodeName", "n"),
        FieldRequirement("status.phase", "Failed", negated=True),
    )
    assert not selector.is_everything


def test_values_are_escaped_and_back() -> None:
    assert escape_value(r"a\,=") == r"a\\\,\="
    assert unescape_value(r"a\\\,\=") == r"a\,="
