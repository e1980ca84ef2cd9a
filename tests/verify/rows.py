"""Rows about the queue, made of objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from berthing.api.decode import encode
from berthing.api.meta import ApiObject

Row = dict[str, object]


def as_json(obj: ApiObject | None) -> object:
    return None if obj is None else json.loads(encode(obj))


def config(*plugins: str, **args: Mapping[str, object]) -> Row:
    """A configuration in which just these plugins run, and what the queue cannot do without."""
    enabled = [{"name": name} for name in ("PrioritySort", "DefaultBinder", *plugins)]
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "plugins": {"multiPoint": {"disabled": [{"name": "*"}], "enabled": enabled}},
                "pluginConfig": [{"name": name, "args": each} for name, each in args.items()],
            }
        ],
    }


def hint_row(
    pod: ApiObject,
    objects: Iterable[ApiObject],
    *,
    old: ApiObject | None = None,
    new: ApiObject | None = None,
    after: float = 30,
    config: Row | None = None,
    expect: Mapping[str, object],
) -> Row:
    return {
        "scenario": {
            "config": config,
            "objects": [as_json(each) for each in objects],
            "pod": as_json(pod),
        },
        "event": {"old": as_json(old), "new": as_json(new), "after": after},
        "expect": {"id": "row", "version": "v1.36.4", **expect},
    }


def slept(label: str, *, resource: str, action: str, plugin: str) -> Row:
    """What is recorded where upstream's hint let the pod sleep."""
    derived = {
        "resource": resource,
        "action": action,
        "label": label,
        "hints": {plugin: "QueueSkip"},
        "requeue": "skip",
    }
    return {
        "rejectedBy": [plugin],
        "pendingPlugins": [],
        "gatedBy": None,
        "derived": [derived],
        "requeue": "skip",
        "queue": "unschedulable",
    }
