"""Label selectors: the API's objects and the value they compile to; label_syntax reads the text.

Upstream: apimachinery/pkg/labels/selector.go, apis/meta/v1/helpers.go (v1.36.4).
Differs:  requirements on one label keep the order they came in, where upstream's sort mixes them
          up from the thirteenth on; of several bad matchLabels the first by name is reported,
          not one at random.

A compiled selector is a set of requirements that must all hold.  Each is a question about one
label, `requirement.admits(value)`, so whoever has many objects can ask once per distinct value.
Selectors that ask the same are equal, however they were written: `app=web` and
`app in (web,web)` are one key in a dict, and each still shows as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

import msgspec

from berthing.api.field_errors import ROOT, FieldError, Place, aggregate, as_json, quoted
from berthing.api.names import label_key_errors, label_value_errors, parse_int64


class LabelSelectorRequirement(
    msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False
):
    """One condition on one label, as the API writes it."""

    key: str = ""
    operator: str = ""
    # None where unset: upstream's messages tell `null` from `[]`.
    values: tuple[str, ...] | None = None


class LabelSelector(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """What objects to select by label: all conditions must hold; empty selects everything."""

    match_labels: dict[str, str] = msgspec.field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class SelectorError(ValueError):
    """A selector that makes no sense; `errors` says which fields are to blame, if any are."""

    def __init__(self, message: str, errors: tuple[FieldError, ...] = ()) -> None:
        super().__init__(message)
        self.errors = errors


class Operator(StrEnum):
    """How a requirement compares; the spelling is that of upstream's internal type."""

    IN = "in"
    NOT_IN = "notin"
    EQUALS = "="
    DOUBLE_EQUALS = "=="
    NOT_EQUALS = "!="
    EXISTS = "exists"
    DOES_NOT_EXIST = "!"
    GREATER_THAN = "gt"
    LESS_THAN = "lt"


class Requirement(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """A question about one label."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def admits(self, value: str | None) -> bool:
        """True if the label may have this value; None stands for an object without the label."""
        match self.operator:
            case Operator.IN | Operator.EQUALS | Operator.DOUBLE_EQUALS:
                return value in self.values
            case Operator.NOT_IN | Operator.NOT_EQUALS:
                return value not in self.values
            case Operator.EXISTS:
                return value is not None
            case Operator.DOES_NOT_EXIST:
                return value is None
            case Operator.GREATER_THAN | Operator.LESS_THAN:
                return value is not None and self._admits_number(value)

    def _admits_number(self, value: str) -> bool:
        try:
            number, (bound,) = parse_int64(value), map(parse_int64, self.values)
        except ValueError:
            # Of labels nobody promised integers: such objects are just not admitted.
            return False
        return number > bound if self.operator is Operator.GREATER_THAN else number < bound

    def normal(self) -> Requirement:
        """The one spelling that all requirements with the same answers share."""
        match self.operator:
            case Operator.IN | Operator.EQUALS | Operator.DOUBLE_EQUALS:
                return Requirement(self.key, Operator.IN, _distinct(self.values))
            case Operator.NOT_IN | Operator.NOT_EQUALS:
                return Requirement(self.key, Operator.NOT_IN, _distinct(self.values))
            case Operator.EXISTS | Operator.DOES_NOT_EXIST:
                return Requirement(self.key, self.operator)
            case Operator.GREATER_THAN | Operator.LESS_THAN:
                values = tuple(map(_normal_number, self.values))
                return Requirement(self.key, self.operator, values)

    def __str__(self) -> str:
        values = ",".join(sorted(self.values))
        match self.operator:
            case Operator.EXISTS:
                return self.key
            case Operator.DOES_NOT_EXIST:
                return f"!{self.key}"
            case Operator.IN | Operator.NOT_IN:
                return f"{self.key} {self.operator} ({values})"
            case Operator.GREATER_THAN:
                return f"{self.key}>{values}"
            case Operator.LESS_THAN:
                return f"{self.key}<{values}"
            case Operator.EQUALS | Operator.DOUBLE_EQUALS | Operator.NOT_EQUALS:
                return f"{self.key}{self.operator}{values}"


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(values)))


def _normal_number(text: str) -> str:
    try:
        return str(parse_int64(text))
    except ValueError:
        return text


@dataclass(frozen=True, slots=True)
class Selector:
    """Requirements that must all hold.

    `requirements` are normal, sorted and distinct; `written` are the same as they were given,
    sorted by key only, and do not count when selectors are compared.
    """

    requirements: tuple[Requirement, ...]
    written: tuple[Requirement, ...] = field(compare=False, repr=False)

    @classmethod
    def of(cls, requirements: Iterable[Requirement]) -> Selector:
        """Join requirements; with none, everything is selected."""
        written = tuple(sorted(requirements, key=lambda requirement: requirement.key))
        return cls(tuple(sorted({requirement.normal() for requirement in written})), written)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """True if an object with these labels is selected."""
        for requirement in self.requirements:
            if not requirement.admits(labels.get(requirement.key)):
                return False
        return True

    def adding(self, *requirements: Requirement) -> Selector:
        """A selector that asks for more; what selects nothing goes on selecting nothing."""
        return self if self.is_nothing else Selector.of((*self.written, *requirements))

    @property
    def is_everything(self) -> bool:
        """True if nothing is asked for."""
        return not self.requirements

    @property
    def is_nothing(self) -> bool:
        """True if this is `NOTHING`; other selectors may select nothing, but do not know."""
        return self == NOTHING

    def __str__(self) -> str:
        return "" if self.is_nothing else ",".join(map(str, self.written))


EVERYTHING = Selector.of(())
# A question that has no good answer, so that nobody needs to treat this selector apart.
NOTHING = Selector.of((Requirement("", Operator.IN),))

# Replicas bring the same selector again and again: they share one compiled value.
_CACHED_SELECTORS = 4096


def as_selector(selector: LabelSelector | None) -> Selector:
    """Compile the API's object; a missing one selects nothing, an empty one everything.

    Raises SelectorError at the first mistake, as upstream stops there.
    """
    if selector is None:
        return NOTHING
    return _compiled(tuple(sorted(selector.match_labels.items())), selector.match_expressions)


@lru_cache(maxsize=_CACHED_SELECTORS)
def _compiled(
    match_labels: tuple[tuple[str, str], ...],
    match_expressions: tuple[LabelSelectorRequirement, ...],
) -> Selector:
    requirements = [
        checked_requirement(key, Operator.EQUALS, (value,)) for key, value in match_labels
    ]
    requirements += map(_compiled_expression, match_expressions)
    return Selector.of(requirements)


_OPERATORS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}


def _compiled_expression(expression: LabelSelectorRequirement) -> Requirement:
    operator = _OPERATORS.get(expression.operator)
    if operator is None:
        message = f"{quoted(expression.operator)} is not a valid label selector operator"
        raise SelectorError(message)
    # Upstream copies the list here, which turns an empty one into null in its messages.
    return checked_requirement(expression.key, operator, expression.values or None)


def from_labels(labels: Mapping[str, str]) -> Selector:
    """Select what has all these labels; they are not checked, just compared."""
    return _from_pairs(tuple(sorted(labels.items())))


@lru_cache(maxsize=_CACHED_SELECTORS)
def _from_pairs(labels: tuple[tuple[str, str], ...]) -> Selector:
    return Selector.of(Requirement(key, Operator.EQUALS, (value,)) for key, value in labels)


def checked_requirement(
    key: str, operator: Operator, values: tuple[str, ...] | None
) -> Requirement:
    """Make one requirement; raises SelectorError with all that is wrong with it."""
    errors = requirement_errors(key, operator, values)
    if errors:
        raise SelectorError(aggregate(errors), errors)
    return Requirement(key, operator, values or ())


def requirement_errors(
    key: str, operator: Operator, values: tuple[str, ...] | None, place: Place = ROOT
) -> tuple[FieldError, ...]:
    """All that is wrong with one requirement, before it is made."""
    values_place = place.child("values")
    errors = list(key_errors(key, place.child("key")))
    if complaint := _count_complaint(operator, len(values or ())):
        errors.append(values_place.invalid(as_json(values), complaint))
    for index, value in enumerate(values or ()):
        if operator in (Operator.GREATER_THAN, Operator.LESS_THAN) and not _is_int64(value):
            complaint = "for 'Gt', 'Lt' operators, the value must be an integer"
            errors.append(values_place.child(index).invalid(quoted(value), complaint))
    for index, value in enumerate(values or ()):
        if complaints := label_value_errors(value):
            value_place = values_place.child(index).noting(key)
            errors.append(value_place.invalid(quoted(value), "; ".join(complaints)))
    return tuple(errors)


def key_errors(key: str, place: Place = ROOT) -> tuple[FieldError, ...]:
    """What is wrong with the key of a requirement, in one error."""
    complaints = label_key_errors(key)
    return (place.invalid(quoted(key), "; ".join(complaints)),) if complaints else ()


def _count_complaint(operator: Operator, count: int) -> str:
    match operator:
        case Operator.IN | Operator.NOT_IN:
            return "" if count else "for 'in', 'notin' operators, values set can't be empty"
        case Operator.EXISTS | Operator.DOES_NOT_EXIST:
            return "values set must be empty for exists and does not exist" if count else ""
        case Operator.GREATER_THAN | Operator.LESS_THAN:
            return "" if count == 1 else "for 'Gt', 'Lt' operators, exactly one value is required"
        case Operator.EQUALS | Operator.DOUBLE_EQUALS | Operator.NOT_EQUALS:
            return "" if count == 1 else "exact-match compatibility requires one single value"


def _is_int64(text: str) -> bool:
    try:
        parse_int64(text)
    except ValueError:
        return False
    return True
