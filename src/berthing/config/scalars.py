"""What a bare word means in YAML 1.1, as go-yaml v2 reads it.

Upstream: go.yaml.in/yaml/v2 resolve.go, and sigs.k8s.io/yaml, which makes JSON of the result.
          Its words for true and false, its octal numbers and its way with the numbers that do
          not fit (they turn into text) are what configurations have been written against.
"""

from __future__ import annotations

import base64
import math
import re
import struct
from datetime import date
from decimal import Decimal

import numpy as np

from berthing.config.tree import Scalar, excerpt

_TAG = "tag:yaml.org,2002:"
_STR, _BOOL, _INT, _FLOAT, _NULL = (_TAG + name for name in ("str", "bool", "int", "float", "null"))
_TIMESTAMP, _BINARY = _TAG + "timestamp", _TAG + "binary"
MERGE = _TAG + "merge"

_TRUE_WORDS = ("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE")
_FALSE_WORDS = ("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE")
_NULL_WORDS = ("", "~", "null", "Null", "NULL")
_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(_TRUE_WORDS, True),
    **dict.fromkeys(_FALSE_WORDS, False),
    **dict.fromkeys(_NULL_WORDS, None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}

_WHOLE = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]{0,19})")
_OLD_OCTAL = re.compile(r"[-+]?0[0-7]+")
# An accident of upstream's: the sign may stand behind the 0b.
_SIGNED_BINARY = re.compile(r"0b([-+][01]+)")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_STRAY_UNDERSCORE = re.compile(r"(?<![0-9])_|_(?![0-9])")
_INSTANT = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:(?:[Tt](?=.*(?:Z|[-+][0-9]{2}:[0-9]{2})$)| (?=[0-9:.]*$))"
    r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})?)?"
)
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def resolve(text: str, tag: str) -> Scalar:
    """The value of a scalar that is bare or carries a tag ("" for none); ValueError if the two disagree.

    Floats stay floats here: as mapping keys 1 and 1.0 are two.
    """
    if tag == _BINARY:
        # Bytes become text as Go's JSON writes them.
        return base64_bytes(text).decode(errors="replace")
    if tag not in {"", _BOOL, _INT, _FLOAT, _NULL, _TIMESTAMP}:
        return text
    value = _bare(text)
    if tag in {"", _tag_of(value)}:
        return value
    if tag == _FLOAT and _tag_of(value) == _INT:
        return float(value or 0)
    if tag == _TIMESTAMP and _is_instant(text):
        return text
    raise ValueError(f'"{excerpt(text)}" cannot be read as !!{tag.removeprefix(_TAG)}')


def json_value(value: Scalar) -> Scalar:
    """The value after its way through JSON: a float without a fraction is a whole number there."""
    if isinstance(value, float) and abs(value) < 1e21 and value.is_integer():
        # By way of the shortest text, whose last digits are zeros where the float ran out of them.
        return int(Decimal(repr(value)))
    return value


def key_text(value: Scalar) -> str | None:
    """The text that a key becomes in JSON; None for null and for numbers beyond int64."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float32_text(value)
    if isinstance(value, int):
        return str(value) if value < 2**63 else None
    return value


def is_octal_in_disguise(text: str, value: Scalar) -> bool:
    """Whether a mere leading zero makes the number another one than it seems: 010 is 8."""
    digits = text.lstrip("+-").replace("_", "")
    return (
        isinstance(value, int)
        and digits.isdecimal()
        and len(digits) < 30
        and int(digits) != abs(value)
    )


def base64_bytes(text: str) -> bytes:
    """Decode standard base64, in which only line ends are ignored; ValueError for other text."""
    joined = text.replace("\r", "").replace("\n", "")
    if not _BASE64.fullmatch(joined):
        raise ValueError("this is not base64")
    return base64.b64decode(joined)


def _bare(text: str) -> Scalar:
    if text in _WORDS:
        return _WORDS[text]
    if text.startswith("."):
        # Unlike elsewhere, underscores are taken here only between digits.
        stray = _STRAY_UNDERSCORE.search(text)
        return text if stray else _decimal_number(text.replace("_", ""), otherwise=text)
    if not text.startswith(tuple("+-0123456789")):
        return text
    digits = text.replace("_", "")
    whole = _whole_number(digits)
    return _decimal_number(digits, otherwise=text) if whole is None else whole


def _whole_number(digits: str) -> int | None:
    """A whole number that fits 64 bits, with or without a sign."""
    if signed := _SIGNED_BINARY.fullmatch(digits):
        number = int(signed.group(1), 2)
    elif not _WHOLE.fullmatch(digits):
        return None
    else:
        number = int(digits, 8 if _OLD_OCTAL.fullmatch(digits) else 0)
    highest = 2**63 if digits.startswith(("+", "-")) else 2**64
    return number if -(2**63) <= number < highest else None


def _decimal_number(digits: str, *, otherwise: str) -> float | str:
    if not _DECIMAL.fullmatch(digits):
        return otherwise
    number = float(digits)
    # A number too big for a float stays the text that it is.
    return otherwise if math.isinf(number) else number


def _tag_of(value: Scalar) -> str:
    match value:
        case None:
            return _NULL
        case bool():
            return _BOOL
        case int():
            return _INT
        case float():
            return _FLOAT
        case _:
            return _STR


def _is_instant(text: str) -> bool:
    parts = _INSTANT.fullmatch(text)
    if parts is None:
        return False
    year, month, day, hour, minute, second = (int(part or 0) for part in parts.groups())
    try:
        # Go knows a year 0; the calendar is the same 400 years on.
        date(year % 400 + 400, month, day)
    except ValueError:
        return False
    return hour < 24 and minute < 60 and second < 60


def _float32_text(value: float) -> str:
    """As Go's %g of a float32: 1.5, 1e+06, .inf."""
    try:
        (single,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        single = math.copysign(math.inf, value)
    if math.isnan(single):
        return ".nan"
    if math.isinf(single):
        return ".inf" if single > 0 else "-.inf"
    exponential = np.format_float_scientific(np.float32(single), trim="-", exp_digits=2)
    if -4 <= int(exponential.partition("e")[2]) < 6:
        return np.format_float_positional(np.float32(single), trim="-")
    return exponential
