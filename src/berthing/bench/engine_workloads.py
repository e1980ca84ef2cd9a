"""Workloads for the engine: a cluster with running pods, and kinds of pods to be placed in it.

The terms and constraints are those of upstream's performance tests (test/integration/
scheduler_perf, v1.36.4).  Each template is a deployment of its own: its terms speak of its own
replicas, and some of them run already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from berthing.api.node import Node
from berthing.api.node_selector import NodeSelectorTerm
from berthing.api.pod import Pod, PodAffinityTerm, TopologySpreadConstraint
from berthing.testing import (
    ZONE,
    make_affinity_term,
    make_node,
    make_node_term,
    make_pod,
    make_spread_constraint,
)

ZONES: Final = ("a", "b", "c")
_REPLICAS: Final = 25
_NAMESPACES: Final = 60
_IMAGES: Final = 400
_IMAGES_PER_NODE: Final = 20
_SIZES: Final = (("250m", "256Mi"), ("500m", "1Gi"), ("1", "2Gi"), ("100m", "128Mi"))

Labels = Mapping[str, str]
# The pod of this name, app label and node (none for one that is to be placed).
MakePod = Callable[[str, Labels, str], Pod]


class Workload(msgspec.Struct, frozen=True):
    """Pods of one kind, and what a cycle for one of them may take."""

    name: str
    target_micros: float
    make: MakePod
    # Replicas that run already share a zone, as pods do that want to be together.
    in_one_zone: bool = False

    def pods(self, templates: int) -> Iterator[Pod]:
        """Pods to be placed, without end: one of each template in turn."""
        number = 0
        while True:
            yield self._pod(f"new-{number}", number % templates, "")
            number += 1

    def running(self, count: int, templates: int, nodes: int) -> Iterator[Pod]:
        """Pods of the same templates that run already, on nodes of their own."""
        of_zone = [range(zone, nodes, len(ZONES)) for zone in range(len(ZONES))]
        step = max(nodes // max(count, 1), 1)
        for number in range(count):
            template = number % templates
            node = number * step % nodes
            if self.in_one_zone:
                candidates = of_zone[template % min(len(ZONES), nodes)]
                node = candidates[number * step // len(ZONES) % len(candidates)]
            yield self._pod(f"old-{number}", template, node_name(node))

    def _pod(self, name: str, template: int, node: str) -> Pod:
        return self.make(name, {"app": f"{self.name}-{template}"}, node)


def node_name(number: int) -> str:
    """What a node is called; hostnames are distinct, zones take turns."""
    return f"node-{number:05d}"


def make_nodes(count: int) -> Iterator[Node]:
    """Nodes in three zones, with some images each."""
    for number in range(count):
        images = ((number + step * 97) % _IMAGES for step in range(_IMAGES_PER_NODE))
        yield make_node(
            node_name(number),
            cpu="32",
            memory="128Gi",
            zone=ZONES[number % len(ZONES)],
            images={_image(image): 50_000_000 + image * 1_234_567 for image in images},
        )


def make_others(count: int, nodes: int) -> Iterator[Pod]:
    """Running pods that have nothing to do with what is measured: deployments of 25 replicas."""
    for number in range(count):
        deployment = number // _REPLICAS
        cpu, memory = _SIZES[deployment % len(_SIZES)]
        yield make_pod(
            f"other-{number}",
            namespace=f"team-{deployment % _NAMESPACES:02d}",
            labels={"app": f"service-{deployment}"},
            cpu=cpu,
            memory=memory,
            image=_image(deployment % _IMAGES),
            node_name=node_name(number % nodes),
        )


def _image(number: int) -> str:
    return f"registry.example.com/shop/service-{number:05d}:v1"


def _plain(name: str, labels: Labels, node: str) -> Pod:
    return _pod(name, labels, node)


def _node_affinity(name: str, labels: Labels, node: str) -> Pod:
    return _pod(name, labels, node, node_affinity=[make_node_term({ZONE: ZONES[:2]})])


def _required_spread(name: str, labels: Labels, node: str) -> Pod:
    return _pod(name, labels, node, spread=[make_spread_constraint(labels, max_skew=5)])


def _preferred_spread(name: str, labels: Labels, node: str) -> Pod:
    constraint = make_spread_constraint(labels, max_skew=5, when_unsatisfiable="ScheduleAnyway")
    return _pod(name, labels, node, spread=[constraint])


def _required_affinity(name: str, labels: Labels, node: str) -> Pod:
    return _pod(name, labels, node, pod_affinity=[make_affinity_term(labels, topology_key=ZONE)])


def _anti_affinity(name: str, labels: Labels, node: str) -> Pod:
    return _pod(name, labels, node, pod_anti_affinity=[make_affinity_term(labels)])


def _preferred_affinity(name: str, labels: Labels, node: str) -> Pod:
    return _pod(name, labels, node, preferred_pod_affinity=[(1, make_affinity_term(labels))])


def _preferred_zone_affinity(name: str, labels: Labels, node: str) -> Pod:
    term = make_affinity_term(labels, topology_key=ZONE)
    return _pod(name, labels, node, preferred_pod_affinity=[(1, term)])


def _pod(
    name: str,
    labels: Labels,
    node: str,
    *,
    node_affinity: Sequence[NodeSelectorTerm] = (),
    pod_affinity: Sequence[PodAffinityTerm] = (),
    preferred_pod_affinity: Sequence[tuple[int, PodAffinityTerm]] = (),
    pod_anti_affinity: Sequence[PodAffinityTerm] = (),
    spread: Sequence[TopologySpreadConstraint] = (),
) -> Pod:
    return make_pod(
        name,
        labels=labels,
        node_name=node,
        cpu="100m",
        memory="500Mi",
        image=_image(7),
        node_affinity=node_affinity,
        pod_affinity=pod_affinity,
        preferred_pod_affinity=preferred_pod_affinity,
        pod_anti_affinity=pod_anti_affinity,
        spread=spread,
    )


# Targets are for 5,000 nodes and 10,000 running pods, on a core of the kind that CI has.
WORKLOADS: Final = (
    Workload("plain", 60, _plain),
    Workload("node-affinity", 70, _node_affinity),
    Workload("required-spread", 120, _required_spread),
    Workload("preferred-spread", 150, _preferred_spread),
    Workload("required-affinity", 150, _required_affinity, in_one_zone=True),
    Workload("anti-affinity", 150, _anti_affinity),
    Workload("preferred-affinity", 200, _preferred_affinity),
)

# Apart from the others: in memory it costs what `preferred-affinity` does.
PREFERRED_ZONE_AFFINITY: Final = Workload("preferred-zone-affinity", 200, _preferred_zone_affinity)
