"""Disks that a pod names in its own spec, and the CSI drivers that have taken over from them.

Upstream: staging csi-translation-lib/plugins (v1.36.4).
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from berthing.api.volumes import Volume

AWS_EBS: Final = "ebs.csi.aws.com"
AZURE_DISK: Final = "disk.csi.azure.com"
AZURE_FILE: Final = "file.csi.azure.com"
CINDER: Final = "cinder.csi.openstack.org"
GCE_PD: Final = "pd.csi.storage.gke.io"
PORTWORX: Final = "pxd.portworx.com"
VSPHERE: Final = "csi.vsphere.vmware.com"

_AWS_VOLUME: Final = re.compile(r"vol-[^/]*")


def driver_of(volume: Volume) -> str | None:
    """The driver that manages the disk; None for other kinds of volumes."""
    sources = {
        GCE_PD: volume.gce_persistent_disk,
        AWS_EBS: volume.aws_elastic_block_store,
        CINDER: volume.cinder,
        AZURE_DISK: volume.azure_disk,
        AZURE_FILE: volume.azure_file,
        VSPHERE: volume.vsphere_volume,
        PORTWORX: volume.portworx_volume,
    }
    return next((driver for driver, source in sources.items() if source is not None), None)


def require_translatable(volume: Volume) -> None:
    """Raise ValueError for a disk that its driver would not take."""
    if volume.aws_elastic_block_store is not None:
        _require_aws_volume(volume.aws_elastic_block_store.volume_id)
    disk = volume.azure_disk
    if disk is not None and disk.kind is not None and disk.kind.lower() != "managed":
        raise ValueError(f"kind({disk.kind}) is not supported in csi migration")


def _require_aws_volume(volume_id: str) -> None:
    # Either the bare id, or aws://availability-zone/id.
    if not volume_id.startswith("aws://"):
        return
    path = unquote(urlsplit(volume_id).path).strip("/")
    if not _AWS_VOLUME.fullmatch(path):
        raise ValueError(
            "failed to translate Kubernetes ID to EBS Volume ID "
            f"Invalid format for AWS volume ({volume_id})"
        )
