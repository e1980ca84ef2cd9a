"""VolumeZone keeps pods in the zones of their volumes.

Upstream: plugins/volumezone/volume_zone.go (v1.36.4).
Differs:  pods with volumes are refused until this is done; the hints are complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from berthing.api.pod_info import PodInfo
from berthing.api.storage import StorageClass
from berthing.api.volumes import PersistentVolume, PersistentVolumeClaim
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EnqueueExtensions,
    EventResource,
    QueueingHint,
)
from berthing.plugins.changed_objects import changed_from, changed_to
from berthing.plugins.claims_of_pods import names_claim
from berthing.plugins.unsupported import UnsupportedVolumes

TOPOLOGY_LABELS: Final = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
)

# Between the zones of a volume that is in several.
_SEPARATOR: Final = "__"


class VolumeZone(UnsupportedVolumes, EnqueueExtensions):
    """Rejects nodes outside the zones of the pod's volumes."""

    name = "VolumeZone"

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Nodes, claims and volumes that may match, and classes that bind late."""
        storage_class = ClusterEvent(EventResource.STORAGE_CLASS, ActionType.ADD)
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        changed = ActionType.ADD | ActionType.UPDATE
        claim = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, changed)
        volume = ClusterEvent(EventResource.PERSISTENT_VOLUME, changed)
        return (
            ClusterEventWithHint(storage_class, self.after_new_storage_class),
            ClusterEventWithHint(node),
            ClusterEventWithHint(claim, self.after_claim),
            ClusterEventWithHint(volume, self.after_volume),
        )

    def after_new_storage_class(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The class must bind late: the volumes of others are bound already, or never will be."""
        mode = changed_to(StorageClass, new).volume_binding_mode
        return QueueingHint.QUEUE if mode == "WaitForFirstConsumer" else QueueingHint.SKIP

    def after_claim(self, pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
        """The claim must be one that the pod names."""
        helps = names_claim(pod, changed_to(PersistentVolumeClaim, new))
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def after_volume(self, pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
        """The volume must be new, or be elsewhere than before."""
        before, after = changed_from(PersistentVolume, old), changed_to(PersistentVolume, new)
        helps = before is None or _topologies(before) != _topologies(after)
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def _topologies(volume: PersistentVolume) -> Mapping[str, frozenset[str]]:
    """By label, the zones that a volume is in; what is no list of zones counts for nothing."""
    labels = volume.metadata.labels
    found = {key: _zones(labels[key]) for key in TOPOLOGY_LABELS if key in labels}
    return {key: zones for key, zones in found.items() if "" not in zones}


def _zones(label: str) -> frozenset[str]:
    return frozenset(zone.strip() for zone in label.split(_SEPARATOR))
