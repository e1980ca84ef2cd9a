"""Quantities compared, added and subtracted."""

from __future__ import annotations

import pytest

from berthing.api.quantity import Quantity, QuantityFormat, parse_quantity


@pytest.mark.parametrize(
    ("a", "b", "total", "difference"),
    [
        pytest.param("1", "250m", "1250m", "750m", id="different scales"),
        pytest.param("1Gi", "512Mi", "1536Mi", "512Mi", id="1024s"),
        pytest.param("1Gi", "1", "1073741825", "1073741823", id="the first one's format"),
        pytest.param("1", "1Ki", "1025", "-1023", id="the first one's format, decimal"),
        pytest.param("0", "1Ki", "1Ki", "-1Ki", id="a zero takes over the other's format"),
        pytest.param("0Ki", "1000", "1k", "-1k", id="whatever its own was"),
        pytest.param("1Ki", "0e0", "1Ki", "1Ki", id="but gives none"),
        pytest.param("1Gi", "-1Gi", "0", "2Gi", id="a negative one"),
        pytest.param("96Mi", "0.3n", "100663296000000001n", "100663295999999999n", id="a nano"),
        pytest.param(
            "9223372036854775807",
            "9223372036854775807",
            "18446744073709551614",
            "0",
            id="sums outgrow int64",
        ),
        pytest.param(
            "1E", "-1u", "999999999999999999999999u", "1000000000000000000000001u", id="far apart"
        ),
    ],
)
def test_sums_and_differences(a: str, b: str, total: str, difference: str) -> None:
    assert str(parse_quantity(a) + parse_quantity(b)) == total
    assert str(parse_quantity(a) - parse_quantity(b)) == difference


def test_a_kept_text_does_not_outlive_arithmetic() -> None:
    assert str(parse_quantity("+1Gi")) == "+1Gi"
    assert str(parse_quantity("+1Gi") + Quantity()) == "1Gi"
    assert str(-parse_quantity("+1Gi")) == "-1Gi"


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        pytest.param("-1", "-500m", -2, id="small and small"),
        pytest.param("-99999999999999999.5", "0n", -(10**17), id="a zero's scale does not count"),
        pytest.param("0n", "-99999999999999999.5", -(10**17), id="wherever the zero stands"),
    ],
)
def test_small_sums_round_away_from_zero(a: str, b: str, value: int) -> None:
    assert (parse_quantity(a) + parse_quantity(b)).value() == value


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        pytest.param("-1", "-0.5000000000", 0, id="small and big"),
        pytest.param("-1", "-0.00000000000000000000", -1, id="small and a big zero"),
        pytest.param(
            "-100000000000000000",
            "9999999999999999.99",
            -89999999999999999,
            id="a sum that fits 64 bits of numbers that do not, at one scale",
        ),
    ],
)
def test_big_sums_are_cut_and_get_one_added(a: str, b: str, value: int) -> None:
    assert (parse_quantity(a) + parse_quantity(b)).value() == value
    assert (parse_quantity(b) + parse_quantity(a)).value() == value


def test_a_sum_that_was_too_large_once_stays_big_and_rounds_as_such() -> None:
    small, large = parse_quantity("-1500m"), parse_quantity("99999999999999999k")
    there_and_back = small + large + large - large - large
    assert there_and_back == small
    assert (there_and_back.value(), small.value()) == (0, -2)


def test_sums_of_many() -> None:
    amounts = [parse_quantity(text) for text in ("100m", "0.2", "300e-3")]
    assert str(sum(amounts, Quantity())) == "600m"


@pytest.mark.parametrize(
    ("lesser", "greater"),
    [
        pytest.param("999m", "1", id="scales"),
        pytest.param("1k", "1Ki", id="1000s and 1024s"),
        pytest.param("-1", "0", id="negative"),
        pytest.param("1n", "1e300", id="far apart"),
        pytest.param("1.5Gi", "2Gi", id="big and small"),
        pytest.param("9223372036854775807", "9223372036854775808", id="beyond int64"),
    ],
)
def test_order(lesser: str, greater: str) -> None:
    a, b = parse_quantity(lesser), parse_quantity(greater)
    assert a < b
    assert a <= b
    assert b > a
    assert b >= a
    assert a != b
    assert not b < a
    assert not b <= a
    assert not a > b
    assert not a >= b
    assert max(a, b) is b


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param("1Ki", "1024", id="1024s"),
        pytest.param("0.1", "100m", id="fractions"),
        pytest.param("1E", "1e18", id="exponents"),
        pytest.param("0", "-0Ki", id="zeros"),
        pytest.param("1.5Gi", "1536Mi", id="big and small"),
        pytest.param("1", "1.0000000000000000000", id="big for its length alone"),
    ],
)
def test_equal_amounts_are_equal_however_written(a: str, b: str) -> None:
    one, other = parse_quantity(a), parse_quantity(b)
    assert one == other
    assert one <= other
    assert one >= other
    assert hash(one) == hash(other)


def test_other_things_are_no_quantities() -> None:
    one: object = parse_quantity("1")
    assert one != 1
    assert one != "1"
    for operation in ("__lt__", "__le__", "__gt__", "__ge__", "__add__", "__sub__"):
        assert getattr(one, operation)(1) is NotImplemented


def test_quantities_cannot_be_changed() -> None:
    quantity = parse_quantity("1")
    with pytest.raises(AttributeError):
        quantity.format = QuantityFormat.BINARY_SI  # type: ignore[misc]  # the point of the test
    with pytest.raises(AttributeError):
        quantity.unit = "cores"  # type: ignore[attr-defined]  # the point of the test
