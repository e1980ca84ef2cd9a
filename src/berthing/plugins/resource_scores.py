"""What a node is worth by how full it is: kernels on columns, and where they find their columns.

A resource counts on a node that offers any of it.  `used` is what would be taken once the pod is
there, `offered` is what the node has for pods.  Integers stay integers and floats are added in
upstream's order: rounding the other way would place some pods elsewhere.

Upstream: resource_allocation.go, least_allocated.go, most_allocated.go,
          requested_to_capacity_ratio.go and balanced_allocation.go in plugins/noderesources,
          plugins/helper/shape_score.go (v1.36.4).
Differs:  nowhere a user can see; amounts beyond 2**63 / 100 overflow there as they do here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt

from berthing.api.names import is_scalar_resource_name
from berthing.api.pod_requests import is_counted
from berthing.api.resource_list import CPU, MEMORY
from berthing.cluster.node_table import NodeTable
from berthing.cluster.rows import Rows
from berthing.config.args import MAX_SHAPE_SCORE, ResourceSpec, UtilizationShapePoint
from berthing.framework import MAX_SCORE
from berthing.framework.columns import BoolColumn, CodeColumn, Int64Column

FloatColumn = npt.NDArray[np.float64]

# (used, offered) -> points, all of them (n_resources, n_rows).  It may overwrite `used`.
Rating = Callable[[Int64Column, Int64Column], Int64Column]
# (points, weights, offered) -> (n_rows,) one score per row.
Average = Callable[[Int64Column, Int64Column, Int64Column], Int64Column]


class ScoredResources:
    """The resources that count when one pod is scored.

    amounts  (n_resources, 1)  what the pod adds
    weights  (n_resources, 1)
    """

    __slots__ = ("_at", "_with_least", "_with_least_at", "amounts", "of_one", "table", "weights")

    def __init__(
        self, table: NodeTable, specs: Iterable[ResourceSpec], amounts: Mapping[str, int]
    ) -> None:
        counted = [spec for spec in specs if _counts(spec.name, amounts)]
        names = [spec.name for spec in counted]
        self.table = table
        self.amounts = column_of([amounts.get(name, 0) for name in names])
        self.weights = column_of([spec.weight for spec in counted])
        self._at = column_of([table.resource(name) for name in names])
        # Which of ours have a row in `non_zero_requested` as well, and which one there.
        with_least = [place for place, name in enumerate(names) if name in (CPU, MEMORY)]
        self._with_least: CodeColumn = np.array(with_least, np.intp)
        self._with_least_at = column_of([0 if names[at] == CPU else 1 for at in with_least])
        self.of_one = ScoredOfOne(self, self._at, self._with_least, self._with_least_at)

    def offered(self, rows: Rows) -> Int64Column:
        """(n_resources, n_rows) what the nodes have for pods."""
        return gather(self.table.allocatable, self._at, rows)

    def requested(self, rows: Rows) -> Int64Column:
        """(n_resources, n_rows) what pods request there by now."""
        return gather(self.table.requested, self._at, rows)

    def non_zero_requested(self, rows: Rows) -> Int64Column:
        """(n_resources, n_rows) the same, but each container takes some cpu and memory."""
        least = gather(self.table.non_zero_requested, self._with_least_at, rows)
        if len(least) == len(self.amounts):
            return least
        requested = self.requested(rows)
        requested[self._with_least] = least
        return requested


class ScoredOfOne:
    """The same for one node at a time, in plain numbers by resource."""

    __slots__ = ("_at", "_found_at", "_table", "amounts", "weights")

    def __init__(
        self,
        scored: ScoredResources,
        at: CodeColumn,
        with_least: CodeColumn,
        with_least_at: CodeColumn,
    ) -> None:
        self._table = scored.table
        self.amounts: list[int] = scored.amounts.ravel().tolist()
        self.weights: list[int] = scored.weights.ravel().tolist()
        self._at: list[int] = at.ravel().tolist()
        # Where each amount is found: in the matrix with least amounts, or in the plain one.
        least_at = dict(zip(with_least.tolist(), with_least_at.ravel().tolist(), strict=True))
        self._found_at = [
            (place in least_at, least_at.get(place, at)) for place, at in enumerate(self._at)
        ]

    def offered(self, row: int) -> list[int]:
        """What the node has for pods."""
        item = self._table.allocatable.item
        return [item(at, row) for at in self._at]

    def requested(self, row: int) -> list[int]:
        """What pods request there by now."""
        item = self._table.requested.item
        return [item(at, row) for at in self._at]

    def non_zero_requested(self, row: int) -> list[int]:
        """The same, but each container takes some cpu and memory."""
        plain, with_least = self._table.requested.item, self._table.non_zero_requested.item
        return [(with_least if has else plain)(at, row) for has, at in self._found_at]


def _counts(resource: str, amounts: Mapping[str, int]) -> bool:
    """Whether the scheduler adds the resource up, and the pod has any use for it.

    Nodes with devices are no worse for pods that want none, nor any better.
    """
    asked_for = amounts.get(resource, 0) != 0
    return is_counted(resource) and (asked_for or not is_scalar_resource_name(resource))


def column_of(numbers: Sequence[int]) -> Int64Column:
    """(n_resources, 1) one number each, to compute with matrices of resources and rows."""
    return np.array(numbers, np.int64).reshape(-1, 1)


def gather(table: Int64Column, at: CodeColumn, rows: Rows) -> Int64Column:
    """(n_resources, n_rows) a fresh matrix: the table's rows `at` (n_resources, 1), our columns."""
    index = rows.index
    picked: Int64Column = table[at[:, 0], index] if isinstance(index, slice) else table[at, index]
    return picked


def least_allocated(used: Int64Column, offered: Int64Column) -> Int64Column:
    """Rate each resource by the share that stays free: 100 if all of it, 0 if none."""
    free = np.subtract(offered, used, out=used)
    return _percent(np.maximum(free, 0, out=free), offered)


def most_allocated(used: Int64Column, offered: Int64Column) -> Int64Column:
    """Rate each resource by the share that is taken: 100 for a full or overfull node."""
    # Pods without requests count with a least amount, and so may seem to need more than there is.
    return _percent(np.minimum(used, offered, out=used), offered)


def _percent(part: Int64Column, whole: Int64Column) -> Int64Column:
    """The share in whole percent, rounded down; 0 of nothing is 0.  Overwrites `part`."""
    part *= MAX_SCORE
    return _divided(part, np.maximum(whole, 1))


def _divided(dividend: Int64Column, divisor: Int64Column | int) -> Int64Column:
    """Divide as Go does: towards zero.  Overwrites the dividend."""
    negative = dividend < 0
    if not np.count_nonzero(negative):
        dividend //= divisor
        return dividend
    # Only what has overflowed is negative here.
    quotient = dividend // divisor
    quotient += negative & (quotient * divisor != dividend)
    return quotient


def requested_to_capacity_ratio(shape: Sequence[UtilizationShapePoint]) -> Rating:
    """Make what rates each resource by a curve over the share that is taken."""
    points = curve(shape)

    def rate(used: Int64Column, offered: Int64Column) -> Int64Column:
        # A share that has overflowed is on the curve's straight ends.
        percent = most_allocated(used, offered).clip(0, MAX_SCORE)
        rated: Int64Column = points[percent]
        return rated

    return rate


def curve(shape: Sequence[UtilizationShapePoint]) -> Int64Column:
    """(101,) the score at each whole percent, by straight lines between the points of a shape."""
    scale = MAX_SCORE // MAX_SHAPE_SCORE
    corners = [(point.utilization, point.score * scale) for point in shape]
    return np.array([_on_lines(corners, percent) for percent in range(101)], np.int64)


def _on_lines(corners: Sequence[tuple[int, int]], percent: int) -> int:
    before, score_before = corners[0]
    for here, score in corners:
        if percent <= here:
            climb = (score - score_before) * (percent - before)
            # As Go divides: towards the score before, also where the line falls.
            share = abs(climb) // max(here - before, 1)
            return score_before + (share if climb > 0 else -share)
        before, score_before = here, score
    return score_before


def weighted_mean(points: Int64Column, weights: Int64Column, offered: Int64Column) -> Int64Column:
    """Average over the resources that the node offers, rounded down; 0 if there are none.

    weights  (n_resources, 1)
    """
    # A resource that is not offered has no points: only its weight must be left out.
    total: Int64Column = np.add.reduce(points * weights)
    if np.count_nonzero(offered) == offered.size:
        return _divided(total, max(int(weights.sum()), 1))
    return _divided(total, np.maximum(np.add.reduce((offered != 0) * weights), 1))


def weighted_mean_of_scoring(
    points: Int64Column, weights: Int64Column, offered: Int64Column
) -> Int64Column:
    """Average over the resources that are offered and got any points, a half rounded up."""
    counted = ((offered != 0) & (points > 0)) * weights
    weight = np.maximum(np.add.reduce(counted), 1)
    total = np.add.reduce(points * counted)
    # Rounded with integers: total / weight as a float, then rounded, gives the same.
    mean: Int64Column = (2 * total + weight) // (2 * weight)
    return mean


def balanced(used: Int64Column, amounts: Int64Column, offered: Int64Column) -> Int64Column:
    """Score a change of the balance between resources: 50 tilts it, 75 leaves it, 100 mends it.

    used     (n_resources, n_rows)  what is taken without the pod; overwritten
    amounts  (n_resources, 1)       what the pod adds
    offered  (n_resources, n_rows)
    """
    # Both sides in one array, for half as many calls: one row costs what its calls cost.
    fractions = np.empty((2, *offered.shape))
    divisor = np.maximum(offered, 1)
    np.divide(used, divisor, out=fractions[1])
    used += amounts
    np.divide(used, divisor, out=fractions[0])
    with_pod, without_pod = _evenness(fractions, offered != 0)
    # Upstream halves 50 and the change, which is never below -50, and adds 50.
    score: Int64Column = (with_pod - without_pod + 3 * MAX_SCORE // 2) >> 1
    return score


def _evenness(fractions: FloatColumn, present: BoolColumn) -> Int64Column:
    """(2, n_rows) 100 if all resources are taken to the same share, down to 50.

    fractions  (2, n_resources, n_rows)  with the pod, and without; overwritten
    """
    np.minimum(fractions, 1.0, out=fractions)
    # Below 0 are sums that have overflowed, on nodes that have no room for the pod.
    np.maximum(fractions, 0.0, out=fractions)
    deviation = _of_two(fractions, present) if len(present) == 2 else _of_any(fractions, present)
    np.subtract(1.0, deviation, out=deviation)
    deviation *= MAX_SCORE
    return deviation.astype(np.int64)


def _of_two(fractions: FloatColumn, present: BoolColumn) -> FloatColumn:
    """(2, n_rows) the standard deviation between two resources; 0 if one is not offered."""
    gap: FloatColumn = fractions[:, 0] - fractions[:, 1]
    np.abs(gap, out=gap)
    # Halving is exact, and so is leaving out.
    gap *= 0.5 * (present[0] & present[1])
    return gap


def _of_any(fractions: FloatColumn, present: BoolColumn) -> FloatColumn:
    """(2, n_rows) the standard deviation between the resources that are offered."""
    fractions *= present
    count = np.add.reduce(present, dtype=np.intp)
    divisor = np.maximum(count, 1)
    distances = fractions - (_sum(fractions) / divisor)[:, np.newaxis]
    distances *= distances
    distances *= present
    deviation: FloatColumn = np.sqrt(_sum(distances) / divisor)
    two = count == 2
    if np.count_nonzero(two):
        # Of two, upstream takes half the difference, which may be rounded the other way.
        lowest = np.minimum.reduce(np.where(present, fractions, 1.0), axis=1)
        gap = np.maximum.reduce(fractions, axis=1) - lowest
        deviation[:, two] = gap[:, two] / 2
    return deviation


def _sum(terms: FloatColumn) -> FloatColumn:
    """(2, n_rows) one resource after the other: numpy's own sum may add them in another order."""
    return reduce(np.add, (terms[:, place] for place in range(terms.shape[1])))
