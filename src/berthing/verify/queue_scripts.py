"""Recorded queue scripts: operations on a queue under a clock set by hand, and its state after each.

A script runs on the default plugins and a cluster, or on made-up plugins whose hints are told.
The whole state is compared after every step: who is where in which order, until when, for whom
events are kept, and who is nominated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import msgspec

from berthing.api.meta import ApiObject
from berthing.api.pod_info import PodInfo
from berthing.framework import ClusterEvent
from berthing.queue.backoff import is_backing_off
from berthing.queue.in_flight import Happened
from berthing.queue.queued_pod import Place, QueuedPod
from berthing.queue.scheduling_queue import SchedulingQueue
from berthing.verify.made_up_plugins import MadeUpPlugin, MadeUpWorld, action_of
from berthing.verify.outcome import BadRowError, Difference, Outcome, differences
from berthing.verify.queue_world import QueueWorld
from berthing.verify.scenarios import Row, items, mapping, read_object

# Any whole second; recorded times are milliseconds from here.
_START = 1_000_000.0


class _Config(msgspec.Struct, rename="camel"):
    pod_initial_backoff_seconds: float
    pod_max_backoff_seconds: float
    pod_max_in_unschedulable_pods_seconds: float


class _Script(msgspec.Struct):
    id: str
    config: _Config
    plugins: str | list[MadeUpPlugin]
    steps: list[dict[str, object]]
    objects: list[object] = []


def recognises(row: Row) -> bool:
    """A script, and what its steps come to."""
    return {"script", "expect"} <= row.keys()


def check(row: Row) -> Outcome:
    """Run the script and compare each step's result, and the state after it."""
    expect = mapping(row["expect"], "expect")
    try:
        script = msgspec.convert(row["script"], _Script)
    except msgspec.ValidationError as error:
        raise BadRowError(f"script: {error}") from error
    recorded = items(expect, "steps")
    if len(recorded) != len(script.steps):
        raise BadRowError("expect.steps: there must be one for each step of the script")
    world = _world(script)
    told = _differences(recorded, script, world)
    rules: list[str] = []
    if told:
        asleep = _world(script, sleeps=True)
        if not _differences(recorded, script, asleep):
            told, rules = [], sorted(asleep.rules)
    return Outcome(script.id, tuple(told), on_purpose=tuple(rules))


def _world(script: _Script, *, sleeps: bool = False) -> QueueWorld | MadeUpWorld:
    config = script.config
    backoff = config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds
    longest = config.pod_max_in_unschedulable_pods_seconds
    if isinstance(script.plugins, str):
        return QueueWorld(
            None, sleeps=sleeps, backoff_seconds=backoff, max_in_unschedulable_seconds=longest
        )
    return MadeUpWorld(
        script.plugins, backoff_seconds=backoff, max_in_unschedulable_seconds=longest
    )


def _differences(
    recorded: Sequence[object], script: _Script, world: QueueWorld | MadeUpWorld
) -> list[Difference]:
    """All that differs in the first step that does; what follows it follows from it."""
    objects = [read_object(each, "script.objects") for each in script.objects]
    world.add_all(objects, now=_START)
    player = _Player(world)
    for number, (step, expected) in enumerate(zip(script.steps, recorded, strict=True)):
        result = player.play(step)
        ours = {"result": result, "state": _state(world.queue)}
        found = list(differences(("steps", number), expected, ours))
        if found:
            return found
    return []


class _Player:
    """Carries out steps."""

    def __init__(self, world: QueueWorld | MadeUpWorld) -> None:
        self._world = world
        self._queue = world.queue
        self._popped: dict[str, QueuedPod] = {}
        self._operations: Mapping[str, Callable[[Row, float], object]] = {
            "add": self._change,
            "update": self._change,
            "delete": self._delete,
            "object": self._change,
            "pop": self._pop,
            "fail": self._fail,
            "done": self._done,
            "event": self._event,
            "activate": self._activate,
            "nominate": self._nominate,
            "flushBackoff": lambda _, now: self._queue.flush_backoff(now=now),
            "flushUnschedulable": lambda _, now: self._queue.flush_unschedulable(now=now),
            "close": self._close,
        }

    def play(self, step: Row) -> object:
        """Do what the step says; its result."""
        at, operation = step.get("at"), self._operations.get(str(step.get("op")))
        if not isinstance(at, int | float) or operation is None:
            raise BadRowError(f"script.steps: cannot do {step.get('op')!r} at {at!r}")
        try:
            return operation(step, _START + at / 1000)
        except KeyError as error:
            raise BadRowError(f"script.steps: {step['op']} of unknown {error}") from error

    def _change(self, step: Row, now: float) -> object:
        new = step.get("pod", step.get("new"))
        return self._world.play(_object(step.get("old")), _object(new), now=now)

    def _delete(self, step: Row, now: float) -> object:
        pod = self._queue.unbound.get(str(step.get("uid")))
        return self._world.play(pod.pod if pod else None, None, now=now)

    def _pop(self, _step: Row, now: float) -> object:
        skipped = not self._queue.pending()["active"]
        queued = self._queue.pop()
        if queued is None:
            return None
        self._popped[queued.uid] = queued
        return {
            "from": "backoff" if skipped else "active",
            "pod": queued.pod_info.key,
            "backoffSkipped": skipped and is_backing_off(queued, now),
            "attempts": queued.attempts,
            "unschedulableCount": queued.unschedulable_count,
            "consecutiveErrors": queued.consecutive_errors_count,
            "unschedulablePlugins": sorted(queued.unschedulable_plugins),
            "pendingPlugins": sorted(queued.pending_plugins),
            "timestamp": _millis(queued.timestamp),
            "firstAttempt": _millis(queued.initial_attempt_timestamp),
            "flushed": queued.flushed,
        }

    def _fail(self, step: Row, now: float) -> object:
        taken_back = self._queue.give_back(
            self._popped[str(step.get("uid"))],
            unschedulable=list(map(str, items(step, "unschedulable"))),
            pending=list(map(str, items(step, "pending"))),
            now=now,
        )
        return None if taken_back else "not requeued"

    def _done(self, step: Row, _now: float) -> None:
        self._queue.done(str(step.get("uid")))

    def _event(self, step: Row, now: float) -> None:
        told = mapping(step.get("event"), "event")
        event = ClusterEvent(str(told.get("resource")), action_of(items(told, "actions")))
        if event.label != told.get("label"):
            event = msgspec.structs.replace(event, custom_label=str(told.get("label")))
        self._queue.move_all(event, _object(told.get("old")), _object(told.get("new")), now=now)

    def _activate(self, step: Row, now: float) -> None:
        pods = [self._unbound(str(key)) for key in items(step, "pods")]
        self._queue.activate([pod.pod for pod in pods if pod], now=now)

    def _nominate(self, step: Row, _now: float) -> None:
        pod, node = self._unbound(str(step.get("pod"))), step.get("node")
        if pod is not None:
            self._queue.nominator.add(pod, None if node is None else str(node))

    def _close(self, step: Row, _now: float) -> None:
        if isinstance(self._world, MadeUpWorld):
            self._world.close(str(step.get("plugin")), set(map(str, items(step, "groups"))))

    def _unbound(self, key: str) -> PodInfo | None:
        return next((pod for pod in self._queue.unbound.values() if pod.key == key), None)


def _state(queue: SchedulingQueue) -> dict[str, object]:
    places: dict[Place, list[QueuedPod]] = {place: [] for place in Place}
    for queued in queue.waiting():
        places[queued.place].append(queued)
    waiting = places[Place.UNSCHEDULABLE]
    nominated: dict[str, list[str]] = {}
    for node, pod in queue.nominator:
        nominated.setdefault(node, []).append(pod.key)
    return {
        "active": [queued.pod_info.key for queued in places[Place.ACTIVE]],
        "backoff": list(map(_expiring, places[Place.BACKOFF])),
        "errorBackoff": list(map(_expiring, places[Place.ERROR_BACKOFF])),
        "unschedulable": sorted(
            queued.pod_info.key for queued in waiting if not queued.gating_plugin
        ),
        "gated": {
            queued.pod_info.key: queued.gating_plugin for queued in waiting if queued.gating_plugin
        },
        "inFlight": [queued.pod_info.key for queued in queue.in_flight],
        "inFlightLog": [
            f"+{each.event.label}" if isinstance(each, Happened) else each.pod_info.key
            for each in queue.in_flight.log()
        ],
        "nominated": nominated,
    }


def _expiring(queued: QueuedPod) -> dict[str, object]:
    return {"pod": queued.pod_info.key, "expires": _millis(queued.backoff_until)}


def _millis(time: float | None) -> int | None:
    return None if time is None or math.isinf(time) else round((time - _START) * 1000)


def _object(value: object) -> ApiObject | None:
    return None if value is None else read_object(value, "script.steps")
