"""Waiting longer and longer between attempts, and never all at the same time."""

from __future__ import annotations

import asyncio
import math
import random


class Backoff:
    """Delays that grow by a factor up to a maximum, each stretched by up to `jitter` of itself."""

    def __init__(
        self,
        *,
        initial_seconds: float,
        max_seconds: float = math.inf,
        factor: float = 2.0,
        jitter: float = 1.0,
        random: random.Random,
    ) -> None:
        self._initial = initial_seconds
        self._max = max_seconds
        self._factor = factor
        self._jitter = jitter
        self._random = random
        self._next = initial_seconds

    def reset(self) -> None:
        """Start over with the initial delay: things went well."""
        self._next = self._initial

    def next_seconds(self) -> float:
        """The delay before the next attempt."""
        delay = self._next
        self._next = min(delay * self._factor, self._max)
        return delay * (1 + self._jitter * self._random.random())

    async def wait(self) -> None:
        """Sleep for the next delay."""
        await asyncio.sleep(self.next_seconds())
