"""A watch: what happens to some objects from a revision on, line by line.

Upstream: apiserver/pkg/endpoints/handlers/watch.go, pkg/storage/cacher (v1.36.4).
Differs:  a watch without a revision starts with all there is, as upstream's, but there is no
          sendInitialEvents.

A watch ends when its time is up, when the server closes it, or after an ERROR: what it should
start with is forgotten.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from typing import Final

from berthing.api.kinds import Kind
from berthing.api.meta import ApiObject
from berthing.embedded.refusals import expired
from berthing.embedded.selection import Selection
from berthing.embedded.store import Change, Compacted, Store, watch_line
from berthing.embedded.trees import Tree, write_tree

# Upstream sends one about every minute, so that a quiet watch can be taken up after long.
BOOKMARK_SECONDS: Final = 60.0


class Watch:
    """The lines of one watch; the listening starts at once, the reading when somebody does."""

    def __init__(
        self,
        store: Store,
        kind: Kind[ApiObject],
        selection: Selection,
        *,
        since: int | None,
        timeout_seconds: float,
        with_bookmarks: bool,
    ) -> None:
        self._store = store
        self._kind = kind
        self._selection = selection
        self._lines: deque[bytes] = deque()
        self._has_news = asyncio.Event()
        self.is_over = False
        self._ends_at = asyncio.get_running_loop().time() + timeout_seconds
        self._with_bookmarks = with_bookmarks
        self._stop_listening = store.listen(kind, self._tell)
        self._begin(since)

    def close(self) -> None:
        """End the watch; what was told up to now is still read."""
        if not self.is_over:
            self.is_over = True
            self._stop_listening()
            self._has_news.set()

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        """One or more whole lines at a time."""
        try:
            while not (self.is_over and not self._lines):
                await self._wait_for_news()
                if self._lines:
                    chunk = b"".join(self._lines)
                    self._lines.clear()
                    yield chunk
        finally:
            self.close()

    def _begin(self, since: int | None) -> None:
        if since is None:
            for stored in self._store.all_at(self._kind, self._store.revision):
                if self._selection(stored):
                    self._lines.append(watch_line("ADDED", stored.json))
            return
        try:
            for change in self._store.changes_since(self._kind, since):
                self._tell(change)
        except Compacted as error:
            refusal = expired(f"too old resource version: {since} ({error.oldest})")
            self._lines.append(watch_line("ERROR", refusal.body))
            self.close()

    def _tell(self, change: Change) -> None:
        line = change.line(self._selection)
        if line is not None:
            self._lines.append(line)
            self._has_news.set()

    async def _wait_for_news(self) -> None:
        if self._lines or self.is_over:
            return
        self._has_news.clear()
        loop = asyncio.get_running_loop()
        wake_at = self._ends_at
        if self._with_bookmarks:
            wake_at = min(wake_at, loop.time() + BOOKMARK_SECONDS)
        try:
            async with asyncio.timeout_at(wake_at):
                await self._has_news.wait()
        except TimeoutError:
            if self._with_bookmarks:
                self._lines.append(self._bookmark())
            if loop.time() >= self._ends_at:
                self.close()

    def _bookmark(self) -> bytes:
        """All that happened up to now was told."""
        metadata: Tree = {"resourceVersion": str(self._store.revision), "creationTimestamp": None}
        tree: Tree = {"kind": self._kind.kind, "apiVersion": self._kind.api_version}
        tree["metadata"] = metadata
        return watch_line("BOOKMARK", write_tree(tree))
