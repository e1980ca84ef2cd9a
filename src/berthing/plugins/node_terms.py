"""Which rows a node selector means: the same questions as `api.node_selector`, asked of columns.

A question about a label is put to the distinct values that the label has in the cluster, and most
are answered without looking at these either: a value has a number, and a row has the number of
its value.
"""

from __future__ import annotations

import numpy as np

from berthing.api.fields import FieldRequirement
from berthing.api.labels import Operator, Requirement
from berthing.api.node_selector import NodeTerm, NodeTerms, PreferredTerms, RequiredNodeAffinity
from berthing.cluster.rows import Rows
from berthing.framework import BoolColumn, Int64Column

_NODE_NAME = "metadata.name"


def required_rows(rows: Rows, required: RequiredNodeAffinity) -> BoolColumn:
    """(n_rows,) true where a pod that requires this may run."""
    fits = np.ones(len(rows), np.bool_)
    for requirement in required.labels.requirements:
        fits &= _admitted_rows(rows, requirement)
    if required.terms is not None:
        fits &= matching_rows(rows, required.terms)
    return fits


def matching_rows(rows: Rows, terms: NodeTerms) -> BoolColumn:
    """(n_rows,) true where some term matches."""
    matches = np.zeros(len(rows), np.bool_)
    for term in terms.terms:
        matches |= _term_rows(rows, term)
    return matches


def preference_scores(rows: Rows, preferred: PreferredTerms) -> Int64Column:
    """(n_rows,) the weights of the terms that match, summed up."""
    scores = np.zeros(len(rows), np.int64)
    for each in preferred.terms:
        scores += _term_rows(rows, each.term) * np.int64(each.weight)
    return scores


def _term_rows(rows: Rows, term: NodeTerm) -> BoolColumn:
    matches = np.ones(len(rows), np.bool_)
    for requirement in term.labels.requirements:
        matches &= _admitted_rows(rows, requirement)
    for condition in term.fields.requirements:
        matches &= _field_rows(rows, condition)
    return matches


def _admitted_rows(rows: Rows, requirement: Requirement) -> BoolColumn:
    match requirement.operator:
        case Operator.IN:
            return _rows_with_value(rows, requirement)
        case Operator.NOT_IN:
            return ~_rows_with_value(rows, requirement)
        case _:
            return rows.label(requirement.key).where(requirement.admits)


def _rows_with_value(rows: Rows, requirement: Requirement) -> BoolColumn:
    """(n_rows,) true where the label has one of the values; found by number, not by comparing."""
    column = rows.cluster.nodes.labels(requirement.key)
    found = map(column.values.find, requirement.values)
    wanted = [code for code in found if code is not None]
    codes = column.codes[rows.index]
    if len(wanted) == 1:
        return np.equal(codes, wanted[0])
    is_wanted = np.zeros(len(column.values), np.bool_)
    is_wanted[wanted] = True
    return is_wanted[codes]


def _field_rows(rows: Rows, condition: FieldRequirement) -> BoolColumn:
    if condition.field == _NODE_NAME:
        named = rows.named(condition.value)
        return ~named if condition.negated else named
    # No other field is known; each has the empty value on every node.
    return np.full(len(rows), condition.admits(""), np.bool_)
