"""What recorded scenarios are made of: a configuration, objects, pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

from berthing.api.decode import DecodeError, decode_object
from berthing.api.meta import ApiObject
from berthing.api.pod import Pod
from berthing.config.features import FeatureGates
from berthing.config.load import Loaded, default, load_text
from berthing.explain.checks import described, mistakes
from berthing.framework import ExtensionPoint
from berthing.scheduler.offline import DECIDING, Offline
from berthing.scheduler.registry import Registry, discover
from berthing.verify.outcome import BadRowError

Row = Mapping[str, object]


def offline(config: object, points: Iterable[ExtensionPoint] = DECIDING) -> Offline:
    """An empty cluster under a configuration, or under the default one."""
    text = "" if config is None else msgspec.json.encode(config).decode()
    loaded = _loaded(text)
    if not loaded.ok:
        raise BadRowError(f"scenario.config: {loaded.findings[0].message}")
    return Offline(loaded.profiles, registry=_registry(), gates=FeatureGates(), points=points)


@lru_cache(maxsize=64)
def _loaded(text: str) -> Loaded:
    return load_text(text) if text else default()


def is_complete(plugin: str) -> bool:
    """Whether this version runs the plugin for all pods, so that answers can be compared."""
    known = _registry().registrations.get(plugin)
    return known is not None and known.is_complete


@lru_cache(maxsize=1)
def _registry() -> Registry:
    # What other packages bring has no say in what upstream recorded.
    return discover([])


def cluster_objects(scenario: Row) -> list[ApiObject]:
    """The objects of a scenario; BadRowError where no cluster could have them."""
    where = "scenario.objects"
    objects = [read_object(each, where) for each in items(scenario, "objects")]
    seen: set[tuple[type[ApiObject], str]] = set()
    for obj in objects:
        refuse_mistakes(obj, where)
        identity = type(obj), obj.key
        if identity in seen:
            raise BadRowError(f"{where}: {described(obj)} is there twice")
        seen.add(identity)
    return objects


def refuse_mistakes(obj: ApiObject, where: str) -> None:
    """BadRowError for what no API server would let in."""
    for mistake in mistakes(obj):
        raise BadRowError(f"{where}: {mistake}")


def read_pod(value: object, where: str) -> Pod:
    """A pod; BadRowError for anything else."""
    obj = read_object(value, where)
    if not isinstance(obj, Pod):
        raise BadRowError(f"{where}: expected a Pod, got {type(obj).__name__}")
    return obj


def read_object(value: object, where: str) -> ApiObject:
    """An API object; BadRowError for anything else."""
    try:
        return decode_object(msgspec.json.encode(value))
    except DecodeError as error:
        raise BadRowError(f"{where}: {error}") from error


def mapping(value: object, where: str) -> Row:
    """A JSON object; BadRowError for anything else."""
    if not isinstance(value, dict):
        raise BadRowError(f"{where}: expected an object, got {type(value).__name__}")
    return value


def items(row: Row, field: str) -> list[object]:
    """A list in a JSON object; BadRowError for anything else."""
    value = row.get(field)
    if not isinstance(value, list):
        raise BadRowError(f"{field}: expected a list, got {type(value).__name__}")
    return value
