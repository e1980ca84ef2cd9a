"""What happens in the demo's cluster, seen at its API server, the moment it happens.

The witness knows nothing of the scheduler: what it writes down is what any other client could have
seen, and what the checks judge by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from berthing.api.events import Event
from berthing.api.kinds import kind_of
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.resource_list import ResourceList
from berthing.demo.machines import ZONE
from berthing.embedded.store import Change, Store

Amounts = Mapping[str, int]

APP: Final = "app"


@dataclass(slots=True)
class Placement:
    """A pod was given a node, and this is how the node was at that moment."""

    at: float
    node_name: str
    # None if there is no such node.
    node: Node | None
    # Whether the pod was held back by a gate at that moment.
    was_gated: bool = False


@dataclass(slots=True)
class PodSeen:
    """The life of one pod."""

    pod: Pod
    # What it is part of, and what it asks for.
    app: str
    wants: Amounts
    created_at: float
    # When it had no gates any more; None as long as it has.
    let_go_at: float | None
    placements: list[Placement] = field(default_factory=list)
    # When it was first told that it fits nowhere.
    refused_at: float | None = None
    # When it was asked to go; when it took up nothing any more.
    going_at: float | None = None
    over_at: float | None = None
    is_gone: bool = False

    @property
    def is_live(self) -> bool:
        """Whether it is wanted: neither over nor going."""
        return self.over_at is None and self.going_at is None

    @property
    def node_name(self) -> str:
        """Where it is; empty if it has not been placed."""
        return self.placements[-1].node_name if self.placements else ""

    @property
    def waited(self) -> float | None:
        """Seconds from when it could be placed until it was; None if it was not."""
        if not self.placements or self.let_go_at is None:
            return None
        return self.placements[0].at - self.let_go_at

    @property
    def waits(self) -> bool:
        """Whether it is in need of a node, and free to have one."""
        return self.is_live and not self.placements and self.let_go_at is not None


@dataclass(slots=True)
class NodeSeen:
    """The life of one node."""

    node: Node
    zone: str
    offers: Amounts
    gone_at: float | None = None


class Witness:
    """Writes down what becomes of pods and nodes, and what is told of pods."""

    def __init__(self, store: Store, *, time: Callable[[], float]) -> None:
        self._time = time
        self.pods: dict[str, PodSeen] = {}
        self.nodes: dict[str, NodeSeen] = {}
        # The latest event that says why a pod could not be placed, by its namespace/name.
        self.failures: dict[str, Event] = {}
        # How much has happened to pods.
        self.news = 0
        store.listen(kind_of(Node), self._node_changed)
        store.listen(kind_of(Pod), self._pod_changed)
        store.listen(kind_of(Event), self._event_changed)

    def of(self, *apps: str) -> Iterator[PodSeen]:
        """All pods of some apps, of those that are over as well."""
        return (each for each in self.pods.values() if each.app in apps)

    def used(self) -> Mapping[str, Counter[str]]:
        """What pods take on each node now."""
        return used_by(self.pods.values())

    def _node_changed(self, change: Change) -> None:
        if change.after is not None:
            node = change.after.object
            assert isinstance(node, Node), "of this kind"
            self.nodes[node.name] = NodeSeen(
                node,
                zone=node.metadata.labels.get(ZONE, ""),
                offers=amounts(node.status.allocatable),
            )
        elif change.before is not None:
            self.nodes[change.before.key[1]].gone_at = self._time()

    def _pod_changed(self, change: Change) -> None:
        self.news += 1
        now = self._time()
        stored = change.after or change.before
        assert stored is not None, "something changed"
        pod = stored.object
        assert isinstance(pod, Pod), "of this kind"
        seen = self.pods.get(stored.uid)
        if seen is None:
            seen = self.pods[stored.uid] = PodSeen(
                pod,
                app=pod.metadata.labels.get(APP, ""),
                wants=requests(pod),
                created_at=now,
                let_go_at=None,
            )
        seen.pod = pod
        gated = bool(pod.spec.scheduling_gates)
        if seen.let_go_at is None and not gated:
            seen.let_go_at = now
        if pod.spec.node_name and pod.spec.node_name != seen.node_name:
            there = self.nodes.get(pod.spec.node_name)
            node = there.node if there is not None and there.gone_at is None else None
            seen.placements.append(Placement(now, pod.spec.node_name, node, was_gated=gated))
        scheduled = pod.condition("PodScheduled")
        if seen.refused_at is None and scheduled and scheduled.reason == "Unschedulable":
            seen.refused_at = now
        if seen.going_at is None and pod.metadata.deletion_timestamp is not None:
            seen.going_at = now
        seen.is_gone = change.after is None
        if seen.over_at is None and (seen.is_gone or pod.is_terminal):
            seen.over_at = now

    def _event_changed(self, change: Change) -> None:
        event = change.after.object if change.after is not None else None
        if isinstance(event, Event) and event.reason == "FailedScheduling":
            about = event.regarding
            self.failures[f"{about.namespace}/{about.name}"] = event


def used_by(pods: Iterable[PodSeen]) -> Mapping[str, Counter[str]]:
    """What pods take on each node that has any."""
    used: dict[str, Counter[str]] = {}
    for seen in pods:
        if seen.placements and seen.over_at is None:
            used.setdefault(seen.node_name, Counter()).update(seen.wants)
    return used


def requests(pod: Pod) -> Amounts:
    """What a pod asks for: CPU in thousandths, all else as it is, and one pod."""
    total: Counter[str] = Counter(pods=1)
    for container in pod.spec.containers:
        total.update(amounts(container.resources.requests))
    return total


def amounts(resources: ResourceList) -> Amounts:
    """Amounts as integers: CPU in thousandths, all else as it is."""
    return {
        name: amount.milli_value() if name == "cpu" else amount.value()
        for name, amount in resources.items()
    }


def share(used: Iterable[Amounts], offered: Iterable[Amounts], resource: str) -> float:
    """How much of a resource is taken, from 0 to 1; 0 where there is none."""
    total = sum(each.get(resource, 0) for each in offered)
    return sum(each.get(resource, 0) for each in used) / total if total else 0.0
