"""Texts that are no quantity: upstream's reason, and what to write instead."""

from __future__ import annotations

import copy
import pickle

import pytest

from berthing.api.quantity import (
    QuantityError,
    QuantityFormat,
    QuantityProblem,
    parse_quantity,
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(" 1", id="a blank before it"),
        pytest.param("1\n", id="a line end behind it"),
        pytest.param("1.2.3", id="two dots"),
        pytest.param("1e--5", id="two signs in the exponent"),
        pytest.param("0x10", id="hexadecimal"),
        pytest.param("1_000", id="digits in groups"),
        pytest.param("512MB", id="bytes spelt out"),
        pytest.param("1e5m", id="an exponent and a suffix"),
        pytest.param("\u0663", id="a digit of another script"),
        pytest.param("NaN", id="no number"),
    ],
)
def test_the_shape_is_wrong(text: str) -> None:
    assert problem_with(text) is QuantityProblem.SHAPE


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("1K", id="a large k"),
        pytest.param("846e", id="no exponent"),
        pytest.param("1e+", id="a sign for an exponent"),
        pytest.param("1+5", id="a sum"),
        pytest.param("--1", id="two signs"),
        pytest.param("1PKi", id="two suffixes"),
        pytest.param("1ee5", id="two exponents"),
        pytest.param("Ki7", id="the suffix first"),
        pytest.param("1e9223372036854775808", id="an exponent beyond 64 bits"),
        pytest.param("1e-9223372036854775809", id="a negative one"),
    ],
)
def test_the_suffix_is_unknown(text: str) -> None:
    assert problem_with(text) is QuantityProblem.SUFFIX


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Ei", id="only a suffix"),
        pytest.param("-Pi", id="a sign and a suffix"),
        pytest.param(".e-10", id="a dot and an exponent"),
    ],
)
def test_there_is_no_number(text: str) -> None:
    assert problem_with(text) is QuantityProblem.NUMBER


@pytest.mark.parametrize("exponent", ["9223372036854775807", "-9223372036854775808", "000000003"])
def test_exponents_up_to_64_bits_are_read(exponent: str) -> None:
    assert parse_quantity(f"1e{exponent}").format is QuantityFormat.DECIMAL_EXPONENT


def test_the_text_is_upstreams_with_what_was_given() -> None:
    with pytest.raises(QuantityError) as caught:
        parse_quantity("1.5.Gi")
    assert str(caught.value) == (
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$': "
        "got '1.5.Gi', write it like 500m, 1.5 or 2Gi"
    )
    assert caught.value.given == "1.5.Gi"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        pytest.param("512MB", "512M", id="B for bytes"),
        pytest.param("4gib", "4Gi", id="small letters, b for bytes"),
        pytest.param("1K", "1k", id="a large k"),
        pytest.param("64mi", "64Mi", id="a small m"),
        pytest.param("1.5 Gi", "1.5Gi", id="a blank before the suffix"),
        pytest.param("100 m", "100m", id="thousandths stay thousandths"),
        pytest.param(" 2 ", "2", id="blanks around it"),
        pytest.param("10mb", "10M", id="mb is never thousandths"),
    ],
)
def test_what_was_probably_meant_is_told(text: str, meant: str) -> None:
    with pytest.raises(QuantityError, match=rf"did you mean {meant}\?$"):
        parse_quantity(text)
    assert parse_quantity(meant).sign() == 1


def test_a_long_text_is_told_cut() -> None:
    with pytest.raises(QuantityError) as caught:
        parse_quantity("9" * 100_000 + "x")
    assert len(str(caught.value)) < 300


def test_errors_travel_between_processes() -> None:
    with pytest.raises(QuantityError) as caught:
        parse_quantity("1K")
    for copied in (copy.copy(caught.value), pickle.loads(pickle.dumps(caught.value))):
        assert str(copied) == str(caught.value)
        assert copied.problem is QuantityProblem.SUFFIX


def problem_with(text: str) -> QuantityProblem:
    with pytest.raises(QuantityError) as caught:
        parse_quantity(text)
    return caught.value.problem
