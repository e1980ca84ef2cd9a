"""Replays recorded readings of quantities, and of pairs compared, added and subtracted.

Differs on purpose, by the rule quantity-overflow-saturates: where upstream's arithmetic overflows,
its value is garbage and ours is not.  Our own arithmetic tells where that is, and the flag the row
carries must agree.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping

from berthing.api.quantity import QuantityError, parse_quantity
from berthing.verify.outcome import BadRowError, Difference, Outcome

_SATURATES = "quantity-overflow-saturates"

Row = Mapping[str, object]
Answers = dict[str, object]


def recognises(row: Row) -> bool:
    """True for a row of a quantities or a quantity-pairs file."""
    return {"text", "canonical"} <= row.keys() or {"a", "b", "cmp"} <= row.keys()


def check(row: Row) -> Outcome:
    """Read the row's quantities and compare all there is to say about them."""
    if "text" in row:
        return _check_reading(row)
    return _check_pair(row)


def _check_reading(row: Row) -> Outcome:
    text = _text(row, "text")
    answers = _reading(text)
    differences = _differences(row, answers)
    saturated = {
        field for field, flag in _OVERFLOW_FLAGS.items() if row.get(flag) is answers[flag] is True
    }
    return Outcome(
        name=json.dumps(text),
        differences=tuple(each for each in differences if each.field not in saturated),
        on_purpose=(_SATURATES,) if any(each.field in saturated for each in differences) else (),
        unchecked=tuple(sorted(row.keys() - {"text"} - answers.keys())),
    )


_OVERFLOW_FLAGS = {"value": "valueOverflow", "milliValue": "milliValueOverflow"}


def _reading(text: str) -> Answers:
    try:
        quantity = parse_quantity(text)
    except QuantityError as error:
        return {"valid": False, "error": error.problem.value, **_NOTHING_READ}
    return {
        "valid": True,
        "error": None,
        "canonical": str(quantity),
        "computed": quantity.computed_text(),
        "value": str(quantity.value()),
        "milliValue": str(quantity.milli_value()),
        "sign": quantity.sign(),
        "format": quantity.format.value,
        "valueOverflow": quantity.value_overflows(),
        "milliValueOverflow": quantity.milli_value_overflows(),
    }


_NOTHING_READ: Answers = {
    "canonical": None,
    "computed": None,
    "value": None,
    "milliValue": None,
    "sign": None,
    "format": None,
    "valueOverflow": None,
    "milliValueOverflow": None,
}


def _check_pair(row: Row) -> Outcome:
    texts = _text(row, "a"), _text(row, "b")
    try:
        a, b = map(parse_quantity, texts)
    except QuantityError as error:
        # Only good quantities are recorded in pairs, so every answer is missing from ours.
        answers: Answers = {"cmp": str(error), "sum": None, "diff": None}
    else:
        answers = {"cmp": (a > b) - (a < b), "sum": str(a + b), "diff": str(a - b)}
    return Outcome(
        name=", ".join(map(json.dumps, texts)),
        differences=_differences(row, answers),
        unchecked=tuple(sorted(row.keys() - {"a", "b"} - answers.keys())),
    )


def _differences(row: Row, answers: Answers) -> tuple[Difference, ...]:
    return tuple(
        Difference(field, row.get(field), ours)
        for field, ours in answers.items()
        if row.get(field) != ours
    )


def _text(row: Row, field: str) -> str:
    text = row.get(field)
    if not isinstance(text, str):
        raise BadRowError(f"{field}: expected a quantity's text, got {reprlib.repr(text)}")
    return text
