from __future__ import annotations

import pytest

from berthing.api.label_syntax import parse_selector
from berthing.api.labels import EVERYTHING, SelectorError

BAD_NAME = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
    "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        pytest.param("", "", id="nothing asked"),
        pytest.param(" \t\r\n", "", id="only blanks"),
        pytest.param("app", "app", id="exists"),
        pytest.param("!app", "!app", id="does not exist"),
        pytest.param("! app", "!app", id="a blank after the exclamation mark"),
        pytest.param("app=web", "app=web", id="equals"),
        pytest.param("app==web", "app==web", id="two signs stay two"),
        pytest.param("app != web", "app!=web", id="differs"),
        pytest.param("app=", "app=", id="equals nothing"),
        pytest.param("app=,x", "app=,x", id="equals nothing, and more"),
        pytest.param("cores>4,cores<9", "cores>4,cores<9", id="numbers"),
        pytest.param("app in (web,db)", "app in (db,web)", id="values are sorted"),
        pytest.param("app in (web,web)", "app in (web)", id="and told once"),
        pytest.param("app in(web)", "app in (web)", id="no blank before the parenthesis"),
        pytest.param("app notin ()", "app notin ()", id="no value is the empty one"),
        pytest.param("app in (,)", "app in ()", id="so are two"),
        pytest.param("app in (,web)", "app in (,web)", id="a missing value first"),
        pytest.param("app in (web,)", "app in (,web)", id="and last"),
        pytest.param("app in (a,,b)", "app in (,a,b)", id="and between"),
        pytest.param("x,app=web,!y", "app=web,x,!y", id="sorted by key"),
        pytest.param("in", "in", id="a label named as an operator"),
        pytest.param("in in (in,notin)", "in in (in,notin)", id="and values too"),
        pytest.param("notin=in", "notin=in", id="even here"),
        pytest.param("example.com/role = a.b_c", "example.com/role=a.b_c", id="qualified"),
        pytest.param("app\0", "app", id="a NUL ends a word"),
        pytest.param("app=\0web", "app=web", id="and a sign"),
        pytest.param("app \0,!!(", "app", id="and everything, if it stands alone"),
    ],
)
def test_reading_and_writing(text: str, canonical: str) -> None:
    assert str(parse_selector(text)) == canonical


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(",", "found ',', expected: !, identifier, or 'end of string'", id="comma"),
        pytest.param("(a)", "found '(', expected: !, identifier, or 'end of string'", id="set"),
        pytest.param("a,", "found '', expected: identifier after ','", id="comma at the end"),
        pytest.param("a,,b", "found ',', expected: identifier after ','", id="two commas"),
        pytest.param("a=b c", "found 'c', expected: ',' or 'end of string'", id="no comma"),
        pytest.param("!a in (b)", "found 'in', expected: ',' or 'end of string'", id="not in"),
        pytest.param(
            "a b",
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
            id="no operator",
        ),
        pytest.param("!", "unable to parse requirement: found '', expected: identifier", id="!"),
        pytest.param(
            "a=(", "unable to parse requirement: found '(', expected: identifier", id="no value"
        ),
        pytest.param(
            "a in b", "unable to parse requirement: found 'b' expected: '('", id="no parenthesis"
        ),
        pytest.param(
            "a in (=",
            "unable to parse requirement: found '=', expected: ',', ')' or identifier",
            id="a sign in a set",
        ),
        pytest.param(
            "a in (b",
            "unable to parse requirement: found '', expected: ',' or ')'",
            id="a set without end",
        ),
        pytest.param(
            "a in (,",
            "unable to parse requirement: found '', expected: ',', or identifier",
            id="a set that ends in a comma",
        ),
        pytest.param(
            "-a",
            f'unable to parse requirement: <nil>: Invalid value: "-a": {BAD_NAME}',
            id="a bad key",
        ),
        pytest.param(
            "a>b",
            'unable to parse requirement: values[0]: Invalid value: "b": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
            id="a comparison with a word",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_upstreams_words(text: str, expected: str) -> None:
    with pytest.raises(SelectorError) as caught:
        parse_selector(text)
    assert str(caught.value) == expected


def test_spellings_of_one_question_are_equal() -> None:
    assert parse_selector("app=web") == parse_selector("app==web") == parse_selector("app in (web)")
    assert parse_selector("app!=web") == parse_selector("app notin (web)")
    assert parse_selector("") == EVERYTHING


def test_a_parsed_selector_matches() -> None:
    selector = parse_selector("app in (web, db), !canary, tier!=test, cores>4")
    assert selector.matches({"app": "db", "cores": "10"})
    assert not selector.matches({"app": "db", "cores": "10", "canary": ""})
    assert not selector.matches({"app": "db", "cores": "10", "tier": "test"})
    assert not selector.matches({"app": "db", "cores": "4"})
    assert not selector.matches({"cores": "10"})
