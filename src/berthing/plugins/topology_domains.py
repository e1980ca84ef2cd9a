"""Which nodes count when pods are spread over the values of node labels, and into which domain.

A value of a label that some counted node has is a domain.  Who is counted depends on the nodes
alone, so it is worked out once for all pods that spread alike, and again when a node has changed:

    labels, taints ---> who takes part ---> Domains: their codes, how many there are
                                               |
    pods come and go ---> RowCounter ---> totals per domain

Where everybody with the label takes part, totals are the counter's own sums, which are kept up to
date as pods come and go.  Otherwise they are added up, a number per node.
"""

from __future__ import annotations

import msgspec
import numpy as np

from berthing.api.node_selector import RequiredNodeAffinity
from berthing.api.taints import HARD_EFFECTS, Taint, Toleration, untolerated
from berthing.cluster.cluster import Cluster
from berthing.cluster.counters import RowCounter
from berthing.cluster.labels import ABSENT, LabelColumn
from berthing.cluster.rows import Rows
from berthing.framework import BoolColumn, CodeColumn, Int64Column
from berthing.plugins.node_terms import required_rows


class Inclusion(msgspec.Struct, frozen=True):
    """What a node must be like to take part; None where it does not matter."""

    affinity: RequiredNodeAffinity | None = None
    tolerations: frozenset[Toleration] | None = None
    # Whether tolerations may say Gt and Lt: a feature gate.
    comparison_operators: bool = False


class Grouping(msgspec.Struct, frozen=True):
    """Some labels to spread over, each with who takes part in it.

    With `needs_all_keys`, nodes that lack any of the labels take part in nothing; without, nodes
    that lack a label are a domain of their own, together with those whose value is empty.
    """

    keys: tuple[str, ...]
    inclusions: tuple[Inclusion, ...]
    needs_all_keys: bool = True


class Domains:
    """The domains of one label.

    label       the label's column
    takes_part  (n_rows,)
    codes       (n_domains,)  the values that some such node has; a slice where they are contiguous
    """

    def __init__(
        self, label: LabelColumn, alive: BoolColumn, takes_part: BoolColumn, *, needs_key: bool
    ) -> None:
        self.label = label
        self.takes_part = takes_part
        self.needs_key = needs_key
        labelled = label.codes[: len(alive)] != ABSENT
        self.some_lack_label = bool((alive & ~labelled).any())
        rows = np.flatnonzero(takes_part)
        codes = label.codes[rows]
        everybody = np.count_nonzero(labelled if needs_key else alive)
        self._counted = None if len(rows) == everybody else (rows, codes)
        present = np.flatnonzero(seen(codes, len(label.values)))
        self.count = len(present)
        self.codes: slice | CodeColumn = present
        if self.count and present[-1] - present[0] == self.count - 1:
            self.codes = slice(int(present[0]), int(present[-1]) + 1)

    def totals(self, counter: RowCounter) -> Int64Column:
        """(n_values,) the pods on nodes that take part, by code.

        A view of live numbers where it can be: copy it if it must not change.
        """
        if self._counted is None:
            return counter.sums(self.label.key).per_value
        rows, codes = self._counted
        # Sums are exact: bincount adds in floating point, and no count comes near 2**53.
        sums = np.bincount(codes, counter.counts[rows], minlength=len(self.label.values))
        return sums.astype(np.int64)


class Topology:
    """The domains of a grouping in one cluster, brought up to date when nodes have changed.

    lacking  (n_rows,)  live nodes that lack one of the labels; None if no node does
    """

    def __init__(self, cluster: Cluster, grouping: Grouping) -> None:
        self.grouping = grouping
        self.labels = tuple(map(cluster.nodes.labels, grouping.keys))
        self.domains: tuple[Domains, ...] = ()
        self.lacking: BoolColumn | None = None
        self._cluster = cluster
        self._seen = -1

    def refresh(self) -> None:
        """Take note of nodes that came, changed or went."""
        nodes = self._cluster.nodes
        if self._seen == nodes.node_changes.now:
            return
        self._seen = nodes.node_changes.now
        rows, grouping = self._cluster.rows(), self.grouping
        complete = rows.alive.copy()
        for label in self.labels:
            complete &= label.codes[rows.index] != ABSENT
        lacking = rows.alive & ~complete
        self.lacking = lacking if lacking.any() else None
        candidates = complete if grouping.needs_all_keys else rows.alive
        self.domains = tuple(
            Domains(
                label,
                rows.alive,
                candidates & _included(rows, inclusion),
                needs_key=grouping.needs_all_keys,
            )
            for label, inclusion in zip(self.labels, grouping.inclusions, strict=True)
        )

    def counted_on(self, row: int) -> tuple[bool, ...]:
        """For each label, whether a node takes part."""
        return tuple(bool(domains.takes_part[row]) for domains in self.domains)


def seen(codes: CodeColumn, n_values: int) -> BoolColumn:
    """(n_values,) which codes there are."""
    marks = np.zeros(n_values, np.bool_)
    marks[codes] = True
    return marks


def _included(rows: Rows, inclusion: Inclusion) -> BoolColumn:
    """(n_rows,) the nodes that take part as far as affinity and taints are concerned."""
    takes_part = np.ones(len(rows), np.bool_)
    if inclusion.affinity is not None:
        takes_part &= required_rows(rows, inclusion.affinity)
    if (tolerations := inclusion.tolerations) is not None:

        def bearable(taints: tuple[Taint, ...]) -> bool:
            unbearable = untolerated(
                taints,
                tolerations,
                HARD_EFFECTS,
                comparison_operators=inclusion.comparison_operators,
            )
            return next(unbearable, None) is None

        takes_part &= rows.taints().where(bearable)
    return takes_part
