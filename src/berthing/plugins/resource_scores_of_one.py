"""What one node is worth by how full it is: the kernels of `resource_scores` in plain Python.

A placement changes one row, and of one row numpy's calls cost ten times what there is to compute.
Each function here is what the one of the same name is there, for one node; a property holds the
two together.

Upstream and differences: as in `resource_scores`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from berthing.cluster.arrays import int64
from berthing.config.args import UtilizationShapePoint
from berthing.framework import MAX_SCORE
from berthing.plugins.resource_scores import curve

# (used, offered) of one resource -> points.
RatingOfOne = Callable[[int, int], int]
# (points, weights, offered) by resource -> score.
AverageOfOne = Callable[[Sequence[int], Sequence[int], Sequence[int]], int]


def quotient(dividend: int, divisor: int) -> int:
    """Divide as Go does: towards zero."""
    return dividend // divisor if dividend >= 0 else -(-dividend // divisor)


def least_allocated(used: int, offered: int) -> int:
    """The share that stays free."""
    return _percent(max(int64(offered - used), 0), offered)


def most_allocated(used: int, offered: int) -> int:
    """The share that is taken."""
    return _percent(min(used, offered), offered)


def _percent(part: int, whole: int) -> int:
    return quotient(int64(part * MAX_SCORE), max(whole, 1))


def requested_to_capacity_ratio(shape: Sequence[UtilizationShapePoint]) -> RatingOfOne:
    """Make what rates a resource by a curve over the share that is taken."""
    points: list[int] = curve(shape).tolist()

    def rate(used: int, offered: int) -> int:
        return points[min(max(most_allocated(used, offered), 0), MAX_SCORE)]

    return rate


def weighted_mean(points: Sequence[int], weights: Sequence[int], offered: Sequence[int]) -> int:
    """Average over the resources that the node offers."""
    total = weight_sum = 0
    for each, weight, there in zip(points, weights, offered, strict=True):
        total += each * weight
        if there:
            weight_sum += weight
    return quotient(int64(total), max(weight_sum, 1))


def weighted_mean_of_scoring(
    points: Sequence[int], weights: Sequence[int], offered: Sequence[int]
) -> int:
    """Average over the resources that are offered and got any points, a half rounded up."""
    total = weight_sum = 0
    for each, weight, there in zip(points, weights, offered, strict=True):
        if there and each > 0:
            total += each * weight
            weight_sum += weight
    weight_sum = max(weight_sum, 1)
    return (2 * total + weight_sum) // (2 * weight_sum)


def balanced(used: Sequence[int], amounts: Sequence[int], offered: Sequence[int]) -> int:
    """Score a change of the balance between resources."""
    without_pod: list[float] = []
    with_pod: list[float] = []
    for taken, more, there in zip(used, amounts, offered, strict=True):
        if there:
            without_pod.append(_share(taken, there))
            with_pod.append(_share(int64(taken + more), there))
    return (_evenness(with_pod) - _evenness(without_pod) + 3 * MAX_SCORE // 2) >> 1


def _share(taken: int, there: int) -> float:
    # As floats, each for itself: Python would divide the integers exactly.
    return min(max(float(taken) / float(there), 0.0), 1.0)


def _evenness(fractions: Sequence[float]) -> int:
    return int((1.0 - _deviation(fractions)) * MAX_SCORE)


def _deviation(fractions: Sequence[float]) -> float:
    if len(fractions) < 2:
        return 0.0
    if len(fractions) == 2:
        return abs(fractions[0] - fractions[1]) / 2
    # Not sum(): from Python 3.12 on it makes up for rounding, and Go does not.
    total = squares = 0.0
    for fraction in fractions:
        total += fraction
    mean = total / len(fractions)
    for fraction in fractions:
        squares += (fraction - mean) * (fraction - mean)
    return math.sqrt(squares / len(fractions))
