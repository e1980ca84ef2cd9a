"""Storage classes, CSI drivers, and what they can do on which node.

Upstream: api/storage/v1/types.go (v1.36.4).
"""

from __future__ import annotations

import msgspec

from berthing.api.core import TopologySelectorTerm
from berthing.api.labels import LabelSelector
from berthing.api.meta import ApiObject, Int32, Value
from berthing.api.quantity import Quantity
from berthing.api.volumes import PersistentVolumeSpec


class StorageClass(ApiObject, frozen=True, kw_only=True):
    """A kind of storage: who provides it, and whether before or after a node is chosen."""

    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(Value, frozen=True, kw_only=True):
    """How many volumes of a driver a node can have."""

    count: Int32 | None = None


class CSINodeDriver(Value, frozen=True, kw_only=True):
    """A driver that is installed on a node."""

    name: str = ""
    node_id: str = msgspec.field(default="", name="nodeID")
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Value, frozen=True, kw_only=True):
    """The drivers of a node."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(ApiObject, frozen=True, kw_only=True):
    """What CSI drivers say about a node; it has the node's name."""

    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Value, frozen=True, kw_only=True):
    """What a driver wants of the scheduler."""

    attach_required: bool | None = None
    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(ApiObject, frozen=True, kw_only=True):
    """A driver that is installed in the cluster."""

    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(ApiObject, frozen=True, kw_only=True):
    """How much storage of a class is left in some part of the cluster."""

    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


class VolumeAttachmentSource(Value, frozen=True, kw_only=True):
    """The volume to attach, by name or in full."""

    persistent_volume_name: str | None = None
    inline_volume_spec: PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(Value, frozen=True, kw_only=True):
    """Who is to attach what where."""

    attacher: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()
    node_name: str = ""


class VolumeAttachmentStatus(Value, frozen=True, kw_only=True):
    """Whether it has been done."""

    attached: bool = False


class VolumeAttachment(ApiObject, frozen=True, kw_only=True):
    """The wish to have a volume attached to a node."""

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()
