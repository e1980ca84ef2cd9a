"""NodeResourcesBalancedAllocation prefers nodes on which the pod evens out what is taken.

A node with all its memory taken and half its cpu idle wastes cpu.  What counts is the change: a
pod that wants mostly cpu mends such a node and tilts one that is the other way round.

Upstream: plugins/noderesources/balanced_allocation.go (v1.36.4).
Differs:  an extended resource is looked for on nodes only, not among devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final

import numpy as np

from berthing.api.pod_info import PodInfo
from berthing.api.pod_requests import Asked
from berthing.cluster.node_table import NodeTable
from berthing.cluster.rows import as_rows
from berthing.config.args import NodeResourcesBalancedAllocationArgs, ResourceSpec
from berthing.framework import (
    CycleState,
    Handle,
    Int64Column,
    Nodes,
    PreScorePlugin,
    ScorePlugin,
    Status,
)
from berthing.plugins import resource_scores_of_one
from berthing.plugins.resource_scores import ScoredOfOne, ScoredResources, balanced

_CACHED: Final = 4096


class NodeResourcesBalancedAllocation(PreScorePlugin, ScorePlugin):
    """Scores nodes by what the pod does to the balance between their resources."""

    name = "NodeResourcesBalancedAllocation"
    args_type = NodeResourcesBalancedAllocationArgs
    row_local = True

    def __init__(self, args: NodeResourcesBalancedAllocationArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._specs = args.resources
        # By what a pod asks for: replicas share it, so a cycle finds these ready made.
        self._scored_of = lru_cache(maxsize=_CACHED)(partial(_scored, args.resources))

    def is_pod_local(self, pod: PodInfo) -> bool:
        """Nothing but the pod counts."""
        return True

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Sit out for a pod that requests none of the resources.

        It would change no balance, and so pods of its kind would all go to one node.
        """
        return None if _is_concerned(pod.facts.asked, self._specs) else Status.skip()

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        """Score rows by the balance with the pod against the balance without it."""
        rows = as_rows(nodes)
        scored = self._scored_of(pod.facts.asked, rows.cluster.nodes)
        if scored is None:
            # Only asked in a configuration without our PreScore.
            return np.zeros(len(rows), np.int64)
        if few := rows.few:
            return np.array([_score_of_one(scored.of_one, row) for row in few], np.int64)
        return balanced(scored.requested(rows), scored.amounts, scored.offered(rows))


def _is_concerned(asked: Asked, specs: Sequence[ResourceSpec]) -> bool:
    return any(asked.requests.get(spec.name) for spec in specs)


def _scored(
    specs: Sequence[ResourceSpec], asked: Asked, table: NodeTable
) -> ScoredResources | None:
    return ScoredResources(table, specs, asked.requests) if _is_concerned(asked, specs) else None


def _score_of_one(scored: ScoredOfOne, row: int) -> int:
    return resource_scores_of_one.balanced(
        scored.requested(row), scored.amounts, scored.offered(row)
    )
