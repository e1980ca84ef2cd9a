"""Quantities as JSON and YAML hold them."""

from __future__ import annotations

import msgspec
import pytest

from berthing.api.quantity import Quantity, QuantityError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("100m", "100m", id="a text"),
        pytest.param("  1Gi ", "1Gi", id="blanks around a text"),
        pytest.param("\u00a01Gi\u2003", "1Gi", id="other blanks around it"),
        pytest.param(2, "2", id="a whole number"),
        pytest.param(-3, "-3", id="a negative one"),
        pytest.param(1.5, "1500m", id="a fraction"),
        pytest.param(0.1, "100m", id="a fraction that has no end in binary"),
        pytest.param(4.0, "4", id="a fraction of nothing"),
        pytest.param(1e22, "10e21", id="a number that needs an exponent"),
        pytest.param(1e-7, "100e-9", id="a small one"),
        pytest.param(10**20 + 1, "100000000000000000001", id="a number beyond 64 bits"),
        pytest.param(10**5000 + 1, "1" + "0" * 4999 + "1", id="one beyond what Python would write"),
        pytest.param(None, "0", id="null"),
    ],
)
def test_what_is_accepted(value: object, text: str) -> None:
    assert str(Quantity.from_json(value)) == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param("", "''", id="no text"),
        pytest.param("1\n", r"'1\\n'", id="a line end, which upstream trims before resolving it"),
        pytest.param("1\x1f", r"'1\\x1f'", id="a blank to Python alone"),
        pytest.param(True, "True", id="a truth value"),
        pytest.param([1], r"\[1\]", id="a list"),
        pytest.param({"cpu": 1}, r"\{'cpu': 1\}", id="an object"),
        pytest.param(float("inf"), "'inf'", id="infinity"),
        pytest.param(float("nan"), "'nan'", id="no number"),
    ],
)
def test_what_is_refused(value: object, shown: str) -> None:
    with pytest.raises(QuantityError, match=f"must match the regular expression .* got {shown},"):
        Quantity.from_json(value)


def test_msgspec_leaves_quantities_to_its_hook() -> None:
    def read(type_: type, value: object) -> object:
        assert type_ is Quantity
        return Quantity.from_json(value)

    limits = msgspec.json.decode(
        b'{"cpu": 0.5, "memory": "1Gi"}', type=dict[str, Quantity], dec_hook=read
    )
    assert {name: str(amount) for name, amount in limits.items()} == {
        "cpu": "500m",
        "memory": "1Gi",
    }
    assert msgspec.json.encode(limits, enc_hook=str) == b'{"cpu":"500m","memory":"1Gi"}'
