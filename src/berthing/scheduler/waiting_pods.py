"""Pods between Permit and Bind: those that wait to be allowed, and those whose PreBind runs.

    permit says Wait ---> waiting --- allowed by all ---> prebind ---> bound
                             |                               |
                             +--- rejected, too late,        +--- cancelled (preempted)
                                  preempted

The first word counts: a pod that was allowed cannot be rejected any more, nor the other way round.

Upstream: framework/runtime/waiting_pods_map.go, pods_in_prebind_map.go (v1.36.4).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence

from berthing.api.pod import Pod
from berthing.config.durations import Duration
from berthing.framework import SUCCESS, Code, Status

# No plugin may hold a pod for longer.
_LONGEST_WAIT_SECONDS = 15 * 60.0


class WaitingPod:
    """A pod that waits for Permit plugins to let it go."""

    def __init__(self, pod: Pod, timeouts: Mapping[str, float]) -> None:
        self.pod = pod
        loop = asyncio.get_running_loop()
        self._verdict: asyncio.Future[Status] = loop.create_future()
        self._timers = {
            plugin: loop.call_later(seconds, self.reject, plugin, _too_late(plugin, seconds))
            for plugin, seconds in (
                (plugin, min(asked, _LONGEST_WAIT_SECONDS)) for plugin, asked in timeouts.items()
            )
        }

    @property
    def pending_plugins(self) -> Sequence[str]:
        """Plugins whose word is still missing."""
        return list(self._timers)

    def allow(self, plugin: str) -> None:
        """Say yes in the name of a plugin; the last yes lets the pod go."""
        timer = self._timers.pop(plugin, None)
        if timer is not None:
            timer.cancel()
        if not self._timers:
            self._decide(SUCCESS)

    def reject(self, plugin: str, message: str) -> bool:
        """Turn the pod back; False if something else was decided before."""
        return self._decide(Status.unschedulable(message).by(plugin))

    def preempt(self, plugin: str, message: str) -> bool:
        """Turn the pod back to be tried again at once; False if decided before."""
        return self._decide(Status(Code.ERROR, (message,), plugin))

    async def wait(self) -> Status:
        """The verdict, once there is one."""
        return await self._verdict

    def stop_timers(self) -> None:
        """Nobody waits for the verdict any more."""
        for timer in self._timers.values():
            timer.cancel()

    def _decide(self, status: Status) -> bool:
        if self._verdict.done():
            return False
        self.stop_timers()
        self._verdict.set_result(status)
        return True


def _too_late(plugin: str, seconds: float) -> str:
    waited = Duration.seconds(seconds)
    return f"rejected due to timeout after waiting {waited} at plugin {plugin}"


class WaitingPods:
    """All pods that wait on Permit, by uid."""

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}

    def add(self, pod: Pod, timeouts: Mapping[str, float]) -> None:
        """From here on the pod waits, for each plugin so many seconds at most."""
        self._pods[pod.metadata.uid] = WaitingPod(pod, timeouts)

    def get(self, uid: str) -> WaitingPod | None:
        """The pod, if it waits."""
        return self._pods.get(uid)

    def remove(self, uid: str) -> None:
        """The pod waits no more."""
        waiting = self._pods.pop(uid, None)
        if waiting is not None:
            waiting.stop_timers()

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(list(self._pods.values()))


class PodInPreBind:
    """A pod between Permit and Bind."""

    def __init__(self, cancel: Callable[[str], None]) -> None:
        self._cancel = cancel
        self._decided = False

    def cancel(self, reason: str) -> bool:
        """Stop its binding; False if it is too late for that."""
        if self._decided:
            return False
        self._decided = True
        self._cancel(reason)
        return True

    def mark_prebound(self) -> bool:
        """From here on nothing stops the binding; False if it was cancelled before."""
        if self._decided:
            return False
        self._decided = True
        return True


class PodsInPreBind:
    """All pods whose PreBind plugins run, by uid."""

    def __init__(self) -> None:
        self._pods: dict[str, PodInPreBind] = {}

    def add(self, uid: str, cancel: Callable[[str], None]) -> PodInPreBind:
        """The pod enters PreBind; `cancel(reason)` would stop it."""
        entry = self._pods[uid] = PodInPreBind(cancel)
        return entry

    def get(self, uid: str) -> PodInPreBind | None:
        """The pod, if its PreBind runs."""
        return self._pods.get(uid)

    def remove(self, uid: str) -> None:
        """The pod is through, or stopped."""
        self._pods.pop(uid, None)
