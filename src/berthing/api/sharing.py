"""Equal parts of decoded objects are kept once.

Replicas repeat each other: of the 3 KB that a decoded pod takes at first, more than half is
tolerations, owners, labels and words like "Running" that thousands of other pods have as well.
Here they are exchanged for the copy that came first, in a few microseconds per object
(`berthing bench decode` shows what it costs and saves).  Resource lists are not looked at: they
come shared already, and two that are equal may be spelt differently (`1` and `+1`).

This is the one place that reaches into frozen values.  It may, because nobody else has seen the
object yet, and because what it puts in is equal to what was there.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec.structs import force_setattr

from berthing.api.frozen import FrozenDict
from berthing.api.meta import ApiObject, ObjectMeta
from berthing.api.node import Node
from berthing.api.pod import (
    Affinity,
    Container,
    Pod,
    PodSpec,
    PodStatus,
    TopologySpreadConstraint,
)

T = TypeVar("T", bound=ApiObject)

# Enough for the distinct values of a large cluster.  What falls out is merely not shared with
# what comes later.
_KEPT = 32768


def shared(obj: T) -> T:
    """The same object, with parts exchanged for equal ones that others have already."""
    _share_metadata(obj.metadata)
    if isinstance(obj, Pod):
        _share_pod_spec(obj.spec)
        _share_pod_status(obj.status)
    elif isinstance(obj, Node):
        _share_node(obj)
    return obj


def _share_metadata(metadata: ObjectMeta) -> None:
    force_setattr(metadata, "namespace", _first(metadata.namespace))
    if metadata.labels:
        force_setattr(metadata, "labels", _first_mapping(metadata.labels))
    if metadata.owner_references:
        force_setattr(metadata, "owner_references", _first(metadata.owner_references))
    if metadata.finalizers:
        force_setattr(metadata, "finalizers", _first(metadata.finalizers))


def _share_pod_spec(spec: PodSpec) -> None:
    force_setattr(spec, "node_name", _first(spec.node_name))
    force_setattr(spec, "scheduler_name", _first(spec.scheduler_name))
    force_setattr(spec, "preemption_policy", _first(spec.preemption_policy))
    if spec.priority_class_name:
        force_setattr(spec, "priority_class_name", _first(spec.priority_class_name))
    if spec.tolerations:
        force_setattr(spec, "tolerations", _first(spec.tolerations))
    if spec.node_selector:
        force_setattr(spec, "node_selector", _first_mapping(spec.node_selector))
    if spec.affinity is not None:
        force_setattr(spec, "affinity", _first_affinity(_json(spec.affinity)))
    if spec.topology_spread_constraints:
        constraints = _first_constraints(_json(spec.topology_spread_constraints))
        force_setattr(spec, "topology_spread_constraints", constraints)
    for container in spec.init_containers:
        _share_container(container)
    for container in spec.containers:
        _share_container(container)


def _share_container(container: Container) -> None:
    force_setattr(container, "name", _first(container.name))
    force_setattr(container, "image", _first(container.image))
    if container.ports:
        force_setattr(container, "ports", _first(container.ports))


def _share_pod_status(status: PodStatus) -> None:
    force_setattr(status, "phase", _first(status.phase))
    for condition in status.conditions:
        force_setattr(condition, "type", _first(condition.type))
        force_setattr(condition, "status", _first(condition.status))
    for container_status in status.init_container_statuses:
        force_setattr(container_status, "name", _first(container_status.name))
    for container_status in status.container_statuses:
        force_setattr(container_status, "name", _first(container_status.name))


def _share_node(node: Node) -> None:
    force_setattr(node.spec, "taints", _first(node.spec.taints))
    status = node.status
    force_setattr(status, "images", tuple(map(_first, status.images)))
    force_setattr(status, "conditions", _first(status.conditions))
    force_setattr(status, "declared_features", _first(status.declared_features))


@lru_cache(maxsize=_KEPT)
def _first(value: Hashable) -> Hashable:
    return value


def _first_mapping(mapping: Mapping[str, str]) -> FrozenDict[str, str]:
    return _mapping(tuple(mapping.items()))


@lru_cache(maxsize=_KEPT)
def _mapping(items: tuple[tuple[str, str], ...]) -> FrozenDict[str, str]:
    return FrozenDict(items)


# Selectors hold dicts and cannot be looked up, so their text is.
_json = msgspec.json.Encoder().encode


@lru_cache(maxsize=_KEPT)
def _first_affinity(text: bytes) -> Affinity:
    return msgspec.json.decode(text, type=Affinity)


@lru_cache(maxsize=_KEPT)
def _first_constraints(text: bytes) -> tuple[TopologySpreadConstraint, ...]:
    return msgspec.json.decode(text, type=tuple[TopologySpreadConstraint, ...])
