"""Replays recorded readings of label selectors, node selector terms and tolerations.

Every answer is compared, the texts of errors included: they are what users see and search for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from berthing.api.field_errors import FieldError, aggregate
from berthing.api.labels import LabelSelector, SelectorError, as_selector
from berthing.api.node_selector import NodeSelector, NodeSelectorTerm, compile_node_selector
from berthing.api.taints import Taint, Toleration, toleration_errors
from berthing.verify.outcome import BadRowError, Difference, Outcome

_KINDS = ("labelSelector", "nodeSelectorTerm", "nodeSelector", "toleration")


def recognises(row: Mapping[str, object]) -> bool:
    """True for a row of a selectors file."""
    return row.get("kind") in _KINDS and "matches" in row


def check(row: Mapping[str, object]) -> Outcome:
    """Read the row's selector or toleration and compare all there is to say about it."""
    reading = _decode(row)
    ours = reading.answers()
    # An answer that does not apply is absent or null: the two mean the same.
    differences = tuple(
        Difference(field, row.get(field), answer)
        for field, answer in ours.items()
        if row.get(field) != answer
    )
    inputs = {"kind", *type(reading).__struct_encode_fields__}
    return Outcome(
        name=json.dumps({field: row[field] for field in row if field in inputs}),
        differences=differences,
        unchecked=tuple(sorted(row.keys() - inputs - ours.keys())),
    )


def _decode(row: Mapping[str, object]) -> Reading:
    try:
        reading: Reading = msgspec.convert(_without_nulls(row), Reading)
    except msgspec.ValidationError as error:
        raise BadRowError(str(error)) from error
    return reading


def _without_nulls(value: object) -> object:
    """Leave out what is null: to upstream that is the same as not being there."""
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


class LabelSelectorReading(msgspec.Struct, tag_field="kind", tag="labelSelector"):
    """A label selector held against an object's labels."""

    labels: dict[str, str] = {}
    selector: LabelSelector | None = None

    def answers(self) -> dict[str, object]:
        """Say what the row records, in its words."""
        try:
            selector = as_selector(self.selector)
        except SelectorError as error:
            return {"valid": False, "error": str(error), "matches": False, "string": None}
        return {
            "valid": True,
            "error": None,
            "matches": selector.matches(self.labels),
            "string": str(selector),
        }


class Node(msgspec.Struct):
    """What a node selector looks at."""

    name: str = ""
    labels: dict[str, str] = {}


class NodeSelectorTermReading(msgspec.Struct, tag_field="kind", tag="nodeSelectorTerm"):
    """One term held against a node."""

    term: NodeSelectorTerm
    node: Node

    def answers(self) -> dict[str, object]:
        """Say what the row records, in its words."""
        return _node_answers((self.term,), self.node)


class NodeSelectorReading(msgspec.Struct, tag_field="kind", tag="nodeSelector"):
    """Several terms, of which one must match, held against a node."""

    terms: tuple[NodeSelectorTerm, ...]
    node: Node

    def answers(self) -> dict[str, object]:
        """Say what the row records, in its words."""
        return _node_answers(self.terms, self.node)


def _node_answers(terms: tuple[NodeSelectorTerm, ...], node: Node) -> dict[str, object]:
    selector = compile_node_selector(NodeSelector(terms))
    matches = selector.matches(node.name, node.labels)
    answers = _error_answers(selector.errors)
    return {
        **answers,
        "matches": matches,
        "matchError": None if matches else answers["error"],
    }


class TolerationReading(msgspec.Struct, tag_field="kind", tag="toleration"):
    """A toleration held against a taint, with Gt and Lt and without."""

    toleration: Toleration
    taint: Taint

    def answers(self) -> dict[str, object]:
        """Say what the row records, in its words."""
        toleration, taint = self.toleration, self.taint
        with_comparison = toleration_errors((toleration,), comparison_operators=True)
        return {
            **_error_answers(toleration_errors((toleration,))),
            "validWithComparison": not with_comparison,
            "matches": toleration.tolerates(taint),
            "matchesWithComparison": toleration.tolerates(taint, comparison_operators=True),
        }


def _error_answers(errors: tuple[FieldError, ...]) -> dict[str, object]:
    return {
        "valid": not errors,
        "error": aggregate(errors) if errors else None,
        "errors": [str(error) for error in errors] or None,
        "fields": [error.field for error in errors] or None,
    }


Reading = LabelSelectorReading | NodeSelectorTermReading | NodeSelectorReading | TolerationReading
