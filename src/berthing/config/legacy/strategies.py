"""The args of former plugins for node resources, in the words of NodeResourcesFit's scoringStrategy."""

from __future__ import annotations

import math
from collections.abc import Mapping

from berthing.config.findings import Path
from berthing.config.legacy.conversion import Notes, Origin
from berthing.config.legacy.draft import Strategy
from berthing.config.legacy.tree import as_list, as_object

# RequestedToCapacityRatio had no upper limit; a scoringStrategy has this.
_MAX_WEIGHT = 100


def strategy_from(args: Mapping[str, object], origin: Path, notes: Notes) -> Strategy:
    """What these args, which have been checked for their types, ask of NodeResourcesFit."""
    fields: dict[str, object] = {}
    parts: dict[Path, Origin] = {}
    resources = [_resource(as_object(each)) for each in as_list(args.get("resources"))]
    if resources:
        path = (*origin, "resources")
        fields["resources"] = _within_range(resources, path, notes)
        parts["resources",] = Origin(path)
    if args.get("shape") is not None:
        fields["requestedToCapacityRatio"] = {"shape": as_list(args["shape"])}
        parts["requestedToCapacityRatio",] = Origin(origin)
    return Strategy(origin, fields, parts)


def _resource(resource: dict[str, object]) -> dict[str, object]:
    """The same without a weight of 0, which means 1."""
    return {name: value for name, value in resource.items() if name != "weight" or value}


def _within_range(
    resources: list[dict[str, object]], path: Path, notes: Notes
) -> list[dict[str, object]]:
    """Keep the proportions of weights that are too big now."""
    weights = [_weight(resource) for resource in resources]
    if max(weights) <= _MAX_WEIGHT or min(weights) < 1:
        return resources
    step = math.gcd(*weights)
    exact = max(weights) // step <= _MAX_WEIGHT
    divisor = step if exact else max(weights) / _MAX_WEIGHT
    notes.add(
        f"resource weights go up to {_MAX_WEIGHT} now: these are scaled down"
        + ("" if exact else ", which changes their proportions a little"),
        path,
    )
    return [
        {**resource, "weight": max(round(weight / divisor), 1)}
        for resource, weight in zip(resources, weights, strict=True)
    ]


def _weight(resource: Mapping[str, object]) -> int:
    weight = resource.get("weight")
    return weight if isinstance(weight, int) else 1
