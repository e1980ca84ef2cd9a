"""The edges of 64 bits, and texts that would take forever if they were taken literally."""

from __future__ import annotations

import decimal
from decimal import Decimal

import pytest

from berthing.api.quantity import (
    INT64_MAX,
    INT64_MIN,
    Quantity,
    QuantityError,
    QuantityFormat,
    QuantityProblem,
    parse_quantity,
)


@pytest.mark.parametrize(
    ("text", "value", "milli_value"),
    [
        pytest.param("9223372036854775807", INT64_MAX, INT64_MAX, id="the largest int64"),
        pytest.param(
            "9223372036854775", 9223372036854775, 9223372036854775000, id="in thousandths"
        ),
        pytest.param("9223372036854776", 9223372036854776, INT64_MAX, id="one more"),
        pytest.param("9223372036854775807.5", INT64_MAX, INT64_MAX, id="rounded up beyond int64"),
        pytest.param("1e300", INT64_MAX, INT64_MAX, id="far beyond int64"),
        pytest.param("-1e300", INT64_MIN, INT64_MIN, id="far below"),
        pytest.param("1000000000000e10", INT64_MAX, INT64_MAX, id="a short text, far beyond"),
        pytest.param("0e300", 0, 0, id="a zero is none, whatever its exponent"),
    ],
)
def test_values_saturate(text: str, value: int, milli_value: int) -> None:
    quantity = parse_quantity(text)
    assert (quantity.value(), quantity.milli_value()) == (value, milli_value)


@pytest.mark.parametrize(
    ("text", "value", "milli_value"),
    [
        pytest.param("9223372036854775807", False, True, id="the largest int64"),
        pytest.param("9223372036854775", False, False, id="the largest in thousandths"),
        pytest.param("9223372036854775807.5", True, True, id="rounded up beyond int64"),
        pytest.param("9223372036854775808", True, True, id="one more than the largest"),
        pytest.param("-1.5Ti", True, True, id="negative, and too long in nanos"),
        pytest.param("-1.5Gi", False, False, id="negative, and not too long"),
        pytest.param("-1649267441664", False, False, id="negative, but small"),
        pytest.param("-8Ei", False, True, id="negative and capped"),
        pytest.param("-6Ei", True, True, id="negative and nearly capped"),
        pytest.param("0e300", False, False, id="a zero with a large exponent"),
    ],
)
def test_where_upstream_overflows(text: str, value: bool, milli_value: bool) -> None:
    quantity = parse_quantity(text)
    assert quantity.value_overflows() is value
    assert quantity.milli_value_overflows() is milli_value


def test_a_zero_fits_whatever_its_exponent() -> None:
    assert Quantity(Decimal("0E+70")).value() == 0


def test_where_upstream_overflows_but_int64_would_do_ours_is_right() -> None:
    assert parse_quantity("-1.5Ti").value() == -3 * 2**39


def test_1024s_are_capped_at_int64_and_the_rest_is_not() -> None:
    assert str(parse_quantity("8Ei")) == "9223372036854775807"
    assert str(parse_quantity("-9999Pi")) == "-9223372036854775807"
    assert str(parse_quantity("9223372036854775808000")) == "9223372036854775808k"


def test_a_long_number_is_read_and_written_in_full() -> None:
    digits = "1234567890" * 10_000 + "1"
    quantity = parse_quantity(digits)
    assert str(quantity) == digits
    assert quantity.value() == INT64_MAX
    assert str(parse_quantity("1") - quantity) == "-1" + digits[1:-1] + "0"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0." + "0" * 100_000 + "1", "1n", id="a long fraction"),
        pytest.param("1." + "3" * 100_000, "1333333334n", id="a long fraction that rounds up"),
        pytest.param("0" * 100_000 + "7m", "0" * 100_000 + "7m", id="leading zeros, kept"),
        pytest.param("9" * 100_000 + "Ki", "9223372036854775807", id="long 1024s"),
        pytest.param("1e" + "0" * 100_000 + "4", "10e3", id="a long exponent"),
        pytest.param("1e-2000000000", "1e-9", id="nearly nothing"),
        pytest.param("12345678901234567890e-2000000000", "1e-9", id="nearly nothing, and long"),
        pytest.param("5e1999999998", "5e1999999998", id="nearly everything"),
    ],
)
def test_texts_that_ask_for_much(text: str, expected: str) -> None:
    assert str(parse_quantity(text)) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("9" * 100_000 + "x", QuantityProblem.SHAPE, id="a long number, then not"),
        pytest.param("1." * 100_000, QuantityProblem.SHAPE, id="many dots"),
        pytest.param("k" * 100_000, QuantityProblem.SUFFIX, id="a long suffix"),
        pytest.param("1e" + "9" * 100_000, QuantityProblem.SUFFIX, id="a long exponent"),
    ],
)
def test_long_texts_that_are_wrong(text: str, problem: QuantityProblem) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_quantity(text)
    assert caught.value.problem is problem


def test_huge_exponents_compare_and_add_without_their_zeros() -> None:
    huge, more = parse_quantity("1e2000000000"), parse_quantity("2e2000000000")
    assert huge < more
    assert huge + huge == more
    assert hash(huge + huge) == hash(more)
    assert huge.value() == huge.milli_value() == INT64_MAX
    assert parse_quantity("12345678901234567890e2000000000").value() == INT64_MAX


def test_sums_of_what_is_too_far_apart_round_up() -> None:
    huge = parse_quantity("1e2000000000")
    total = huge + parse_quantity("1")
    assert total > huge
    assert total.value() == INT64_MAX
    assert (parse_quantity("1Ki") + huge).value() == INT64_MAX


@pytest.mark.parametrize(
    "text", ["10e2147483647", "999999999999999000e2147483647", "1e2147483646", "-1e2147483647"]
)
def test_the_largest_exponents_can_be_read_again(text: str) -> None:
    quantity = parse_quantity(text)
    assert parse_quantity(quantity.computed_text()) == quantity


def test_long_1024s_are_written_in_full() -> None:
    million_digits = Quantity(Decimal("3E+999999"), format_=QuantityFormat.BINARY_SI)
    assert million_digits.computed_text() == "3"  # no suffix for it, in 1000s or 1024s
    long = parse_quantity("1") + Quantity(Decimal("1E+5000"))
    assert str(Quantity(long.as_decimal(), format_=QuantityFormat.BINARY_SI)) == str(long)
    assert str(Quantity(Decimal(2) ** 20 * 3, format_=QuantityFormat.BINARY_SI)) == "3Mi"


def test_the_callers_decimal_context_has_no_say() -> None:
    with decimal.localcontext(decimal.Context(prec=2, Emax=5, rounding=decimal.ROUND_DOWN)):
        small, big = parse_quantity("977m"), parse_quantity("-9876.54321Mi")
        assert (big.value(), big.milli_value()) == (-10356306171, -10356306172967)
        assert str(small - big) == "10356306173945960u"
        assert str(big - big) == "0"
        assert str(parse_quantity("123456789012345678901234567890123Ki")) == "9223372036854775807"
        assert small > big
        assert hash(small) == hash(parse_quantity("977000u"))
