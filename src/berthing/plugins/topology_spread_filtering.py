"""Hard spread constraints: which domains would get too far ahead of the emptiest one.

    pods in the domain + the pod itself - pods in the emptiest domain <= max skew

Upstream: plugins/podtopologyspread/filtering.go (v1.36.4).
"""

from __future__ import annotations

from typing import Final, Self

import numpy as np

from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.cluster.labels import ABSENT
from berthing.cluster.rows import Rows
from berthing.framework import CodeColumn, Int64Column, NodeInfo, Status, Verdicts
from berthing.plugins.topology_domains import Domains
from berthing.plugins.topology_spread_plans import Counted, Group

# Users read these in events and pod conditions: upstream's wording, byte for byte.
REASON_SKEW: Final = "node(s) didn't match pod topology spread constraints"
REASON_MISSING_LABEL: Final = f"{REASON_SKEW} (missing required label)"

_STATUSES = (Status.unschedulable(REASON_SKEW), Status.unresolvable(REASON_MISSING_LABEL))
# Verdicts: an index into the statuses, plus one.
_PASSES, _TOO_FAR_AHEAD, _LACKS_LABEL = 0, 1, 2


class Standing:
    """How one constraint stands: frozen when made, whatever happens to the cluster's counters.

    totals    (n_values,) pods in each domain
    lowest    pods in the emptiest domain; 0 while there are fewer domains than there should be
    verdicts  (n_values,) what the nodes of each domain are told
    """

    __slots__ = ("_domains", "_totals", "counted", "lowest", "passes_all", "verdicts")

    def __init__(self, counted: Counted, domains: Domains, cluster: Cluster) -> None:
        self.counted = counted
        self._domains = domains
        self._totals = _totals(counted, domains, cluster)
        self.lowest = 0
        if self._has_enough_domains:
            self.lowest = int(self._totals[domains.codes].min())
        self.verdicts = verdict_per_domain(self._totals, self._allowed(self.lowest))
        self.passes_all = not self.verdicts[ABSENT + 1 :].any()

    def verdict(self, code: int, shift: int) -> int:
        """What a node in this domain is told if there were so many more pods in the domain."""
        if not shift or code == ABSENT:
            return int(self.verdicts[code])
        total = int(self._totals[code]) + shift
        allowed = self._allowed(self._lowest_if(code, total))
        return _TOO_FAR_AHEAD if total > allowed else _PASSES

    def code(self, row: int) -> int:
        """The domain of a node."""
        return int(self._domains.label.codes[row])

    def _allowed(self, lowest: int) -> int:
        return lowest + self.counted.constraint.max_skew - self.counted.counts_itself

    @property
    def _has_enough_domains(self) -> bool:
        return self._domains.count >= max(1, self.counted.constraint.min_domains)

    def _lowest_if(self, code: int, total: int) -> int:
        """The emptiest domain if this one had another total."""
        if not self._has_enough_domains:
            return 0
        if self._totals[code] > self.lowest or total < self.lowest:
            return min(self.lowest, total)
        # It is, or was, among the emptiest: look for another one.
        totals = self._totals.copy()
        totals[code] = total
        return int(totals[self._domains.codes].min())


def _totals(counted: Counted, domains: Domains, cluster: Cluster) -> Int64Column:
    if counted.pods is None:
        return np.zeros(len(domains.label.values), np.int64)
    return domains.totals(cluster.counters.counter(counted.pods)).copy()


def verdict_per_domain(totals: Int64Column, allowed: int) -> CodeColumn:
    """(n_values,) what the nodes of each domain are told; first those that have no domain."""
    verdicts: CodeColumn = np.multiply(totals > allowed, _TOO_FAR_AHEAD, dtype=np.intp)
    verdicts[ABSENT] = _LACKS_LABEL
    return verdicts


class Filtering:
    """How pods are spread when a pod's attempt begins, and what would change it.

    What add_pod and remove_pod change on a node counts for that node alone: each node is judged
    in a world of its own, so that many can be asked about at once, each with other pods gone.
    """

    __slots__ = ("_cluster", "_group", "_shifts", "_standings")

    def __init__(
        self,
        cluster: Cluster,
        group: Group,
        standings: tuple[Standing, ...],
        shifts: dict[int, tuple[int, ...]],
    ) -> None:
        self._cluster = cluster
        self._group = group
        self._standings = standings
        # row -> by how many pods each constraint counts differently there.
        self._shifts = shifts

    @classmethod
    def begun(cls, group: Group, cluster: Cluster) -> Self:
        """How pods are spread now."""
        topology = group.topology
        topology.refresh()
        standings = (
            Standing(counted, domains, cluster)
            for counted, domains in zip(group.constraints, topology.domains, strict=True)
        )
        return cls(cluster, group, tuple(standings), {})

    def clone(self) -> Self:
        """A copy to which pods can be added, and from which they can be removed."""
        return type(self)(self._cluster, self._group, self._standings, dict(self._shifts))

    def shift(self, pod: PodInfo, node: NodeInfo, amount: int) -> None:
        """So many pods more like this one on a node.

        As upstream's, this takes no notice of a pod being on its way out, and counts for a
        selector that selects all.
        """
        row = self._cluster.nodes.row(node.name)
        if row is None:
            return
        counts = self._group.topology.counted_on(row)
        shifts = self._shifts.get(row, (0,) * len(counts))
        self._shifts[row] = tuple(
            shift + amount if takes_part and standing.counted.selects(pod) else shift
            for shift, takes_part, standing in zip(shifts, counts, self._standings, strict=True)
        )

    def verdicts(self, rows: Rows) -> Verdicts:
        """What each node is told by the first constraint that has something against it."""
        codes: CodeColumn | None = None
        topology = self._group.topology
        for standing, label in zip(self._standings, topology.labels, strict=True):
            if standing.passes_all and topology.lacking is None:
                continue
            told = standing.verdicts[label.codes[rows.index]]
            codes = told if codes is None else np.where(codes == _PASSES, told, codes)
        if codes is None:
            codes = np.zeros(len(rows), np.intp)
        if self._shifts:
            self._judge_apart(rows, codes)
        return Verdicts(codes, _STATUSES)

    def _judge_apart(self, rows: Rows, codes: CodeColumn) -> None:
        """Judge the nodes on which something is different."""
        for place, row in enumerate(rows.numbers.tolist()):
            shifts = self._shifts.get(row)
            if shifts is not None:
                told = (
                    standing.verdict(standing.code(row), shift)
                    for standing, shift in zip(self._standings, shifts, strict=True)
                )
                codes[place] = next(filter(None, told), _PASSES)
