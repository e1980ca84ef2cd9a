"""What came of the demo: all that its checks and its summary go by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from berthing.api.events import Event
from berthing.demo.witness import NodeSeen, PodSeen
from berthing.demo.workloads import Workloads


@dataclass(frozen=True, slots=True)
class Death:
    """A node that died, and the pods that were on it."""

    node_name: str
    at: float
    lost: tuple[PodSeen, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The whole story, as the witness saw it."""

    workloads: Workloads
    nodes: Mapping[str, NodeSeen]
    pods: tuple[PodSeen, ...]
    failures: Mapping[str, Event]
    gate_opened_at: float
    death: Death | None
    seconds: float

    def of(self, *apps: str) -> Iterator[PodSeen]:
        """All pods of some apps."""
        return (each for each in self.pods if each.app in apps)

    @property
    def placed(self) -> Iterator[PodSeen]:
        """All pods that were given a node."""
        return (each for each in self.pods if each.placements)

    @property
    def living_nodes(self) -> dict[str, NodeSeen]:
        """The nodes that are there."""
        return {name: each for name, each in self.nodes.items() if each.gone_at is None}
