"""Volumes: what pods mount, claims to storage, and the storage itself.

Upstream: api/core/v1/types.go (v1.36.4).
Differs:  of a pod's volumes, sources that no plugin looks at (configMap, emptyDir, hostPath,
          nfs, projected, secret, ...) are left out; such a volume is its name.  Pods and
          persistent volumes share a type per source where upstream has two that differ by a
          secret.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from berthing.api.core import ObjectReference
from berthing.api.frozen import EMPTY
from berthing.api.labels import LabelSelector
from berthing.api.meta import ApiObject, Int32, ObjectMeta, Value
from berthing.api.node_selector import NodeSelector
from berthing.api.resource_list import EMPTY_LIST, ResourceList


class VolumeResourceRequirements(Value, frozen=True, kw_only=True):
    """How large a claimed volume has to be, and may be."""

    requests: ResourceList = EMPTY_LIST
    limits: ResourceList = EMPTY_LIST


class PersistentVolumeClaimSpec(Value, frozen=True, kw_only=True):
    """What storage is asked for, and the volume once there is one."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    volume_name: str = ""
    # None asks for the default class, "" for a volume without any.
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimStatus(Value, frozen=True, kw_only=True):
    """How far a claim has come: Pending, Bound or Lost."""

    phase: str = ""
    capacity: ResourceList = EMPTY_LIST


class PersistentVolumeClaim(ApiObject, frozen=True, kw_only=True):
    """A request for storage that pods refer to by name."""

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class PersistentVolumeClaimTemplate(Value, frozen=True, kw_only=True):
    """What the claim of an ephemeral volume is made from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class PersistentVolumeClaimVolumeSource(Value, frozen=True, kw_only=True):
    """Mounts what a claim of the pod's namespace got."""

    claim_name: str = ""
    read_only: bool = False


class EphemeralVolumeSource(Value, frozen=True, kw_only=True):
    """Mounts what a claim gets that is made for this pod and goes with it."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class CSIVolumeSource(Value, frozen=True, kw_only=True):
    """Inline storage that a CSI driver makes up for the pod."""

    driver: str = ""
    read_only: bool | None = None
    fs_type: str | None = None
    volume_attributes: Mapping[str, str] = EMPTY


class CSIPersistentVolumeSource(Value, frozen=True, kw_only=True):
    """Storage that a CSI driver manages."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False
    fs_type: str = ""
    volume_attributes: Mapping[str, str] = EMPTY


class GCEPersistentDiskVolumeSource(Value, frozen=True, kw_only=True):
    """A Google disk; many pods may share it as long as all only read."""

    pd_name: str = ""
    fs_type: str = ""
    partition: Int32 = 0
    read_only: bool = False


class AWSElasticBlockStoreVolumeSource(Value, frozen=True, kw_only=True):
    """An Amazon disk; never shared on one node."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    fs_type: str = ""
    partition: Int32 = 0
    read_only: bool = False


class AzureDiskVolumeSource(Value, frozen=True, kw_only=True):
    """An Azure disk."""

    disk_name: str = ""
    disk_uri: str = msgspec.field(default="", name="diskURI")
    caching_mode: str | None = None
    fs_type: str | None = None
    read_only: bool | None = None
    kind: str | None = None


class AzureFileVolumeSource(Value, frozen=True, kw_only=True):
    """An Azure file share."""

    secret_name: str = ""
    share_name: str = ""
    read_only: bool = False
    secret_namespace: str | None = None


class CinderVolumeSource(Value, frozen=True, kw_only=True):
    """An OpenStack disk."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    fs_type: str = ""
    read_only: bool = False


class GlusterfsVolumeSource(Value, frozen=True, kw_only=True):
    """A Gluster volume."""

    endpoints: str = ""
    path: str = ""
    read_only: bool = False


class ImageVolumeSource(Value, frozen=True, kw_only=True):
    """The files of an image; it counts among the images that a node may have already."""

    reference: str = ""
    pull_policy: str = ""


class ISCSIVolumeSource(Value, frozen=True, kw_only=True):
    """An iSCSI disk, told by its qualified name; shared only if all read."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    read_only: bool = False


class PortworxVolumeSource(Value, frozen=True, kw_only=True):
    """A Portworx volume."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    fs_type: str = ""
    read_only: bool = False


class RBDVolumeSource(Value, frozen=True, kw_only=True):
    """A Ceph disk, told by monitors, pool and image; shared only if all read."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    fs_type: str = ""
    # Absent, it is "rbd": API servers write that down, and so nobody asks here.
    pool: str = ""
    read_only: bool = False


class VsphereVirtualDiskVolumeSource(Value, frozen=True, kw_only=True):
    """A vSphere disk."""

    volume_path: str = ""
    fs_type: str = ""
    storage_policy_name: str = ""
    storage_policy_id: str = msgspec.field(default="", name="storagePolicyID")


class Volume(Value, frozen=True, kw_only=True):
    """A volume of a pod; at most one source is set."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    image: ImageVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    glusterfs: GlusterfsVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None


class VolumeNodeAffinity(Value, frozen=True, kw_only=True):
    """The nodes that can reach a volume."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(Value, frozen=True, kw_only=True):
    """What a volume offers, where it can be reached, and who has it."""

    capacity: ResourceList = EMPTY_LIST
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None
    csi: CSIPersistentVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    glusterfs: GlusterfsVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None


class PersistentVolumeStatus(Value, frozen=True, kw_only=True):
    """How far a volume has come: Pending, Available, Bound, Released or Failed."""

    phase: str = ""


class PersistentVolume(ApiObject, frozen=True, kw_only=True):
    """A piece of storage."""

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()
