"""PreEnqueue: whether a pod may be tried at all, or is held back by a plugin.

A pod that is held back is *gated*.  The plugin counts among those that rejected the pod, and its
events alone make the queue look at the pod again.

Upstream: runPreEnqueuePlugins in pkg/scheduler/backend/queue/scheduling_queue.go (v1.36.4).
Differs:  plugins are asked in configured order; upstream's order is random.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import perf_counter

from berthing.framework import Code, PreEnqueuePlugin, Status
from berthing.queue.observer import QueueObserver
from berthing.queue.queued_pod import QueuedPod
from berthing.telemetry import logs

_log = logs.get("queue")


class Admission:
    """The PreEnqueue plugins of all profiles."""

    def __init__(
        self, plugins: Mapping[str, Iterable[PreEnqueuePlugin]], observer: QueueObserver
    ) -> None:
        self._plugins = {profile: tuple(each) for profile, each in plugins.items()}
        self._observer = observer

    def admits(self, queued: QueuedPod) -> bool:
        """Ask the plugins, and note down the one that holds the pod back."""
        for plugin in self._in_turn(queued):
            status = self._asked(plugin, queued)
            if status is not None and not status.is_success:
                queued.gating_plugin = plugin.name
                queued.unschedulable_plugins |= {plugin.name}
                return False
        queued.gating_plugin = ""
        return True

    def _in_turn(self, queued: QueuedPod) -> Sequence[PreEnqueuePlugin]:
        plugins = self._plugins[queued.profile]
        if not queued.gating_plugin:
            return plugins
        # Whoever held the pod back will most likely do so again.
        return list(_foremost(plugins, queued.gating_plugin))

    def _asked(self, plugin: PreEnqueuePlugin, queued: QueuedPod) -> Status | None:
        started = perf_counter()
        try:
            status = plugin.pre_enqueue(queued.pod_info)
        except Exception as error:  # noqa: BLE001  # somebody else's code, and it is logged
            pod = queued.pod_info.pod
            _log.error(
                error, "Unexpected error running PreEnqueue plugin", pod=pod, plugin=plugin.name
            )
            status = Status.from_error(error, plugin=plugin.name)
        code = Code.SUCCESS if status is None else status.code
        self._observer.pre_enqueue(queued.profile, plugin.name, code, perf_counter() - started)
        return status


def _foremost(plugins: Iterable[PreEnqueuePlugin], name: str) -> Iterator[PreEnqueuePlugin]:
    yield from (plugin for plugin in plugins if plugin.name == name)
    yield from (plugin for plugin in plugins if plugin.name != name)
