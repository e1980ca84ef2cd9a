"""A token bucket: so many requests at once, and so many per second from then on.

Upstream: client-go/util/flowcontrol/throttle.go (v1.36.4).
"""

from __future__ import annotations

import asyncio


class RateLimit:
    """Makes callers wait, in the order in which they came; a `qps` below 0 lets all through."""

    def __init__(self, *, qps: float, burst: int) -> None:
        if qps == 0 or (qps > 0 and burst < 1):
            raise ValueError(
                f"need a qps other than 0 and a burst of 1 or more, got {qps=} {burst=}"
            )
        self._qps = qps
        self._burst = burst
        # Below 0 if callers wait already.
        self._tokens = float(burst)
        self._counted_at = 0.0

    async def wait(self) -> None:
        """Return when one more request may be sent."""
        if self._qps < 0:
            return
        now = asyncio.get_running_loop().time()
        earned = (now - self._counted_at) * self._qps
        self._tokens = min(self._tokens + earned, self._burst) - 1
        self._counted_at = now
        if self._tokens < 0:
            await asyncio.sleep(-self._tokens / self._qps)
