"""What a text means as a quantity, and how it is written again."""

from __future__ import annotations

import pytest

from berthing.api.quantity import Quantity, QuantityFormat, parse_quantity

SI = QuantityFormat.DECIMAL_SI
BINARY = QuantityFormat.BINARY_SI
EXPONENT = QuantityFormat.DECIMAL_EXPONENT


@pytest.mark.parametrize(
    ("text", "value", "milli_value"),
    [
        pytest.param("0", 0, 0, id="zero"),
        pytest.param("2", 2, 2_000, id="a plain number"),
        pytest.param("100m", 1, 100, id="thousandths, rounded up to one whole"),
        pytest.param("1001m", 2, 1_001, id="rounding up is never to nearest"),
        pytest.param("1u", 1, 1, id="millionths"),
        pytest.param("1n", 1, 1, id="a nano"),
        pytest.param("1500001n", 1, 2, id="thousandths round up too"),
        pytest.param("3k", 3_000, 3_000_000, id="k"),
        pytest.param("3M", 3_000_000, 3 * 10**9, id="M"),
        pytest.param("3G", 3 * 10**9, 3 * 10**12, id="G"),
        pytest.param("3T", 3 * 10**12, 3 * 10**15, id="T"),
        pytest.param("3P", 3 * 10**15, 3 * 10**18, id="P"),
        pytest.param("1Ki", 1024, 1_024_000, id="Ki"),
        pytest.param("1Mi", 2**20, 2**20 * 1000, id="Mi"),
        pytest.param("1Gi", 2**30, 2**30 * 1000, id="Gi"),
        pytest.param("1Ti", 2**40, 2**40 * 1000, id="Ti"),
        pytest.param("1Pi", 2**50, 2**50 * 1000, id="Pi"),
        pytest.param("1.5Gi", 3 * 2**29, 3 * 2**29 * 1000, id="a fraction of Gi"),
        pytest.param("0.1Ki", 103, 102_400, id="a fraction of Ki that is no whole number"),
        pytest.param("1e3", 1_000, 1_000_000, id="e and an exponent"),
        pytest.param("1E3", 1_000, 1_000_000, id="E and an exponent"),
        pytest.param("100e-3", 1, 100, id="a negative exponent"),
        pytest.param("12e+2", 1_200, 1_200_000, id="an exponent with a plus"),
        pytest.param("3e-4294967296", 3, 3_000, id="exponents are cut to 32 bits"),
        pytest.param("+1", 1, 1_000, id="a plus"),
        pytest.param(".25", 1, 250, id="no digit before the dot"),
        pytest.param("5.", 5, 5_000, id="no digit after it"),
        pytest.param("007", 7, 7_000, id="leading zeros"),
        pytest.param("-1500m", -2, -1_500, id="negative ones round away from zero"),
        pytest.param("-0", 0, 0, id="minus zero"),
        pytest.param("Ti", 0, 0, id="no digits at all"),
        pytest.param(".m", 0, 0, id="a dot for a number"),
        pytest.param("-", 0, 0, id="a sign for a number"),
        pytest.param("1e-10", 1, 1, id="less than a nano becomes one nano"),
        pytest.param("-2.5E-9", 1, 1, id="big negative ones are cut and get one added"),
        pytest.param(
            "-1.5000000000", 0, -1_500, id="big for its length, with nothing lost in thousandths"
        ),
    ],
)
def test_value_and_milli_value(text: str, value: int, milli_value: int) -> None:
    quantity = parse_quantity(text)
    assert (quantity.value(), quantity.milli_value()) == (value, milli_value)
    assert not quantity.value_overflows()
    assert not quantity.milli_value_overflows()


@pytest.mark.parametrize(
    ("text", "written", "computed"),
    [
        pytest.param("0", "0", "0", id="zero"),
        pytest.param("0Gi", "0", "0", id="a zero loses its suffix"),
        pytest.param("0.5", "500m", "500m", id="a fraction is written without a dot"),
        pytest.param("1.5Gi", "1536Mi", "1536Mi", id="so is one of Gi"),
        pytest.param("1000m", "1", "1", id="the largest suffix is taken"),
        pytest.param("8192Mi", "8Gi", "8Gi", id="the largest power of 1024 is taken"),
        pytest.param("12e4", "120e3", "120e3", id="exponents go by threes"),
        pytest.param("1e-7", "100e-9", "100e-9", id="negative exponents, too"),
        pytest.param("5e0", "5e0", "5", id="an exponent of zero is not written"),
        pytest.param("128E9", "128E9", "128e9", id="E is kept, but e is computed"),
        pytest.param("+1Gi", "+1Gi", "1Gi", id="a plus is kept"),
        pytest.param("5.Mi", "5.Mi", "5Mi", id="a trailing dot is kept"),
        pytest.param("87269.073815", "87269.073815", "87269073815u", id="a fraction that is kept"),
        pytest.param("0.125", "125m", "125m", id="a leading zero is not"),
        pytest.param(
            "+999999999999999999",
            "+999999999999999999",
            "999999999999999999",
            id="18 digits are small",
        ),
        pytest.param(
            "+1000000000000000001", "1000000000000000001", "1000000000000000001", id="19 are big"
        ),
        pytest.param(
            "+99999999999Ki", "+99999999999Ki", "99999999999Ki", id="11 digits of Ki are small"
        ),
        pytest.param("+100000000001Ki", "100000000001Ki", "100000000001Ki", id="12 are big"),
        pytest.param("+1.001u", "+1.001u", "1001n", id="whole nanos are small"),
        pytest.param("+1.0010u", "1001n", "1001n", id="finer ones are big"),
        pytest.param("2000", "2k", "2k", id="three zeros are not"),
        pytest.param("1023Mi", "1023Mi", "1023Mi", id="no larger suffix will do"),
        pytest.param("1025", "1025", "1025", id="a plain number gets no power of 1024"),
        pytest.param("0.5Ki", "512", "512", id="below 1Ki there are no 1024s"),
        pytest.param("0.9765625Ki", "1k", "1k", id="but 1000s"),
        pytest.param("0.1Ki", "102400m", "102400m", id="nor a power of 1024 for fractions"),
        pytest.param("9000E", "9", "9", id="upstream forgets what is beyond E"),
        pytest.param("-1.5Gi", "-1536Mi", "-1536Mi", id="negative"),
    ],
)
def test_texts(text: str, written: str, computed: str) -> None:
    quantity = parse_quantity(text)
    assert str(quantity) == written
    assert quantity.computed_text() == computed
    assert repr(quantity) == f"<Quantity {written}>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1", SI, id="plain"),
        pytest.param("10E", SI, id="exa"),
        pytest.param("1E1", EXPONENT, id="not exa"),
        pytest.param("1Ki", BINARY, id="1024s"),
        pytest.param("1.5Ki", BINARY, id="a fraction of 1024s"),
        pytest.param("0.0001Ki", SI, id="less than one of them"),
    ],
)
def test_format(text: str, expected: QuantityFormat) -> None:
    assert parse_quantity(text).format is expected


def test_sign_and_zero() -> None:
    assert [parse_quantity(text).sign() for text in ("-1m", "0Ki", "1Gi", "-1.5Gi")] == [
        -1,
        0,
        1,
        -1,
    ]
    assert [parse_quantity(text).is_zero() for text in ("-1m", "-0", "0e-30")] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        pytest.param(Quantity(), "0", id="nothing"),
        pytest.param(Quantity(1500, -3), "1500m", id="thousandths"),
        pytest.param(Quantity(3 * 2**20, format_=BINARY), "3Mi", id="1024s"),
        pytest.param(Quantity(12, 6, EXPONENT), "12e6", id="an exponent"),
        pytest.param(Quantity(2**64, format_=BINARY), "16Ei", id="beyond int64"),
    ],
)
def test_a_quantity_made_of_numbers(quantity: Quantity, text: str) -> None:
    assert str(quantity) == text


@pytest.mark.parametrize("scale", [-10, 2**31 + 1])
def test_a_scale_out_of_range_is_refused(scale: int) -> None:
    with pytest.raises(ValueError, match=f"need -9 .* got scale {scale}"):
        Quantity(1, scale)


def test_the_same_text_is_read_once_unless_it_is_long() -> None:
    assert parse_quantity("977Mi") is parse_quantity("977Mi")
    assert parse_quantity("977Mi".zfill(65)) is not parse_quantity("977Mi".zfill(65))
