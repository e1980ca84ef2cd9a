"""What plugins say about rows, remembered per kind of pod and brought up to date by changed rows.

Replicas have one signature.  For each signature the answers of row-local plugins about all rows
are kept; when such a pod comes again, these plugins are asked only about rows that changed
meanwhile, which after one placement is one row.

    asked before?  no, or too much has changed  --> about all rows
                   yes                          --> about changed rows, answers spliced in

Arrays that were handed out are never written to: an answer that changed makes a new array, one
that did not keeps the old.  So whatever follows from an array still holds as long as the array is
the same object, and here that is how we know what need not be worked out again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from berthing.api.pod_info import PodInfo, PodShape
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Rows
from berthing.framework import (
    BoolColumn,
    CodeColumn,
    CycleState,
    FilterPlugin,
    Int64Column,
    PreFilterResult,
    ScoreExtensions,
    ScorePlugin,
    Status,
    Verdicts,
)
from berthing.scheduler.asking import (
    asked,
    checked_scores,
    checked_verdicts,
    is_in_range,
    normalized_scores,
)
from berthing.scheduler.preliminaries import Open

P = TypeVar("P", FilterPlugin, ScorePlugin)

# Kinds of pods that come in turns; each takes some hundred KB at 5,000 nodes.
_MOST_REMEMBERED = 256

# What the cluster's logs of changes said: nodes, and what pods take there.
_When = tuple[int, int]
_LONG_AGO: _When = (-1, -1)


class Remembered:
    """Answers of row-local plugins about all rows, for one kind of pod.

    pre_filters, pre_scorers  whom there is left to ask first; None before the first time
    fits      (n_rows,)       true for nodes that all these filters pass
    feasible  (n_feasible,)   their rows
    total     (n_rows,)       weighted scores that need no normalising, summed up
    suspects                  plugins of which such scores are out of range, if only of nodes
                              that do not pass
    """

    __slots__ = (
        "feasible",
        "filter_plugins",
        "filter_skips",
        "filtered_at",
        "fits",
        "n_rows",
        "normalized",
        "pre_filters",
        "pre_scorers",
        "score_bases",
        "score_plugins",
        "score_skips",
        "scored_at",
        "scores",
        "suspects",
        "total",
        "verdicts",
    )

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.pre_filters: Open[PreFilterResult | Status | None] | None = None
        self.pre_scorers: Open[Status | None] | None = None
        self.filtered_at = _LONG_AGO
        self.filter_plugins: Sequence[FilterPlugin] = ()
        # Which plugins sat out; most often the same ones as last time.
        self.filter_skips: frozenset[str] = frozenset()
        self.verdicts: Mapping[str, Verdicts] = {}
        self.fits: BoolColumn = np.zeros(n_rows, np.bool_)
        self.feasible: CodeColumn = np.zeros(0, np.intp)
        self.scored_at = _LONG_AGO
        self.score_plugins: Sequence[ScorePlugin] = ()
        self.score_skips: frozenset[str] = frozenset()
        self.scores: Mapping[str, Int64Column] = {}
        self.score_bases: Mapping[str, object] = {}
        self.total: Int64Column = np.zeros(n_rows, np.int64)
        self.suspects: set[str] = set()
        self.normalized: dict[str, Normalized] = {}


class Normalized:
    """The scores of one plugin for the nodes that passed.

    raw         (n_rows,)      what they were worked out from
    rows        (n_feasible,)  and for which rows
    normalized  (n_feasible,)  brought to 0..100
    weighted    (n_feasible,)
    """

    __slots__ = ("normalized", "raw", "rows", "weighted")

    def __init__(
        self, raw: Int64Column, rows: CodeColumn, normalized: Int64Column, weight: int
    ) -> None:
        self.raw = raw
        self.rows = rows
        self.normalized = normalized
        self.weighted = normalized * weight


class Evaluation:
    """Asks the row-local plugins of one profile as little as possible."""

    def __init__(
        self,
        cluster: Cluster,
        filters: Sequence[FilterPlugin],
        scorers: Sequence[ScorePlugin],
        weights: Mapping[str, int],
    ) -> None:
        self._cluster = cluster
        self._filters = filters
        self._scorers = scorers
        self._weights = weights
        # Plugins whose scores rest on more than the row.
        self._based = [
            plugin for plugin in scorers if type(plugin).score_basis is not ScorePlugin.score_basis
        ]
        self._remembered: OrderedDict[tuple[PodShape, str], Remembered] = OrderedDict()
        self._changes = _Changes(cluster)

    def remembered(self, pod: PodInfo) -> Remembered:
        """What is known about pods of this kind, as of their last cycle."""
        # Pods with one shape have one signature, and a shape is found quicker.
        key = pod.shape, pod.pod.spec.node_name
        n_rows = self._cluster.nodes.n_rows
        known = self._remembered.get(key)
        if known is None or known.n_rows != n_rows:
            known = self._remembered[key] = Remembered(n_rows)
            if len(self._remembered) > _MOST_REMEMBERED:
                self._remembered.popitem(last=False)
        self._remembered.move_to_end(key)
        return known

    def filter(self, known: Remembered, state: CycleState, pod: PodInfo) -> None:
        """Bring the verdicts about all rows up to date."""
        now = self._changes.now()
        changed = self._changes.between(known.filtered_at, now)
        if changed is None or known.filter_skips != state.skip_filter_plugins:
            # Should a plugin fail, all are asked about all rows next time.
            known.filtered_at = _LONG_AGO
            known.filter_skips = state.skip_filter_plugins
            known.filter_plugins = _without(self._filters, known.filter_skips)
            self._filter_all(known, state, pod)
        else:
            self._filter_changed(known, state, pod, changed)
        known.filtered_at = now

    def score(self, known: Remembered, state: CycleState, pod: PodInfo) -> None:
        """Bring the raw scores of all rows up to date."""
        now = self._changes.now()
        changed = self._changes.between(known.scored_at, now)
        bases = self._bases()
        if changed is None or known.score_skips != state.skip_score_plugins:
            known.scored_at = _LONG_AGO
            known.score_skips = state.skip_score_plugins
            known.score_plugins = _without(self._scorers, known.score_skips)
            self._score_all(known, state, pod)
        else:
            self._score_changed(known, state, pod, changed, bases)
        known.scored_at = now
        known.score_bases = bases

    def normalized(
        self,
        known: Remembered,
        plugin: ScoreExtensions,
        state: CycleState,
        pod: PodInfo,
        feasible: CodeColumn,
    ) -> Normalized:
        """A plugin's scores of the nodes that passed; as last time where nothing has changed."""
        raw = known.scores[plugin.name]
        last = known.normalized.get(plugin.name)
        if last is not None and last.raw is raw and last.rows is feasible:
            return last
        normalized = normalized_scores(plugin, state, pod, raw.take(feasible))
        fresh = Normalized(raw, feasible, normalized, self._weights[plugin.name])
        known.normalized[plugin.name] = fresh
        return fresh

    def _filter_all(self, known: Remembered, state: CycleState, pod: PodInfo) -> None:
        rows = self._cluster.rows()
        known.verdicts = {
            plugin.name: checked_verdicts(plugin, state, pod, rows)
            for plugin in known.filter_plugins
        }
        known.fits = self._fitting(known.verdicts.values(), rows)
        known.feasible = known.fits.nonzero()[0]

    def _filter_changed(
        self, known: Remembered, state: CycleState, pod: PodInfo, changed: _Changed
    ) -> None:
        fresh: dict[str, Verdicts] = {}
        for plugin in known.filter_plugins:
            rows = changed.rows if plugin.reads_pods else changed.node_rows
            if rows is not None:
                before = known.verdicts[plugin.name]
                answer = checked_verdicts(plugin, state, pod, rows)
                after = _spliced(before, rows.index, answer)
                if after is not before:
                    fresh[plugin.name] = after
        if fresh:
            known.verdicts = {**known.verdicts, **fresh}
        # A node that came or went may change nobody's verdict, and still whether it fits.
        if changed.rows is not None and (fresh or changed.node_rows is not None):
            fits = known.fits.copy()
            fits[changed.rows.index] = self._fitting(known.verdicts.values(), changed.rows)
            known.fits = fits
            known.feasible = fits.nonzero()[0]

    def _fitting(self, verdicts: Iterable[Verdicts], rows: Rows) -> BoolColumn:
        """(n_rows,) the nodes among some rows that all verdicts, which are of all rows, pass."""
        fits = rows.alive.copy()
        for each in verdicts:
            if each.statuses:
                fits &= each.codes[rows.index] == 0
        return fits

    def _score_all(self, known: Remembered, state: CycleState, pod: PodInfo) -> None:
        rows = self._cluster.rows()
        known.scores = {
            plugin.name: checked_scores(plugin, state, pod, rows) for plugin in known.score_plugins
        }
        known.total = np.zeros(known.n_rows, np.int64)
        known.suspects = set()
        for plugin in known.score_plugins:
            if not isinstance(plugin, ScoreExtensions):
                raw = known.scores[plugin.name]
                known.total += raw * self._weights[plugin.name]
                _suspect(known, plugin, raw)

    def _score_changed(
        self,
        known: Remembered,
        state: CycleState,
        pod: PodInfo,
        changed: _Changed,
        bases: Mapping[str, object],
    ) -> None:
        fresh: dict[str, Int64Column] = {}
        total = known.total
        for plugin in known.score_plugins:
            rows = changed.rows if plugin.reads_pods else changed.node_rows
            if self._rests_on_another(plugin, known.score_bases, bases):
                rows = self._cluster.rows()
            if rows is None:
                continue
            before = known.scores[plugin.name]
            answer, at = checked_scores(plugin, state, pod, rows), rows.index
            last = before[at]
            if last.tobytes() == answer.tobytes():
                continue
            after = fresh[plugin.name] = before.copy()
            after[at] = answer
            if not isinstance(plugin, ScoreExtensions):
                total = total.copy() if total is known.total else total
                _move(total, rows, answer, last, self._weights[plugin.name])
                _suspect(known, plugin, answer)
        if fresh:
            known.scores = {**known.scores, **fresh}
            known.total = total

    def _rests_on_another(
        self, plugin: ScorePlugin, before: Mapping[str, object], now: Mapping[str, object]
    ) -> bool:
        if plugin.name not in now:
            return False
        # What it rests on is the plugin's own, and so is how to compare it.
        then = before.get(plugin.name)
        return asked(plugin.name, "Score", lambda: bool(now[plugin.name] != then))

    def _bases(self) -> dict[str, object]:
        rows = self._cluster.rows()
        return {
            plugin.name: asked(plugin.name, "Score", plugin.score_basis, rows)
            for plugin in self._based
        }


class _Changed:
    """Rows of which something changed, and those whose node itself did; None for no such rows."""

    __slots__ = ("node_rows", "rows")

    def __init__(self, rows: Rows | None, node_rows: Rows | None) -> None:
        self.rows = rows
        self.node_rows = node_rows


class _Changes:
    """What changed in the cluster since some time."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        # Filters and scores are mostly asked about the same changes, one after the other.
        self._last_asked = (_LONG_AGO, _LONG_AGO)
        self._last_answer: _Changed | None = None

    def now(self) -> _When:
        """What to remember when one has seen the cluster as it is."""
        table = self._cluster.nodes
        return table.node_changes.now, table.usage_changes.now

    def between(self, then: _When, now: _When) -> _Changed | None:
        """What changed since `then`; None if it is so much that one had better ask about all."""
        if (then, now) != self._last_asked:
            self._last_asked = then, now
            self._last_answer = self._changed_since(*then)
        return self._last_answer

    def _changed_since(self, nodes_seen: int, usage_seen: int) -> _Changed | None:
        if nodes_seen < 0:
            return None
        table = self._cluster.nodes
        node_rows = table.node_changes.since(nodes_seen)
        usage_rows = table.usage_changes.since(usage_seen)
        if node_rows is None or usage_rows is None:
            return None
        rows = list(dict.fromkeys((*node_rows, *usage_rows))) if node_rows else usage_rows
        # Past this, asking about all rows costs less than picking them.
        if len(rows) * 4 > table.n_rows:
            return None
        return _Changed(self._some(rows), self._some(node_rows))

    def _some(self, rows: list[int]) -> Rows | None:
        return Rows.some(self._cluster, rows) if rows else None


def _without(plugins: Iterable[P], skipped: frozenset[str]) -> Sequence[P]:
    return [plugin for plugin in plugins if plugin.name not in skipped]


def _suspect(known: Remembered, plugin: ScorePlugin, scores: Int64Column) -> None:
    if len(scores) and not is_in_range(scores):
        known.suspects.add(plugin.name)


def _move(
    total: Int64Column, rows: Rows, answer: Int64Column, last: Int64Column, weight: int
) -> None:
    """Count what is answered about some rows now in place of what was answered last."""
    if few := rows.few:
        for row, now, before in zip(few, answer.tolist(), last.tolist(), strict=True):
            total[row] = total.item(row) + (now - before) * weight
    else:
        total[rows.index] += (answer - last) * weight


def _spliced(before: Verdicts, at: slice | CodeColumn, answer: Verdicts) -> Verdicts:
    """The verdicts with new ones for some rows; the very same object if none is new."""
    if not answer.statuses and not before.statuses:
        return before
    statuses = list(before.statuses)
    translated = [0]
    for status in answer.statuses:
        if status not in statuses:
            statuses.append(status)
        translated.append(statuses.index(status) + 1)
    codes = np.array(translated, np.intp)[answer.codes]
    if before.codes[at].tobytes() == codes.tobytes():
        return before
    after = before.codes.copy()
    after[at] = codes
    return Verdicts(after, statuses)
