from __future__ import annotations

import msgspec
import pytest

from berthing.api.field_errors import Place
from berthing.api.labels import (
    EVERYTHING,
    NOTHING,
    LabelSelector,
    LabelSelectorRequirement,
    Operator,
    Requirement,
    Selector,
    SelectorError,
    as_selector,
    checked_requirement,
    from_labels,
    requirement_errors,
)


def select(*expressions: tuple[str, str, list[str] | None], **labels: str) -> LabelSelector:
    """A selector as the API sends it."""
    return LabelSelector(
        labels,
        tuple(
            LabelSelectorRequirement(key, operator, None if values is None else tuple(values))
            for key, operator, values in expressions
        ),
    )


def test_the_wire_form_is_the_apis() -> None:
    text = b'{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"x","operator":"Exists"}]}'
    selector = msgspec.json.decode(text, type=LabelSelector)
    assert selector == select(("x", "Exists", None), app="web")
    assert msgspec.json.encode(selector) == text


def test_no_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert as_selector(None) is NOTHING
    assert as_selector(LabelSelector()) == EVERYTHING
    for labels in ({}, {"app": "web"}, {"": ""}):
        assert not NOTHING.matches(labels)
        assert EVERYTHING.matches(labels)


@pytest.mark.parametrize(
    ("selector", "labels", "expected"),
    [
        pytest.param(select(app="web"), {"app": "web", "x": "y"}, True, id="label as asked"),
        pytest.param(select(app="web"), {"app": "db"}, False, id="another value"),
        pytest.param(select(app=""), {}, False, id="an empty value is not a missing label"),
        pytest.param(
            select(app="web", x="y"), {"app": "web"}, False, id="one of two is not enough"
        ),
        pytest.param(select(("app", "In", ["a", "b"])), {"app": "b"}, True, id="In, among them"),
        pytest.param(
            select(("app", "In", ["a", "b"])), {"app": "c"}, False, id="In, not among them"
        ),
        pytest.param(select(("app", "In", ["", "b"])), {}, False, id="In, no such label"),
        pytest.param(select(("app", "NotIn", ["a"])), {"app": "a"}, False, id="NotIn, among them"),
        pytest.param(select(("app", "NotIn", ["a"])), {"app": "b"}, True, id="NotIn, another"),
        pytest.param(select(("app", "NotIn", ["a"])), {}, True, id="NotIn, no such label"),
        pytest.param(select(("app", "Exists", None)), {"app": ""}, True, id="Exists, empty value"),
        pytest.param(select(("app", "Exists", [])), {"x": ""}, False, id="Exists, no such label"),
        pytest.param(
            select(("app", "DoesNotExist", [])), {"app": ""}, False, id="DoesNotExist, it does"
        ),
        pytest.param(select(("app", "DoesNotExist", [])), {"x": ""}, True, id="DoesNotExist"),
        pytest.param(
            select(("app", "Exists", None), ("app", "DoesNotExist", None)),
            {"app": "web"},
            False,
            id="conditions that exclude each other",
        ),
    ],
)
def test_matching(selector: LabelSelector, labels: dict[str, str], expected: bool) -> None:
    assert as_selector(selector).matches(labels) is expected


@pytest.mark.parametrize(
    ("operator", "bound", "value", "expected"),
    [
        pytest.param(Operator.GREATER_THAN, "5", "6", True, id="6 > 5"),
        pytest.param(Operator.GREATER_THAN, "5", "5", False, id="5 > 5"),
        pytest.param(Operator.LESS_THAN, "5", "-6", True, id="-6 < 5"),
        pytest.param(Operator.LESS_THAN, "5", "5", False, id="5 < 5"),
        pytest.param(Operator.GREATER_THAN, "5", "10", True, id="as numbers, not as texts"),
        pytest.param(Operator.GREATER_THAN, "5", "007", True, id="leading zeros do not matter"),
        pytest.param(Operator.GREATER_THAN, "5", None, False, id="no such label"),
        pytest.param(Operator.LESS_THAN, "5", "", False, id="an empty value is no number"),
        pytest.param(Operator.GREATER_THAN, "5", "six", False, id="a word is no number"),
        pytest.param(Operator.GREATER_THAN, "5", " 6", False, id="a blank spoils a number"),
        pytest.param(Operator.GREATER_THAN, "5", "9223372036854775808", False, id="beyond 64 bits"),
        pytest.param(Operator.GREATER_THAN, "5", "٦", False, id="digits of another script"),
    ],
)
def test_comparing_numbers(
    operator: Operator, bound: str, value: str | None, expected: bool
) -> None:
    assert Requirement("cores", operator, (bound,)).admits(value) is expected


def test_a_comparison_with_several_bounds_admits_nothing() -> None:
    unchecked = Requirement("cores", Operator.GREATER_THAN, ("5", "5"))
    assert not unchecked.admits("6")
    assert not unchecked.normal().admits("6")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(select(app="web"), select(("app", "In", ["web"])), id="label or expression"),
        pytest.param(
            select(("x", "In", ["b", "a", "b"])),
            select(("x", "In", ["a", "b"])),
            id="order of values",
        ),
        pytest.param(
            select(("x", "Exists", None), ("a", "Exists", [])),
            select(("a", "Exists", None), ("x", "Exists", None)),
            id="order of conditions",
        ),
        pytest.param(
            select(("x", "Exists", None), ("x", "Exists", None)),
            select(("x", "Exists", None)),
            id="one condition twice",
        ),
    ],
)
def test_selectors_that_ask_the_same_are_equal(one: LabelSelector, other: LabelSelector) -> None:
    assert as_selector(one) == as_selector(other)
    assert hash(as_selector(one)) == hash(as_selector(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(select(app="web"), select(app="db"), id="another value"),
        pytest.param(select(app="web"), select(web="app"), id="another key"),
        pytest.param(
            select(("app", "In", ["a"])), select(("app", "NotIn", ["a"])), id="another operator"
        ),
        pytest.param(LabelSelector(), None, id="everything or nothing"),
    ],
)
def test_selectors_that_ask_different_things_are_not(
    one: LabelSelector, other: LabelSelector | None
) -> None:
    assert as_selector(one) != as_selector(other)


def test_numbers_are_equal_however_they_are_written() -> None:
    plain = Requirement("cores", Operator.LESS_THAN, ("5",))
    assert Requirement("cores", Operator.LESS_THAN, ("+05",)).normal() == plain.normal()
    assert plain.normal() != Requirement("cores", Operator.GREATER_THAN, ("5",)).normal()


def test_replicas_share_one_compiled_selector() -> None:
    assert as_selector(select(app="web")) is as_selector(select(app="web"))
    assert from_labels({"a": "1", "b": "2"}) is from_labels({"b": "2", "a": "1"})


def test_requirements_are_exposed_in_their_normal_form() -> None:
    selector = as_selector(select(("x", "NotIn", ["b", "a"]), ("x", "Exists", []), app="web"))
    assert selector.requirements == (
        Requirement("app", Operator.IN, ("web",)),
        Requirement("x", Operator.EXISTS),
        Requirement("x", Operator.NOT_IN, ("a", "b")),
    )


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param(None, "", id="nothing"),
        pytest.param(select(), "", id="everything"),
        pytest.param(select(x="", app="web"), "app=web,x=", id="labels"),
        pytest.param(
            select(("b", "In", ["z", "a", "z"]), ("a", "NotIn", ["x"])),
            "a notin (x),b in (a,z,z)",
            id="sets, by key, their values sorted, even one that is there twice",
        ),
        pytest.param(
            select(("b", "DoesNotExist", []), ("b", "Exists", []), b="1"),
            "b=1,!b,b",
            id="one key: labels first, then as written",
        ),
    ],
)
def test_the_text_form_is_upstreams(selector: LabelSelector | None, expected: str) -> None:
    assert str(as_selector(selector)) == expected


BAD_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param(
            select(("app", "in", ["a"])),
            '"in" is not a valid label selector operator',
            id="unknown operator",
        ),
        pytest.param(
            select(("app", "Gt", ["5"])),
            '"Gt" is not a valid label selector operator',
            id="an operator for nodes only",
        ),
        pytest.param(
            select(("app", "In", [])),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
            id="In without values",
        ),
        pytest.param(
            select(("app", "Exists", ["a", "<"])),
            r'[values: Invalid value: ["a","\u003c"]: values set must be empty for exists and does '
            f'not exist, values[1][app]: Invalid value: "<": {BAD_VALUE}]',
            id="Exists with values, one of them bad",
        ),
        pytest.param(
            select(("/x", "Exists", None)),
            'key: Invalid value: "/x": prefix part must be non-empty',
            id="bad key",
        ),
        pytest.param(
            LabelSelector({"b": "b!", "a": "a!"}),
            f'values[0][a]: Invalid value: "a!": {BAD_VALUE}',
            id="of two bad labels the first by name",
        ),
        pytest.param(
            select(("app", "nope", None), app="a!"),
            f'values[0][app]: Invalid value: "a!": {BAD_VALUE}',
            id="labels come before expressions",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_upstreams_words(
    selector: LabelSelector, expected: str
) -> None:
    with pytest.raises(SelectorError) as caught:
        as_selector(selector)
    assert str(caught.value) == expected


def test_an_error_in_a_field_says_which() -> None:
    with pytest.raises(SelectorError) as caught:
        as_selector(select(("app", "In", ["ok", "a b"])))
    assert [(error.path, error.field) for error in caught.value.errors] == [
        (("values", 1), "values[1][app]")
    ]


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        pytest.param(Operator.EQUALS, ("a",), [], id="one value to equal"),
        pytest.param(
            Operator.NOT_EQUALS,
            (),
            ["at.values: Invalid value: []: exact-match compatibility requires one single value"],
            id="no value to equal",
        ),
        pytest.param(
            Operator.GREATER_THAN,
            (),
            [
                "at.values: Invalid value: []: for 'Gt', 'Lt' operators, exactly one value is required"
            ],
            id="no number to compare with",
        ),
        pytest.param(
            Operator.LESS_THAN,
            ("x", "5"),
            [
                (
                    "at.values: Invalid value: [\"x\",\"5\"]: for 'Gt', 'Lt' operators, "
                    "exactly one value is required"
                ),
                (
                    "at.values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, "
                    "the value must be an integer"
                ),
            ],
            id="two, and one of them no number",
        ),
    ],
)
def test_one_requirement(operator: Operator, values: tuple[str, ...], expected: list[str]) -> None:
    errors = requirement_errors("app", operator, values, Place.at("at"))
    assert [str(error) for error in errors] == expected


def test_adding_asks_for_more() -> None:
    more = from_labels({"app": "web"}).adding(checked_requirement("x", Operator.EXISTS, ()))
    assert str(more) == "app=web,x"
    assert not more.matches({"app": "web"})
    assert more.matches({"app": "web", "x": ""})


def test_what_selects_nothing_cannot_be_added_to() -> None:
    assert NOTHING.adding(Requirement("x", Operator.EXISTS)) is NOTHING


def test_everything_and_nothing_know_what_they_are() -> None:
    assert EVERYTHING.is_everything
    assert not EVERYTHING.is_nothing
    assert NOTHING.is_nothing
    assert not NOTHING.is_everything
    assert Selector.of(()) == EVERYTHING


def test_labels_are_not_checked_when_a_selector_is_made_from_them() -> None:
    selector = from_labels({"not a key!": "not a value!"})
    assert selector.matches({"not a key!": "not a value!"})
    assert str(selector) == "not a key!=not a value!"
