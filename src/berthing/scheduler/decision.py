"""What was decided about a pod, kept as the engine had it: verdicts and scores as arrays.

The arrays are the engine's own and are never written to again, so keeping a decision copies
nothing, and telling why costs nothing until somebody asks.  `berthing explain`, logs and replays
all read this one record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from berthing.api.pod_info import PodInfo
from berthing.framework import (
    BoolColumn,
    Code,
    CodeColumn,
    Int64Column,
    Status,
    Verdicts,
)
from berthing.framework.status import fit_error


class PluginVerdicts(msgspec.Struct, frozen=True):
    """What one Filter plugin said about every row."""

    plugin: str
    verdicts: Verdicts


class PluginScores(msgspec.Struct, frozen=True):
    """What one Score plugin gave the nodes that passed, in the order of `Decision.feasible`."""

    plugin: str
    weight: int
    scored: Int64Column
    # None where the plugin's scores need no normalising.
    brought_to_scale: Int64Column | None
    # The rows to pick from `scored`; None where it is of the nodes that passed alone.
    rows: CodeColumn | None = None

    @property
    def raw(self) -> Int64Column:
        """(n_feasible,) as the plugin scored them."""
        return self.scored if self.rows is None else self.scored.take(self.rows)

    @property
    def normalized(self) -> Int64Column:
        """(n_feasible,) brought to 0..100."""
        return self.raw if self.brought_to_scale is None else self.brought_to_scale

    @property
    def weighted(self) -> Int64Column:
        """(n_feasible,) what counts in the sum."""
        return self.normalized * self.weight


class Narrowing(msgspec.Struct, frozen=True):
    """PreFilter plugins left only some nodes to look at."""

    plugins: tuple[str, ...]
    node_names: frozenset[str]

    @property
    def status(self) -> Status:
        """What the other nodes are told."""
        plugins = " ".join(self.plugins)
        return Status.unresolvable(f"node(s) didn't satisfy plugin(s) [{plugins}]")


class Decision(msgspec.Struct):
    """One attempt at placing one pod.

    node_names  (n_rows,)      at the time; empty where a row had no node
    alive       (n_rows,)      true where it had one
    feasible    (n_feasible,)  rows of the nodes that passed
    total       (n_feasible,)  weighted scores summed up; None where nothing was scored
    """

    pod: PodInfo
    node_names: Sequence[str]
    alive: BoolColumn
    # A status with which a PreFilter plugin turned the pod down for all nodes.
    pre_filter: Status | None = None
    narrowing: Narrowing | None = None
    # What Filter plugins said about all rows; nothing of those that sat out.
    verdicts: Mapping[str, Verdicts] = {}
    filter_order: Sequence[str] = ()
    # Nodes that fell (or would have) because of pods nominated there: row -> final status.
    with_nominated: Mapping[int, Status | None] = {}
    feasible: CodeColumn = np.zeros(0, np.intp)
    # The pod's own nomination: the node, and whether it passed.
    nominated_node: str = ""
    nominated_passed: bool = False
    scores: Sequence[PluginScores] = ()
    total: Int64Column | None = None
    chosen: str = ""
    # Something broke, and with it the attempt; says which plugin.
    error: Status | None = None

    @property
    def node_count(self) -> int:
        """How many nodes there were."""
        return int(np.count_nonzero(self.alive))

    def statuses(self) -> Iterator[tuple[str, Status | None]]:
        """Every node with why it was turned down, or None if it passed."""
        merged = self._merged()
        for row in map(int, np.flatnonzero(self.alive)):
            yield self.node_names[row], self._status(row, merged)

    def status(self, row: int) -> Status | None:
        """Why the node of a row was turned down; None if it passed."""
        return self._status(row, self._merged())

    @property
    def filters(self) -> tuple[PluginVerdicts, ...]:
        """The verdicts in running order, stamped with the plugins' names."""
        return tuple(
            PluginVerdicts(name, self.verdicts[name].by(name))
            for name in self.filter_order
            if name in self.verdicts
        )

    def _merged(self) -> Verdicts:
        merged = Verdicts.all_pass(len(self.alive))
        for each in self.filters:
            merged = merged.then(each.verdicts)
        return merged

    def _status(self, row: int, merged: Verdicts) -> Status | None:
        if self.pre_filter is not None:
            return self.pre_filter
        if self.narrowing and self.node_names[row] not in self.narrowing.node_names:
            return self.narrowing.status
        return self._verdict(row, merged)

    def _verdict(self, row: int, merged: Verdicts) -> Status | None:
        """What Filter plugins have against a node, whether or not it was left to look at."""
        if row in self.with_nominated:
            return self.with_nominated[row]
        return merged[row]

    @property
    def message(self) -> str:
        """The text of the FailedScheduling event, without what PostFilter has to add."""
        if self.pre_filter is not None:
            text = self.pre_filter.message
            head = f"0/{self.node_count} nodes are available:"
            return f"{head} {text}." if text else head
        reasons: Counter[str] = Counter()
        for status, count in self.rejections().items():
            for reason in status.reasons:
                reasons[reason] += count
        return fit_error(self.node_count, reasons)

    def rejections(self) -> Mapping[Status, int]:
        """Every status with which nodes were turned down, and how many were."""
        if self.pre_filter is not None:
            return {self.pre_filter: self.node_count}
        if self.narrowing or self.with_nominated:
            counts = Counter(status for _, status in self.statuses() if status is not None)
            return self._as_told(counts, self.narrowing) if self.narrowing else counts
        merged = self._merged()
        looked_at = Verdicts(np.where(self.alive, merged.codes, 0), merged.statuses)
        return {status: count for status, count in looked_at.counts() if count}

    def _as_told(self, counts: Counter[Status], narrowing: Narrowing) -> Counter[Status]:
        """The same, where the pod's own nominated node has turned it down.

        That node is tried before any other, and speaks for itself even where PreFilter plugins
        left it out.  In upstream its plugin then slips into what the nodes left out are told, and
        so into the text that users know.
        """
        name = self.nominated_node
        if not name or name not in self.node_names or self.nominated_passed:
            return counts
        tried = self._verdict(self.node_names.index(name), self._merged())
        if tried is None:
            return counts
        left_out = counts.pop(narrowing.status, 0)
        if name not in narrowing.node_names:
            counts[tried] += 1
            left_out -= 1
        if left_out:
            plugins = tuple(sorted({*narrowing.plugins, tried.plugin}))
            counts[replace(narrowing, plugins=plugins).status] += left_out
        return counts

    def unschedulable_plugins(self) -> frozenset[str]:
        """Plugins that turned down the pod or some node: whose events may help."""
        return self._rejecting(pending=False)

    def pending_plugins(self) -> frozenset[str]:
        """Plugins that put the pod on hold until something outside is done."""
        return self._rejecting(pending=True)

    def _rejecting(self, *, pending: bool) -> frozenset[str]:
        plugins = {
            status.plugin
            for status in self.rejections()
            if (status.code is Code.PENDING) == pending
        }
        if self.narrowing and not pending:
            plugins.update(self.narrowing.plugins)
        return frozenset(plugins - {""})

    def get(self, node_name: str) -> Status | None:
        """Why a node was turned down; None if it passed, or is not there."""
        return dict(self.statuses()).get(node_name)

    def nodes_with(self, code: Code) -> list[str]:
        """The nodes that were turned down with this code."""
        return [name for name, status in self.statuses() if status and status.code is code]

    def best(self) -> list[str]:
        """The nodes with the highest total, by name."""
        if self.total is None or not len(self.total):
            return []
        rows = self.feasible[self.total == self.total.max()]
        return sorted(self.node_names[row] for row in map(int, rows))
