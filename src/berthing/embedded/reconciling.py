"""How controllers work: whatever changed is looked at again, one object at a time, until it is right.

    a change in the store ---> the keys of objects that it concerns ---> reconcile(key)
                                   ^                                          |
                                   +------------- later, if refused ----------+

A change is told in the middle of the write that makes it, so nothing is written there: the key is
kept, and looked at once its turn comes.  Many changes of one object are one look.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Never

from berthing.embedded.refusals import Refused
from berthing.embedded.store import Key
from berthing.telemetry import logs

_log = logs.get("embedded")

# Changes come in crowds, and all that concern one object are one look: a look costs as much as the
# object has pods.
_GATHER_SECONDS: Final = 0.02
# After a refusal an object is looked at again: after this, and each time after twice as long.
_FIRST_RETRY_SECONDS: Final = 0.1
_LAST_RETRY_SECONDS: Final = 10.0


class Reconciler:
    """The objects that one controller has to look at, and the looking."""

    def __init__(self, name: str, reconcile: Callable[[Key], None]) -> None:
        self.name = name
        self._reconcile = reconcile
        # In the order in which they were asked for; the values say nothing.
        self._wanted: dict[Key, None] = {}
        self._is_wanted = asyncio.Event()
        self._refusals: dict[Key, int] = {}

    def want(self, key: Key) -> None:
        """Look at an object soon."""
        self._wanted[key] = None
        self._is_wanted.set()

    async def run(self) -> Never:
        """Look at what is wanted until cancelled."""
        while True:
            await self._is_wanted.wait()
            await asyncio.sleep(_GATHER_SECONDS)
            self._is_wanted.clear()
            wanted, self._wanted = self._wanted, {}
            for key in wanted:
                self._look_at(key)
                # Others want their turn as well.
                await asyncio.sleep(0)

    def _look_at(self, key: Key) -> None:
        try:
            self._reconcile(key)
        except Refused as refused:
            count = self._refusals[key] = self._refusals.get(key, 0) + 1
            delay = min(_FIRST_RETRY_SECONDS * 2 ** (count - 1), _LAST_RETRY_SECONDS)
            name = "/".join(part for part in key if part)
            _log.warning("Refused", controller=self.name, object=name, err=refused, retry_in=delay)
            asyncio.get_running_loop().call_later(delay, self.want, key)
        else:
            self._refusals.pop(key, None)
