"""What holds for any quantity, and for any text that may be one."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from berthing.api.quantity import (
    INT64_MAX,
    INT64_MIN,
    Quantity,
    QuantityError,
    QuantityFormat,
    parse_quantity,
)

DIGITS = "0123456789"
NUMBERS = st.from_regex(r"[+-]?([0-9]{1,40}(\.[0-9]{0,25})?|\.[0-9]{1,25})", fullmatch=True)
DECIMAL_SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E"]
BINARY_SUFFIXES = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
EXPONENTS = st.builds("{}{}".format, st.sampled_from("eE"), st.integers(-60, 60))
SUFFIXES = st.sampled_from(DECIMAL_SUFFIXES + BINARY_SUFFIXES) | EXPONENTS

TEXTS = st.builds("".join, st.tuples(NUMBERS, SUFFIXES))
QUANTITIES = TEXTS.map(parse_quantity)
SHORT_QUANTITIES = st.builds(
    "".join,
    st.tuples(
        st.integers(-(10**9), 10**9).map(str),
        st.sampled_from(["m", "", "k", "M", "Ki", "Mi", "Gi", "e3"]),
    ),
).map(parse_quantity)
ANY_QUANTITIES = QUANTITIES | SHORT_QUANTITIES

NANO = Fraction(1, 10**9)


def exact(quantity: Quantity) -> Fraction:
    return Fraction(quantity.as_decimal())


def meant(text: str) -> Fraction:
    """The number a text stands for, worked out in another way."""
    for power, suffix in enumerate(BINARY_SUFFIXES, 1):
        if text.endswith(suffix):
            return Fraction(Decimal(text.removesuffix(suffix))) * Fraction(1024) ** power
    for power, suffix in zip(range(-9, 21, 3), ["n", "u", "m", "", *"kMGTPE"], strict=True):
        if suffix and text.endswith(suffix):
            return Fraction(Decimal(f"{text.removesuffix(suffix)}e{power}"))
    return Fraction(Decimal(text))


def loses_its_suffix(quantity: Quantity) -> bool:
    """What upstream writes wrongly: with more zeros than there are suffixes for."""
    return (
        quantity.format is not QuantityFormat.DECIMAL_EXPONENT
        and not quantity.is_zero()
        and exact(quantity) % 10**21 == 0
    )


WRITABLE = ANY_QUANTITIES.filter(lambda quantity: not loses_its_suffix(quantity))


@given(TEXTS)
def test_reading_loses_nothing_above_a_nano_and_below_int64(text: str) -> None:
    quantity, number = parse_quantity(text), meant(text)
    if text.endswith("i") and abs(number) > INT64_MAX:
        assert abs(exact(quantity)) == INT64_MAX
        return
    nanos = number / NANO
    away_from_zero = ceil(nanos) if nanos >= 0 else -ceil(-nanos)
    assert exact(quantity) == away_from_zero * NANO
    assert quantity.sign() == (number > 0) - (number < 0)


@given(WRITABLE)
def test_what_is_written_reads_as_the_same(quantity: Quantity) -> None:
    assert parse_quantity(str(quantity)) == quantity
    assert parse_quantity(quantity.computed_text()) == quantity


@given(WRITABLE)
def test_writing_is_stable(quantity: Quantity) -> None:
    once = parse_quantity(str(quantity))
    # Without a suffix, 1024s and exponents turn into plain numbers: 3000 of Ki are 3k from then on.
    if once.format is quantity.format:
        assert str(once) == str(quantity)
        assert once.computed_text() == quantity.computed_text()
    twice = parse_quantity(str(once))
    assert str(twice) == str(once)
    assert twice.computed_text() == once.computed_text()


@given(ANY_QUANTITIES, ANY_QUANTITIES)
def test_order_is_that_of_the_amounts(a: Quantity, b: Quantity) -> None:
    assert (a < b) == (exact(a) < exact(b))
    assert (a <= b) == (exact(a) <= exact(b))
    assert (a == b) == (exact(a) == exact(b))
    assert (a > b) == (b < a)
    assert (a >= b) == (b <= a)
    assert a != b or hash(a) == hash(b)


@given(ANY_QUANTITIES, ANY_QUANTITIES)
def test_sums_and_differences_are_those_of_the_amounts(a: Quantity, b: Quantity) -> None:
    assert exact(a + b) == exact(a) + exact(b)
    assert exact(a - b) == exact(a) - exact(b)
    assert a + b == b + a
    assert a + b - b == a
    assert -(a - b) == b - a


@given(ANY_QUANTITIES, ANY_QUANTITIES, ANY_QUANTITIES)
def test_sums_do_not_depend_on_the_order(a: Quantity, b: Quantity, c: Quantity) -> None:
    assert (a + b) + c == a + (b + c)


@given(ANY_QUANTITIES, ANY_QUANTITIES)
def test_sums_have_the_format_of_the_first_that_is_not_zero(a: Quantity, b: Quantity) -> None:
    assert (a + b).format is (b if a.is_zero() else a).format
    assert (a - b).format is (b if a.is_zero() else a).format


@given(ANY_QUANTITIES)
def test_values_round_up_and_stay_within_int64(quantity: Quantity) -> None:
    amount = exact(quantity)
    for ours, scaled in ((quantity.value(), amount), (quantity.milli_value(), amount * 1000)):
        assert INT64_MIN <= ours <= INT64_MAX
        if scaled > INT64_MAX:
            assert ours == INT64_MAX
        elif scaled >= 0:
            assert ours == ceil(scaled)
        elif scaled >= INT64_MIN:
            # Negative ones round away from zero if small; big ones are cut and get one added.
            assert abs(ours - ceil(scaled)) <= 1
        else:
            assert ours == INT64_MIN


@given(ANY_QUANTITIES)
def test_positive_values_overflow_where_they_do_not_fit(quantity: Quantity) -> None:
    if quantity.sign() >= 0:
        assert quantity.value_overflows() == (ceil(exact(quantity)) > INT64_MAX)
        assert quantity.milli_value_overflows() == (ceil(exact(quantity) * 1000) > INT64_MAX)


@given(st.integers(INT64_MIN, INT64_MAX), st.integers(-9, 30), st.sampled_from(QuantityFormat))
def test_a_quantity_made_of_numbers_is_that_number(
    unscaled: int, scale: int, format_: QuantityFormat
) -> None:
    small = Quantity(unscaled, scale, format_)
    assert exact(small) == unscaled * Fraction(10) ** scale
    big = Quantity(Decimal(unscaled).scaleb(scale, Context(prec=60)), format_=format_)
    assert big == small
    assert big.computed_text() == small.computed_text()


@given(st.text(alphabet=DIGITS + "+-.eEinumkKMGTP \nx", max_size=12) | st.text(max_size=8))
def test_any_text_is_a_quantity_or_says_why_not(text: str) -> None:
    answer = read(text)
    if isinstance(answer, QuantityError):
        assert answer.given == text
        assert str(answer).startswith(answer.problem)
    else:
        assert (answer.sign() < 0) <= text.startswith("-")


def read(text: str) -> Quantity | QuantityError:
    try:
        return parse_quantity(text)
    except QuantityError as error:
        return error


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=0, max_value=1e300))
def test_a_float_is_its_shortest_text(number: float) -> None:
    assert Quantity.from_json(number) == parse_quantity(repr(number))
