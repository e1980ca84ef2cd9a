"""The smallest single changes to a pod that would place it, each found by deciding again.

Candidates follow from what the pod asks for: a little less of a resource, one more toleration, one
condition dropped.  Whether a candidate helps, and on how many nodes, is the engine's word alone:
nothing is told that a cycle with the changed pod did not say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import IntEnum

import msgspec

from berthing.api.node import Node
from berthing.api.node_selector import NodeSelectorTerm
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.taints import Taint
from berthing.cluster.carried_terms import TermKind
from berthing.cluster.cluster import pod_class
from berthing.explain import changed_pods
from berthing.explain.amounts import rounded_down, shown
from berthing.explain.obstacles import (
    shown_requirement,
    shown_term,
    untolerated_taints,
    written,
)
from berthing.explain.question import Question
from berthing.plugins.node_unschedulable import CORDON

# Taints that are tried: those on most nodes.  A cluster may have one for each node.
_MOST_TAINTS = 32
# Amounts of a resource that are tried, the largest first.
_MOST_AMOUNTS = 8


class Effort(IntEnum):
    """How much a change takes: first those that keep what the pod wants."""

    LESS = 0
    TOLERATE = 1
    RELAX = 2
    DROP = 3


class Change(msgspec.Struct, frozen=True):
    """One change that places the pod."""

    # Goes on from "it would fit": "if cpu <= 1500m", "without host port 80/TCP".
    text: str
    # The nodes that pass with it.
    nodes: tuple[str, ...]
    effort: Effort
    pod: Pod


def changes(question: Question) -> tuple[Change, ...]:
    """All single changes that place the pod, the smallest first, then those with most nodes."""
    found = [
        Change(candidate.text, nodes, candidate.effort, candidate.pod)
        for candidate in _candidates(question)
        if (nodes := _nodes_for(question, candidate.pod))
    ]
    return tuple(sorted(found, key=lambda each: (each.effort, -len(each.nodes))))


def _nodes_for(question: Question, pod: Pod) -> tuple[str, ...]:
    """The nodes that pass if the pod is this one; none if the attempt fails."""
    decision = question.decision_about(PodInfo.of(pod))
    if decision.error is not None:
        return ()
    return tuple(decision.node_names[row] for row in map(int, decision.feasible))


class _Candidate(msgspec.Struct, frozen=True):
    text: str
    pod: Pod
    effort: Effort


def _candidates(question: Question) -> Iterator[_Candidate]:
    yield from _asking_for_less(question)
    yield from _tolerating(question)
    yield from _spreading_otherwise(question)
    yield from _to_other_nodes(question)
    yield from _with_other_pods(question)
    yield from _without_ports(question)


def _asking_for_less(question: Question) -> Iterator[_Candidate]:
    pod = question.pod.pod
    for resource, asked in question.pod.facts.asked.requests.items():
        if asked <= 0:
            continue
        nothing = changed_pods.asking_at_most(pod, resource, 0)
        free = {_free(question, name, resource) for name in _nodes_for(question, nothing)}
        amounts = [rounded_down(resource, amount) for amount in free if 0 < amount < asked]
        # The first will do, but where pods are nominated that would not leave so much.
        for amount in sorted(amounts, reverse=True)[:_MOST_AMOUNTS]:
            less = changed_pods.asking_at_most(pod, resource, amount)
            if _nodes_for(question, less):
                yield _Candidate(f"if {resource} <= {shown(resource, amount)}", less, Effort.LESS)
                break
        else:
            yield _Candidate(f"if it asked for no {resource}", nothing, Effort.DROP)


def _free(question: Question, node_name: str, resource: str) -> int:
    nodes = question.cluster.nodes
    row = nodes.row(node_name)
    return int(nodes.allocatable_of(resource)[row] - nodes.requested_of(resource)[row])


def _tolerating(question: Question) -> Iterator[_Candidate]:
    counts: Counter[Taint] = Counter()
    for node in question.cluster.nodes.objects:
        if node is not None:
            counts.update({*_in_the_way(question, node)})
    for taint, _ in counts.most_common(_MOST_TAINTS):
        pod = changed_pods.tolerating(question.pod.pod, taint)
        yield _Candidate(f"with a toleration for {written(taint)}", pod, Effort.TOLERATE)


def _in_the_way(question: Question, node: Node) -> Iterator[Taint]:
    yield from untolerated_taints(question, node)
    if node.spec.unschedulable:
        yield CORDON


def _spreading_otherwise(question: Question) -> Iterator[_Candidate]:
    pod = question.pod.pod
    hard = [
        (index, each)
        for index, each in enumerate(pod.spec.topology_spread_constraints)
        if each.when_unsatisfiable == "DoNotSchedule"
    ]
    # The same constraints in the same order; none if they could not be read.
    for (index, constraint), standing in zip(hard, question.spread, strict=False):
        over = f"over {constraint.topology_key}"
        without = changed_pods.without_constraint(pod, index)
        nodes = map(question.cluster.row, _nodes_for(question, without))
        skews = [standing.skew(each.node) for each in nodes if each]
        needed = min((skew for skew in skews if skew is not None), default=0)
        if needed > constraint.max_skew:
            relaxed = changed_pods.with_max_skew(pod, index, needed)
            yield _Candidate(f"with maxSkew {needed} {over}", relaxed, Effort.RELAX)
        yield _Candidate(f"without the spread constraint {over}", without, Effort.DROP)


def _to_other_nodes(question: Question) -> Iterator[_Candidate]:
    pod = question.pod.pod
    if pod.spec.node_name:
        text = f"without nodeName {pod.spec.node_name}"
        yield _Candidate(text, changed_pods.without_node_name(pod), Effort.DROP)
    for key, value in pod.spec.node_selector.items():
        without = changed_pods.without_node_selector(pod, key)
        yield _Candidate(f"without nodeSelector {key}={value}", without, Effort.DROP)
    affinity = question.pod.facts.node_affinity
    if affinity is not None and affinity.required is not None:
        yield from _with_less_node_affinity(pod, affinity.required.node_selector_terms)


def _with_less_node_affinity(pod: Pod, terms: tuple[NodeSelectorTerm, ...]) -> Iterator[_Candidate]:
    conditions = [*terms[0].match_expressions, *terms[0].match_fields] if len(terms) == 1 else []
    if len(conditions) == 1:
        text = f"without required node affinity {shown_requirement(conditions[0])}"
    else:
        text = "without required node affinity"
        for condition in conditions:
            term = NodeSelectorTerm(
                tuple(each for each in terms[0].match_expressions if each is not condition),
                tuple(each for each in terms[0].match_fields if each is not condition),
            )
            yield _Candidate(
                f"without {shown_requirement(condition)} in required node affinity",
                changed_pods.requiring_node(pod, (term,)),
                Effort.DROP,
            )
    yield _Candidate(text, changed_pods.requiring_node(pod, ()), Effort.DROP)


def _with_other_pods(question: Question) -> Iterator[_Candidate]:
    pod, affinity, terms = question.pod.pod, question.pod.pod.spec.affinity, question.pod.terms
    if affinity is not None and affinity.pod_affinity is not None:
        required = affinity.pod_affinity.required
        for index, term in enumerate(terms.required):
            rest = (*required[:index], *required[index + 1 :])
            text = f"without required affinity to {shown_term(term)}"
            yield _Candidate(text, changed_pods.requiring_pods(pod, rest), Effort.DROP)
    if affinity is not None and affinity.pod_anti_affinity is not None:
        required = affinity.pod_anti_affinity.required
        for index, term in enumerate(terms.required_anti):
            rest = (*required[:index], *required[index + 1 :])
            text = f"without required anti-affinity to {shown_term(term)}"
            yield _Candidate(text, changed_pods.avoiding_pods(pod, rest), Effort.DROP)
    for key in _unwelcome_labels(question):
        text = f"without its label {key}={question.pod.labels[key]}"
        yield _Candidate(text, changed_pods.without_label(pod, key), Effort.DROP)


def _unwelcome_labels(question: Question) -> list[str]:
    """Labels of the pod by which running pods tell that they do not want it near."""
    keys = {
        requirement.key
        for term in question.cluster.terms.speaking_of(pod_class(question.pod))
        if term.kind is TermKind.REQUIRED_ANTI_AFFINITY
        for requirement in term.pods.selector.requirements
    }
    return sorted(keys & question.pod.labels.keys())


def _without_ports(question: Question) -> Iterator[_Candidate]:
    wanted = dict.fromkeys((port.protocol, port.port) for port in question.pod.host_ports)
    for protocol, number in wanted:
        pod = changed_pods.without_host_port(question.pod.pod, protocol, number)
        yield _Candidate(f"without host port {number}/{protocol}", pod, Effort.DROP)
