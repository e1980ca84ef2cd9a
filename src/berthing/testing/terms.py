"""Selectors, affinity terms and spread constraints, by keyword."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from berthing.api.labels import LabelSelector, LabelSelectorRequirement
from berthing.api.node_selector import NodeSelectorRequirement, NodeSelectorTerm
from berthing.api.pod import PodAffinityTerm, TopologySpreadConstraint
from berthing.testing.nodes import HOSTNAME, ZONE

# Labels that are wanted: one value each, or any of several.
Wanted = Mapping[str, str | Sequence[str]]


def make_selector(labels: Wanted, *, absent: Iterable[str] = ()) -> LabelSelector:
    """Make a selector for objects with these labels, and without those in `absent`.

    A label may have one of several values: `{"app": ("web", "api")}`.
    """
    exact = {key: value for key, value in labels.items() if isinstance(value, str)}
    any_of = [
        LabelSelectorRequirement(key=key, operator="In", values=tuple(values))
        for key, values in labels.items()
        if not isinstance(values, str)
    ]
    none_of = [LabelSelectorRequirement(key=key, operator="DoesNotExist") for key in absent]
    return LabelSelector(match_labels=exact, match_expressions=(*any_of, *none_of))


def make_affinity_term(
    labels: Wanted | LabelSelector,
    *,
    topology_key: str = HOSTNAME,
    namespaces: Iterable[str] = (),
    namespace_labels: Wanted | LabelSelector | None = None,
) -> PodAffinityTerm:
    """Make a term about pods with these labels, on the same node unless told otherwise.

    Without namespaces the pod's own is meant; with empty `namespace_labels`, all of them are.
    """
    return PodAffinityTerm(
        label_selector=_selector(labels),
        namespaces=tuple(namespaces),
        topology_key=topology_key,
        namespace_selector=None if namespace_labels is None else _selector(namespace_labels),
    )


def make_node_term(
    labels: Wanted | None = None,
    *,
    expressions: Iterable[NodeSelectorRequirement] = (),
    node_name: str = "",
) -> NodeSelectorTerm:
    """Make a term about nodes with these labels, or about one node by name.

    `expressions` say what labels cannot: NotIn, Gt and so on.
    """
    wanted = (
        NodeSelectorRequirement(
            key=key, operator="In", values=(value,) if isinstance(value, str) else tuple(value)
        )
        for key, value in (labels or {}).items()
    )
    name = NodeSelectorRequirement(key="metadata.name", operator="In", values=(node_name,))
    return NodeSelectorTerm(
        match_expressions=(*wanted, *expressions), match_fields=(name,) if node_name else ()
    )


def make_spread_constraint(
    labels: Wanted | LabelSelector,
    *,
    topology_key: str = ZONE,
    max_skew: int = 1,
    when_unsatisfiable: str = "DoNotSchedule",
    min_domains: int | None = None,
    node_affinity_policy: str = "",
    node_taints_policy: str = "",
    match_label_keys: Iterable[str] = (),
) -> TopologySpreadConstraint:
    """Make a constraint that spreads pods with these labels over zones, as evenly as can be."""
    return TopologySpreadConstraint(
        max_skew=max_skew,
        topology_key=topology_key,
        when_unsatisfiable=when_unsatisfiable,
        label_selector=_selector(labels),
        min_domains=min_domains,
        node_affinity_policy=node_affinity_policy,
        node_taints_policy=node_taints_policy,
        match_label_keys=tuple(match_label_keys),
    )


def _selector(labels: Wanted | LabelSelector) -> LabelSelector:
    return labels if isinstance(labels, LabelSelector) else make_selector(labels)
