"""Pods that wait for something to happen, by the plugins whose events would tell.

Upstream: pkg/scheduler/backend/queue/unschedulable_pods.go (v1.36.4).
Differs:  indexed by plugin, so that an event is looked at for those pods alone that it may concern.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from berthing.queue.queued_pod import QueuedPod


class UnschedulablePods:
    """Rejected pods and gated ones, in the order in which they came."""

    def __init__(self) -> None:
        # Each with the plugins it is indexed by.
        self._pods: dict[str, tuple[QueuedPod, frozenset[str]]] = {}
        self._by_plugin: defaultdict[tuple[str, str], dict[str, QueuedPod]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[QueuedPod]:
        return (queued for queued, _ in self._pods.values())

    def __contains__(self, uid: str) -> bool:
        return uid in self._pods

    def add(self, queued: QueuedPod) -> None:
        """Put a pod in, or index it anew."""
        if queued.uid in self._pods:
            self.remove(queued)
        watchers = queued.watchers
        self._pods[queued.uid] = queued, watchers
        for plugin in watchers:
            self._by_plugin[queued.profile, plugin][queued.uid] = queued

    def remove(self, queued: QueuedPod) -> None:
        """Take out a pod that is there."""
        _, watchers = self._pods.pop(queued.uid)
        for plugin in watchers:
            del self._by_plugin[queued.profile, plugin][queued.uid]

    def watched_by(self, profile: str, plugins: Iterable[str]) -> Collection[QueuedPod]:
        """The profile's pods that wait for any of the plugins, each once."""
        groups = (self._by_plugin.get((profile, plugin)) for plugin in plugins)
        found = [group for group in groups if group]
        if len(found) == 1:
            return list(found[0].values())
        together: dict[str, QueuedPod] = {}
        for group in found:
            together.update(group)
        return together.values()
