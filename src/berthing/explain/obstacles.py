"""What stands between a pod and a node, with its numbers: asked, free, short by; which taint; ...

A plugin says no in few words that are the same for many nodes.  Here a person is told what it is
about this node.  All plugins are heard, not only the first one to say no, so that nodes can be
compared by how much is in the way.  A plugin that is not known here is told in its own words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from berthing.api.node import Node
from berthing.api.node_selector import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    compile_node_selector,
)
from berthing.api.pod_info import HostPort
from berthing.api.pod_terms import AffinityTerm
from berthing.api.resource_list import PODS
from berthing.api.taints import HARD_EFFECTS, Taint, untolerated
from berthing.cluster.carried_terms import TermKind
from berthing.cluster.cluster import pod_class, pod_selector
from berthing.cluster.counters import CounterKey, PodSelector, RowCounter
from berthing.explain.amounts import shown
from berthing.explain.question import Question
from berthing.framework import Status
from berthing.plugins import inter_pod_affinity, node_affinity, node_resources_fit


class Obstacle(msgspec.Struct, frozen=True):
    """One thing that keeps the pod off one node."""

    plugin: str
    text: str
    # From 0, nearly not there, to 1.
    size: float = 1.0


def obstacles(question: Question, row: int) -> tuple[Obstacle, ...]:
    """All that keeps the pod off a node, in the order in which plugins run; nothing if it fits."""
    status = question.statuses[question.node(row).name]
    if status is None:
        return ()
    found: list[Obstacle] = []
    for each in question.decision.filters:
        told = each.verdicts[row]
        if told is not None:
            explain = _EXPLAINED.get(each.plugin, _in_its_own_words)
            found.extend(explain(question, row, told) or _in_its_own_words(question, row, told))
    found = [*_outside(question, row), *found]
    if status.plugin and all(each.plugin != status.plugin for each in found):
        # It spoke in PreFilter, or of the node with pods that are nominated there.
        nominated = row in question.decision.with_nominated
        suffix = ", with the pods nominated there" if nominated else ""
        of_its_own = (Obstacle(status.plugin, reason + suffix) for reason in status.reasons)
        found = [*of_its_own, *found]
    return tuple(found)


def _outside(question: Question, row: int) -> tuple[Obstacle, ...]:
    narrowing = question.decision.narrowing
    if narrowing is None or question.node(row).name in narrowing.node_names:
        return ()
    plugins = ", ".join(narrowing.plugins)
    return (Obstacle(plugins, "not one of the nodes that the pod names"),)


def _in_its_own_words(_: Question, __: int, status: Status) -> Iterable[Obstacle]:
    return [Obstacle(status.plugin, reason) for reason in status.reasons]


# Resources.


def _short_of(question: Question, row: int, status: Status) -> list[Obstacle]:
    return [Obstacle(status.plugin, *_shortage(question, row, reason)) for reason in status.reasons]


def _shortage(question: Question, row: int, reason: str) -> tuple[str, float]:
    nodes = question.cluster.nodes
    if reason == node_resources_fit.TOO_MANY_PODS:
        offered = int(nodes.allocatable_of(PODS)[row])
        return f"pods: {int(nodes.pod_counts[row])} there, {offered} allowed", 1.0
    resource = reason.removeprefix(node_resources_fit.INSUFFICIENT.format(resource=""))
    asked = question.pod.facts.asked.requests.get(resource, 0)
    offered = int(nodes.allocatable_of(resource)[row])
    free = offered - int(nodes.requested_of(resource)[row])
    text = (
        f"{resource}: asked {shown(resource, asked)}, "
        f"free {shown(resource, free)} of {shown(resource, offered)}, "
        f"short by {shown(resource, asked - free)}"
    )
    return text, min(1.0, (asked - free) / max(asked, 1))


# Taints, names, ports.


def _tainted(question: Question, row: int, status: Status) -> list[Obstacle]:
    return [
        Obstacle(status.plugin, f"taint {written(taint)}")
        for taint in untolerated_taints(question, question.node(row))
    ]


def untolerated_taints(question: Question, node: Node) -> Iterator[Taint]:
    """The taints that keep the pod off a node."""
    return untolerated(
        node.spec.taints,
        question.pod.tolerations,
        HARD_EFFECTS,
        comparison_operators=question.comparison_operators,
    )


def written(taint: Taint) -> str:
    """A taint as kubectl writes it: gpu=true:NoSchedule."""
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


def _cordoned(_: Question, __: int, status: Status) -> list[Obstacle]:
    return [Obstacle(status.plugin, "cordoned (spec.unschedulable)")]


def _other_name(question: Question, _: int, status: Status) -> list[Obstacle]:
    name = question.pod.pod.spec.node_name
    return [Obstacle(status.plugin, f"spec.nodeName of the pod is {name}")]


def _port_taken(question: Question, row: int, status: Status) -> list[Obstacle]:
    return [
        Obstacle(status.plugin, f"host port {shown_port(port)} is taken by {holder.key}")
        for port in question.pod.host_ports
        for holder in question.cluster.pods_on(row)
        if any(port.conflicts_with(each) for each in holder.host_ports)
    ]


def shown_port(port: HostPort) -> str:
    """A port of a node: 8080/TCP."""
    return f"{port.port}/{port.protocol}"


# Node affinity.


def _not_matching(question: Question, row: int, status: Status) -> list[Obstacle]:
    if node_affinity.REASON_ENFORCED in status.reasons:
        text = "the profile's addedAffinity does not match the node"
        return [Obstacle(status.plugin, text)]
    node = question.node(row)
    return [
        Obstacle(status.plugin, text)
        for text in (*_unmet_node_selector(question, node), *_unmet_terms(question, node))
    ]


def _unmet_node_selector(question: Question, node: Node) -> Iterator[str]:
    labels = node.metadata.labels
    for key, value in sorted(question.pod.facts.node_selector.items()):
        if labels.get(key) != value:
            yield f"nodeSelector {key}={value}, and the node {_has(labels, key)}"


def _unmet_terms(question: Question, node: Node) -> Iterable[str]:
    affinity = question.pod.facts.node_affinity
    if affinity is None or affinity.required is None:
        return ()
    terms = affinity.required.node_selector_terms
    unmet_per_term = [tuple(_unmet(term, node)) for term in terms if not term.is_empty]
    if not unmet_per_term:
        return ("required node affinity without any condition matches no node",)
    # One term is enough, so the one with the least to mend is what matters.
    nearest = min(unmet_per_term, key=len)
    among = f" (nearest of {len(unmet_per_term)} terms)" if len(unmet_per_term) > 1 else ""
    return [f"{text}{among}" for text in nearest]


def _unmet(term: NodeSelectorTerm, node: Node) -> Iterator[str]:
    labels = node.metadata.labels
    for each in term.match_expressions:
        if not _holds(NodeSelectorTerm(match_expressions=(each,)), node):
            yield f"node affinity {shown_requirement(each)}, and the node {_has(labels, each.key)}"
    for each in term.match_fields:
        if not _holds(NodeSelectorTerm(match_fields=(each,)), node):
            yield f"node affinity {shown_requirement(each)}"


def _holds(term: NodeSelectorTerm, node: Node) -> bool:
    return compile_node_selector(NodeSelector((term,))).matches(node.name, node.metadata.labels)


def shown_requirement(requirement: NodeSelectorRequirement) -> str:
    """A condition on a node's label: `zone In (a, b)`."""
    values = f" ({', '.join(requirement.values)})" if requirement.values else ""
    return f"{requirement.key} {requirement.operator}{values}"


def _has(labels: Mapping[str, str], key: str) -> str:
    return f"has {key}={labels[key]}" if key in labels else "has no such label"


# Spreading.


def _uneven(question: Question, row: int, status: Status) -> list[Obstacle]:
    node = question.node(row)
    found: list[Obstacle] = []
    for standing in question.spread:
        constraint, key = standing.constraint, standing.constraint.topology_key
        count, skew = standing.with_pod(node), standing.skew(node)
        if count is None or skew is None:
            found.append(Obstacle(status.plugin, f"spread over {key}: the node has no such label"))
        elif skew > constraint.max_skew:
            emptiest = f"{standing.lowest} in the emptiest of {standing.domain_count} domains"
            if standing.lacks_domains:
                emptiest = (
                    f"0 counted as least, with {standing.domain_count} domains "
                    f"and minDomains {constraint.min_domains}"
                )
            text = (
                f"spread over {key}: {count} in {node.metadata.labels[key]} with this pod, "
                f"{emptiest}: skew {skew}, allowed {constraint.max_skew}"
            )
            found.append(Obstacle(status.plugin, text, 1 - constraint.max_skew / skew))
    return found


# Other pods.


def _wrong_company(question: Question, row: int, status: Status) -> list[Obstacle]:
    texts: Iterable[str] = ()
    node = question.node(row)
    if inter_pod_affinity.EXISTING_ANTI_AFFINITY_REASON in status.reasons:
        texts = _unwelcome(question, node)
    elif inter_pod_affinity.ANTI_AFFINITY_REASON in status.reasons:
        texts = _avoided(question, node)
    elif inter_pod_affinity.AFFINITY_REASON in status.reasons:
        texts = _missed(question, node)
    return [Obstacle(status.plugin, text) for text in texts]


def _unwelcome(question: Question, node: Node) -> Iterator[str]:
    speaking = question.cluster.terms.speaking_of(pod_class(question.pod))
    for term, carriers in speaking.items():
        count = _count(question, carriers, term.topology_key, node)
        if term.kind is TermKind.REQUIRED_ANTI_AFFINITY and count:
            where = _domain(node, term.topology_key)
            yield f"{_selected(term.pods)} are kept away by {_pods(count)} in {where}"


def _avoided(question: Question, node: Node) -> Iterator[str]:
    for term in question.pod.terms.required_anti:
        count = _count(question, _matching(question, (term,)), term.topology_key, node)
        if count:
            pods = _selected(pod_selector(term))
            where = _domain(node, term.topology_key)
            yield f"anti-affinity to {pods}: {_pods(count)} in {where}"


def _missed(question: Question, node: Node) -> Iterator[str]:
    terms = question.pod.terms.required
    # Only pods that match all terms count for any of them.
    matching = _matching(question, terms)
    for term in terms:
        pods = _selected(pod_selector(term))
        if term.topology_key not in node.metadata.labels:
            yield f"affinity to {pods}: the node has no label {term.topology_key}"
        elif not _count(question, matching, term.topology_key, node):
            yield f"affinity to {pods}: none in {_domain(node, term.topology_key)}"


def _matching(question: Question, terms: Iterable[AffinityTerm]) -> RowCounter:
    selectors = tuple(dict.fromkeys(map(pod_selector, terms)))
    return question.cluster.counters.counter(CounterKey(selectors))


def _count(question: Question, counter: RowCounter, key: str, node: Node) -> int:
    """How many of the counted pods are in the node's domain."""
    row = question.cluster.nodes.row(node.name)
    code = int(question.cluster.nodes.labels(key).codes[row])
    return int(counter.sums(key).per_value[code]) if code else 0


def _selected(pods: PodSelector) -> str:
    return f"pods with {pods.selector}" if str(pods.selector) else "any pods"


def shown_term(term: AffinityTerm) -> str:
    """The pods that a term means, and what counts as near: `pods with app=db in one zone`."""
    return f"{_selected(pod_selector(term))} in one {term.topology_key}"


def _domain(node: Node, key: str) -> str:
    return f"{key}={node.metadata.labels.get(key, '')}"


def _pods(count: int) -> str:
    return f"{count} pod" if count == 1 else f"{count} pods"


_EXPLAINED: Mapping[str, Callable[[Question, int, Status], list[Obstacle]]] = {
    "NodeResourcesFit": _short_of,
    "TaintToleration": _tainted,
    "NodeUnschedulable": _cordoned,
    "NodeName": _other_name,
    "NodePorts": _port_taken,
    "NodeAffinity": _not_matching,
    "PodTopologySpread": _uneven,
    "InterPodAffinity": _wrong_company,
}
