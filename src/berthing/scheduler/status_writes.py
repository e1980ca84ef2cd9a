"""What users are told in a pod's status: written in the background, in order, until it is written.

    put ---> the newest word about a pod ---> one write at a time per pod ---> done
                ^                                        |
                +------ it failed, and nothing newer ----+

A pod that fails again while its last write is under way has its words joined: the newest
condition, and the newest nomination that was not "leave it".  Upstream gives up after four tries;
here a pod's words wait for an API server that is away, until they are written or the pod is gone.

Upstream: updatePod in schedule_one.go, util.PatchPodStatus (v1.36.4).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

import msgspec

from berthing.api.errors import ClientError, ConflictError
from berthing.api.pod import Pod, PodCondition
from berthing.framework import PodWriter
from berthing.telemetry import logs

log = logs.get("scheduler")

# The writer itself retries what passes in a moment; these are the pauses after it gave up.
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0


class _Word(msgspec.Struct, frozen=True):
    pod: Pod
    condition: PodCondition | None
    nominated_node_name: str | None

    def after(self, earlier: _Word | None) -> _Word:
        """Both words in one."""
        if earlier is None:
            return self
        nominated = self.nominated_node_name
        if nominated is None:
            nominated = earlier.nominated_node_name
        return _Word(self.pod, self.condition or earlier.condition, nominated)


class _Writing:
    """The writing about one pod: what is still to be said, and who says it."""

    def __init__(self) -> None:
        self.word: _Word | None = None
        # Set once nothing of it matters any more.
        self.dropped = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class StatusWrites:
    """Words about pods on their way to the API server."""

    def __init__(self, writer: PodWriter) -> None:
        self._writer = writer
        self._writings: dict[str, _Writing] = {}

    def put(
        self,
        pod: Pod,
        *,
        condition: PodCondition | None = None,
        nominated_node_name: str | None = None,
    ) -> None:
        """Write a condition, a nomination ("" takes it back, None leaves it), or both."""
        writing = self._writings.setdefault(pod.metadata.uid, _Writing())
        writing.word = _Word(pod, condition, nominated_node_name).after(writing.word)
        writing.dropped.clear()
        if writing.task is None:
            writing.task = asyncio.get_running_loop().create_task(
                self._write(pod.metadata.uid, writing), name=f"status of {pod.key}"
            )

    def drop(self, uid: str) -> None:
        """The pod is gone, or has a node: what was not written yet matters no more."""
        writing = self._writings.get(uid)
        if writing is not None:
            writing.word = None
            writing.dropped.set()

    async def settle(self, uid: str) -> None:
        """Drop what was not written, and return once what is under way has ended.

        For a pod that is about to be bound: a "does not fit" must not arrive after that.
        """
        writing = self._writings.get(uid)
        if writing is not None and writing.task is not None:
            self.drop(uid)
            await asyncio.wait([writing.task])

    async def drained(self) -> None:
        """Return once all is written."""
        while tasks := [each.task for each in self._writings.values() if each.task is not None]:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """Stop writing, whatever is left."""
        tasks = [each.task for each in self._writings.values() if each.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self, uid: str, writing: _Writing) -> None:
        pause = _FIRST_PAUSE_SECONDS
        try:
            while (word := writing.word) is not None:
                writing.word = None
                if await self._is_done(word):
                    pause = _FIRST_PAUSE_SECONDS
                elif not writing.dropped.is_set():
                    writing.word = _newest(word, writing.word)
                    # Who waits for the end of it need not wait for the next try.
                    with suppress(TimeoutError):
                        await asyncio.wait_for(writing.dropped.wait(), pause)
                    pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        finally:
            del self._writings[uid]

    async def _is_done(self, word: _Word) -> bool:
        """Write; false if it is worth another try."""
        try:
            await self._writer.patch_pod_status(
                word.pod, condition=word.condition, nominated_node_name=word.nominated_node_name
            )
        except ClientError as error:
            log.error(error, "Error updating pod", pod=word.pod.key)
            # A conflict passes as well: the pod goes on changing, and is read anew next time.
            return not (error.is_temporary or isinstance(error, ConflictError))
        return True


def _newest(word: _Word, newer: _Word | None) -> _Word:
    return word if newer is None else newer.after(word)
