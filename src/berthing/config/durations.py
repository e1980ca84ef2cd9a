"""Spans of time as configuration files write them: Go's duration text, in whole nanoseconds.

Upstream: Go's time.ParseDuration and time.Duration.String, as metav1.Duration uses them.
Differs:  two parts of 2**63 ns each do not add up to nothing; such a text is out of range.
"""

from __future__ import annotations

import math
import re

import msgspec

_SECOND = 1_000_000_000
_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # the micro sign
    "μs": 1_000,  # the Greek letter
    "ms": 1_000_000,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
# One above the largest int64, and minus the smallest one.
_LIMIT = 2**63

# A number and everything up to the next number: whether that is a unit is told afterwards.
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)")


class Duration(msgspec.Struct, frozen=True, order=True):
    """A span of time in nanoseconds, between -2**63 and 2**63 - 1; its text is as Go writes it."""

    nanoseconds: int = 0

    @classmethod
    def parse(cls, text: str) -> Duration:
        """Read "1h30m", "1.5s" or "-287ms"; ValueError with Go's wording for anything else."""
        unsigned = text[1:] if text[:1] in {"-", "+"} else text
        if unsigned == "0":
            return cls(0)
        nanoseconds = _sum_of_parts(unsigned, text)
        if text.startswith("-"):
            return cls(-nanoseconds)
        if nanoseconds == _LIMIT:
            raise _invalid(text)
        return cls(nanoseconds)

    @classmethod
    def seconds(cls, seconds: float) -> Duration:
        """So many seconds, to the nearest nanosecond."""
        return cls(round(seconds * _SECOND))

    @classmethod
    def milliseconds(cls, milliseconds: float) -> Duration:
        """So many milliseconds, to the nearest nanosecond."""
        return cls(round(milliseconds * 1_000_000))

    @classmethod
    def minutes(cls, minutes: float) -> Duration:
        """So many minutes, to the nearest nanosecond."""
        return cls(round(minutes * 60 * _SECOND))

    @property
    def total_seconds(self) -> float:
        """The span in seconds, as asyncio and friends take it."""
        return self.nanoseconds / _SECOND

    def __str__(self) -> str:
        sign = "-" if self.nanoseconds < 0 else ""
        nanoseconds = abs(self.nanoseconds)
        if nanoseconds >= _SECOND:
            return sign + _clock_text(nanoseconds)
        for unit in ("ms", "µs", "ns"):
            if nanoseconds >= _NANOSECONDS[unit]:
                return f"{sign}{_decimal(nanoseconds, _NANOSECONDS[unit])}{unit}"
        return "0s"

    def __bool__(self) -> bool:
        """False for no time at all, which configurations take for "unset"."""
        return self.nanoseconds != 0


def _sum_of_parts(unsigned: str, text: str) -> int:
    """Nanoseconds in "1h30m", up to and including 2**63; `text` is what errors quote."""
    if not unsigned:
        raise _invalid(text)
    total = 0
    position = 0
    while position < len(unsigned):
        part = _PART.match(unsigned, position)
        assert part is not None  # every piece of the pattern may be empty
        total += _nanoseconds(part, text)
        if total > _LIMIT:
            raise _invalid(text)
        position = part.end()
    return total


def _nanoseconds(part: re.Match[str], text: str) -> int:
    whole, fraction, unit = part.group(1), part.group(2) or "", part.group(3)
    # Nineteen digits hold every int64; int() of a text of thousands would be slow, or refused.
    if not (whole or fraction) or len(whole.lstrip("0")) > 19 or int(whole or "0") > _LIMIT:
        raise _invalid(text)
    if not unit:
        raise ValueError(f"time: missing unit in duration {_quote(text)}")
    scale = _NANOSECONDS.get(unit)
    if scale is None:
        raise ValueError(f"time: unknown unit {_quote(unit)} in duration {_quote(text)}")
    return int(whole or "0") * scale + _fraction_of(scale, fraction)


def _fraction_of(scale: int, digits: str) -> int:
    """So many nanoseconds are 0.`digits` of a unit, cut to whole ones."""
    significant = digits.lstrip("0")
    # Upstream takes digits while they fit, and then multiplies as floats: that is what decides
    # the last nanosecond.
    taken = significant[:19] if int(significant[:19] or "0") <= _LIMIT else significant[:18]
    places = len(digits) - len(significant) + len(taken)
    return int(float(taken or "0") * (scale / math.prod([10.0] * min(places, 400))))


def _clock_text(nanoseconds: int) -> str:
    """As 1h0m0.5s: seconds always, minutes and hours from where they begin to count."""
    minutes = nanoseconds // (60 * _SECOND)
    text = f"{_decimal(nanoseconds % (60 * _SECOND), _SECOND)}s"
    if minutes:
        text = f"{minutes % 60}m{text}"
    if minutes >= 60:
        text = f"{minutes // 60}h{text}"
    return text


def _decimal(nanoseconds: int, scale: int) -> str:
    whole, rest = divmod(nanoseconds, scale)
    fraction = str(rest + scale)[1:].rstrip("0")
    return f"{whole}.{fraction}" if fraction else str(whole)


def _invalid(text: str) -> ValueError:
    return ValueError(f"time: invalid duration {_quote(text)}")


def _quote(text: str) -> str:
    """In quotes as Go's time package writes them: anything but plain ASCII as its bytes."""
    quoted = ""
    for character in text:
        if character in {'"', "\\"}:
            quoted += f"\\{character}"
        elif " " <= character <= "\x7f":
            quoted += character
        else:
            quoted += "".join(f"\\x{byte:02x}" for byte in character.encode(errors="replace"))
    return f'"{quoted}"'
