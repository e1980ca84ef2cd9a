"""Soft spread constraints: the emptier a node's domains, the better the node.

    sum over constraints of   pods in the domain * ln(domains + 2) + max skew - 1

The logarithm keeps many small domains from being drowned by few large ones; the skew waters
differences down as far as they are tolerated.  Where each node is a domain of its own (by
hostname), the pods on it count whatever the constraint says about who takes part.

Upstream: plugins/podtopologyspread/scoring.go (v1.36.4).
"""

from __future__ import annotations

from math import log

import numpy as np
import numpy.typing as npt

from berthing.cluster.cluster import Cluster
from berthing.cluster.labels import ABSENT
from berthing.cluster.rows import Rows
from berthing.framework import MAX_SCORE, BoolColumn, Int64Column
from berthing.plugins.topology_domains import Domains, seen
from berthing.plugins.topology_spread_defaults import HOSTNAME
from berthing.plugins.topology_spread_plans import Counted, Group

FloatColumn = npt.NDArray[np.float64]


class Scoring:
    """What the domains are worth, once it is known which nodes passed.

    left_out  (n_feasible,)  nodes that lack a label and are not scored; None if all are scored
    """

    def __init__(self, group: Group, feasible: Rows) -> None:
        topology = group.topology
        topology.refresh()
        self._lacking = topology.lacking if topology.grouping.needs_all_keys else None
        self.left_out = _left_out(self._lacking, feasible)
        self._terms = tuple(
            _PerNode(counted, domains, feasible, self.left_out)
            if domains.label.key == HOSTNAME
            else _PerDomain(counted, domains, feasible, self.left_out)
            for counted, domains in zip(group.constraints, topology.domains, strict=True)
        )

    def scores(self, rows: Rows) -> Int64Column:
        """(n_rows,) the pods in the domains of each node, weighted: less is better."""
        total = self._terms[0].worth(rows)
        for term in self._terms[1:]:
            total += term.worth(rows)
        scores = rounded(total)
        if self._lacking is not None:
            scores[self._lacking[rows.index]] = 0
        return scores


def _left_out(lacking: BoolColumn | None, feasible: Rows) -> BoolColumn | None:
    nodes = feasible.cluster.nodes
    left_out = None if lacking is None else lacking[feasible.index]
    if len(nodes) == nodes.n_rows:
        return left_out
    # Some rows are free at present.
    dead = ~feasible.alive
    return dead if left_out is None else left_out | dead


class _PerDomain:
    """What a node is worth by its value of a label."""

    __slots__ = ("_label", "_worth")

    def __init__(
        self, counted: Counted, domains: Domains, feasible: Rows, left_out: BoolColumn | None
    ) -> None:
        label = self._label = domains.label
        codes = label.codes[feasible.index]
        marks = seen(codes if left_out is None else codes[~left_out], len(label.values))
        if counted.pods is None:
            totals = np.zeros(len(label.values), np.int64)
        else:
            totals = domains.totals(feasible.cluster.counters.counter(counted.pods))
        # Upstream takes nodes without the label, where it takes them at all, for nodes with an
        # empty value.
        empty = None if domains.needs_key else label.values.find("")
        if empty is not None:
            marks[empty] |= marks[ABSENT]
            marks[ABSENT] = False
            totals = totals.copy()
            totals[empty] += totals[ABSENT]
        self._worth = weighted(totals, int(np.count_nonzero(marks)), counted.constraint.max_skew)
        # Even so, they are not scored for it.
        self._worth[ABSENT] = 0

    def worth(self, rows: Rows) -> FloatColumn:
        """(n_rows,) what this constraint adds to the score of each node."""
        return self._worth[self._label.codes[rows.index]]


class _PerNode:
    """What a node is worth by the pods on it."""

    __slots__ = ("_counts", "_label", "_n_domains", "_skew", "_some_lack_label")

    def __init__(
        self, counted: Counted, domains: Domains, feasible: Rows, left_out: BoolColumn | None
    ) -> None:
        self._label = domains.label
        self._some_lack_label = domains.some_lack_label
        self._counts = _counts(counted, feasible.cluster)
        self._n_domains = len(feasible)
        if left_out is not None:
            self._n_domains -= int(np.count_nonzero(left_out))
        self._skew = counted.constraint.max_skew

    def worth(self, rows: Rows) -> FloatColumn:
        """(n_rows,) what this constraint adds to the score of each node."""
        worth = weighted(self._counts[rows.index], self._n_domains, self._skew)
        if self._some_lack_label:
            worth[self._label.codes[rows.index] == ABSENT] = 0
        return worth


def _counts(counted: Counted, cluster: Cluster) -> Int64Column:
    if counted.pods is None:
        return np.zeros(cluster.nodes.capacity, np.int64)
    return cluster.counters.counter(counted.pods).counts


def weighted(counts: Int64Column, n_domains: int, max_skew: int) -> FloatColumn:
    """(n,) what so many pods are worth, among so many domains."""
    worth: FloatColumn = np.multiply(counts, log(n_domains + 2), dtype=np.float64)
    worth += max_skew - 1
    return worth


def rounded(scores: FloatColumn) -> Int64Column:
    """(n,) the nearest integer, halves upwards; scores are not negative."""
    floors = np.floor(scores)
    # Adding a half before cutting off would round some numbers just below a half upwards.
    floors += scores - floors >= 0.5
    return floors.astype(np.int64)


def spread_out(scores: Int64Column, left_out: BoolColumn | None) -> Int64Column:
    """Turn scores round and bring them to 0..100: the lowest gets most.

    scores    (n_feasible,)  not negative
    left_out  (n_feasible,)  nodes that get nothing and do not count; None if there are none
    returns   (n_feasible,)  100 for everybody if all scores are 0
    """
    if left_out is not None:
        normalized = np.zeros(len(scores), np.int64)
        scored = ~left_out
        if scored.any():
            normalized[scored] = spread_out(scores[scored], None)
        return normalized
    if not len(scores):
        return scores
    highest = int(scores.max())
    if highest == 0:
        return np.full(len(scores), MAX_SCORE, np.int64)
    lowest = int(scores.min())
    return (highest + lowest - scores) * MAX_SCORE // highest
