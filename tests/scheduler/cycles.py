"""Small plugins and clusters for tests of the cycle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import cast

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.framework import CycleState, ExtensionPoint, Handle, Plugin, points_of
from berthing.scheduler.cycle import Cycle
from berthing.scheduler.decision import Decision
from berthing.scheduler.profile import Profile


def make_cycle(
    cluster: Cluster,
    *plugins: type[Plugin],
    weights: Mapping[str, int] | None = None,
    percentage: int = 100,
    seed: int = 0,
) -> Cycle:
    """A cycle that runs these plugins at all their points, in this order."""
    made = {plugin.name: plugin(None, cast("Handle", None)) for plugin in plugins}
    points = {
        point: tuple(made[plugin.name] for plugin in plugins if point in points_of(plugin))
        for point in ExtensionPoint
    }
    scores = {plugin.name: 1 for plugin in points[ExtensionPoint.SCORE]} | dict(weights or {})
    profile = Profile("default-scheduler", made, points, scores)
    return Cycle(cluster, profile, random=Random(seed), percentage_of_nodes_to_score=percentage)


def cluster_of(*nodes: Node, pods: Iterable[Pod] = ()) -> Cluster:
    cluster = Cluster()
    for node in nodes:
        cluster.set_node(node)
    for pod in pods:
        cluster.set_pod(PodInfo.of(pod))
    return cluster


def decide(
    cycle: Cycle,
    pod: Pod,
    *,
    nominated: Mapping[str, Sequence[Pod]] | None = None,
    rank_all: bool = False,
) -> Decision:
    nominations = {
        node: [PodInfo.of(each) for each in pods] for node, pods in (nominated or {}).items()
    }
    return cycle.schedule(PodInfo.of(pod), CycleState(), nominations, rank_all=rank_all)
