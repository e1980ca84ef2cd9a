"""TaintToleration keeps pods off nodes whose taints they do not tolerate.

Taints that are only preferred count against a node: the fewer of them, the higher its score.

Upstream: plugins/tainttoleration/taint_toleration.go (v1.36.4).
Differs:  nowhere a user can see.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.taints import HARD_EFFECTS, Taint, TaintEffect, Toleration, untolerated
from berthing.framework import (
    ActionType,
    BoolColumn,
    ClusterEvent,
    ClusterEventWithHint,
    CycleState,
    EnqueueExtensions,
    EventResource,
    FilterPlugin,
    Handle,
    Int64Column,
    Nodes,
    PreScorePlugin,
    QueueingHint,
    ScoreExtensions,
    Status,
    Verdicts,
)
from berthing.plugins.changed_objects import changed_from, changed_to
from berthing.plugins.normalize import normalized

# Users read this in events and pod conditions: upstream's wording, byte for byte.
REASON: Final = "node(s) had untolerated taint(s)"
UNTOLERATED: Final = Status.unresolvable(REASON)

# Under this feature gate tolerations may compare numbers.
COMPARISON_GATE: Final = "TaintTolerationComparisonOperators"

_SOFT_EFFECTS: Final = frozenset({TaintEffect.PREFER_NO_SCHEDULE})


class TaintToleration(FilterPlugin, PreScorePlugin, ScoreExtensions, EnqueueExtensions):
    """Judges whole lists of taints: a cluster has few, however many nodes it has."""

    name = "TaintToleration"
    row_local = True
    reads_pods = False

    def __init__(self, args: msgspec.Struct | None, handle: Handle) -> None:
        super().__init__(args, handle)
        self._comparison_operators = handle.is_feature_enabled(COMPARISON_GATE)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node with taints that the pod tolerates, and other tolerations of the pod."""
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        toleration = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_TOLERATION)
        return (
            ClusterEventWithHint(node, self.after_node_change),
            ClusterEventWithHint(toleration, self.after_toleration_change),
        )

    def after_node_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The pod must tolerate the node now, and must not have tolerated it before."""
        before, after = changed_from(Node, old), changed_to(Node, new)
        was_closed = before is None or not self._tolerates(pod, before)
        helps = was_closed and self._tolerates(pod, after)
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def after_toleration_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """Tolerations can only be added, so whichever the pod got may help it."""
        is_this_one = changed_to(Pod, new).metadata.uid == pod.uid
        return QueueingHint.QUEUE if is_this_one else QueueingHint.SKIP

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Reject rows with a taint that the pod does not tolerate."""
        tainted = untolerated_rows(
            nodes, pod.tolerations, comparison_operators=self._comparison_operators
        )
        return Verdicts.reject(tainted, UNTOLERATED)

    def is_pod_local(self, pod: PodInfo) -> bool:
        """Nothing but the pod counts."""
        return True

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Never sits out: without any such taints all nodes score 100."""
        return None

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        """(n_rows,) how many taints that are only preferred the pod does not tolerate."""

        def count(taints: Sequence[Taint]) -> int:
            return sum(
                1
                for _ in untolerated(
                    taints,
                    pod.tolerations,
                    _SOFT_EFFECTS,
                    comparison_operators=self._comparison_operators,
                )
            )

        return nodes.taints().gather(count)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Int64Column) -> Int64Column:
        """(n_rows,) 100 without such taints, 0 where there are most."""
        return normalized(scores, reverse=True)

    def _tolerates(self, pod: PodInfo, node: Node) -> bool:
        return not _keeps_off(
            node.spec.taints, pod.tolerations, comparison_operators=self._comparison_operators
        )


def untolerated_rows(
    nodes: Nodes, tolerations: Collection[Toleration], *, comparison_operators: bool = False
) -> BoolColumn:
    """(n_rows,) true where a taint keeps off pods that have only these tolerations."""
    return nodes.taints().where(
        lambda taints: _keeps_off(taints, tolerations, comparison_operators=comparison_operators)
    )


def _keeps_off(
    taints: Sequence[Taint], tolerations: Collection[Toleration], *, comparison_operators: bool
) -> bool:
    left = untolerated(taints, tolerations, HARD_EFFECTS, comparison_operators=comparison_operators)
    return next(left, None) is not None
