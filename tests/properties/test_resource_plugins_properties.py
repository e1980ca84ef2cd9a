"""The resource plugins' columns against plain loops over nodes, and rows one by one against all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Rows
from berthing.config.args import (
    DEFAULT_RESOURCES,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from berthing.framework import CycleState, Int64Column, NodeInfo, ScorePlugin, Status
from berthing.plugins import resource_scores as kernels
from berthing.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from berthing.plugins.node_resources_fit import NodeResourcesFit
from berthing.testing import make_node, make_pod
from plugins.harness import cluster_of, fake_handle

GPU = "example.com/gpu"
DISK = "ephemeral-storage"

# Few distinct small amounts meet at the edges; big ones do not fit a float without rounding.
AMOUNTS = st.integers(0, 6) | st.integers(0, 2**56)


class Columns(NamedTuple):
    """(n_resources, n_rows) amounts on nodes, and (n_resources,) of a pod."""

    used: Int64Column
    offered: Int64Column
    asked: list[int]
    weights: list[int]


@st.composite
def columns(draw: st.DrawFn, max_resources: int = 4) -> Columns:
    n_resources, n_rows = draw(st.integers(1, max_resources)), draw(st.integers(1, 8))

    def matrix() -> Int64Column:
        row = st.lists(AMOUNTS, min_size=n_rows, max_size=n_rows)
        rows = draw(st.lists(row, min_size=n_resources, max_size=n_resources))
        return np.array(rows, np.int64)

    def numbers(each: st.SearchStrategy[int]) -> list[int]:
        return draw(st.lists(each, min_size=n_resources, max_size=n_resources))

    return Columns(matrix(), matrix(), numbers(AMOUNTS), numbers(st.integers(1, 100)))


@st.composite
def shapes(draw: st.DrawFn) -> list[tuple[int, int]]:
    places = draw(st.lists(st.integers(0, 100), min_size=1, max_size=5, unique=True))
    return [(place, draw(st.integers(0, 10))) for place in sorted(places)]


def least_of(used: int, offered: int) -> int:
    return 0 if used > offered else (offered - used) * 100 // offered


def most_of(used: int, offered: int) -> int:
    return min(used, offered) * 100 // offered


def mean_of(points: Sequence[int], weights: Sequence[int], offered: Sequence[int]) -> int:
    counted = [place for place, amount in enumerate(offered) if amount]
    total = sum(points[place] * weights[place] for place in counted)
    return total // sum(weights[place] for place in counted) if counted else 0


@given(columns())
def test_least_and_most_allocated_are_what_a_loop_finds(given_columns: Columns) -> None:
    used, offered, _, weights = given_columns
    weight_column = kernels.column_of(weights)
    for rate, rate_one in (
        (kernels.least_allocated, least_of),
        (kernels.most_allocated, most_of),
    ):
        points = rate(used.copy(), offered)
        scores = kernels.weighted_mean(points, weight_column, offered)

        for row in range(used.shape[1]):
            there = offered[:, row].tolist()
            expected = [
                rate_one(taken, amount) if amount else 0
                for taken, amount in zip(used[:, row].tolist(), there, strict=True)
            ]
            assert points[:, row].tolist() == expected
            assert scores[row] == mean_of(expected, weights, there)


def on_shape(shape: Sequence[tuple[int, int]], percent: int) -> int:
    if percent <= shape[0][0]:
        return shape[0][1] * 10
    for (left, low), (right, high) in pairwise(shape):
        if percent <= right:
            # int() cuts towards zero, as Go's division does.
            return low * 10 + int((high - low) * 10 * (percent - left) / (right - left))
    return shape[-1][1] * 10


@given(columns(), shapes())
def test_a_ratio_is_what_a_loop_finds(given_columns: Columns, shape: list[tuple[int, int]]) -> None:
    used, offered, _, weights = given_columns
    points = tuple(UtilizationShapePoint(utilization=at, score=score) for at, score in shape)
    rate = kernels.requested_to_capacity_ratio(points)
    rated = rate(used.copy(), offered)
    scores = kernels.weighted_mean_of_scoring(rated, kernels.column_of(weights), offered)

    for row in range(used.shape[1]):
        total = weight_sum = 0
        for taken, there, weight in zip(
            used[:, row].tolist(), offered[:, row].tolist(), weights, strict=True
        ):
            if there and (score := on_shape(shape, most_of(taken, there))) > 0:
                total += score * weight
                weight_sum += weight
        assert scores[row] == (math.floor(total / weight_sum + 0.5) if weight_sum else 0)


def evenness_of(used: Sequence[int], offered: Sequence[int]) -> int:
    # Go rounds to floats before it divides; Python would divide the integers themselves.
    fractions = [
        min(float(taken) / float(there), 1.0)
        for taken, there in zip(used, offered, strict=True)
        if there
    ]
    deviation = 0.0
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        # Not sum(): from Python 3.12 on it makes up for rounding, and Go does not.
        total = squares = 0.0
        for fraction in fractions:
            total += fraction
        mean = total / len(fractions)
        for fraction in fractions:
            squares += (fraction - mean) * (fraction - mean)
        deviation = math.sqrt(squares / len(fractions))
    return int((1 - deviation) * 100)


@given(columns(max_resources=12))
def test_balance_is_what_a_loop_finds(given_columns: Columns) -> None:
    used, offered, asked, _ = given_columns
    scores = kernels.balanced(used.copy(), kernels.column_of(asked), offered)

    for row in range(used.shape[1]):
        there, taken = offered[:, row].tolist(), used[:, row].tolist()
        with_pod = [one + more for one, more in zip(taken, asked, strict=True)]
        change = evenness_of(with_pod, there) - evenness_of(taken, there)
        assert scores[row] == 50 + (50 + change) // 2


QUANTITIES = st.sampled_from(["0", "1", "2", "3", "5"])


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    extra = draw(st.dictionaries(st.sampled_from([GPU, DISK]), QUANTITIES))
    cpu, memory, pods = draw(QUANTITIES), draw(QUANTITIES), draw(QUANTITIES)
    return make_node(name, cpu=cpu, memory=f"{memory}Gi", pods=pods, resources=extra)


@st.composite
def pods(draw: st.DrawFn, name: str, node_name: str = "") -> Pod:
    extra = draw(st.dictionaries(st.sampled_from([GPU, DISK]), QUANTITIES))
    cpu, memory = draw(st.just("") | QUANTITIES), draw(st.just("") | QUANTITIES)
    return make_pod(
        name, cpu=cpu, memory=memory and f"{memory}Gi", requests=extra, node_name=node_name
    )


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Nodes with pods on them; the rows of some nodes are free again."""
    names = [f"node-{number}" for number in range(draw(st.integers(1, 5)))]
    all_nodes = [draw(nodes(name)) for name in names]
    running = [
        draw(pods(f"pod-{number}", draw(st.sampled_from(names))))
        for number in range(draw(st.integers(0, 8)))
    ]
    cluster = cluster_of([*all_nodes, *running])
    for name in draw(st.sets(st.sampled_from(names))):
        cluster.remove_node(name)
    return cluster


RESOURCES = (
    *DEFAULT_RESOURCES,
    ResourceSpec(name=DISK, weight=1),
    ResourceSpec(name=GPU, weight=1),
)
SHAPE = tuple(
    UtilizationShapePoint(utilization=at, score=score) for at, score in ((0, 3), (60, 10), (90, 0))
)


def fit_plugin(strategy: str) -> NodeResourcesFit:
    ratio = RequestedToCapacityRatioParam(shape=SHAPE) if strategy.startswith("Req") else None
    scoring = ScoringStrategy(type=strategy, resources=RESOURCES, requested_to_capacity_ratio=ratio)
    return NodeResourcesFit(NodeResourcesFitArgs(scoring_strategy=scoring), fake_handle())


FITS = tuple(map(fit_plugin, ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")))
BALANCED = NodeResourcesBalancedAllocation(
    NodeResourcesBalancedAllocationArgs(resources=RESOURCES), fake_handle()
)

SCORERS: tuple[ScorePlugin, ...] = (*FITS, BALANCED)


def shortages(requests: Mapping[str, int], node: NodeInfo) -> Status | None:
    """What fit.go finds, node by node."""
    reasons, hopeless = [], False
    if len(node.pods) + 1 > node.allocatable.get("pods", 0):
        reasons.append("Too many pods")
    for resource in ("cpu", "memory", DISK, GPU):
        asked, offered = requests.get(resource, 0), node.allocatable.get(resource, 0)
        if asked > 0 and asked > offered - node.requested.get(resource, 0):
            reasons.append(f"Insufficient {resource}")
            hopeless = hopeless or asked > offered
    if not reasons:
        return None
    return Status.unresolvable(*reasons) if hopeless else Status.unschedulable(*reasons)


@given(clusters(), pods("placed"))
def test_verdicts_are_what_a_loop_finds(cluster: Cluster, pod: Pod) -> None:
    info, rows = PodInfo.of(pod), cluster.rows()
    verdicts = FITS[0].filter_nodes(CycleState(), info, rows)

    for row, node in enumerate(rows):
        if node.name:
            assert verdicts[row] == shortages(info.facts.asked.requests, node)


@given(clusters(), pods("placed"))
def test_one_row_at_a_time_equals_all_rows(cluster: Cluster, pod: Pod) -> None:
    info, rows, state = PodInfo.of(pod), cluster.rows(), CycleState()
    single = [Rows(cluster, np.array([row], np.intp)) for row in range(len(rows))]

    verdicts = FITS[0].filter_nodes(state, info, rows)
    assert [verdicts[row] for row in range(len(rows))] == [
        FITS[0].filter_nodes(state, info, one)[0] for one in single
    ]
    for plugin in SCORERS:
        scores = plugin.score_nodes(state, info, rows)
        assert scores.tolist() == [int(plugin.score_nodes(state, info, one)[0]) for one in single]


@given(clusters(), pods("placed"))
def test_scores_are_within_bounds_and_leave_the_columns_alone(cluster: Cluster, pod: Pod) -> None:
    table = cluster.nodes
    for plugin in SCORERS:
        for resource in ("cpu", "memory", DISK, GPU):
            table.resource(resource)
        before = [table.allocatable, table.requested, table.non_zero_requested]
        copies = [column.copy() for column in before]
        scores = plugin.score_nodes(CycleState(), PodInfo.of(pod), cluster.rows())

        assert all(0 <= score <= 100 for score in scores.tolist())
        for column, copy in zip(before, copies, strict=True):
            assert np.array_equal(column, copy)
