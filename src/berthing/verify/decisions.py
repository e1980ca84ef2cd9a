"""Recorded decisions: one pod against one cluster, and rows of pods placed one after another.

Every field that says which nodes pass, why others do not, and how those that pass are scored is
compared.  What preemption adds is not, and neither are decisions about a pod that mounts claims:
their plugins have work of their own to come.  Other pods' claims make no difference to a pod that
mounts none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from berthing.api.pod_info import PodInfo
from berthing.explain.answers import FIELDS, answers
from berthing.scheduler.offline import Offline
from berthing.verify import scenarios
from berthing.verify.outcome import BadRowError, Difference, Outcome
from berthing.verify.scenarios import (
    Row,
    cluster_objects,
    items,
    mapping,
    read_pod,
    refuse_mistakes,
)

# What preemption says, or what includes it.
_LATER = ("postFilterMessage", "eventMessage", "preemption")
_STEPS_WITH_CLAIMS = "steps of pods that mount claims"


def recognises(row: Row) -> bool:
    """A scenario with a pod to place, or several, and the nodes that were found for them."""
    expect = row.get("expect")
    if "scenario" not in row or not isinstance(expect, dict) or "event" in row:
        return False
    return "feasible" in expect or "steps" in expect


def check(row: Row) -> Outcome:
    """Decide again and compare."""
    scenario = mapping(row["scenario"], "scenario")
    expect = mapping(row["expect"], "expect")
    name = str(expect.get("id", ""))
    objects = cluster_objects(scenario)
    offline = scenarios.offline(scenario.get("config"))
    for obj in objects:
        offline.add(obj)
    if "steps" in expect:
        return _check_sequence(name, offline, scenario, expect)
    info = _info(scenario.get("pod"), "scenario.pod", offline)
    if _mounts_claims(info):
        return Outcome(
            name, unchecked=tuple(each for each in expect if each in FIELDS), compared=False
        )
    ours = answers(offline.decide(info, rank_all=True))
    return Outcome(
        name,
        tuple(
            Difference(field, expect[field], ours[field])
            for field in FIELDS
            if field in expect and expect[field] != ours[field]
        ),
        unchecked=tuple(field for field in _LATER if field in expect),
    )


def _check_sequence(name: str, offline: Offline, scenario: Row, expect: Row) -> Outcome:
    infos = [_info(each, "scenario.pods", offline) for each in items(scenario, "pods")]
    steps = [mapping(step, "expect.steps") for step in items(expect, "steps")]
    if len(infos) != len(steps):
        raise BadRowError(f"expect.steps: {len(steps)} steps for {len(infos)} pods")
    differences: list[Difference] = []
    unchecked = 0
    for number, (info, step) in enumerate(zip(infos, steps, strict=True)):
        if _mounts_claims(info):
            unchecked += 1
        else:
            differences += _step_differences(f"steps[{number}]", offline, info, step)
        # Whatever ours would be, the next step was recorded after this one.
        chosen = step.get("chosen")
        if isinstance(chosen, str) and chosen:
            _assume(offline, info, chosen)
    return Outcome(
        name,
        tuple(differences),
        unchecked=(_STEPS_WITH_CLAIMS,) * unchecked,
        compared=unchecked < len(steps),
    )


def _step_differences(
    where: str, offline: Offline, info: PodInfo, step: Row
) -> Iterator[Difference]:
    ours = answers(offline.decide(info, rank_all=True))
    best = cast("list[str] | None", ours["best"])
    total = cast("dict[str, int] | None", ours["total"])
    told: dict[str, object] = {
        "pod": info.key,
        "feasible": ours["feasible"],
        "best": best,
        "bestTotal": max(total.values()) if total else None,
        "chosen": best[0] if best else "",
        "message": ours["message"],
    }
    for field, recorded in step.items():
        if (recorded or None) != (told.get(field) or None):
            yield Difference(f"{where}.{field}", recorded, told.get(field))


def _assume(offline: Offline, info: PodInfo, node_name: str) -> None:
    try:
        offline.cluster.assume(info, node_name)
    except ValueError as error:
        raise BadRowError(f"scenario.pods: {error}") from error


def _mounts_claims(info: PodInfo) -> bool:
    facts = info.facts
    return bool(facts.volumes or facts.ephemeral_claims or facts.resource_claims)


def _info(value: object, where: str, offline: Offline) -> PodInfo:
    """The pod that is to be placed, which must be one of the scenario's profiles'."""
    pod = read_pod(value, where)
    refuse_mistakes(pod, where)
    info = PodInfo.of(pod)
    if info.scheduler_name not in offline.profile_names:
        known = ", ".join(offline.profile_names)
        raise BadRowError(
            f"{where}: schedulerName {info.scheduler_name!r} is no profile of the scenario's "
            f"configuration, which has {known}"
        )
    return info
