"""A cluster for tests of plugins, and what a plugin says about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar, cast

import numpy as np

from berthing.api.core import Namespace
from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Rows
from berthing.framework import (
    CycleState,
    FilterPlugin,
    Handle,
    PreFilterPlugin,
    PreScorePlugin,
    ScoreExtensions,
    ScorePlugin,
    Status,
)
from berthing.scheduler.snapshot import ClusterSnapshot

T = TypeVar("T", bound=ApiObject)


class FakeHandle:
    """The little of a Handle that built-in plugins ask for when they are made."""

    def __init__(self, cluster: Cluster | None = None, gates: Iterable[str] = ()) -> None:
        self.cluster = cluster
        self.snapshot = ClusterSnapshot(cluster or Cluster())
        self._gates = frozenset(gates)

    def is_feature_enabled(self, gate: str) -> bool:
        return gate in self._gates

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        return self.cluster.namespace_labels(namespace) if self.cluster else {}

    def lister(self, kind: type[T]) -> FakeLister[T]:
        return FakeLister(kind, self.cluster or Cluster())


class FakeLister(Generic[T]):
    """The objects of one kind in a cluster."""

    def __init__(self, kind: type[T], cluster: Cluster) -> None:
        self._kind = kind
        self._cluster = cluster

    def get(self, name: str, namespace: str = "") -> T | None:
        return self._cluster.objects.get(self._kind, name, namespace)

    def list(self, namespace: str | None = None) -> Iterable[T]:
        return self._cluster.objects.list(self._kind, namespace)


def fake_handle(cluster: Cluster | None = None, *, gates: Iterable[str] = ()) -> Handle:
    return cast("Handle", FakeHandle(cluster, gates))


def cluster_of(objects: Iterable[ApiObject]) -> Cluster:
    """A cluster of nodes, running pods (those with a nodeName), namespaces and other objects."""
    cluster = Cluster()
    for obj in objects:
        if isinstance(obj, Node):
            cluster.set_node(obj)
        elif isinstance(obj, Namespace):
            cluster.set_namespace(obj)
        elif isinstance(obj, Pod):
            if obj.spec.node_name and not obj.is_terminal:
                cluster.set_pod(PodInfo.of(obj))
        else:
            cluster.objects.set(obj)
    return cluster


def filter_all(plugin: FilterPlugin, pod: Pod, cluster: Cluster) -> Mapping[str, Status | None]:
    """Each node's status; a PreFilter that rejects or narrows counts, one that skips passes all."""
    state, info, rows = CycleState(), PodInfo.of(pod), cluster.rows()
    if isinstance(plugin, PreFilterPlugin):
        answer = plugin.pre_filter(state, info, rows)
        if isinstance(answer, Status):
            return dict.fromkeys(_names(rows), None if answer.is_skip else answer)
    verdicts = plugin.filter_nodes(state, info, rows)
    return {name: verdicts[row] for row, name in enumerate(rows.names) if name}


def score_all(
    plugin: ScorePlugin, pod: Pod, cluster: Cluster, *, feasible: Iterable[str] | None = None
) -> Mapping[str, int] | None:
    """Each feasible node's normalized score; None if the plugin sits out."""
    state, info, rows = CycleState(), PodInfo.of(pod), cluster.rows()
    if feasible is not None:
        numbers = [row for row in map(cluster.nodes.row, feasible) if row is not None]
        rows = Rows(cluster, np.array(numbers, np.intp))
    if isinstance(plugin, PreScorePlugin):
        answer = plugin.pre_score(state, info, rows)
        if answer is not None and answer.is_skip:
            return None
    scores = plugin.score_nodes(state, info, rows)
    if isinstance(plugin, ScoreExtensions):
        scores = plugin.normalize_score(state, info, scores)
    return {name: int(score) for name, score in zip(rows.names, scores, strict=True) if name}


def _names(rows: Rows) -> list[str]:
    return [name for name in rows.names if name]
