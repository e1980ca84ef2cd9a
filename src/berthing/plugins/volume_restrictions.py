"""VolumeRestrictions keeps apart pods that cannot share a disk.

Upstream: plugins/volumerestrictions/volume_restrictions.go (v1.36.4).
Differs:  pods with volumes are refused until this is done; the hints are complete.
"""

from __future__ import annotations

from collections.abc import Sequence

from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.volumes import (
    GCEPersistentDiskVolumeSource,
    ISCSIVolumeSource,
    PersistentVolumeClaim,
    RBDVolumeSource,
    Volume,
)
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EnqueueExtensions,
    EventResource,
    QueueingHint,
)
from berthing.plugins.changed_objects import changed_to
from berthing.plugins.claims_of_pods import names_claim
from berthing.plugins.unsupported import UnsupportedVolumes


class VolumeRestrictions(UnsupportedVolumes, EnqueueExtensions):
    """Rejects nodes where a pod has a disk that it does not share."""

    name = "VolumeRestrictions"

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod that lets go of its disk, any new node, and a claim that was missing."""
        gone = ClusterEvent(EventResource.POD, ActionType.DELETE)
        claim = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)
        return (
            ClusterEventWithHint(gone, self.after_pod_deletion),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),
            ClusterEventWithHint(claim, self.after_claim),
        )

    def after_pod_deletion(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The pod that is gone must have had a disk or a claim of this one."""
        gone = changed_to(Pod, old)
        if gone.namespace != pod.namespace:
            return QueueingHint.SKIP
        # A claim may be for one pod at a time only; whether it is takes a look that costs more.
        helps = _conflict(pod, gone) or any(map(pod.shape.claim_names.__contains__, _claims(gone)))
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def after_claim(self, pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
        """The claim must be one that the pod names."""
        helps = names_claim(pod, changed_to(PersistentVolumeClaim, new))
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def _claims(pod: Pod) -> list[str]:
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return [source.claim_name for source in sources if source]


def _conflict(pod: PodInfo, other: Pod) -> bool:
    return any(
        conflicts(mine, theirs) for mine in pod.facts.volumes for theirs in other.spec.volumes
    )


def conflicts(mine: Volume, theirs: Volume) -> bool:
    """Whether no node can have both: the same disk, unless its kind may be shared by readers."""
    amazon = mine.aws_elastic_block_store, theirs.aws_elastic_block_store
    if amazon[0] and amazon[1] and amazon[0].volume_id == amazon[1].volume_id:
        return True
    google = mine.gce_persistent_disk, theirs.gce_persistent_disk
    if google[0] and google[1] and google[0].pd_name == google[1].pd_name:
        return not _only_read(google[0], google[1])
    iscsi = mine.iscsi, theirs.iscsi
    if iscsi[0] and iscsi[1] and iscsi[0].iqn == iscsi[1].iqn:
        return not _only_read(iscsi[0], iscsi[1])
    ceph = mine.rbd, theirs.rbd
    return bool(
        ceph[0] and ceph[1] and _same_image(ceph[0], ceph[1]) and not _only_read(ceph[0], ceph[1])
    )


def _only_read(
    *sources: GCEPersistentDiskVolumeSource | ISCSIVolumeSource | RBDVolumeSource,
) -> bool:
    return all(source.read_only for source in sources)


def _same_image(mine: RBDVolumeSource, theirs: RBDVolumeSource) -> bool:
    return (mine.pool, mine.image) == (theirs.pool, theirs.image) and not set(
        mine.monitors
    ).isdisjoint(theirs.monitors)
