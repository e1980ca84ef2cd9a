"""Recorded decisions: one pod against one cluster, and rows of pods placed one after another.

Every field that says which nodes pass, why others do not, and how those that pass are scored is
compared.  What preemption adds is not, and neither are decisions about a pod that mounts claims:
their plugins have work of their own to come.  Other pods' claims make no difference to a pod that
mounts none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import cast

import msgspec

from berthing.api.decode import DecodeError, decode_object
from berthing.api.meta import ApiObject
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.config.features import FeatureGates
from berthing.config.load import Loaded, default, load_text
from berthing.explain.answers import FIELDS, answers
from berthing.scheduler.offline import Offline
from berthing.scheduler.registry import Registry, discover
from berthing.verify.outcome import BadRowError, Difference, Outcome

Row = Mapping[str, object]

# What preemption says, or what includes it.
_LATER = ("postFilterMessage", "eventMessage", "preemption")
_STEPS_WITH_CLAIMS = "steps of pods that mount claims"


def recognises(row: Row) -> bool:
    """A scenario with a pod to place, or several, and the nodes that were found for them."""
    scenario, expect = row.get("scenario"), row.get("expect")
    if not isinstance(scenario, dict) or not isinstance(expect, dict) or "event" in row:
        return False
    return ("pod" in scenario and "feasible" in expect) or (
        "pods" in scenario and "steps" in expect
    )


def check(row: Row) -> Outcome:
    """Decide again and compare."""
    scenario = _mapping(row["scenario"], "scenario")
    expect = _mapping(row["expect"], "expect")
    name = str(expect.get("id", ""))
    objects = [_object(each, "scenario.objects") for each in _list(scenario, "objects")]
    offline = _offline(scenario)
    for obj in objects:
        offline.add(obj)
    if "steps" in expect:
        return _check_sequence(name, offline, scenario, expect)
    info = _info(scenario["pod"], "scenario.pod", offline)
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
    infos = [_info(each, "scenario.pods", offline) for each in _list(scenario, "pods")]
    steps = [_mapping(step, "expect.steps") for step in _list(expect, "steps")]
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


def _offline(scenario: Row) -> Offline:
    config = scenario.get("config")
    text = "" if config is None else msgspec.json.encode(config).decode()
    loaded = _loaded(text)
    if not loaded.ok:
        raise BadRowError(f"scenario.config: {loaded.findings[0].message}")
    return Offline(loaded.profiles, registry=_registry(), gates=FeatureGates())


@lru_cache(maxsize=64)
def _loaded(text: str) -> Loaded:
    return load_text(text) if text else default()


@lru_cache(maxsize=1)
def _registry() -> Registry:
    # What other packages bring has no say in what upstream recorded.
    return discover([])


def _mounts_claims(info: PodInfo) -> bool:
    facts = info.facts
    return bool(facts.volumes or facts.ephemeral_claims or facts.resource_claims)


def _info(value: object, where: str, offline: Offline) -> PodInfo:
    """The pod that is to be placed, which must be one of the scenario's profiles'."""
    pod = _object(value, where)
    if not isinstance(pod, Pod):
        raise BadRowError(f"{where}: expected a Pod, got {type(pod).__name__}")
    info = PodInfo.of(pod)
    if info.scheduler_name not in offline.profile_names:
        known = ", ".join(offline.profile_names)
        raise BadRowError(
            f"{where}: schedulerName {info.scheduler_name!r} is no profile of the scenario's "
            f"configuration, which has {known}"
        )
    return info


def _object(value: object, where: str) -> ApiObject:
    try:
        return decode_object(msgspec.json.encode(value))
    except DecodeError as error:
        raise BadRowError(f"{where}: {error}") from error


def _mapping(value: object, where: str) -> Row:
    if not isinstance(value, dict):
        raise BadRowError(f"{where}: expected an object, got {type(value).__name__}")
    return value


def _list(row: Row, field: str) -> list[object]:
    value = row.get(field)
    if not isinstance(value, list):
        raise BadRowError(f"{field}: expected a list, got {type(value).__name__}")
    return value
