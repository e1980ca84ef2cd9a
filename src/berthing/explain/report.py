"""Why a pod goes where it goes, or nowhere: everything a person is told, before it is laid out."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import msgspec

from berthing.explain.changes import Change, changes
from berthing.explain.obstacles import Obstacle, obstacles
from berthing.explain.question import Question
from berthing.framework import Status
from berthing.scheduler.decision import Decision


class Fallen(msgspec.Struct, frozen=True):
    """How many nodes fell to one plugin, and what it said of them, most often first."""

    plugin: str
    count: int
    reasons: tuple[str, ...]


class NodeInTheWay(msgspec.Struct, frozen=True):
    """A node that does not take the pod, with all that is in the way."""

    name: str
    status: Status
    obstacles: tuple[Obstacle, ...]

    @property
    def distance(self) -> tuple[int, float]:
        """How far the node is from taking the pod: things in the way, then their sizes."""
        return len(self.obstacles), sum(each.size for each in self.obstacles)


class Ranked(msgspec.Struct, frozen=True):
    """A node that passes, with its score and each plugin's share of it."""

    name: str
    total: int
    by_plugin: dict[str, int]


class Report:
    """The answer to a question, and what led to it.  Parts are worked out when they are read."""

    def __init__(self, question: Question) -> None:
        self._question = question

    @property
    def pod_key(self) -> str:
        """The pod as namespace/name."""
        return self._question.pod.key

    @property
    def decision(self) -> Decision:
        """What the engine decided."""
        return self._question.decision

    @property
    def fits(self) -> bool:
        """Whether some node takes the pod."""
        return bool(self.decision.chosen)

    @cached_property
    def fallen(self) -> tuple[Fallen, ...]:
        """The plugins that nodes fell to, the deadliest first."""
        statuses = [each for each in self._question.statuses.values() if each is not None]
        counts = Counter(self._plugin(status) for status in statuses)
        reasons: dict[str, Counter[str]] = {name: Counter() for name in counts}
        for status in statuses:
            reasons[self._plugin(status)].update(status.reasons)
        return tuple(
            Fallen(name, count, tuple(reason for reason, _ in reasons[name].most_common()))
            for name, count in counts.most_common()
        )

    def _plugin(self, status: Status) -> str:
        # Nodes outside of what PreFilter plugins left are nobody's in particular.
        narrowing = self.decision.narrowing
        return status.plugin or (", ".join(narrowing.plugins) if narrowing else "PreFilter")

    @cached_property
    def in_the_way(self) -> tuple[NodeInTheWay, ...]:
        """The nodes that do not take the pod, those first that came closest."""
        found: list[NodeInTheWay] = []
        for name, status in self._question.statuses.items():
            row = self._question.cluster.nodes.row(name)
            if status is not None and row is not None:
                found.append(NodeInTheWay(name, status, obstacles(self._question, row)))
        return tuple(sorted(found, key=lambda node: node.distance))

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Single changes to the pod that would place it; none are looked for if it fits."""
        return () if self.fits else changes(self._question)

    @cached_property
    def ranking(self) -> tuple[Ranked, ...]:
        """The nodes that take the pod, the best first."""
        decision = self.decision
        if decision.total is None:
            return ()
        weighted = {each.plugin: each.weighted for each in decision.scores}
        ranked = [
            Ranked(
                decision.node_names[row],
                int(decision.total[place]),
                {plugin: int(scores[place]) for plugin, scores in weighted.items()},
            )
            for place, row in enumerate(map(int, decision.feasible))
        ]
        return tuple(sorted(ranked, key=lambda each: (-each.total, each.name != decision.chosen)))

    @property
    def scorers(self) -> tuple[str, ...]:
        """The plugins that scored, in running order."""
        return tuple(each.plugin for each in self.decision.scores)
