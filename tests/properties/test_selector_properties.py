"""Selector algebra: what holds for all labels, whatever is asked of them."""

from __future__ import annotations

import ast
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from berthing.api.field_errors import quoted
from berthing.api.fields import (
    FieldRequirement,
    FieldSelector,
    FieldSelectorError,
    escape_value,
    parse_field_selector,
    unescape_value,
)
from berthing.api.label_syntax import parse_selector
from berthing.api.labels import (
    LabelSelector,
    LabelSelectorRequirement,
    Operator,
    Requirement,
    Selector,
    SelectorError,
    as_selector,
)
from berthing.api.names import parse_int64
from berthing.api.node_selector import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    compile_node_selector,
)
from berthing.api.taints import HARD_EFFECTS, Taint, TaintEffect, Toleration, untolerated

# Few enough that questions and labels meet.
KEYS = st.sampled_from(["app", "tier", "example.com/role", "in"])
VALUES = st.sampled_from(["", "web", "db", "5", "007", "10", "in"])
ODD_VALUES = VALUES | st.sampled_from(["-3", "+5", "\u0665", "9223372036854775808"]) | st.text()
LABELS = st.dictionaries(KEYS, ODD_VALUES)

SETS = st.sampled_from([Operator.IN, Operator.NOT_IN])
SINGLES = st.sampled_from([Operator.EQUALS, Operator.DOUBLE_EQUALS, Operator.NOT_EQUALS])
PRESENCE = st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])
COMPARISONS = st.sampled_from([Operator.GREATER_THAN, Operator.LESS_THAN])

VALID_REQUIREMENTS = st.one_of(
    st.builds(Requirement, KEYS, SETS, st.lists(VALUES, min_size=1, max_size=4).map(tuple)),
    st.builds(Requirement, KEYS, SINGLES, st.tuples(VALUES)),
    st.builds(Requirement, KEYS, PRESENCE),
    st.builds(Requirement, KEYS, COMPARISONS, st.tuples(st.sampled_from(["0", "5", "007", "10"]))),
)
ANY_REQUIREMENTS = st.builds(
    Requirement, KEYS, st.sampled_from(Operator), st.lists(ODD_VALUES, max_size=3).map(tuple)
)
SELECTORS = st.lists(VALID_REQUIREMENTS, max_size=5).map(Selector.of)


@given(ANY_REQUIREMENTS, ODD_VALUES | st.none())
def test_the_normal_form_admits_the_same(requirement: Requirement, value: str | None) -> None:
    assert requirement.normal().admits(value) is requirement.admits(value)
    assert requirement.normal().normal() == requirement.normal()


@given(SELECTORS, LABELS)
def test_a_selector_is_all_its_requirements(selector: Selector, labels: dict[str, str]) -> None:
    each = [requirement.admits(labels.get(requirement.key)) for requirement in selector.written]
    assert selector.matches(labels) is all(each)


@given(SELECTORS)
def test_what_is_written_can_be_read(selector: Selector) -> None:
    assert parse_selector(str(selector)) == selector


@given(
    st.lists(VALID_REQUIREMENTS, max_size=4).flatmap(
        lambda each: st.tuples(st.just(each), st.permutations(each))
    )
)
def test_order_does_not_matter(orders: tuple[list[Requirement], list[Requirement]]) -> None:
    one, other = map(Selector.of, orders)
    assert one == other
    assert hash(one) == hash(other)


@given(SELECTORS, SELECTORS, LABELS)
def test_adding_is_and(one: Selector, other: Selector, labels: dict[str, str]) -> None:
    both = one.adding(*other.written)
    assert both.matches(labels) is (one.matches(labels) and other.matches(labels))


@given(KEYS, st.lists(VALUES, min_size=1).map(tuple), ODD_VALUES | st.none())
def test_opposites(key: str, values: tuple[str, ...], value: str | None) -> None:
    for positive, negative in [
        (Requirement(key, Operator.IN, values), Requirement(key, Operator.NOT_IN, values)),
        (Requirement(key, Operator.EXISTS), Requirement(key, Operator.DOES_NOT_EXIST)),
    ]:
        assert positive.admits(value) is not negative.admits(value)


@given(
    st.dictionaries(KEYS, VALUES),
    st.lists(
        st.builds(
            LabelSelectorRequirement,
            KEYS,
            st.sampled_from(["In", "NotIn"]),
            st.lists(VALUES, min_size=1).map(tuple),
        )
    ).map(tuple),
    LABELS,
)
def test_one_term_on_labels_is_a_label_selector(
    match_labels: dict[str, str],
    expressions: tuple[LabelSelectorRequirement, ...],
    labels: dict[str, str],
) -> None:
    term = NodeSelectorTerm(
        tuple(NodeSelectorRequirement(key, "In", (value,)) for key, value in match_labels.items())
        + tuple(
            NodeSelectorRequirement(each.key, each.operator, each.values) for each in expressions
        )
    )
    selector = as_selector(LabelSelector(match_labels, expressions))
    compiled = compile_node_selector(NodeSelector((term,)))
    if term.is_empty:
        assert compiled.terms == ()
    else:
        assert compiled.terms[0].labels == selector
        assert compiled.matches("n1", labels) is selector.matches(labels)


@given(st.text())
def test_any_text_is_a_label_selector_or_is_refused(text: str) -> None:
    with suppress(SelectorError):
        assert parse_selector(str(parse_selector(text))) == parse_selector(text)


@given(
    st.lists(
        st.sampled_from(
            ["a", "in", "notin", "=", "==", "!=", "!", "(", ")", ",", ">", "5", " ", "\0"]
        )
    ).map("".join)
)
def test_any_symbols_are_a_label_selector_or_are_refused(text: str) -> None:
    with suppress(SelectorError):
        assert parse_selector(str(parse_selector(text))) == parse_selector(text)


@given(
    st.lists(st.sampled_from(["a", "=", "!=", "!", ",", "\\", " ", "\n"])).map("".join) | st.text()
)
def test_any_text_is_a_field_selector_or_is_refused(text: str) -> None:
    with suppress(FieldSelectorError):
        assert parse_field_selector(str(parse_field_selector(text))) == parse_field_selector(text)


@given(
    st.lists(
        st.builds(
            FieldRequirement,
            st.sampled_from(["metadata.name", "spec.nodeName"]),
            st.text(),
            st.booleans(),
        )
    )
)
def test_what_is_written_of_fields_can_be_read(requirements: list[FieldRequirement]) -> None:
    selector = FieldSelector.of(requirements)
    assert parse_field_selector(str(selector)) == selector


@given(st.text())
def test_escaping_loses_nothing(value: str) -> None:
    assert unescape_value(escape_value(value)) == value


@given(st.text())
def test_quoting_loses_nothing(text: str) -> None:
    # Python reads all of Go's escapes.
    assert ast.literal_eval(quoted(text)) == text


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 3))
def test_integers_are_read_with_zeros_in_front(number: int, zeros: int) -> None:
    sign = "-" if number < 0 else ""
    assert parse_int64(f"{sign}{'0' * zeros}{abs(number)}") == number


TAINTS = st.builds(Taint, KEYS, VALUES, st.sampled_from(TaintEffect))
TOLERATIONS = st.builds(
    Toleration,
    st.just("") | KEYS,
    st.sampled_from(["", "Equal", "Exists", "Gt", "Lt"]),
    VALUES,
    st.just("") | st.sampled_from(TaintEffect),
)


@given(st.lists(TAINTS), st.lists(TOLERATIONS), TOLERATIONS, st.booleans())
def test_a_toleration_more_leaves_no_taint_more(
    taints: list[Taint], tolerations: list[Toleration], more: Toleration, gate: bool
) -> None:
    before = list(untolerated(taints, tolerations, HARD_EFFECTS, comparison_operators=gate))
    after = untolerated(taints, [*tolerations, more], HARD_EFFECTS, comparison_operators=gate)
    left = [taint for taint in before if not more.tolerates(taint, comparison_operators=gate)]
    assert list(after) == left
