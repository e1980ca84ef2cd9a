from __future__ import annotations

import msgspec
import pytest

from berthing.api.field_errors import Place
from berthing.api.taints import HARD_EFFECTS, Taint, Toleration, toleration_errors, untolerated

GPU = Taint("example.com/gpu", "a100", "NoSchedule")


def tolerate(
    key: str = "",
    operator: str = "",
    value: str = "",
    effect: str = "",
    seconds: int | None = None,
) -> Toleration:
    return Toleration(key, operator, value, effect, seconds)


def test_the_wire_form_is_the_apis() -> None:
    text = b'{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}'
    toleration = msgspec.json.decode(text, type=Toleration)
    assert toleration == tolerate("k", "Exists", "", "NoExecute", 300)
    assert msgspec.json.encode(toleration) == text


def test_taints_are_equal_whenever_they_were_added() -> None:
    early = b'{"key":"k","effect":"NoExecute","timeAdded":"2020-01-01T00:00:00Z"}'
    late = b'{"key":"k","effect":"NoExecute","timeAdded":"2024-01-01T00:00:00Z"}'
    assert msgspec.json.decode(early, type=Taint) == msgspec.json.decode(late, type=Taint)


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        pytest.param(tolerate("example.com/gpu", "Equal", "a100"), True, id="equal"),
        pytest.param(tolerate("example.com/gpu", "", "a100"), True, id="no operator means Equal"),
        pytest.param(tolerate("example.com/gpu", "Equal", "h100"), False, id="another value"),
        pytest.param(tolerate("example.com/tpu", "Equal", "a100"), False, id="another key"),
        pytest.param(tolerate("example.com/gpu", "Exists"), True, id="Exists, whatever the value"),
        pytest.param(
            tolerate("example.com/gpu", "Exists", "h100"), True, id="even against its own"
        ),
        pytest.param(tolerate(operator="Exists"), True, id="Exists without key tolerates all"),
        pytest.param(tolerate(value="a100"), True, id="Equal without key compares the value"),
        pytest.param(tolerate(operator="Exists", effect="NoSchedule"), True, id="the same effect"),
        pytest.param(tolerate(operator="Exists", effect="NoExecute"), False, id="another effect"),
        pytest.param(tolerate("example.com/gpu", "exists"), False, id="unknown operator"),
    ],
)
def test_tolerating(toleration: Toleration, expected: bool) -> None:
    assert toleration.tolerates(GPU) is expected
    assert toleration.tolerates(GPU, comparison_operators=True) is expected


@pytest.mark.parametrize(
    ("operator", "bound", "taint_value", "expected"),
    [
        pytest.param("Gt", "5", "6", True, id="6 > 5"),
        pytest.param("Gt", "5", "5", False, id="5 > 5"),
        pytest.param("Lt", "5", "-6", True, id="-6 < 5"),
        pytest.param("Lt", "5", "5", False, id="5 < 5"),
        pytest.param("Gt", "5", "10", True, id="as numbers, not as texts"),
        pytest.param("Gt", "05", "6", False, id="a leading zero in the toleration"),
        pytest.param("Gt", "5", "06", False, id="a leading zero in the taint"),
        pytest.param("Gt", "5", "", False, id="an empty value"),
        pytest.param("Lt", "5", "9223372036854775808", False, id="beyond 64 bits"),
        pytest.param("Lt", "9223372036854775808", "5", False, id="a bound beyond 64 bits"),
    ],
)
def test_comparing_under_the_gate(
    operator: str, bound: str, taint_value: str, expected: bool
) -> None:
    toleration, taint = tolerate("k", operator, bound), Taint("k", taint_value, "NoSchedule")
    assert toleration.tolerates(taint, comparison_operators=True) is expected
    assert not toleration.tolerates(taint)


def test_untolerated_taints_of_some_effects() -> None:
    soft = Taint("soft", "", "PreferNoSchedule")
    evicting = Taint("evicting", "", "NoExecute")
    taints = (soft, GPU, evicting)
    assert list(untolerated(taints, (), HARD_EFFECTS)) == [GPU, evicting]
    assert list(untolerated(taints, (), {"PreferNoSchedule"})) == [soft]
    assert list(untolerated(taints, (tolerate("evicting", "Exists"),), HARD_EFFECTS)) == [GPU]
    assert list(untolerated(taints, (tolerate(operator="Exists"),), HARD_EFFECTS)) == []


def test_untolerated_taints_heed_the_gate() -> None:
    taint, toleration = Taint("k", "6", "NoSchedule"), tolerate("k", "Gt", "5")
    assert list(untolerated([taint], [toleration], HARD_EFFECTS)) == [taint]
    assert list(untolerated([taint], [toleration], HARD_EFFECTS, comparison_operators=True)) == []


BAD_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
NUMBER_UNSUPPORTED = (
    'tolerations[0].operator: Unsupported value: "{}": '
    'supported values: "Equal", "Exists", "Lt", "Gt"'
)


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        pytest.param(tolerate("k", "Equal", "v", "NoSchedule"), [], id="a good one"),
        pytest.param(tolerate(operator="Exists"), [], id="one for everything"),
        pytest.param(
            tolerate("k", "Exists", "", "NoExecute", -5), [], id="seconds may be negative"
        ),
        pytest.param(
            tolerate("/k", "Exists"),
            ['tolerations[0].key: Invalid value: "/k": prefix part must be non-empty'],
            id="a bad key",
        ),
        pytest.param(
            tolerate(),
            [
                (
                    'tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is '
                    'empty, which means "match all values and all keys"'
                )
            ],
            id="no key and not Exists",
        ),
        pytest.param(
            tolerate("k", "Exists", "", "NoSchedule", 5),
            [
                (
                    'tolerations[0].effect: Invalid value: "NoSchedule": '
                    "effect must be 'NoExecute' when `tolerationSeconds` is set"
                )
            ],
            id="seconds without eviction",
        ),
        pytest.param(
            tolerate("k", "Equal", "-5"),
            [f'tolerations[0].operator: Invalid value: "-5": {BAD_VALUE}'],
            id="a bad value",
        ),
        pytest.param(
            tolerate("k", "Exists", "v"),
            [
                (
                    'tolerations[0].operator: Invalid value: "v": '
                    "value must be empty when `operator` is 'Exists'"
                )
            ],
            id="Exists with a value",
        ),
        pytest.param(
            tolerate("k", "<"),
            [
                (
                    r'tolerations[0].operator: Unsupported value: "\u003c": '
                    'supported values: "Equal", "Exists"'
                )
            ],
            id="unknown operator",
        ),
        pytest.param(
            tolerate("k", "Exists", "", "noschedule"),
            [
                (
                    'tolerations[0].effect: Unsupported value: "noschedule": '
                    'supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'
                )
            ],
            id="unknown effect",
        ),
    ],
)
def test_what_an_api_server_says(toleration: Toleration, expected: list[str]) -> None:
    for gate in (False, True):
        errors = toleration_errors((toleration,), comparison_operators=gate)
        assert [str(error) for error in errors] == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("-5", [], id="a number"),
        pytest.param(
            "05",
            ["must be a valid decimal integer in canonical form"],
            id="a leading zero",
        ),
        pytest.param(
            "",
            ["must be non-empty", 'strconv.ParseInt: parsing "": invalid syntax'],
            id="nothing",
        ),
        pytest.param(
            "9223372036854775808",
            ['strconv.ParseInt: parsing "9223372036854775808": value out of range'],
            id="beyond 64 bits",
        ),
    ],
)
def test_what_an_api_server_says_of_numbers(value: str, expected: list[str]) -> None:
    for operator in ("Gt", "Lt"):
        toleration = tolerate("k", operator, value)
        (off,) = toleration_errors((toleration,))
        assert str(off) == NUMBER_UNSUPPORTED.format(operator)
        on = toleration_errors((toleration,), comparison_operators=True)
        assert [str(error) for error in on] == [
            f'tolerations[0].value: Invalid value: "{value}": {text}' for text in expected
        ]


def test_errors_count_tolerations_and_say_where_they_stand() -> None:
    errors = toleration_errors(
        (tolerate(operator="Exists"), tolerate("k", "no")), Place.at("spec", "tolerations")
    )
    assert [error.path for error in errors] == [("spec", "tolerations", 1, "operator")]
