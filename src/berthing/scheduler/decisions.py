"""The last decisions, for whoever asks why: explanations, logs, replays."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from berthing.scheduler.decision import Decision

# Their arrays take some 200 KB each at 5,000 nodes; so few of them stay in a processor's cache, and
# what comes next is written there sooner.
_KEPT = 32


class Decisions:
    """Decisions in the order they were made; the oldest go when there are too many."""

    def __init__(self, most: int = _KEPT) -> None:
        self._decisions: deque[Decision] = deque(maxlen=most)

    def keep(self, decision: Decision) -> None:
        """Keep a decision, as it is."""
        self._decisions.append(decision)

    def last(self, pod_key: str) -> Decision | None:
        """The newest decision about the pod namespace/name that is still kept."""
        for decision in reversed(self._decisions):
            if decision.pod.key == pod_key:
                return decision
        return None

    def __iter__(self) -> Iterator[Decision]:
        return iter(self._decisions)

    def __len__(self) -> int:
        return len(self._decisions)
