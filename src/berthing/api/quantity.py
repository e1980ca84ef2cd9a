"""Resource quantities: the exact numbers behind `cpu: 100m` and `memory: 1.5Gi`.

Upstream: apimachinery/pkg/api/resource (quantity.go, amount.go, math.go, suffix.go).

An amount is held in one of two forms.  Users can tell them apart, so the forms are upstream's:

    small   an int64 and a power of ten.  What 18 digits can say: nearly everything.
            Keeps the text it was read from if that looks canonical (`+1Gi` and `5.Mi` do).
    big     a Decimal.  Longer numbers, fractions of Ki..Ei, finer than nano, and the sums that
            outgrow int64.  Reading one rounds up to a whole nano and caps Ki..Ei at int64.

value() and milli_value() round up to whole units: away from zero, except that a negative big
amount is cut towards zero and, if that lost anything, gets one added.

Differs:
- Where upstream's 64 bits overflow, its value is garbage.  Ours is the true one, capped at int64.
- A sum is exact to 100,000 digits and rounds up beyond, and exponents are not expanded into
  digits: `1e2000000000` costs nothing here and gigabytes upstream.
- A zero finer than a nano (`0e-30`) is one in nanos.  It shows in nothing but the last unit of a
  negative sum with it, read as a value.
"""

from __future__ import annotations

import decimal
import re
import reprlib
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

INT64_MAX: Final = 2**63 - 1
INT64_MIN: Final = -(2**63)


class QuantityFormat(StrEnum):
    """How an amount is written: what the suffix it was read with says."""

    DECIMAL_SI = "DecimalSI"  # 12M is 12 * 10^6
    BINARY_SI = "BinarySI"  # 12Mi is 12 * 2^20
    DECIMAL_EXPONENT = "DecimalExponent"  # 12e6


class QuantityProblem(StrEnum):
    """Why a text is no quantity, in upstream's words."""

    SHAPE = (
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )
    SUFFIX = "unable to parse quantity's suffix"
    NUMBER = "unable to parse numeric part of quantity"


class QuantityError(ValueError):
    """What was read is no quantity; `problem` is upstream's text for it, `given` what was read."""

    def __init__(self, problem: QuantityProblem, given: object) -> None:
        self.problem = problem
        self.given = given
        nearest = _nearest_quantity(given) if isinstance(given, str) else None
        advice = f"did you mean {nearest}?" if nearest else "write it like 500m, 1.5 or 2Gi"
        super().__init__(f"{problem}: got {reprlib.repr(given)}, {advice}")

    def __reduce__(self) -> tuple[type[QuantityError], tuple[QuantityProblem, object]]:
        return QuantityError, (self.problem, self.given)


def parse_quantity(text: str) -> Quantity:
    """Read a quantity, or raise QuantityError; blanks around it are not forgiven."""
    # A cluster writes few different quantities, many times each.  Only short texts are kept, so
    # that the cache stays small whatever anybody sends.
    return _parse_short(text) if len(text) <= 64 else _parse(text)


class Quantity:
    """An exact amount of a resource, with the format it is written in.

    An int counts powers of ten: `Quantity(1500, -3)` is 1.5 and prints as 1500m.  A Decimal makes
    a big amount of any size.  Quantities are never changed.  They compare by amount alone: 1Ki
    equals 1024.
    """

    __slots__ = ("_big", "_format", "_scale", "_small", "_text")

    def __init__(
        self,
        amount: int | Decimal = 0,
        scale: int = 0,
        format_: QuantityFormat = QuantityFormat.DECIMAL_SI,
        *,
        text: str = "",
    ) -> None:
        self._small = 0
        self._scale = 0
        self._big: Decimal | None = None
        self._format = format_
        self._text = text
        if isinstance(amount, int) and INT64_MIN <= amount <= INT64_MAX:
            self._small = amount
            self._scale = scale
        else:
            self._big = _EXACT.scaleb(Decimal(amount), scale)
            scale = _exponent(self._big)
        if not _NANO <= scale <= _MAX_SCALE:
            raise ValueError(f"need {_NANO} (nano) <= scale <= {_MAX_SCALE}, got scale {scale}")

    @classmethod
    def from_json(cls, value: object) -> Quantity:
        """Read what JSON or YAML decoded to: a text, blanks around it trimmed, or a bare number.

        As upstream, null is zero.  A float is read as its shortest text.
        """
        if isinstance(value, str):
            return parse_quantity(value.strip(_JSON_BLANKS))
        if value is None:
            return cls()
        if isinstance(value, int) and not isinstance(value, bool):
            # Not str(value), which refuses to write more than 4300 digits.
            return parse_quantity(str(Decimal(value)))
        if isinstance(value, float):
            return parse_quantity(repr(value).removesuffix(".0"))
        raise QuantityError(QuantityProblem.SHAPE, value)

    @property
    def format(self) -> QuantityFormat:
        """The family of suffixes it is written with."""
        return self._format

    def value(self) -> int:
        """The amount in whole units, rounded up, within int64."""
        if self._scale == 0 and self._big is None:
            return self._small
        return _within_int64(self._rounded_up(0))

    def milli_value(self) -> int:
        """The amount in thousandths, rounded up, within int64: what CPU is counted in."""
        if self._scale == _MILLI and self._big is None:
            return self._small
        return _within_int64(self._rounded_up(_MILLI))

    def value_overflows(self) -> bool:
        """Whether upstream's arithmetic overflows on the way to its Value()."""
        return self._overflows(0)

    def milli_value_overflows(self) -> bool:
        """Whether upstream's arithmetic overflows on the way to its MilliValue()."""
        return self._overflows(_MILLI)

    def as_decimal(self) -> Decimal:
        """The exact amount."""
        if self._big is not None:
            return self._big
        return _EXACT.scaleb(Decimal(self._small), self._scale)

    def sign(self) -> int:
        """-1, 0 or 1."""
        amount = self._small if self._big is None else self._big
        return (amount > 0) - (amount < 0)

    def is_zero(self) -> bool:
        """Whether the amount is nothing."""
        return not (self._small or self._big)

    def __str__(self) -> str:
        """The text it was read from if upstream takes that for canonical, else computed_text()."""
        return self._text or self.computed_text()

    def __repr__(self) -> str:
        return f"<Quantity {self}>"

    def computed_text(self) -> str:
        """The canonical text: no fraction, and the largest suffix that loses nothing.

        As upstream's, it ends without a suffix where none is large enough: 9000E gives 9.
        """
        if self.is_zero():
            return "0"
        if self._format is QuantityFormat.BINARY_SI:
            return self._binary_text() or self._decimal_text(QuantityFormat.DECIMAL_SI)
        return self._decimal_text(self._format)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._compared_to(other) == 0

    def __hash__(self) -> int:
        return hash(self.as_decimal())

    def __lt__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._compared_to(other) < 0

    def __le__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._compared_to(other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._compared_to(other) > 0

    def __ge__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._compared_to(other) >= 0

    def __add__(self, other: Quantity) -> Quantity:
        """The exact sum, in the format of the first, or of the second if the first is zero."""
        if not isinstance(other, Quantity):
            return NotImplemented
        format_ = other._format if self.is_zero() else self._format
        if self._big is None and other._big is None:
            small = _add_small(self._small, self._scale, other._small, other._scale)
            if small is not None:
                return Quantity(*small, format_)
        total = _SUMS.add(self.as_decimal(), other.as_decimal())
        return Quantity(total, format_=format_)

    def __sub__(self, other: Quantity) -> Quantity:
        """The exact difference, in the format a sum would have."""
        if not isinstance(other, Quantity):
            return NotImplemented
        return self + -other

    def __neg__(self) -> Quantity:
        if self._big is not None:
            return Quantity(self._big.copy_negate(), format_=self._format)
        return Quantity(-self._small, self._scale, self._format)

    def _compared_to(self, other: Quantity) -> int:
        if self._scale == other._scale and self._big is None and other._big is None:
            return (self._small > other._small) - (self._small < other._small)
        ours, theirs = self.as_decimal(), other.as_decimal()
        return (ours > theirs) - (ours < theirs)

    def _rounded_up(self, scale: int) -> int:
        """The amount in units of 10^scale; far beyond int64 only "beyond int64" is exact."""
        if self._big is not None:
            shifted = _EXACT.scaleb(self._big, -scale)
            if shifted and shifted.adjusted() > _INT64_DIGITS:
                return INT64_MAX + 1 if shifted > 0 else INT64_MIN - 1
            cut = int(shifted)
            return cut if cut == shifted else cut + 1
        # No int64 outlasts 19 factors of ten, up or down: more need not be computed.
        shift = self._scale - scale
        factor: int = 10 ** min(abs(shift), _INT64_DIGITS)
        if shift >= 0:
            return self._small * factor
        rounded = -(-abs(self._small) // factor)
        return rounded if self._small > 0 else -rounded

    def _overflows(self, scale: int) -> bool:
        rounded = self._rounded_up(scale)
        if not INT64_MIN <= rounded <= INT64_MAX:
            return True
        if self._big is None or self._big >= 0:
            return False
        # Upstream asks whether the number to divide is small enough for 64 bits, but a negative
        # one is always smaller than the limit, however long it is.
        return _EXACT.scaleb(self._big, -_exponent(self._big)) < INT64_MIN

    def _decimal_text(self, format_: QuantityFormat) -> str:
        if self._big is None:
            digits, exponent = str(abs(self._small)), self._scale
        else:
            digits, exponent = _digits_and_exponent(self._big)
        significant = digits.rstrip("0")
        exponent += len(digits) - len(significant)
        thousands = min(exponent - exponent % 3, _MAX_TEXT_EXPONENT)
        if format_ is QuantityFormat.DECIMAL_EXPONENT:
            suffix = f"e{thousands}" if thousands else ""
        else:
            suffix = _DECIMAL_SUFFIXES.get(thousands, "")
        zeros = "0" * (exponent - thousands)
        return f"{'-' if self.sign() < 0 else ''}{significant}{zeros}{suffix}"

    def _binary_text(self) -> str:
        """Empty where a power of 1024 would have to round, or is no help."""
        amount = self.as_decimal()
        too_long = amount.adjusted() >= _SUM_DIGITS
        if too_long or amount.copy_abs() < 1024 or amount != amount.to_integral_value():
            return ""
        mantissa = int(amount)
        twos = (mantissa & -mantissa).bit_length() - 1
        suffix = _BINARY_SUFFIXES.get(twos // 10, "")
        # Through Decimal, because str(int) refuses to write more than 4300 digits.
        return f"{Decimal(mantissa >> (twos // 10 * 10))}{suffix}"


@lru_cache(maxsize=4096)
def _parse_short(text: str) -> Quantity:
    return _parse(text)


def _parse(text: str) -> Quantity:
    shape = _SHAPE.fullmatch(text)
    if shape is None or not text:
        raise QuantityError(QuantityProblem.SHAPE, text)
    sign, whole, fraction, name = shape.groups(default="")
    suffix = _SUFFIXES.get(name) or _exponent_suffix(name)
    if suffix is None:
        raise QuantityError(QuantityProblem.SUFFIX, text)
    significant = whole.lstrip("0") or "0"
    if suffix.base == 2:
        # A power of 1024 takes three digits and a bit; of 18, that leaves 14 to play with.
        if not fraction and len(significant) + suffix.exponent * 3 // 10 <= 14:
            return _read_small(text, sign, significant, 0, suffix)
    else:
        scale = _int32(suffix.exponent - len(fraction))
        if len(significant) + len(fraction) <= 18 and scale >= _NANO:
            return _read_small(text, sign, significant + fraction, scale, suffix)
    if not (whole or fraction):
        raise QuantityError(QuantityProblem.NUMBER, text)
    return _read_big(f"{sign}{whole}{fraction}", len(fraction), suffix)


def _read_small(text: str, sign: str, digits: str, scale: int, suffix: _Suffix) -> Quantity:
    number = int(digits)
    # A guess at what a larger suffix could not say shorter.  The text is kept as it is, plus signs
    # and trailing dots included.
    if suffix.base == 2:
        canonical = number % 8 != 0
        number <<= suffix.exponent
    else:
        canonical = scale % 3 == 0 and digits[0] != "0" and not digits.endswith("000")
    if sign == "-":
        number = -number
    return Quantity(number, scale, suffix.format, text=text if canonical else "")


def _read_big(digits: str, fraction_digits: int, suffix: _Suffix) -> Quantity:
    if suffix.base == 2:
        amount = _EXACT.multiply(Decimal(f"{digits}E-{fraction_digits}"), 2**suffix.exponent)
    else:
        amount = Decimal(f"{digits}E{-_int32(fraction_digits - suffix.exponent)}")
    # Whoever asks for something gets something, if only a nano of it.  Upstream goes on in nanos
    # whatever the size; numbers that would take thousands of zeros for it are left as they are.
    if _exponent(amount) < _NANO or (amount and amount.adjusted() < 1000):
        amount = _EXACT.quantize(amount, _ONE_NANO)
    format_ = suffix.format
    if format_ is QuantityFormat.BINARY_SI:
        if amount.copy_abs() > INT64_MAX:
            amount = Decimal(INT64_MAX).copy_sign(amount)
        elif 0 < amount.copy_abs() < 1:
            format_ = QuantityFormat.DECIMAL_SI
    return Quantity(amount, format_=format_)


def _exponent_suffix(name: str) -> _Suffix | None:
    """What e3, E+3 or e-3 stand for; exponents are cut to 32 bits, as upstream's."""
    shape = _EXPONENT.fullmatch(name)
    if shape is None:
        return None
    sign, digits = shape.groups()
    digits = digits.lstrip("0") or "0"
    if len(digits) > _INT64_DIGITS:
        return None
    exponent = int(sign + digits)
    if not INT64_MIN <= exponent <= INT64_MAX:
        return None
    return _Suffix(10, _int32(exponent), QuantityFormat.DECIMAL_EXPONENT)


def _add_small(a: int, a_scale: int, b: int, b_scale: int) -> tuple[int, int] | None:
    """Add within int64 at the finer of the two scales; None where it does not fit."""
    if b == 0:
        return a, a_scale
    if a == 0:
        return b, b_scale
    if a_scale < b_scale:
        a, a_scale, b, b_scale = b, b_scale, a, a_scale
    # Nothing survives 19 factors of ten.
    a *= 10 ** min(a_scale - b_scale, _INT64_DIGITS)
    total = a + b
    if INT64_MIN <= a <= INT64_MAX and INT64_MIN <= total <= INT64_MAX:
        return total, b_scale
    return None


def _within_int64(number: int) -> int:
    return max(INT64_MIN, min(number, INT64_MAX))


def _int32(number: int) -> int:
    """Cut to 32 bits, as Go's int32()."""
    return (number + 2**31) % 2**32 - 2**31


def _digits_and_exponent(amount: Decimal) -> tuple[str, int]:
    return "".join(map(str, amount.as_tuple().digits)), _exponent(amount)


def _exponent(amount: Decimal) -> int:
    exponent = amount.as_tuple().exponent
    assert isinstance(exponent, int), "quantities are finite"
    return exponent


def _nearest_quantity(text: str) -> str | None:
    """What was likely meant by `512MB`, `1K`, `2 gib` and the like."""
    shape = _ALMOST.fullmatch(text)
    if shape is None:
        return None
    number, letters = shape.groups()
    if letters in _SUFFIXES:
        return number + letters
    bare = letters.casefold().removesuffix("b")
    # Large suffixes only: who misspells one means bytes, not thousandths.
    near = [s for s, (_, exponent, _) in _SUFFIXES.items() if exponent > 0 and s.casefold() == bare]
    return number + near[0] if near else None


# Possessive, or a long text that fails would be split in every possible way first.
_SHAPE = re.compile(r"([+-]?+)([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[+-]?+[0-9]*+)")
_EXPONENT = re.compile(r"[eE]([+-]?+)([0-9]++)")
_ALMOST = re.compile(r"\s{0,9}([+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?)\s{0,9}([A-Za-z]{0,3})\s{0,9}")


class _Suffix(NamedTuple):
    base: int
    exponent: int
    format: QuantityFormat


_DECIMAL_SUFFIXES: Final = {
    -9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E",
}  # fmt: skip
_BINARY_SUFFIXES: Final = {1: "Ki", 2: "Mi", 3: "Gi", 4: "Ti", 5: "Pi", 6: "Ei"}
_SUFFIXES: Final = {
    name: _Suffix(10, exponent, QuantityFormat.DECIMAL_SI)
    for exponent, name in _DECIMAL_SUFFIXES.items()
} | {
    name: _Suffix(2, 10 * power, QuantityFormat.BINARY_SI)
    for power, name in _BINARY_SUFFIXES.items()
}

_NANO: Final = -9
_MILLI: Final = -3
_ONE_NANO: Final = Decimal("1E-9")
_MAX_SCALE: Final = 2**31
_MAX_TEXT_EXPONENT: Final = 2**31 - 2  # the largest multiple of 3 that can be read again
_INT64_DIGITS: Final = 19

# Decimal's own limits for what takes no more room than its operands; an addition would write out
# all digits from the largest to the smallest, so additions have a limit of their own.
_EXACT: Final = decimal.Context(
    prec=decimal.MAX_PREC,
    rounding=decimal.ROUND_UP,
    Emin=decimal.MIN_EMIN,
    Emax=decimal.MAX_EMAX,
)
_SUM_DIGITS: Final = 100_000
_SUMS: Final = decimal.Context(
    prec=_SUM_DIGITS,
    rounding=decimal.ROUND_UP,
    Emin=decimal.MIN_EMIN,
    Emax=decimal.MAX_EMAX,
)

# Blanks that a JSON string can hold unescaped.  Upstream trims before it resolves escapes, so that
# it refuses "1\n".
_JSON_BLANKS: Final = (
    " \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
