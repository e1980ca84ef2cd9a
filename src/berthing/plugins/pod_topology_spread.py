"""PodTopologySpread spreads pods evenly over zones, nodes, or the values of any node label.

    max skew 1:   zone a: 2 pods   zone b: 1 pod   zone c: 2 pods      only zone b is left,
                                                                       with 3 pods c would be 2 ahead

Hard constraints rule out the nodes of domains that would get too far ahead of the emptiest one;
soft ones score nodes by how many pods their domains have.

Which nodes count is in `topology_domains`, what follows from the pod alone in
`topology_spread_plans`.  How pods are spread is frozen by PreFilter: add_pod and remove_pod note
what changes on a node, and each node is judged in its own world, with the changes on it and no
others.  Many nodes can therefore be asked about at once, each with other pods gone.

Upstream: plugins/podtopologyspread/{plugin,common,filtering,scoring}.go (v1.36.4).
Differs:  hints also wake a pod when a node starts or ceases to count because of the pod's node
          affinity, and when the pod's own labels change what its constraints select.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from berthing.api.apps import ReplicaSet, StatefulSet
from berthing.api.core import ReplicationController, Service
from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.pod_terms import NO_CONSTRAINTS, SpreadConstraint
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import as_rows
from berthing.config.args import PodTopologySpreadArgs
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    CycleState,
    EnqueueExtensions,
    EventResource,
    FilterPlugin,
    Handle,
    Int64Column,
    NodeInfo,
    Nodes,
    PreFilterExtensions,
    PreScorePlugin,
    QueueingHint,
    ScoreExtensions,
    StateKey,
    Status,
    Verdicts,
)
from berthing.plugins.changed_objects import changed_from, changed_to
from berthing.plugins.topology_spread_defaults import DefaultConstraints, deduced_selector
from berthing.plugins.topology_spread_filtering import Filtering
from berthing.plugins.topology_spread_plans import Plan, Plans
from berthing.plugins.topology_spread_scoring import Scoring, spread_out

T = TypeVar("T", bound=ApiObject)

# What comes before a selector's own error, word for word as upstream says it.
_HARD_ERROR = "obtaining pod's hard topology spread constraints"
_SOFT_ERROR = "obtaining pod's soft topology spread constraints"

_FILTERING = StateKey[Filtering]("PreFilterPodTopologySpread")
_SCORING = StateKey[Scoring]("PreScorePodTopologySpread")


class PodTopologySpread(
    PreFilterExtensions, FilterPlugin, PreScorePlugin, ScoreExtensions, EnqueueExtensions
):
    """Spreads pods by their own constraints, else by those of the profile."""

    name = "PodTopologySpread"
    args_type = PodTopologySpreadArgs
    # By what selects a pod, pods without constraints of their own are spread.
    reads = (Service, ReplicationController, ReplicaSet, StatefulSet)

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._defaults = DefaultConstraints(args)
        self._comparison_operators = handle.is_feature_enabled("TaintTolerationComparisonOperators")
        self._known_plans: Plans | None = None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Pods that are counted, or no longer; nodes that come, go, or change place."""
        pods = ClusterEvent(
            EventResource.POD,
            ActionType.ADD
            | ActionType.UPDATE_POD_LABEL
            | ActionType.UPDATE_POD_TOLERATION
            | ActionType.DELETE,
        )
        nodes = ClusterEvent(
            EventResource.NODE,
            ActionType.ADD
            | ActionType.DELETE
            | ActionType.UPDATE_NODE_LABEL
            | ActionType.UPDATE_NODE_TAINT,
        )
        return (
            ClusterEventWithHint(pods, self.after_pod_change),
            ClusterEventWithHint(nodes, self.after_node_change),
        )

    def after_pod_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """A constraint must count the pod now and not before, or the other way round."""
        before, after = changed_from(Pod, old), changed_from(Pod, new)
        if not all(_is_involved(each, pod) for each in (before, after) if each is not None):
            return QueueingHint.SKIP
        constraints = self.hard_constraints(pod)
        if before is None or after is None:
            labels = (after or changed_to(Pod, before)).metadata.labels
            return _queue_if(any(each.selector.matches(labels) for each in constraints))
        if pod.uid == after.metadata.uid and self._sees_other_things(constraints, before, after):
            return QueueingHint.QUEUE
        was, is_ = before.metadata.labels, after.metadata.labels
        return _queue_if(
            any(each.selector.matches(was) != each.selector.matches(is_) for each in constraints)
        )

    def after_node_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """A node with all the labels must have come or gone, or be counted otherwise than before."""
        before, after = changed_from(Node, old), changed_from(Node, new)
        constraints = self.hard_constraints(pod)
        if before is None or after is None:
            return _queue_if(_has_labels(after or changed_to(Node, before), constraints))
        has_labels = _has_labels(after, constraints)
        if _has_labels(before, constraints) != has_labels:
            return QueueingHint.QUEUE
        return _queue_if(has_labels and _counts_otherwise(pod, constraints, before, after))

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Count who is where; sit out if nothing rules nodes out."""
        plan = self._plan(pod, as_rows(nodes).cluster)
        if plan.hard_error:
            raise ValueError(f"get constraints from pod: {_HARD_ERROR}: {plan.hard_error}")
        if plan.hard is None:
            return Status.skip()
        state.write(_FILTERING, Filtering.begun(plan.hard, as_rows(nodes).cluster))
        return None

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> None:
        """Note one more pod on a node."""
        state.read(_FILTERING).shift(added, node, 1)

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> None:
        """Note one pod less on a node."""
        state.read(_FILTERING).shift(removed, node, -1)

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Reject nodes without the labels, and those of domains that are too far ahead."""
        return state.read(_FILTERING).verdicts(as_rows(nodes))

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Weigh the domains; sit out if nothing scores."""
        rows = as_rows(nodes)
        plan = self._plan(pod, rows.cluster)
        if plan.soft_error:
            raise ValueError(f"calculating preScoreState: {_SOFT_ERROR}: {plan.soft_error}")
        if plan.soft is None or not len(rows.cluster.nodes):
            return Status.skip()
        state.write(_SCORING, Scoring(plan.soft, rows))
        return None

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        """Weighted pods in the domains of each node; here more is worse."""
        return state.read(_SCORING).scores(as_rows(nodes))

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Int64Column) -> Int64Column:
        """The emptiest node gets most; nodes that are left out get nothing."""
        return spread_out(scores, state.read(_SCORING).left_out)

    def hard_constraints(self, pod: PodInfo) -> tuple[SpreadConstraint, ...]:
        """What rules nodes out for the pod, as of now: its own constraints, else the profile's."""
        spread = pod.spread
        if spread.hard_error:
            raise ValueError(f"{_HARD_ERROR}: {spread.hard_error}")
        if spread != NO_CONSTRAINTS or not self._defaults:
            return spread.hard
        return self._defaults.hard(deduced_selector(pod.facts, _Listed(self.handle)))

    def _sees_other_things(
        self, constraints: tuple[SpreadConstraint, ...], before: Pod, after: Pod
    ) -> bool:
        """Whether a waiting pod's own change makes it count other nodes, or other pods."""
        if before.spec.tolerations != after.spec.tolerations and any(
            each.honors_node_taints for each in constraints
        ):
            return True
        was, is_ = PodInfo.of(before), PodInfo.of(after)
        if was.labels == is_.labels:
            return False
        return self.hard_constraints(was) != self.hard_constraints(is_)

    def _plan(self, pod: PodInfo, cluster: Cluster) -> Plan:
        plans = self._known_plans
        if plans is None or plans.cluster is not cluster:
            plans = self._known_plans = Plans(
                cluster, self._defaults, comparison_operators=self._comparison_operators
            )
        return plans.of(pod)


class _Listed:
    """Objects as the API server last showed them: hints are asked outside of cycles."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def get(self, kind: type[T], name: str, namespace: str = "") -> T | None:
        return self._handle.lister(kind).get(name, namespace)

    def list(self, kind: type[T], namespace: str | None = None) -> Iterable[T]:
        return self._handle.lister(kind).list(namespace)


def _is_involved(changed: Pod, pod: PodInfo) -> bool:
    """Whether it is the waiting pod itself, or one that it may be spread with."""
    if changed.metadata.uid == pod.uid:
        return True
    is_placed = changed.spec.node_name or changed.status.nominated_node_name
    return bool(is_placed) and changed.namespace == pod.namespace


def _has_labels(node: Node, constraints: tuple[SpreadConstraint, ...]) -> bool:
    return all(each.topology_key in node.metadata.labels for each in constraints)


def _counts_otherwise(
    pod: PodInfo, constraints: tuple[SpreadConstraint, ...], before: Node, after: Node
) -> bool:
    was, is_ = before.metadata.labels, after.metadata.labels
    if any(was[each.topology_key] != is_[each.topology_key] for each in constraints):
        return True
    if before.spec.taints != after.spec.taints:
        return True
    required = pod.shape.required_node_affinity
    return any(each.honors_node_affinity for each in constraints) and (
        required.matches(before.name, was) != required.matches(after.name, is_)
    )


def _queue_if(helps: bool) -> QueueingHint:  # noqa: FBT001  # reads as a sentence
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP
