"""Recorded hints: a pod that was rejected, or is gated, and one change; is it tried again?

Our own attempt must reject the pod for the same reasons, and each event that the change comes to
must be heard by the same plugins and answered alike.  Where an attempt takes plugins that are not
done, the recorded plugins are taken for the ones that rejected the pod, and what the attempt came
to is counted as not checked.
"""

from __future__ import annotations

from msgspec.structs import replace

from berthing.api.meta import ApiObject
from berthing.framework import QueueingHint
from berthing.queue.queued_pod import Place, QueuedPod
from berthing.queue.requeueing import Requeue, asked
from berthing.verify.outcome import BadRowError, Difference, Outcome, differences
from berthing.verify.queue_world import Derived, QueueWorld
from berthing.verify.scenarios import Row, is_complete, items, mapping, read_object, read_pod

# Any whole second.
_ATTEMPT = 1_000_000.0

_REQUEUE = {
    Requeue.SKIP: "skip",
    Requeue.AFTER_BACKOFF: "afterBackoff",
    Requeue.IMMEDIATELY: "immediately",
}


def recognises(row: Row) -> bool:
    """A scenario, and an event in it."""
    return {"scenario", "event", "expect"} <= row.keys()


def check(row: Row) -> Outcome:
    """Let the attempt fail and the change happen, and compare."""
    expect = mapping(row["expect"], "expect")
    ours = _answers(row, QueueWorld(_config(row)))
    told = _differences(expect, ours)
    rules: list[str] = []
    if told:
        asleep = QueueWorld(_config(row), sleeps=True)
        if not _differences(expect, _answers(row, asleep)):
            told, rules = [], sorted(asleep.rules)
    return Outcome(
        str(expect.get("id", "")),
        tuple(told),
        on_purpose=tuple(rules),
        unchecked=tuple(field for field in _fields(expect) if field not in ours),
    )


def _config(row: Row) -> object:
    return mapping(row["scenario"], "scenario").get("config")


def _fields(expect: Row) -> list[str]:
    return [field for field in expect if field not in ("id", "version")]


def _differences(expect: Row, ours: Row) -> list[Difference]:
    return [
        difference
        for field in _fields(expect)
        if field in ours
        for difference in differences((field,), _plain(expect[field]), ours[field])
    ]


def _answers(row: Row, world: QueueWorld) -> dict[str, object]:
    """What we have to say; fields that take plugins which are not done are left out."""
    scenario, event = mapping(row["scenario"], "scenario"), mapping(row["event"], "event")
    objects = (read_object(each, "scenario.objects") for each in items(scenario, "objects"))
    world.add_all(objects, now=_ATTEMPT)
    pod = read_pod(scenario.get("pod"), "scenario.pod")
    world.change(None, pod, now=_ATTEMPT)
    queued = world.queue.get(pod.metadata.uid)
    if queued is None:
        raise BadRowError("scenario.pod: no profile is responsible for it")
    ours = _attempt(world, queued, mapping(row["expect"], "expect"))
    return ours | _change(world, queued, event)


def _attempt(world: QueueWorld, queued: QueuedPod, expect: Row) -> dict[str, object]:
    """Fail the pod's first attempt, if it comes to one; what we can say about it."""
    if queued.gating_plugin:
        return {
            "message": None,
            "gatedBy": queued.gating_plugin,
            "rejectedBy": sorted(queued.unschedulable_plugins),
            "pendingPlugins": [],
        }
    while (popped := world.queue.pop()) is not queued:
        assert popped is not None
        world.queue.done(popped.uid)
    decision = world.offline.decide(queued.pod_info, nominations=world.queue.nominator.by_node)
    ours: dict[str, object] = {"gatedBy": None}
    rejected_by = list(map(str, items(expect, "rejectedBy")))
    if decision.error is None:
        rejected_by = sorted(decision.unschedulable_plugins())
        message = None if decision.chosen else decision.message
        ours |= {"message": message, "rejectedBy": rejected_by, "pendingPlugins": []}
    elif is_complete(decision.error.plugin):
        ours |= {"message": decision.error.message}
    world.queue.give_back(queued, unschedulable=rejected_by, now=_ATTEMPT)
    return ours


def _change(world: QueueWorld, queued: QueuedPod, event: Row) -> dict[str, object]:
    """Let the change happen; what it comes to, and where the pod is in the end."""
    after = event.get("after")
    if not isinstance(after, int | float):
        raise BadRowError(f"event.after: expected seconds, got {after!r}")
    before = replace(queued)
    old, new = (_object(event, field) for field in ("old", "new"))
    derived = [
        each
        for each in world.change(old, new, now=_ATTEMPT + after)
        if each.own_uid in ("", queued.uid)
    ]
    before.pod_info = world.queue.unbound.get(queued.uid, before.pod_info)
    told = [_told(world, before, each) for each in derived]
    moves = (each["requeue"] for each in told)
    return {
        "derived": told,
        "requeue": next((move for move in moves if move != "skip"), "skip"),
        "queue": _queue(queued),
    }


def _told(world: QueueWorld, queued: QueuedPod, derived: Derived) -> dict[str, object]:
    """One event, as if none had come before."""
    event, requeueing = derived.event, world.queue.requeueing
    why = _why_nobody_is_asked(world, queued, derived)
    verdict = requeueing.verdict(queued, event, derived.old, derived.new)
    told: dict[str, object] = {
        "resource": event.resource,
        "action": event.action.label,
        "label": event.label,
        "hints": _hints(world, queued, derived),
        "requeue": "skip" if why else _REQUEUE[verdict],
    }
    return told | {"why": why} if why else told


def _hints(world: QueueWorld, queued: QueuedPod, derived: Derived) -> dict[str, str]:
    concerned = world.queue.requeueing.concerned(derived.event).get(queued.profile, {})
    answers: dict[str, str] = {}
    for plugin, hints in concerned.items():
        each = [asked(plugin, hint, queued, derived.old, derived.new) for hint in hints]
        answers[plugin] = next((one for one in each if one != QueueingHint.SKIP), each[0])
    return answers


def _why_nobody_is_asked(world: QueueWorld, queued: QueuedPod, derived: Derived) -> str:
    event, requeueing = derived.event, world.queue.requeueing
    if not requeueing.concerned(event):
        return "nobody registered"
    if derived.only is not None and not derived.only(queued.pod_info):
        return "priority above the event's"
    gate = queued.gating_plugin
    if gate and not derived.own_uid:
        registered = requeueing.registered(queued.profile, gate)
        if not any(each.matches(event) for each in registered):
            return "not an event of the gating plugin"
    return ""


def _queue(queued: QueuedPod) -> str:
    # A pod that is gone, or that somebody has bound, is held back no longer.
    if queued.place is Place.NOWHERE:
        return "none"
    return "gated" if queued.gating_plugin else queued.place.value


def _object(event: Row, field: str) -> ApiObject | None:
    value = event.get(field)
    return None if value is None else read_object(value, f"event.{field}")


def _plain(recorded: object) -> object:
    """What was recorded, without the texts of errors: ours are our own."""
    if isinstance(recorded, dict):
        return {key: _plain(value) for key, value in recorded.items()}
    if isinstance(recorded, list):
        return [_plain(value) for value in recorded]
    if isinstance(recorded, str) and recorded.startswith("error: "):
        return "Error"
    return recorded
