"""NodeAffinity matches nodes with `nodeSelector` and node affinity, the pod's and the profile's.

Upstream: plugins/nodeaffinity/node_affinity.go (v1.36.4).
Differs:  a node that begins to match the profile's affinity wakes a pod that it matched before;
          upstream lets that pod sleep.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from berthing.api.field_errors import aggregate
from berthing.api.labels import SelectorError
from berthing.api.node import Node
from berthing.api.node_selector import (
    NodeSelector,
    NodeSelectorTerm,
    NodeTerms,
    PreferredSchedulingTerm,
    PreferredTerms,
    compile_node_selector,
    compile_preferred_terms,
)
from berthing.api.pod_info import PodInfo
from berthing.cluster.rows import as_rows
from berthing.config.args import AddedAffinity, NodeAffinityArgs
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
    Nodes,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    QueueingHint,
    ScoreExtensions,
    Status,
    Verdicts,
)
from berthing.plugins.changed_objects import changed_from, changed_to
from berthing.plugins.node_terms import matching_rows, preference_scores, required_rows
from berthing.plugins.normalize import normalized

# Users read these in events and pod conditions: upstream's wording, byte for byte.
REASON_POD: Final = "node(s) didn't match Pod's node affinity/selector"
REASON_ENFORCED: Final = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT: Final = "pod affinity terms conflict"

_NO_MATCH: Final = Status.unresolvable(REASON_POD)
_NOT_ENFORCED: Final = Status.unresolvable(REASON_ENFORCED)
_CONFLICT: Final = Status.unresolvable(REASON_CONFLICT)


class NodeAffinity(
    PreFilterPlugin, FilterPlugin, PreScorePlugin, ScoreExtensions, EnqueueExtensions
):
    """Rejects nodes that do not match what is required, and ranks by what is preferred."""

    name = "NodeAffinity"
    args_type = NodeAffinityArgs
    row_local = True
    reads_pods = False

    def __init__(self, args: NodeAffinityArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        added = args.added_affinity or AddedAffinity()
        self._added_required = _added_required(added)
        self._added_preferred = _added_preferred(added)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node with labels that match."""
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        return (ClusterEventWithHint(node, self.after_node_change),)

    def after_node_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The node must match now, and must not have matched before."""
        before, after = changed_from(Node, old), changed_to(Node, new)
        helps = self._matches(pod, after) and not (before and self._matches(pod, before))
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def is_pod_local(self, pod: PodInfo) -> bool:
        """Nothing but the pod counts."""
        return True

    def pre_filter(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> PreFilterResult | Status | None:
        """Narrow the search to the nodes that a pod names, if each of its terms names one."""
        facts = pod.facts
        required = facts.node_affinity.required if facts.node_affinity else None
        if required is None and self._added_required is None and not facts.node_selector:
            return Status.skip()
        named = _named_nodes(required.node_selector_terms) if required else None
        if named is None:
            return None
        return PreFilterResult(named) if named else _CONFLICT

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Reject rows that do not match the profile's affinity, then those not the pod's."""
        rows = as_rows(nodes)
        verdicts = Verdicts.reject(
            ~required_rows(rows, pod.shape.required_node_affinity), _NO_MATCH
        )
        if self._added_required is None:
            return verdicts
        enforced = matching_rows(rows, self._added_required)
        return Verdicts.reject(~enforced, _NOT_ENFORCED).then(verdicts)

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Sit out if neither the pod nor the profile prefers any nodes."""
        _preferred(pod)
        affinity = pod.facts.node_affinity
        if self._added_preferred is None and not (affinity and affinity.preferred):
            return Status.skip()
        return None

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        """(n_rows,) the weights of all preferred terms that match."""
        rows = as_rows(nodes)
        scores = preference_scores(rows, _preferred(pod))
        if self._added_preferred is not None:
            scores += preference_scores(rows, self._added_preferred)
        return scores

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Int64Column) -> Int64Column:
        """(n_rows,) 100 for the highest sum of weights, 0 for none."""
        return normalized(scores)

    def _matches(self, pod: PodInfo, node: Node) -> bool:
        name, labels = node.name, node.metadata.labels
        if self._added_required is not None and not self._added_required.matches(name, labels):
            return False
        required = pod.shape.required_node_affinity
        if required.matches(name, labels):
            return True
        if required.terms is not None and required.labels.matches(labels):
            # A term with a mistake might have been the one: upstream's hint says so, and better
            # an attempt too many.
            _refuse_errors_of_pod(required.terms)
        return False


def _refuse_errors_of_pod(terms: NodeTerms) -> None:
    if terms.errors:
        raise SelectorError(aggregate(terms.errors), terms.errors)


def _named_nodes(terms: Iterable[NodeSelectorTerm]) -> frozenset[str] | None:
    """The nodes that the terms name; None if one leaves the name open, or there are none."""
    named: frozenset[str] | None = None
    for term in terms:
        in_term = _named_in_term(term)
        if in_term is None:
            return None
        named = in_term if named is None else named | in_term
    return named


def _named_in_term(term: NodeSelectorTerm) -> frozenset[str] | None:
    named: frozenset[str] | None = None
    for condition in term.match_fields:
        if condition.key == "metadata.name" and condition.operator == "In":
            names = frozenset(condition.values or ())
            named = names if named is None else named & names
    return named


def _preferred(pod: PodInfo) -> PreferredTerms:
    """What the pod prefers; with a mistake in it, SelectorError ends the attempt, as upstream."""
    preferred = pod.shape.preferred_node_terms
    if preferred.errors:
        raise SelectorError(aggregate(preferred.errors), preferred.errors)
    return preferred


def _added_required(added: AddedAffinity) -> NodeTerms | None:
    required = added.required_during_scheduling_ignored_during_execution
    if required is None:
        return None
    terms = compile_node_selector(NodeSelector(required.node_selector_terms or ()))
    _refuse_errors("requiredDuringSchedulingIgnoredDuringExecution", terms)
    return terms


def _added_preferred(added: AddedAffinity) -> PreferredTerms | None:
    preferred = added.preferred_during_scheduling_ignored_during_execution
    if not preferred:
        return None
    terms = compile_preferred_terms(
        tuple(PreferredSchedulingTerm(each.weight, each.preference) for each in preferred)
    )
    _refuse_errors("preferredDuringSchedulingIgnoredDuringExecution", terms)
    return terms


def _refuse_errors(field: str, terms: NodeTerms | PreferredTerms) -> None:
    if terms.errors:
        message = f"parsing addedAffinity.{field}: {aggregate(terms.errors)}"
        raise SelectorError(message, terms.errors)
