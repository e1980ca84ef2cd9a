"""NodeResourcesFit keeps pods off nodes without room for them, and ranks the rest by their room.

Upstream: plugins/noderesources/fit.go (v1.36.4).
Differs:  reasons for extended resources come in order of their names, there in any order.
          A node may lack resources that the configuration ignores, and wakes pods all the same;
          there a pod that asks for one of them sleeps on.
          Filter looks for extended resources on nodes only: none is left to DynamicResources.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Final, NamedTuple

import numpy as np

from berthing.api.names import is_extended_resource_name, is_scalar_resource_name
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.pod_requests import Asked, RequestGates, spent, whole_amounts
from berthing.api.resource import DEVICE_CLASS_PREFIX, DeviceClass
from berthing.api.resource_list import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from berthing.cluster.arrays import int64
from berthing.cluster.node_table import NodeTable
from berthing.cluster.rows import Rows, as_rows
from berthing.config.args import NodeResourcesFitArgs, ResourceSpec, ScoringStrategy
from berthing.framework import (
    ActionType,
    BoolColumn,
    ClusterEvent,
    ClusterEventWithHint,
    CodeColumn,
    CycleState,
    EnqueueExtensions,
    EventResource,
    FilterPlugin,
    Handle,
    Int64Column,
    Nodes,
    PreFilterPlugin,
    PreScorePlugin,
    QueueingHint,
    ScorePlugin,
    Status,
    Verdicts,
)
from berthing.plugins import resource_scores_of_one as of_one
from berthing.plugins.resource_scores import (
    Average,
    Rating,
    ScoredOfOne,
    ScoredResources,
    column_of,
    gather,
    least_allocated,
    most_allocated,
    requested_to_capacity_ratio,
    weighted_mean,
    weighted_mean_of_scoring,
)
from berthing.plugins.resource_scores_of_one import AverageOfOne, RatingOfOne

TOO_MANY_PODS: Final = "Too many pods"
INSUFFICIENT: Final = "Insufficient {resource}"

_CACHED: Final = 4096

# One change of a node is put to all pods that wait.
_offered = lru_cache(maxsize=64)(whole_amounts)

# A table of patterns of shortages has up to two to the power of this places.
_TABLE_BITS: Final = 12

# Reasons name these first, in this order.
_FIRST: Final = {CPU: 0, MEMORY: 1, EPHEMERAL_STORAGE: 2}


class NodeResourcesFit(
    PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions
):
    """Rejects nodes that are short of a resource; scores by the strategy in its args."""

    name = "NodeResourcesFit"
    args_type = NodeResourcesFitArgs
    row_local = True

    def __init__(self, args: NodeResourcesFitArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._knows_devices = handle.is_feature_enabled("DRAExtendedResource")
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        self._strategy = _strategy(args.scoring_strategy)
        specs = args.scoring_strategy.resources
        # By what a pod asks for: replicas share it, so a cycle finds these ready made.
        self._demand_of = lru_cache(maxsize=_CACHED)(self._demand)
        self._scored_of = lru_cache(maxsize=_CACHED)(partial(_scored, specs))

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Pods that leave or shrink, nodes that come or grow, classes that may bring devices."""
        on_pods = ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN
        on_nodes = ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE
        events = [
            ClusterEventWithHint(ClusterEvent(EventResource.POD, on_pods), self.after_pod),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, on_nodes), self.after_node),
        ]
        if self._knows_devices:
            on_classes = ClusterEvent(
                EventResource.DEVICE_CLASS, ActionType.ADD | ActionType.UPDATE
            )
            events.append(ClusterEventWithHint(on_classes, self.after_device_class))
        return events

    def is_pod_local(self, pod: PodInfo) -> bool:
        """Nothing but the pod counts."""
        return True

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> None:
        """Nothing to find out: what a pod asks for is known with the pod."""

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Reject rows that lack room for the pod, and name all that they lack."""
        rows = as_rows(nodes)
        return self._demand_of(pod.facts.asked, rows.cluster.nodes).judge(rows)

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> None:
        """Nothing to find out, and every pod is scored: one without requests takes room too."""

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        """Score rows by the room there would be with the pod, as the strategy likes it."""
        rows = as_rows(nodes)
        scored = self._scored_of(pod.facts.asked, rows.cluster.nodes)
        if few := rows.few:
            return np.array([self._score_of_one(scored.of_one, row) for row in few], np.int64)
        offered = scored.offered(rows)
        used = scored.non_zero_requested(rows)
        used += scored.amounts
        strategy = self._strategy
        return strategy.average(strategy.rate(used, offered), scored.weights, offered)

    def _score_of_one(self, scored: ScoredOfOne, row: int) -> int:
        rate, offered = self._strategy.rate_one, scored.offered(row)
        points = [
            rate(int64(used + asked), there)
            for used, asked, there in zip(
                scored.non_zero_requested(row), scored.amounts, offered, strict=True
            )
        ]
        return self._strategy.average_one(points, scored.weights, offered)

    def after_pod(self, pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
        """Worth a try if a pod gave up its room, or part of it that this one could use."""
        if isinstance(new, Pod):
            helps = isinstance(old, Pod) and self._shrank_usefully(pod, old, new)
        else:
            # One that had not even a nomination took no room.
            helps = isinstance(old, Pod) and bool(
                old.spec.node_name or old.status.nominated_node_name
            )
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def _shrank_usefully(self, pod: PodInfo, old: Pod, new: Pod) -> bool:
        if new.metadata.uid == pod.uid:
            return True
        if not new.spec.node_name:
            return False
        gate = "InPlacePodLevelResourcesVerticalScaling"
        gates = RequestGates(
            in_place_pod_level_resources_vertical_scaling=self.handle.is_feature_enabled(gate)
        )
        before, after = spent(old, gates).requests, spent(new, gates).requests
        return any(
            before.get(name, 0) > after.get(name, 0)
            for name, amount in pod.requests.items()
            if amount
        )

    def after_node(self, pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
        """Worth a try on a node that could hold the pod if it were empty, and is new or grew."""
        if not isinstance(new, Node) or not all(map(self._is_ignored, self.lacking(pod, new))):
            return QueueingHint.SKIP
        if isinstance(old, Node) and not self._grew_usefully(pod, old, new):
            return QueueingHint.SKIP
        return QueueingHint.QUEUE

    def lacking(self, pod: PodInfo, node: Node) -> Sequence[str]:
        """What the pod asks for and the node would not have if it were empty."""
        offered = _offered(node.status.allocatable)
        needed = {PODS: 1, **pod.facts.asked.requests}
        return [
            name
            for name, amount in needed.items()
            if amount > max(offered.get(name, 0), 0) and not self._comes_from_devices(name, offered)
        ]

    def _grew_usefully(self, pod: PodInfo, old: Node, new: Node) -> bool:
        before, after = _offered(old.status.allocatable), _offered(new.status.allocatable)
        asked = [name for name, amount in pod.facts.asked.requests.items() if amount]
        return any(after.get(name, 0) > before.get(name, 0) for name in (PODS, *asked)) or any(
            self._comes_from_devices(name, after) for name in asked
        )

    def _comes_from_devices(self, resource: str, offered: Mapping[str, int]) -> bool:
        """Whether what the node does not offer is had through a claim, from devices of a class."""
        return (
            self._knows_devices
            and is_scalar_resource_name(resource)
            and offered.get(resource, 0) <= 0
            and any(
                resource in (each.spec.extended_resource_name, f"{DEVICE_CLASS_PREFIX}{each.name}")
                for each in self.handle.lister(DeviceClass).list()
            )
        )

    def after_device_class(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """Worth a try if a class now offers devices under the name of a resource of the pod."""
        if not isinstance(new, DeviceClass):
            return QueueingHint.SKIP
        name = new.spec.extended_resource_name
        if isinstance(old, DeviceClass):
            names = {name} if name != old.spec.extended_resource_name else set()
        else:
            names = {name, f"{DEVICE_CLASS_PREFIX}{new.name}"}
        requested = pod.facts.asked.requests
        return QueueingHint.SKIP if names.isdisjoint(requested) else QueueingHint.QUEUE

    def _demand(self, asked: Asked, table: NodeTable) -> Demand:
        return Demand(table, self._heeded(asked.requests))

    def _heeded(self, requests: Mapping[str, int]) -> dict[str, int]:
        """What a node must have room for, in the order in which reasons name it."""
        names = sorted(requests, key=lambda name: (_FIRST.get(name, len(_FIRST)), name))
        return {
            name: requests[name]
            for name in names
            if requests[name] > 0 and not self._is_ignored(name)
        }

    def _is_ignored(self, resource: str) -> bool:
        # An extended resource has a slash in its name, and its group stands before it.
        return is_extended_resource_name(resource) and (
            resource in self._ignored or resource.partition("/")[0] in self._ignored_groups
        )


class _Strategy(NamedTuple):
    """How points are given and averaged, for many nodes and for one."""

    rate: Rating
    average: Average
    rate_one: RatingOfOne
    average_one: AverageOfOne


class Demand:
    """What one pod needs room for on a node: a place for itself first, then its requests.

    asked  (n_resources, 1)
    """

    __slots__ = ("_at", "_bits", "_of_one", "_statuses", "asked", "names", "table")

    def __init__(self, table: NodeTable, requests: Mapping[str, int]) -> None:
        self.table = table
        self.names = (PODS, *requests)
        self.asked = column_of([1, *requests.values()])
        self._at = column_of([table.resource(name) for name in self.names])
        self._of_one = [(table.resource(name), amount) for name, amount in requests.items()]
        # A bit for each shortage, the last one for requests that even an empty node cannot meet.
        bits = [1 << place for place in range(len(self.names) + 1)]
        self._bits = np.array(bits, np.int64 if len(bits) < 63 else object).reshape(-1, 1)
        self._statuses: dict[int, Status] = {}

    def judge(self, rows: Rows) -> Verdicts:
        """A verdict for each row."""
        few = rows.few
        if few and not any(map(self._is_short, few)):
            return Verdicts.all_pass(len(rows))
        offered = gather(self.table.allocatable, self._at, rows)
        used = gather(self.table.requested, self._at, rows)
        used[0] = rows.pod_counts
        short = is_short(self.asked, offered, used)
        if not np.count_nonzero(short):
            return Verdicts.all_pass(len(rows))
        # Preemption makes room for one more pod, but not for more than the node has.
        hopeless = np.logical_or.reduce((self.asked > offered)[1:])
        patterns = np.add.reduce(self._bits[:-1] * short) + self._bits[-1] * hopeless
        codes, rejections = numbered(patterns, len(self._bits))
        return Verdicts(codes, [self._status_of(int(pattern)) for pattern in rejections])

    def _is_short(self, row: int) -> bool:
        """Whether the node of one row lacks room; just so much as most often needs no numpy."""
        table = self.table
        if table.pod_counts.item(row) >= table.allocatable.item(self._at.item(0), row):
            return True
        for at, asked in self._of_one:
            if asked > int64(table.allocatable.item(at, row) - table.requested.item(at, row)):
                return True
        return False

    def _status_of(self, pattern: int) -> Status:
        status = self._statuses.get(pattern)
        if status is None:
            status = self._statuses[pattern] = self._status(pattern)
        return status

    def _status(self, pattern: int) -> Status:
        lacking = [name for place, name in enumerate(self.names) if pattern >> place & 1]
        reasons = map(reason, lacking)
        hopeless = pattern >> len(self.names)
        return Status.unresolvable(*reasons) if hopeless else Status.unschedulable(*reasons)


def numbered(patterns: Int64Column, bits: int) -> tuple[CodeColumn, Iterable[int]]:
    """Number the patterns that occur.

    patterns  (n_rows,)  of so many bits
    returns   (n_rows,)  0 for an empty pattern, else 1 + its place among those that occur
              those that occur, but for the empty one
    """
    if bits > _TABLE_BITS:
        values, places = np.unique(np.append(patterns, 0), return_inverse=True)
        return places[:-1], values[1:]
    # Counting costs a third of what sorting does.
    occurs = np.bincount(patterns) != 0
    occurs[0] = False
    return np.cumsum(occurs)[patterns], np.flatnonzero(occurs)


def is_short(asked: Int64Column, offered: Int64Column, used: Int64Column) -> BoolColumn:
    """(n_resources, n_rows) true where less is free than the pod asks for.

    asked          (n_resources, 1)
    offered, used  (n_resources, n_rows)
    """
    short: BoolColumn = asked > offered - used
    return short


def reason(resource: str) -> str:
    """What users read when a node is short of a resource."""
    return TOO_MANY_PODS if resource == PODS else INSUFFICIENT.format(resource=resource)


def _strategy(strategy: ScoringStrategy) -> _Strategy:
    match strategy.type:
        case "LeastAllocated":
            return _Strategy(
                least_allocated, weighted_mean, of_one.least_allocated, of_one.weighted_mean
            )
        case "MostAllocated":
            return _Strategy(
                most_allocated, weighted_mean, of_one.most_allocated, of_one.weighted_mean
            )
        case "RequestedToCapacityRatio" if ratio := strategy.requested_to_capacity_ratio:
            return _Strategy(
                requested_to_capacity_ratio(ratio.shape),
                weighted_mean_of_scoring,
                of_one.requested_to_capacity_ratio(ratio.shape),
                of_one.weighted_mean_of_scoring,
            )
    raise ValueError(f"scoring strategy {strategy.type} is not supported, or has no shape")


def _scored(specs: Sequence[ResourceSpec], asked: Asked, table: NodeTable) -> ScoredResources:
    return ScoredResources(table, specs, asked.scored)
