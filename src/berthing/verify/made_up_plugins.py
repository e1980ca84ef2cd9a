"""Plugins as queue scripts make them up: what they register, and what their hints say.

A hint says the same every time, or compares: with `label`, an event is for pods whose label `group`
is the object's label `for`.  A plugin may hold back the pods whose group it has closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce
from operator import or_
from typing import cast

import msgspec

from berthing.api.meta import ApiObject
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    Handle,
    PreEnqueuePlugin,
    QueueingHint,
    QueueingHintFn,
    Status,
)
from berthing.plugins.priority_sort import PrioritySort
from berthing.plugins.scheduling_gates import SchedulingGates
from berthing.queue.scheduling_queue import QueueingProfile, SchedulingQueue
from berthing.verify.outcome import BadRowError

_PROFILE = "default-scheduler"
_NO_HANDLE = cast("Handle", None)

_ACTIONS = {action.label: action for action in ActionType.__members__.values()}


class MadeUpEvent(msgspec.Struct):
    """One registration."""

    resource: str
    actions: list[str]
    hint: str


class MadeUpPlugin(msgspec.Struct, rename="camel"):
    """A plugin that rejects pods whenever the script says so."""

    name: str
    events: list[MadeUpEvent]
    pre_enqueue: bool = False


def action_of(names: Iterable[object]) -> ActionType:
    """The bits of some actions, by their names in logs and metrics."""
    try:
        return reduce(or_, (_ACTIONS[str(name)] for name in names))
    except (KeyError, TypeError) as error:
        raise BadRowError(f"actions: no such action: {error}") from error


class MadeUpWorld:
    """A queue with made-up plugins, and no cluster."""

    def __init__(
        self,
        plugins: Sequence[MadeUpPlugin],
        *,
        backoff_seconds: tuple[float, float],
        max_in_unschedulable_seconds: float,
    ) -> None:
        gates = SchedulingGates(None, _NO_HANDLE)
        self._closing = {each.name: _Closing(each.name) for each in plugins if each.pre_enqueue}
        # Hints that say what they are told need no rules.
        self.rules: frozenset[str] = frozenset()
        events = {gates.name: tuple(gates.events_to_register())}
        events |= {each.name: tuple(map(_registered, each.events)) for each in plugins}
        profile = QueueingProfile((gates, *self._closing.values()), events)
        self.queue = SchedulingQueue(
            {_PROFILE: profile},
            sort_key=PrioritySort(None, _NO_HANDLE).sort_key,
            initial_backoff_seconds=backoff_seconds[0],
            max_backoff_seconds=backoff_seconds[1],
            max_in_unschedulable_seconds=max_in_unschedulable_seconds,
        )

    def add_all(self, objects: Sequence[ApiObject], *, now: float) -> None:
        """Take objects that are there from the start: without a cluster there are none."""
        if objects:
            raise BadRowError("script.objects: made-up plugins have no cluster")

    def play(self, old: ApiObject | None, new: ApiObject | None, *, now: float) -> None:
        """A pod comes, changes or goes."""
        if isinstance(new, Pod):
            come = self.queue.add if old is None else self.queue.update
            come(PodInfo.of(new), now=now)
        elif isinstance(old, Pod):
            self.queue.delete(old.metadata.uid)
        elif old is not None or new is not None:
            raise BadRowError("script.steps: made-up plugins have no cluster")

    def close(self, plugin: str, groups: set[str]) -> None:
        """From now on the plugin holds back exactly these groups."""
        self._closing[plugin].groups = groups


class _Closing(PreEnqueuePlugin):
    """Holds back pods by group."""

    def __init__(self, name: str) -> None:
        super().__init__(None, _NO_HANDLE)
        # Of this one alone: a script may have several.
        self.name = name  # type: ignore[misc]
        self.groups: set[str] = set()

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        is_closed = pod.labels.get("group", "") in self.groups
        return Status.unresolvable("closed") if is_closed else None


def _registered(event: MadeUpEvent) -> ClusterEventWithHint:
    registered = ClusterEvent(event.resource, action_of(event.actions))
    return ClusterEventWithHint(registered, _hint(event.hint))


def _hint(said: str) -> QueueingHintFn | None:
    match said:
        case "none":
            return None
        case "label":
            return _by_label
        case "queue" | "skip" | "error":
            return partial(_always, said)
        case _:
            raise BadRowError(f"hint: no such hint: {said!r}")


def _always(said: str, _pod: PodInfo, _old: object | None, _new: object | None) -> QueueingHint:
    if said == "error":
        raise RuntimeError("this hint is broken")
    return QueueingHint.QUEUE if said == "queue" else QueueingHint.SKIP


def _by_label(pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
    obj = old if new is None else new
    if not isinstance(obj, ApiObject):
        return QueueingHint.SKIP
    helps = obj.metadata.labels.get("for", "") == pod.labels.get("group", "")
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP
