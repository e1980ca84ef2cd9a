"""NodeVolumeLimits heeds how many volumes of a CSI driver a node can attach.

Upstream: plugins/nodevolumelimits/csi.go (v1.36.4).
Differs:  pods with volumes are refused until this is done; the hints are complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.storage import CSINode, VolumeAttachment
from berthing.api.volumes import PersistentVolumeClaim, Volume
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EnqueueExtensions,
    EventResource,
    QueueingHint,
)
from berthing.plugins.changed_objects import changed_to
from berthing.plugins.claims_of_pods import uses_claim
from berthing.plugins.inline_disks import driver_of, require_translatable
from berthing.plugins.unsupported import UnsupportedVolumes


class NodeVolumeLimits(UnsupportedVolumes, EnqueueExtensions):
    """Rejects nodes that cannot attach another volume of a driver."""

    name = "NodeVolumeLimits"

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Whatever raises a limit, frees an attachment, or tells more of a claim."""
        new_node = ClusterEvent(EventResource.CSI_NODE, ActionType.ADD)
        node = ClusterEvent(EventResource.CSI_NODE, ActionType.UPDATE)
        gone = ClusterEvent(EventResource.POD, ActionType.DELETE)
        claim = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)
        detached = ClusterEvent(EventResource.VOLUME_ATTACHMENT, ActionType.DELETE)
        return (
            ClusterEventWithHint(new_node),
            ClusterEventWithHint(node, self.after_csi_node_change),
            ClusterEventWithHint(gone, self.after_pod_deletion),
            ClusterEventWithHint(claim, self.after_claim),
            ClusterEventWithHint(detached, self.after_detachment),
        )

    def after_csi_node_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """A driver must allow for more volumes than before, or be new and allow for some."""
        before, after = _limits(changed_to(CSINode, old)), _limits(changed_to(CSINode, new))
        helps = any(limit > before.get(driver, 0) for driver, limit in after.items())
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def after_pod_deletion(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The pod that is gone must have been somewhere, with a volume that is attached."""
        gone = changed_to(Pod, old)
        had_place = gone.spec.node_name or gone.status.nominated_node_name
        helps = had_place and any(map(_is_attached, gone.spec.volumes))
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def after_claim(self, pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
        """The claim must be one of the pod's."""
        helps = uses_claim(pod, changed_to(PersistentVolumeClaim, new))
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def after_detachment(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The pod must name a claim, or a disk of the driver that has detached one."""
        attacher = changed_to(VolumeAttachment, old).spec.attacher
        for volume in pod.facts.volumes:
            if volume.persistent_volume_claim is not None:
                return QueueingHint.QUEUE
            driver = driver_of(volume)
            if driver is not None:
                require_translatable(volume)
                if driver == attacher:
                    return QueueingHint.QUEUE
        return QueueingHint.SKIP


def _limits(node: CSINode) -> Mapping[str, int]:
    return {
        driver.name: (driver.allocatable.count or 0) if driver.allocatable else 0
        for driver in node.spec.drivers
    }


def _is_attached(volume: Volume) -> bool:
    return (
        volume.persistent_volume_claim is not None
        or volume.ephemeral is not None
        or driver_of(volume) is not None
    )
