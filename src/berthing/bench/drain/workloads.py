"""What is placed, and where: the workloads of `bench/engine_workloads.py` as an API server wants them.

All pods of a measurement are of one template, as those of a deployment are.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec.structs import replace

from berthing.api.frozen import FrozenDict
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.bench.drain.errors import DrainError
from berthing.bench.engine_workloads import (
    PREFERRED_ZONE_AFFINITY,
    WORKLOADS,
    Workload,
    make_nodes,
    make_others,
)

# The profile that the measured scheduler has, so that no other one takes its pods.
SCHEDULER_NAME: Final = "drain"
WAITING_NAMESPACE: Final = "drain-waiting"
RUNNING_NAMESPACE: Final = "drain-running"
DRAIN_WORKLOADS: Final = (*WORKLOADS, PREFERRED_ZONE_AFFINITY)

_PODS_PER_NODE: Final = 110

# What the nodes are known by.
OURS: Final = FrozenDict({"bench": "drain"})


def check_room(name: str, pods: int, *, running: int, nodes: int) -> None:
    """Raise DrainError if the pods of a workload cannot all be placed."""
    if name == "anti-affinity" and pods > nodes:
        raise DrainError(
            f"{pods:,} pods that keep off each other need as many nodes, not {nodes:,}:"
            f" give --pods {nodes} or less"
        )
    if pods + running > (room := nodes * _PODS_PER_NODE):
        raise DrainError(
            f"{nodes:,} nodes have room for {room:,} pods, and there are {pods + running:,}"
        )


def waiting_pods(name: str, count: int) -> Iterator[Pod]:
    """Pods that wait to be placed."""
    for pod in islice(_by_name(name).pods(templates=1), count):
        spec = replace(pod.spec, scheduler_name=SCHEDULER_NAME)
        yield _of_the_api_server(replace(pod, spec=spec), WAITING_NAMESPACE)


def running_pods(count: int, *, nodes: int) -> Iterator[Pod]:
    """Pods that run already, a deployment of 25 after another."""
    for pod in make_others(count, nodes):
        yield _of_the_api_server(pod, RUNNING_NAMESPACE)


def empty_nodes(count: int) -> Iterator[Node]:
    """Nodes in three zones, with room for 110 pods each."""
    for node in make_nodes(count):
        labels = FrozenDict({**node.metadata.labels, **OURS})
        yield replace(node, metadata=replace(node.metadata, uid="", labels=labels))


def _of_the_api_server(pod: Pod, namespace: str) -> Pod:
    # It gives uids itself.
    return replace(pod, metadata=replace(pod.metadata, namespace=namespace, uid=""))


def _by_name(name: str) -> Workload:
    return next(each for each in DRAIN_WORKLOADS if each.name == name)
