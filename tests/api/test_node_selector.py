from __future__ import annotations

import msgspec
import pytest

from berthing.api.field_errors import Place
from berthing.api.labels import NOTHING
from berthing.api.node_selector import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    NodeTerms,
    PreferredSchedulingTerm,
    compile_node_selector,
    compile_preferred_terms,
    required_node_affinity,
)

ZONE = "topology.kubernetes.io/zone"


def asks(key: str, operator: str, *values: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key, operator, values)


def term(
    *expressions: NodeSelectorRequirement, fields: tuple[NodeSelectorRequirement, ...] = ()
) -> NodeSelectorTerm:
    return NodeSelectorTerm(expressions, fields)


def compiled(*terms: NodeSelectorTerm) -> NodeTerms:
    return compile_node_selector(NodeSelector(terms))


BAD = term(asks("disk", "in", "ssd"))
BAD_TEXT = (
    'nodeSelectorTerms[{}].matchExpressions[0].operator: Unsupported value: "in": '
    'supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
)


def test_the_wire_form_is_the_apis() -> None:
    text = (
        b'{"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"In",'
        b'"values":["ssd"]}],"matchFields":[{"key":"metadata.name","operator":"In",'
        b'"values":["n1"]}]}]}'
    )
    selector = msgspec.json.decode(text, type=NodeSelector)
    assert selector == NodeSelector(
        (term(asks("disk", "In", "ssd"), fields=(asks("metadata.name", "In", "n1"),)),)
    )
    assert msgspec.json.encode(selector) == text


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        pytest.param((), False, id="no terms"),
        pytest.param((term(),), False, id="a term without conditions"),
        pytest.param((term(), term(asks("disk", "Exists"))), True, id="which spoils no other"),
        pytest.param((term(asks("disk", "In", "hdd", "ssd")),), True, id="In"),
        pytest.param((term(asks("disk", "NotIn", "hdd")),), True, id="NotIn"),
        pytest.param((term(asks("gpu", "NotIn", "a100")),), True, id="NotIn, no such label"),
        pytest.param((term(asks("gpu", "DoesNotExist")),), True, id="DoesNotExist"),
        pytest.param((term(asks("cores", "Gt", "9")),), True, id="Gt compares numbers"),
        pytest.param((term(asks("cores", "Lt", "9")),), False, id="Lt"),
        pytest.param((term(asks("disk", "Gt", "9")),), False, id="Gt, a label that is no number"),
        pytest.param(
            (term(asks("disk", "Exists"), asks("gpu", "Exists")),), False, id="all conditions hold"
        ),
        pytest.param(
            (term(asks("gpu", "Exists")), term(asks("disk", "Exists"))), True, id="or another term"
        ),
        pytest.param((term(fields=(asks("metadata.name", "In", "n1"),)),), True, id="by name"),
        pytest.param(
            (term(fields=(asks("metadata.name", "NotIn", "n1"),)),), False, id="not by name"
        ),
        pytest.param(
            (term(asks("gpu", "Exists"), fields=(asks("metadata.name", "In", "n1"),)),),
            False,
            id="name and labels",
        ),
        pytest.param(
            (term(fields=(asks("metadata.name", "In", "n1"), asks("metadata.name", "In", "n2"))),),
            False,
            id="two names at once",
        ),
        pytest.param(
            (term(fields=(asks("spec.x", "In", ""),)),), True, id="other fields are empty"
        ),
        pytest.param(
            (term(fields=(asks("spec.x", "NotIn", ""),)),), False, id="never anything else"
        ),
    ],
)
def test_matching(terms: tuple[NodeSelectorTerm, ...], expected: bool) -> None:
    selector = compiled(*terms)
    assert selector.errors == ()
    assert selector.matches("n1", {"disk": "ssd", "cores": "16"}) is expected


def test_a_node_without_a_name_is_not_asked_for_its_fields() -> None:
    selector = compiled(term(asks("disk", "Exists"), fields=(asks("metadata.name", "In", "n1"),)))
    assert selector.matches("", {"disk": "ssd"})
    assert not selector.matches("", {})


def test_a_faulty_term_matches_nothing_and_stops_no_other() -> None:
    selector = compiled(BAD, term(asks("disk", "Exists")))
    assert selector.matches("n1", {"disk": "ssd"})
    assert not selector.matches("n1", {})
    assert [str(error) for error in selector.errors] == [BAD_TEXT.format(0)]
    assert selector.terms[0].labels == NOTHING


@pytest.mark.parametrize(
    ("faulty", "expected"),
    [
        pytest.param(
            term(asks("/x", "Exists")),
            [
                (
                    'nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "/x": '
                    "prefix part must be non-empty"
                )
            ],
            id="a bad key",
        ),
        pytest.param(
            term(asks("x", "In"), NodeSelectorRequirement("x", "NotIn")),
            [
                (
                    "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: []: "
                    "for 'in', 'notin' operators, values set can't be empty"
                ),
                (
                    "nodeSelectorTerms[0].matchExpressions[1].values: Invalid value: null: "
                    "for 'in', 'notin' operators, values set can't be empty"
                ),
            ],
            id="no values, given as none or not given",
        ),
        pytest.param(
            term(asks("x", "Gt", "4", "y")),
            [
                (
                    'nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: ["4","y"]: '
                    "for 'Gt', 'Lt' operators, exactly one value is required"
                ),
                (
                    'nodeSelectorTerms[0].matchExpressions[0].values[1]: Invalid value: "y": '
                    "for 'Gt', 'Lt' operators, the value must be an integer"
                ),
            ],
            id="two numbers, one of them none",
        ),
        pytest.param(
            term(
                asks("x", "exists"),
                fields=(asks("metadata.name", "Exists"), asks("metadata.name", "In", "a", "<b>")),
            ),
            [
                (
                    'nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "exists": '
                    'supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
                ),
                (
                    'nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: "Exists": '
                    'supported values: "In", "NotIn"'
                ),
                (
                    "nodeSelectorTerms[0].matchFields[1].values: Invalid value: "
                    r'["a","\u003cb\u003e"]: must have one element'
                ),
            ],
            id="labels first, then fields",
        ),
    ],
)
def test_mistakes_are_told_in_upstreams_words(
    faulty: NodeSelectorTerm, expected: list[str]
) -> None:
    selector = compiled(faulty)
    assert [str(error) for error in selector.errors] == expected
    assert not selector.matches("n1", {"x": "5"})


def test_a_negative_number_is_an_integer_but_no_label_value() -> None:
    (error,) = compiled(term(asks("x", "Gt", "-3"))).errors
    assert error.field == "nodeSelectorTerms[0].matchExpressions[0].values[0][x]"
    assert error.path == ("nodeSelectorTerms", 0, "matchExpressions", 0, "values", 0)
    assert error.message.startswith('Invalid value: "-3": a valid label must be an empty string')


def test_terms_are_counted_as_written_empty_ones_included() -> None:
    assert [str(error) for error in compiled(term(), BAD).errors] == [BAD_TEXT.format(1)]


def test_errors_say_where_a_configured_selector_stands() -> None:
    place = Place.at("args", "addedAffinity")
    (error,) = compile_node_selector(NodeSelector((BAD,)), place).errors
    assert error.field.startswith("args.addedAffinity.nodeSelectorTerms[0].")


def test_terms_that_ask_the_same_are_equal() -> None:
    one = compiled(term(asks("x", "In", "b", "a"), asks("a", "Exists")))
    other = compiled(term(asks("a", "Exists"), asks("x", "In", "a", "b", "a")))
    assert one == other
    assert hash(one) == hash(other)
    assert one != compiled(term(asks("x", "In", "a")))


def prefers(weight: int, preference: NodeSelectorTerm) -> PreferredSchedulingTerm:
    return PreferredSchedulingTerm(weight, preference)


def test_weights_of_matching_preferences_add_up() -> None:
    preferred = compile_preferred_terms(
        (
            prefers(10, term(asks("disk", "In", "ssd"))),
            prefers(5, term(asks(ZONE, "In", "a"))),
            prefers(7, term(fields=(asks("metadata.name", "In", "n1"),))),
            prefers(100, term()),
        )
    )
    assert preferred.score("n1", {"disk": "ssd", ZONE: "b"}) == 17
    assert preferred.score("n2", {"disk": "hdd", ZONE: "a"}) == 5
    assert preferred.score("n2", {}) == 0


def test_preferences_without_weight_are_not_even_checked() -> None:
    assert compile_preferred_terms((prefers(0, BAD),)).errors == ()


def test_a_faulty_preference_is_told_and_scores_nothing() -> None:
    preferred = compile_preferred_terms(
        (prefers(0, BAD), prefers(5, BAD), prefers(3, term(asks("disk", "Exists")))),
        Place.at("preferred"),
    )
    (error,) = preferred.errors
    # Upstream's text leaves out a step that the object has.
    assert error.field == "preferred[1].matchExpressions[0].operator"
    assert error.path == ("preferred", 1, "preference", "matchExpressions", 0, "operator")
    assert preferred.score("n1", {"disk": "in"}) == 3


@pytest.mark.parametrize(
    ("node_selector", "required", "expected"),
    [
        pytest.param({}, None, True, id="nothing required"),
        pytest.param({"disk": "ssd"}, None, True, id="nodeSelector"),
        pytest.param({"disk": "hdd"}, None, False, id="another nodeSelector"),
        pytest.param({}, NodeSelector(), False, id="required terms of which there are none"),
        pytest.param({}, NodeSelector((term(asks("disk", "Exists")),)), True, id="required terms"),
        pytest.param(
            {"disk": "ssd"},
            NodeSelector((term(asks("gpu", "Exists")),)),
            False,
            id="both must hold",
        ),
        pytest.param({"not a key!": ""}, None, False, id="nodeSelector is compared unchecked"),
    ],
)
def test_all_that_a_pod_requires(
    node_selector: dict[str, str], required: NodeSelector | None, expected: bool
) -> None:
    affinity = required_node_affinity(node_selector, required)
    assert affinity.matches("n1", {"disk": "ssd"}) is expected
