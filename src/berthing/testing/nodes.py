"""Nodes and their taints, by keyword."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from berthing.api.frozen import EMPTY, FrozenDict
from berthing.api.meta import ObjectMeta
from berthing.api.node import ContainerImage, Node, NodeCondition, NodeSpec, NodeStatus
from berthing.api.resource_list import ResourceList
from berthing.api.taints import Taint, Toleration

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"

_NONE: Mapping[str, str] = EMPTY
_NO_IMAGES: Mapping[str, int] = FrozenDict()


def make_node(
    name: str = "node",
    *,
    cpu: str = "4",
    memory: str = "16Gi",
    pods: str = "110",
    resources: Mapping[str, str] = _NONE,
    labels: Mapping[str, str] = _NONE,
    zone: str = "",
    annotations: Mapping[str, str] = _NONE,
    taints: Iterable[Taint] = (),
    cordoned: bool = False,
    ready: bool = True,
    images: Mapping[str, int] = _NO_IMAGES,
    declared_features: Iterable[str] = (),
) -> Node:
    """Make a node that is ready for anything, with its hostname label.

    `resources` takes what else it has: `{"example.com/gpu": "2"}`.  `zone` sets the usual label,
    and `images` says how many bytes each image on the node takes.
    """
    places = {HOSTNAME: name, ZONE: zone} if zone else {HOSTNAME: name}
    offer = ResourceList.of({"cpu": cpu, "memory": memory, "pods": pods, **resources})
    return Node(
        metadata=ObjectMeta(
            name=name,
            uid=f"uid-of-{name}",
            labels=FrozenDict({**places, **labels}),
            annotations=FrozenDict(annotations),
        ),
        spec=NodeSpec(unschedulable=cordoned, taints=tuple(taints)),
        status=NodeStatus(
            capacity=offer,
            allocatable=offer,
            conditions=(NodeCondition(type="Ready", status=str(ready)),),
            images=tuple(
                ContainerImage(names=(image,), size_bytes=size) for image, size in images.items()
            ),
            declared_features=tuple(declared_features),
        ),
    )


def make_taint(key: str = "taint", value: str = "", *, effect: str = "NoSchedule") -> Taint:
    """Make a taint that keeps pods off unless they tolerate it."""
    return Taint(key=key, value=value, effect=effect)


def make_toleration(
    key: str = "", *, operator: str = "", value: str = "", effect: str = ""
) -> Toleration:
    """Make a toleration; without a key or an effect it is for all of them.

    The operator is Equal if there is a value and Exists if not, unless told otherwise.
    """
    operator = operator or ("Equal" if value else "Exists")
    return Toleration(key=key, operator=operator, value=value, effect=effect)


def tolerate(taint: Taint) -> Toleration:
    """Make the toleration for just this taint."""
    return Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)
