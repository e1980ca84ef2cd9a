"""Taints keep pods off nodes, tolerations let them in again.

Upstream: api/core/v1/toleration.go, component-helpers/scheduling/corev1/helpers.go,
          ValidateTolerations in pkg/apis/core/validation/validation.go (v1.36.4).
Differs:  `timeAdded` is not read: eviction cares for it, placement does not, and without it equal
          taints are equal.  A Gt or Lt that is given no integers is not logged, it just does not
          tolerate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum

import msgspec

from berthing.api.field_errors import FieldError, Place, as_json, quoted
from berthing.api.names import (
    decimal_integer_errors,
    label_key_errors,
    label_value_errors,
    parse_int64,
)


class TaintEffect(StrEnum):
    """What a taint does to pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


_EFFECTS = frozenset(TaintEffect)
# The effects that rule a node out; the other one only counts against it.
HARD_EFFECTS = frozenset({TaintEffect.NO_SCHEDULE, TaintEffect.NO_EXECUTE})


class Taint(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """What keeps pods that do not tolerate it off a node."""

    key: str = ""
    value: str = ""
    effect: str = ""


class Toleration(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """Which taints a pod puts up with; an empty key or effect stands for all."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None

    def tolerates(self, taint: Taint, *, comparison_operators: bool = False) -> bool:
        """True if a pod with this toleration may ignore the taint.

        Gt and Lt work under the feature gate TaintTolerationComparisonOperators only.
        """
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        match self.operator:
            case "" | "Equal":
                return self.value == taint.value
            case "Exists":
                return True
            case "Gt" | "Lt":
                return comparison_operators and self._compares_with(taint.value)
            case _:
                return False

    def _compares_with(self, taint_value: str) -> bool:
        if decimal_integer_errors(self.value) or decimal_integer_errors(taint_value):
            return False
        try:
            bound, number = parse_int64(self.value), parse_int64(taint_value)
        except ValueError:
            return False
        return number > bound if self.operator == "Gt" else number < bound


def untolerated(
    taints: Iterable[Taint],
    tolerations: Collection[Toleration],
    effects: Collection[str],
    *,
    comparison_operators: bool = False,
) -> Iterator[Taint]:
    """The taints of these effects that none of the tolerations tolerates, in order."""
    for taint in taints:
        if taint.effect in effects and not any(
            toleration.tolerates(taint, comparison_operators=comparison_operators)
            for toleration in tolerations
        ):
            yield taint


_TOLERATIONS = Place.at("tolerations")


def toleration_errors(
    tolerations: Iterable[Toleration],
    place: Place = _TOLERATIONS,
    *,
    comparison_operators: bool = False,
) -> tuple[FieldError, ...]:
    """All that an API server has against a pod's tolerations."""
    return tuple(
        error
        for index, toleration in enumerate(tolerations)
        for error in (
            *_key_errors(toleration, place.child(index)),
            *_operator_errors(toleration, place.child(index), comparisons=comparison_operators),
            *_effect_errors(toleration, place.child(index)),
        )
    )


def _key_errors(toleration: Toleration, place: Place) -> Iterator[FieldError]:
    key, operator = toleration.key, toleration.operator
    if key:
        for complaint in label_key_errors(key):
            yield place.child("key").invalid(quoted(key), complaint)
    elif operator != "Exists":
        yield place.child("operator").invalid(
            as_json(operator),
            "operator must be Exists when `key` is empty, "
            'which means "match all values and all keys"',
        )
    if toleration.toleration_seconds is not None and toleration.effect != TaintEffect.NO_EXECUTE:
        yield place.child("effect").invalid(
            as_json(toleration.effect), "effect must be 'NoExecute' when `tolerationSeconds` is set"
        )


def _operator_errors(
    toleration: Toleration, place: Place, *, comparisons: bool
) -> Iterator[FieldError]:
    value, operator = toleration.value, toleration.operator
    # Upstream finds most faults of a value in the operator, and says Gt and Lt are supported
    # where they are not.
    operator_place = place.child("operator")
    match operator:
        case "" | "Equal":
            if complaints := label_value_errors(value):
                yield operator_place.invalid(quoted(value), ";".join(complaints))
        case "Exists":
            if value:
                complaint = "value must be empty when `operator` is 'Exists'"
                yield operator_place.invalid(quoted(value), complaint)
        case "Gt" | "Lt" if comparisons:
            yield from _number_errors(value, place.child("value"))
        case "Gt" | "Lt":
            yield operator_place.not_supported(operator, ("Equal", "Exists", "Lt", "Gt"))
        case _:
            yield operator_place.not_supported(operator, ("Equal", "Exists"))


def _number_errors(value: str, place: Place) -> Iterator[FieldError]:
    for complaint in decimal_integer_errors(value):
        yield place.invalid(quoted(value), complaint)
    try:
        parse_int64(value)
    except ValueError as error:
        yield place.invalid(quoted(value), str(error))


def _effect_errors(toleration: Toleration, place: Place) -> Iterator[FieldError]:
    if toleration.effect and toleration.effect not in _EFFECTS:
        yield place.child("effect").not_supported(toleration.effect, TaintEffect)
