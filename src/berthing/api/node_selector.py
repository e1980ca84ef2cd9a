"""Node selectors: which nodes a pod must run on, and which it would rather.

Upstream: component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go (v1.36.4).
Differs:  nowhere a user can see.

Compiling never fails.  A term with a mistake matches nothing and keeps its errors: a configured
affinity is refused if there are any, a pod's is not, and they are told if no other term matches.

A term without conditions is left out, so a selector without terms matches nothing.  Conditions
on fields know one field, `metadata.name`; any other is empty, and a node without a name is let
through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import msgspec

from berthing.api.field_errors import ROOT, FieldError, Place, as_json
from berthing.api.fields import EVERY_FIELD, FieldRequirement, FieldSelector
from berthing.api.labels import (
    EVERYTHING,
    NOTHING,
    Operator,
    Requirement,
    Selector,
    from_labels,
    requirement_errors,
)


class NodeSelectorRequirement(
    msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False
):
    """One condition on one label (or field) of a node, as the API writes it."""

    key: str = ""
    operator: str = ""
    # None where unset: upstream's messages tell `null` from `[]`.
    values: tuple[str, ...] | None = None


class NodeSelectorTerm(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """Conditions that must all hold; a term without any matches nothing."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if there are no conditions at all."""
        return not self.match_expressions and not self.match_fields


class NodeSelector(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """Terms of which one must match."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(
    msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False
):
    """A term, and what a node is worth that matches it."""

    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeTerm(msgspec.Struct, frozen=True):
    """One term, compiled; one with errors asks what no node can answer."""

    labels: Selector
    fields: FieldSelector
    errors: tuple[FieldError, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """True if the node of this name, with these labels, meets all conditions."""
        if not self.labels.matches(labels):
            return False
        return not name or self.fields.matches({"metadata.name": name})


class NodeTerms(msgspec.Struct, frozen=True):
    """Terms of which one must match."""

    terms: tuple[NodeTerm, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """True if the node of this name, with these labels, matches some term."""
        return any(term.matches(name, labels) for term in self.terms)

    @property
    def errors(self) -> tuple[FieldError, ...]:
        """What is wrong with the terms: of all of them, whatever matches."""
        return tuple(error for term in self.terms for error in term.errors)


class PreferredTerm(msgspec.Struct, frozen=True):
    """A term, and what a node is worth that matches it."""

    weight: int
    term: NodeTerm


class PreferredTerms(msgspec.Struct, frozen=True):
    """Terms that add up."""

    terms: tuple[PreferredTerm, ...] = ()

    def score(self, name: str, labels: Mapping[str, str]) -> int:
        """The weights of the terms that the node of this name, with these labels, matches."""
        return sum(each.weight for each in self.terms if each.term.matches(name, labels))

    @property
    def errors(self) -> tuple[FieldError, ...]:
        """What is wrong with the terms.  Upstream scores nothing at all if there is anything."""
        return tuple(error for each in self.terms for error in each.term.errors)


class RequiredNodeAffinity(msgspec.Struct, frozen=True):
    """All that a pod requires of its node: `nodeSelector` and required affinity."""

    labels: Selector = EVERYTHING
    terms: NodeTerms | None = None

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """True if the pod may run on the node of this name, with these labels."""
        if not self.labels.matches(labels):
            return False
        return self.terms is None or self.terms.matches(name, labels)


def required_node_affinity(
    node_selector: Mapping[str, str], required: NodeSelector | None
) -> RequiredNodeAffinity:
    """Compile what a pod says in `nodeSelector` and under its required node affinity."""
    terms = None if required is None else compile_node_selector(required)
    return RequiredNodeAffinity(from_labels(node_selector), terms)


# Replicas bring the same terms again and again: they share one compiled value.
_CACHED = 4096


@lru_cache(maxsize=_CACHED)
def compile_node_selector(selector: NodeSelector, place: Place = ROOT) -> NodeTerms:
    """Compile terms of which one must match; `place` is where the selector stands."""
    terms_place = place.child("nodeSelectorTerms")
    return NodeTerms(
        tuple(
            _compile_term(term, terms_place.child(index))
            for index, term in enumerate(selector.node_selector_terms)
            if not term.is_empty
        )
    )


@lru_cache(maxsize=_CACHED)
def compile_preferred_terms(
    preferred: tuple[PreferredSchedulingTerm, ...], place: Place = ROOT
) -> PreferredTerms:
    """Compile terms that add up; those that cannot add anything are not even looked at."""
    return PreferredTerms(
        tuple(
            PreferredTerm(
                each.weight,
                _compile_term(each.preference, place.child(index).unwritten("preference")),
            )
            for index, each in enumerate(preferred)
            if each.weight and not each.preference.is_empty
        )
    )


def _compile_term(term: NodeSelectorTerm, place: Place) -> NodeTerm:
    errors = tuple(_term_errors(term, place))
    if errors:
        return NodeTerm(NOTHING, EVERY_FIELD, errors)
    return NodeTerm(
        Selector.of(
            Requirement(
                expression.key, _LABEL_OPERATORS[expression.operator], expression.values or ()
            )
            for expression in term.match_expressions
        ),
        FieldSelector.of(
            FieldRequirement(condition.key, value, negated=condition.operator == "NotIn")
            for condition in term.match_fields
            for value in condition.values or ()
        ),
    )


_LABEL_OPERATORS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
    "Gt": Operator.GREATER_THAN,
    "Lt": Operator.LESS_THAN,
}
_FIELD_OPERATORS = ("In", "NotIn")


def _term_errors(term: NodeSelectorTerm, place: Place) -> Iterator[FieldError]:
    for index, expression in enumerate(term.match_expressions):
        yield from _expression_errors(expression, place.child("matchExpressions", index))
    for index, condition in enumerate(term.match_fields):
        yield from _field_errors(condition, place.child("matchFields", index))


def _expression_errors(expression: NodeSelectorRequirement, place: Place) -> Iterable[FieldError]:
    operator = _LABEL_OPERATORS.get(expression.operator)
    if operator is None:
        return (place.child("operator").not_supported(expression.operator, _LABEL_OPERATORS),)
    return requirement_errors(expression.key, operator, expression.values, place)


def _field_errors(condition: NodeSelectorRequirement, place: Place) -> Iterable[FieldError]:
    if condition.operator not in _FIELD_OPERATORS:
        return (place.child("operator").not_supported(condition.operator, _FIELD_OPERATORS),)
    if len(condition.values or ()) != 1:
        return (place.child("values").invalid(as_json(condition.values), "must have one element"),)
    return ()
