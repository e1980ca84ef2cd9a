"""What the queue tells about itself as it goes: upstream's metrics are made of it."""

from __future__ import annotations

from typing import Protocol

from berthing.framework import Code


class QueueObserver(Protocol):
    """Hears of what is counted; called often, so it had better be quick."""

    def incoming(self, queue: str, event: str) -> None:
        """A pod came to `active`, `backoff` or `unschedulable`, because of an event."""
        ...

    def hint(self, plugin: str, event: str, result: str, seconds: float) -> None:
        """A hint was asked and answered `Queue`, `QueueSkip` or `Error`."""
        ...

    def pre_enqueue(self, profile: str, code: Code, seconds: float) -> None:
        """The PreEnqueue plugins were asked about a pod; the code is that of the one who objected."""
        ...


class Unobserved:
    """Nobody listens."""

    def incoming(self, queue: str, event: str) -> None:
        """Nothing."""

    def hint(self, plugin: str, event: str, result: str, seconds: float) -> None:
        """Nothing."""

    def pre_enqueue(self, profile: str, code: Code, seconds: float) -> None:
        """Nothing."""
