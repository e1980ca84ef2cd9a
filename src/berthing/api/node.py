"""Nodes, as far as placing pods on them is concerned.

Upstream: api/core/v1/types.go (v1.36.4).
"""

from __future__ import annotations

from berthing.api.meta import ApiObject, Int64, Value
from berthing.api.resource_list import EMPTY_LIST, ResourceList
from berthing.api.taints import Taint


class NodeSpec(Value, frozen=True, kw_only=True):
    """What is asked of pods that want to run here."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeCondition(Value, frozen=True, kw_only=True):
    """One aspect of how a node is doing, as Ready or MemoryPressure."""

    type: str = ""
    status: str = ""
    reason: str = ""


class ContainerImage(Value, frozen=True, kw_only=True):
    """An image that the node has already, under all its names."""

    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class AttachedVolume(Value, frozen=True, kw_only=True):
    """A volume that is attached to the node."""

    name: str = ""
    device_path: str = ""


class NodeStatus(Value, frozen=True, kw_only=True):
    """What a node has, and how it is doing."""

    capacity: ResourceList = EMPTY_LIST
    allocatable: ResourceList = EMPTY_LIST
    conditions: tuple[NodeCondition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    volumes_in_use: tuple[str, ...] = ()
    volumes_attached: tuple[AttachedVolume, ...] = ()
    declared_features: tuple[str, ...] = ()


class Node(ApiObject, frozen=True, kw_only=True):
    """A machine that runs pods."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
