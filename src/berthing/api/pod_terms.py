"""What a pod says about other pods, compiled: affinity terms and spread constraints.

Upstream: GetAffinityTerms in kube-scheduler/framework/types.go, NewPodInfo in
          scheduler/framework/types.go, plugins/podtopologyspread/common.go (v1.36.4).
Differs:  nowhere a user can see.

A selector that does not compile costs its whole group: pods that run keep the groups that are
fine, a pod that is to be placed is turned down with `AffinityTerms.error`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TypeVar

import msgspec

from berthing.api.frozen import FrozenDict
from berthing.api.labels import Selector, SelectorError, as_selector, from_labels
from berthing.api.pod import (
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)

T = TypeVar("T")
C = TypeVar("C")

# Replicas bring the same terms again and again: they share one compiled value.
_CACHED = 8192


class AffinityTerm(msgspec.Struct, frozen=True, cache_hash=True):
    """Some pods, and the node label whose values say what is near them."""

    namespaces: frozenset[str]
    namespace_selector: Selector
    selector: Selector
    topology_key: str

    def matches(
        self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]
    ) -> bool:
        """True if a pod with these labels, in a namespace with those, is one of the pods."""
        return (
            namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)
        ) and self.selector.matches(labels)


class WeightedAffinityTerm(msgspec.Struct, frozen=True, cache_hash=True):
    """A term, and what it adds to a node's score, or takes from it."""

    weight: int
    term: AffinityTerm


class AffinityTerms(msgspec.Struct, frozen=True, cache_hash=True):
    """All that a pod says about pods that it wants near, or not."""

    required: tuple[AffinityTerm, ...] = ()
    required_anti: tuple[AffinityTerm, ...] = ()
    preferred: tuple[WeightedAffinityTerm, ...] = ()
    preferred_anti: tuple[WeightedAffinityTerm, ...] = ()
    # What is wrong with the groups that were left out; empty if nothing is.
    error: str = ""


class SpreadConstraint(msgspec.Struct, frozen=True, cache_hash=True):
    """How many more matching pods one value of a node label may have than another."""

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int
    honors_node_affinity: bool
    honors_node_taints: bool


class SpreadConstraints(msgspec.Struct, frozen=True, cache_hash=True):
    """All constraints of a pod: those that rule nodes out, and those that only score.

    An error is told as upstream tells it, when the constraints of its group are needed.
    """

    hard: tuple[SpreadConstraint, ...] = ()
    soft: tuple[SpreadConstraint, ...] = ()
    hard_error: str = ""
    soft_error: str = ""


NO_TERMS = AffinityTerms()
NO_CONSTRAINTS = SpreadConstraints()


def affinity_terms(affinity: Affinity | None, namespace: str) -> AffinityTerms:
    """Compile the terms of a pod in this namespace."""
    if affinity is None or not (affinity.pod_affinity or affinity.pod_anti_affinity):
        return NO_TERMS
    return _terms(_json(affinity), namespace)


def spread_constraints(
    constraints: tuple[TopologySpreadConstraint, ...], labels: FrozenDict[str, str]
) -> SpreadConstraints:
    """Compile the constraints of a pod with these labels."""
    return _constraints(_json(constraints), labels) if constraints else NO_CONSTRAINTS


def compile_spread_constraints(
    constraints: Iterable[TopologySpreadConstraint], labels: Mapping[str, str]
) -> tuple[SpreadConstraint, ...]:
    """Compile constraints for a pod with these labels; SelectorError at the first mistake."""
    return tuple(_spread_constraint(each, labels) for each in constraints)


# Selectors hold dicts and cannot be looked up, so their text is.
_json = msgspec.json.Encoder().encode


@lru_cache(maxsize=_CACHED)
def _terms(affinity_json: bytes, namespace: str) -> AffinityTerms:
    affinity = msgspec.json.decode(affinity_json, type=Affinity)
    near = affinity.pod_affinity or PodAffinity()
    away = affinity.pod_anti_affinity or PodAffinity()

    def term(each: PodAffinityTerm) -> AffinityTerm:
        return _term(each, namespace)

    def weighted(each: WeightedPodAffinityTerm) -> WeightedAffinityTerm:
        return WeightedAffinityTerm(each.weight, term(each.pod_affinity_term))

    required, required_error = _group(near.required, term)
    required_anti, required_anti_error = _group(away.required, term)
    preferred, preferred_error = _group(near.preferred, weighted)
    preferred_anti, preferred_anti_error = _group(away.preferred, weighted)
    errors = {
        "requiredAffinityTerms": required_error,
        "requiredAntiAffinityTerms": required_anti_error,
        "preferredAffinityTerms": preferred_error,
        "preferredAntiAffinityTerms": preferred_anti_error,
    }
    return AffinityTerms(required, required_anti, preferred, preferred_anti, _joined(errors))


def _group(group: Iterable[T], compile_: Callable[[T], C]) -> tuple[tuple[C, ...], str]:
    try:
        return tuple(map(compile_, group)), ""
    except SelectorError as error:
        return (), str(error)


def _term(term: PodAffinityTerm, namespace: str) -> AffinityTerm:
    names_none = not term.namespaces and term.namespace_selector is None
    return AffinityTerm(
        namespaces=frozenset((namespace,) if names_none else term.namespaces),
        selector=as_selector(term.label_selector),
        namespace_selector=as_selector(term.namespace_selector),
        topology_key=term.topology_key,
    )


def _joined(errors: Mapping[str, str]) -> str:
    """Several errors as upstream's aggregate writes them."""
    texts = list(dict.fromkeys(f"{name}: {error}" for name, error in errors.items() if error))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]" if texts else ""


@lru_cache(maxsize=_CACHED)
def _constraints(constraints_json: bytes, labels: FrozenDict[str, str]) -> SpreadConstraints:
    all_constraints = msgspec.json.decode(
        constraints_json, type=tuple[TopologySpreadConstraint, ...]
    )

    def spread(each: TopologySpreadConstraint) -> SpreadConstraint:
        return _spread_constraint(each, labels)

    hard, hard_error = _group(_of(all_constraints, "DoNotSchedule"), spread)
    soft, soft_error = _group(_of(all_constraints, "ScheduleAnyway"), spread)
    return SpreadConstraints(hard, soft, hard_error, soft_error)


def _of(
    constraints: Iterable[TopologySpreadConstraint], action: str
) -> Iterable[TopologySpreadConstraint]:
    return (each for each in constraints if each.when_unsatisfiable == action)


def _spread_constraint(
    constraint: TopologySpreadConstraint, labels: Mapping[str, str]
) -> SpreadConstraint:
    return SpreadConstraint(
        max_skew=constraint.max_skew,
        topology_key=constraint.topology_key,
        selector=_spread_selector(constraint, labels),
        min_domains=1 if constraint.min_domains is None else constraint.min_domains,
        honors_node_affinity=constraint.node_affinity_policy in ("", "Honor"),
        honors_node_taints=constraint.node_taints_policy == "Honor",
    )


def _spread_selector(constraint: TopologySpreadConstraint, labels: Mapping[str, str]) -> Selector:
    """The selector, narrowed to pods that share the pod's own values of matchLabelKeys."""
    selector = as_selector(constraint.label_selector)
    own = {key: labels[key] for key in constraint.match_label_keys if key in labels}
    return selector.adding(*from_labels(own).written) if own else selector
