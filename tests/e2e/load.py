"""Many pods at once, and what must be true of them in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from berthing.api.events import Event
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.testing import make_node, make_pod
from e2e.berthing_run import Berthing
from e2e.control_plane import ControlPlane
from e2e.pod_history import node_names
from e2e.waiting import wait_until


def nodes_for(pods: int, *, count: int = 10) -> list[Node]:
    """Nodes with just the room for so many pods: who places one twice, or where none fits, shows."""
    return [make_node(f"node-{number}", pods=str(pods // count)) for number in range(count)]


def plain_pods(count: int, *, prefix: str = "pod") -> list[Pod]:
    """Pods that fit anywhere."""
    return [make_pod(f"{prefix}-{number}", image="app") for number in range(count)]


def bound(pods: Mapping[str, Pod]) -> int:
    """How many of the pods have a node."""
    return sum(1 for pod in pods.values() if pod.spec.node_name)


def wait_bound(
    control_plane: ControlPlane, count: int, *, timeout: float = 90.0
) -> Mapping[str, Pod]:
    """Wait until so many pods are bound."""
    return control_plane.client.wait_for(Pod, lambda pods: bound(pods) >= count, timeout=timeout)


def wait_in_flight(
    control_plane: ControlPlane, berthing: Berthing, *, bound: int, in_flight: int
) -> None:
    """Wait until so many are bound, and so many on their way there, held by a proxy."""
    wait_bound(control_plane, bound)
    wait_until(lambda: berthing.metrics().bindings == in_flight, meanwhile=berthing.process.check)


def check_bound_once(control_plane: ControlPlane, pods: Sequence[Pod], *, since: int) -> None:
    """Hold that just these pods are there, each was bound once, and no node has too many."""
    now = {pod.metadata.uid: pod for pod in control_plane.client.list(Pod)}
    assert sorted(pod.key for pod in now.values()) == sorted(pod.key for pod in pods)
    history = node_names(control_plane, since)
    assert history == {uid: ("", pod.spec.node_name) for uid, pod in now.items()}
    room = {
        node.name: node.status.allocatable["pods"].value()
        for node in control_plane.client.list(Node)
    }
    taken = Counter(pod.spec.node_name for pod in now.values())
    assert {name: count for name, count in taken.items() if count > room[name]} == {}


def check_settled(berthing: Berthing, *, pods: int) -> None:
    """Hold that a scheduler knows so many pods, all in their place, and has nothing left to do."""

    def now() -> tuple[float, ...]:
        metrics = berthing.metrics()
        return (
            metrics.bindings,
            metrics.sum("scheduler_pending_pods"),
            metrics.sum("scheduler_cache_size", type="assumed_pods"),
            metrics.sum("scheduler_cache_size", type="pods"),
        )

    wait_until(lambda: now() == (0, 0, 0, pods), meanwhile=berthing.process.check)


def events_by_reason(control_plane: ControlPlane) -> Mapping[str, Counter[str]]:
    """How often each reason was given for each pod: once if all went well."""
    counts: dict[str, Counter[str]] = {}
    for event in control_plane.client.list(Event):
        times = event.series.count if event.series else 1
        counts.setdefault(event.reason, Counter())[event.regarding.name] += times
    return counts
