"""The numbers behind hard spread constraints: pods per domain, the emptiest one, the skew.

The plugin decides with tables and keeps only verdicts; this counts once more, node by node, for
people to read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
import numpy as np

from berthing.api.node import Node
from berthing.api.pod_info import PodInfo
from berthing.api.pod_terms import NO_CONSTRAINTS, SpreadConstraint
from berthing.api.taints import HARD_EFFECTS, untolerated
from berthing.cluster.cluster import Cluster
from berthing.cluster.counters import CounterKey, PodSelector
from berthing.config.args import PodTopologySpreadArgs
from berthing.plugins.topology_spread_defaults import DefaultConstraints, deduced_selector


class Standing(msgspec.Struct, frozen=True):
    """How one constraint stands before the pod is placed."""

    constraint: SpreadConstraint
    # Pods that count, by value of the label.
    per_domain: Counter[str]
    domain_count: int
    # Whether the pod itself is one of those that are counted.
    counts_itself: bool

    @property
    def lowest(self) -> int:
        """Pods in the emptiest domain; none as long as there are too few domains."""
        if self.lacks_domains:
            return 0
        return min(self.per_domain.values(), default=0)

    @property
    def lacks_domains(self) -> bool:
        """Whether there are fewer domains than minDomains asks for."""
        return self.domain_count < self.constraint.min_domains

    def with_pod(self, node: Node) -> int | None:
        """Pods in the node's domain once the pod is there; None if the node has none."""
        domain = node.metadata.labels.get(self.constraint.topology_key)
        return None if domain is None else self.per_domain[domain] + self.counts_itself

    def skew(self, node: Node) -> int | None:
        """How far the node's domain would be ahead of the emptiest one."""
        count = self.with_pod(node)
        return None if count is None else count - self.lowest


def standings(
    pod: PodInfo,
    cluster: Cluster,
    *,
    defaults: PodTopologySpreadArgs | None = None,
    comparison_operators: bool = False,
) -> tuple[Standing, ...]:
    """How the pod's hard constraints stand, or the profile's if it has none at all."""
    constraints = pod.spread.hard
    if pod.spread == NO_CONSTRAINTS and defaults is not None:
        belongs_to = deduced_selector(pod.facts, cluster.objects)
        constraints = DefaultConstraints(defaults).hard(belongs_to)
    keys = [each.topology_key for each in constraints]
    nodes = [(row, node) for row, node in _nodes(cluster) if node.metadata.labels.keys() >= {*keys}]
    return tuple(
        _standing(
            each,
            pod,
            cluster,
            [
                (row, node)
                for row, node in nodes
                if _takes_part(node, each, pod, comparison_operators=comparison_operators)
            ],
        )
        for each in constraints
    )


def _nodes(cluster: Cluster) -> Iterator[tuple[int, Node]]:
    for row, node in enumerate(cluster.nodes.objects):
        if node is not None:
            yield row, node


def _takes_part(
    node: Node, constraint: SpreadConstraint, pod: PodInfo, *, comparison_operators: bool
) -> bool:
    affinity = pod.shape.required_node_affinity
    if constraint.honors_node_affinity and not affinity.matches(node.name, node.metadata.labels):
        return False
    unbearable = untolerated(
        node.spec.taints,
        pod.tolerations,
        HARD_EFFECTS,
        comparison_operators=comparison_operators,
    )
    return not constraint.honors_node_taints or next(unbearable, None) is None


def _standing(
    constraint: SpreadConstraint, pod: PodInfo, cluster: Cluster, nodes: list[tuple[int, Node]]
) -> Standing:
    selector = constraint.selector
    counts = np.zeros(cluster.nodes.n_rows, np.int64)
    # As upstream, nobody is counted for a selector that selects all.
    if not (selector.is_everything or selector.is_nothing):
        pods = PodSelector(selector, frozenset((pod.namespace,)))
        counts = cluster.counters.counter(CounterKey((pods,), counts_terminating=False)).counts
    per_domain: Counter[str] = Counter()
    for row, node in nodes:
        per_domain[node.metadata.labels[constraint.topology_key]] += int(counts[row])
    return Standing(constraint, per_domain, len(per_domain), selector.matches(pod.labels))
