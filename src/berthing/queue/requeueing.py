"""Whether an event is worth another attempt for a pod that was rejected.

    event ---> the plugins that registered it ---> of these, the ones that rejected the pod
                                                       | their hints look at the object
                       skip  <--- none says Queue -----+
             after backoff  <---- one says Queue ------+
               immediately  <---- one says Queue that only put the pod on hold (Pending)

Upstream: isPodWorthRequeuing in pkg/scheduler/backend/queue/scheduling_queue.go (v1.36.4).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum, auto
from functools import partial
from time import perf_counter

from berthing.api.pod import Pod
from berthing.framework import ClusterEvent, ClusterEventWithHint, QueueingHint, QueueingHintFn
from berthing.queue.observer import QueueObserver
from berthing.queue.queued_pod import QueuedPod
from berthing.telemetry import logs

_log = logs.get("queue")

# By plugin: the hints it gave for an event; None for "always worth it".
_Hints = Mapping[str, tuple[QueueingHintFn | None, ...]]

# How metrics call a hint that raised.
_ERROR = "Error"


class Requeue(Enum):
    """Where a pod goes after an event."""

    SKIP = auto()
    AFTER_BACKOFF = auto()
    IMMEDIATELY = auto()


class Requeueing:
    """What the plugins of all profiles registered for, looked up by event."""

    def __init__(
        self,
        events: Mapping[str, Mapping[str, Sequence[ClusterEventWithHint]]],
        observer: QueueObserver,
    ) -> None:
        """Take profile -> plugin -> the events that it registered."""
        self._events = events
        self._observer = observer
        # Only events that came up; there are few different ones.
        self._concerned: dict[ClusterEvent, Mapping[str, _Hints]] = {}

    def concerned(self, event: ClusterEvent) -> Mapping[str, _Hints]:
        """By profile, the plugins that registered the event with their hints; empty if nobody."""
        known = self._concerned.get(event)
        if known is None:
            known = self._concerned[event] = {
                profile: hints
                for profile, plugins in self._events.items()
                if (hints := _matching(plugins, event))
            }
        return known

    def registered(self, profile: str, plugin: str) -> Sequence[ClusterEvent]:
        """The events that a plugin wants to hear of."""
        return [each.event for each in self._events[profile].get(plugin, ())]

    def verdict(
        self, queued: QueuedPod, event: ClusterEvent, old: object | None, new: object | None
    ) -> Requeue:
        """What the plugins that rejected the pod make of the event."""
        if not queued.unschedulable_plugins and not queued.pending_plugins:
            return Requeue.AFTER_BACKOFF
        if event.is_wildcard:
            concerns_it = new is None or (isinstance(new, Pod) and new.metadata.uid == queued.uid)
            return Requeue.AFTER_BACKOFF if concerns_it else Requeue.SKIP
        hints = self.concerned(event).get(queued.profile, {})
        asking = partial(self._says_queue, queued, event, old, new)
        if queued.pending_plugins and _any(hints, queued.pending_plugins, asking):
            return Requeue.IMMEDIATELY
        if _any(hints, queued.unschedulable_plugins, asking):
            return Requeue.AFTER_BACKOFF
        return Requeue.SKIP

    def _says_queue(
        self,
        queued: QueuedPod,
        event: ClusterEvent,
        old: object | None,
        new: object | None,
        plugin: str,
        hints: Sequence[QueueingHintFn | None],
    ) -> bool:
        for hint in hints:
            started = perf_counter()
            result = asked(plugin, hint, queued, old, new)
            self._observer.hint(plugin, event.label, result, perf_counter() - started)
            if result != QueueingHint.SKIP:
                return True
        return False


def _any(
    hints: _Hints,
    plugins: Collection[str],
    asking: Callable[[str, Sequence[QueueingHintFn | None]], bool],
) -> bool:
    return any(asking(plugin, fns) for plugin, fns in hints.items() if plugin in plugins)


def asked(
    plugin: str,
    hint: QueueingHintFn | None,
    queued: QueuedPod,
    old: object | None,
    new: object | None,
) -> str:
    """The hint's answer, as metrics call it; one that breaks counts as Queue."""
    if hint is None:
        return QueueingHint.QUEUE
    try:
        return hint(queued.pod_info, old, new)
    except Exception as error:  # noqa: BLE001  # somebody else's code, and it is logged
        _log.error(error, "QueueingHintFn returns error", plugin=plugin, pod=queued.pod_info.pod)
        return _ERROR


def _matching(
    plugins: Mapping[str, Sequence[ClusterEventWithHint]], event: ClusterEvent
) -> dict[str, tuple[QueueingHintFn | None, ...]]:
    matching = {
        plugin: tuple(each.hint for each in registered if each.event.matches(event))
        for plugin, registered in plugins.items()
    }
    return {plugin: hints for plugin, hints in matching.items() if hints}
