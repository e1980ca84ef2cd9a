"""PreEnqueue: whether a pod may be tried at all, or is held back by a plugin.

A pod that is held back is *gated*.  The plugin counts among those that rejected the pod, and its
events alone make the queue look at the pod again.

Upstream: runPreEnqueuePlugins in pkg/scheduler/backend/queue/scheduling_queue.go (v1.36.4).
Differs:  plugins are asked in configured order; upstream's order is random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from time import perf_counter

from berthing.api.pod_info import PodInfo
from berthing.framework import Code, PreEnqueuePlugin, Status
from berthing.queue.observer import QueueObserver
from berthing.queue.queued_pod import QueuedPod
from berthing.telemetry import logs

_log = logs.get("queue")

# Its name and its method.
_Plugin = tuple[str, Callable[[PodInfo], Status | None]]


class Admission:
    """The PreEnqueue plugins of all profiles."""

    def __init__(
        self, plugins: Mapping[str, Iterable[PreEnqueuePlugin]], observer: QueueObserver
    ) -> None:
        self._plugins = {
            profile: tuple((plugin.name, plugin.pre_enqueue) for plugin in plugins)
            for profile, plugins in plugins.items()
        }
        self._observer = observer

    def admits(self, queued: QueuedPod) -> bool:
        """Ask the plugins, and note down the one that holds the pod back."""
        started = perf_counter()
        code = self._ask(queued)
        self._observer.pre_enqueue(queued.profile, code, perf_counter() - started)
        return code is Code.SUCCESS

    def _ask(self, queued: QueuedPod) -> Code:
        plugins: Iterable[_Plugin] = self._plugins[queued.profile]
        if queued.gating_plugin:
            # Whoever held the pod back will most likely do so again.
            plugins = _foremost(plugins, queued.gating_plugin)
        for name, pre_enqueue in plugins:
            try:
                status = pre_enqueue(queued.pod_info)
            except Exception as error:  # noqa: BLE001  # somebody else's code, and it is logged
                pod = queued.pod_info.pod
                _log.error(
                    error, "Unexpected error running PreEnqueue plugin", pod=pod, plugin=name
                )
                status = Status.from_error(error, plugin=name)
            if status is not None and not status.is_success:
                queued.gating_plugin = name
                queued.unschedulable_plugins |= {name}
                return status.code
        queued.gating_plugin = ""
        return Code.SUCCESS


def _foremost(plugins: Iterable[_Plugin], name: str) -> list[_Plugin]:
    return sorted(plugins, key=lambda plugin: plugin[0] != name)
