"""VolumeBinding finds volumes for the claims of a pod, where they can be had.

Upstream: plugins/volumebinding/volume_binding.go (v1.36.4).
Differs:  pods with volumes are refused until this is done; the hints are complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from berthing.api.pod_info import PodInfo
from berthing.api.quantity import Quantity
from berthing.api.storage import CSIDriver, CSINode, CSIStorageCapacity, StorageClass
from berthing.api.volumes import PersistentVolumeClaim
from berthing.config import args
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    CycleState,
    EnqueueExtensions,
    EventResource,
    Int64Column,
    Nodes,
    PreScorePlugin,
    QueueingHint,
    ScorePlugin,
    Status,
)
from berthing.plugins.changed_objects import changed_from, changed_to
from berthing.plugins.claims_of_pods import uses_claim
from berthing.plugins.unsupported import UnsupportedVolumes

# Says which kinds of disks a CSI driver has taken over on a node.
MIGRATED_PLUGINS: Final = "storage.alpha.kubernetes.io/migrated-plugins"


class VolumeBinding(UnsupportedVolumes, PreScorePlugin, ScorePlugin, EnqueueExtensions):
    """Rejects nodes that cannot reach the volumes of the pod's claims, or have none made."""

    name = "VolumeBinding"
    args_type = args.VolumeBindingArgs

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Anything that storage is made of, and nodes that may reach it."""
        added, changed = ActionType.ADD | ActionType.UPDATE, ActionType.UPDATE
        node = ActionType.ADD | ActionType.UPDATE_NODE_LABEL
        claim = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, added)
        capacity = ClusterEvent(EventResource.CSI_STORAGE_CAPACITY, added)
        return (
            ClusterEventWithHint(
                ClusterEvent(EventResource.STORAGE_CLASS, added), self.after_storage_class
            ),
            ClusterEventWithHint(claim, self.after_claim),
            ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME, added)),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, node)),
            ClusterEventWithHint(ClusterEvent(EventResource.CSI_NODE, added), self.after_csi_node),
            ClusterEventWithHint(
                ClusterEvent(EventResource.CSI_DRIVER, changed), self.after_csi_driver
            ),
            ClusterEventWithHint(capacity, self.after_storage_capacity),
        )

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status:
        """Without storage capacity scoring there is nothing to score."""
        return Status.skip()

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        """Nobody asks: PreScore skips."""
        return np.zeros(len(nodes), np.int64)

    # Hints.

    def after_storage_class(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The class must be new, or provide volumes elsewhere than before."""
        before, after = changed_from(StorageClass, old), changed_to(StorageClass, new)
        helps = before is None or before.allowed_topologies != after.allowed_topologies
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def after_claim(self, pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
        """The claim must be one of the pod's."""
        helps = uses_claim(pod, changed_to(PersistentVolumeClaim, new))
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def after_csi_node(self, pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
        """The node must be new, or its driver have taken over other kinds of disks."""
        before = changed_from(CSINode, old)
        helps = before is None or _migrated(before) != _migrated(changed_to(CSINode, new))
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def after_csi_driver(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The pod must have a volume of the driver, which must have ceased to mind capacity."""
        before, after = changed_to(CSIDriver, old), changed_to(CSIDriver, new)
        ceased = before.spec.storage_capacity and not after.spec.storage_capacity
        helps = ceased and any(
            volume.csi is not None and volume.csi.driver == after.name
            for volume in pod.facts.volumes
        )
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def after_storage_capacity(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """There must be room for larger volumes than before."""
        before, after = changed_from(CSIStorageCapacity, old), changed_to(CSIStorageCapacity, new)
        helps = before is None or _grew(_volume_limit(before), _volume_limit(after))
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def _migrated(node: CSINode) -> str:
    return node.metadata.annotations.get(MIGRATED_PLUGINS, "")


def _volume_limit(capacity: CSIStorageCapacity) -> Quantity | None:
    """The largest volume to be had; the total is a poor guess at it."""
    if capacity.maximum_volume_size is not None:
        return capacity.maximum_volume_size
    return capacity.capacity


def _grew(before: Quantity | None, after: Quantity | None) -> bool:
    return after is not None and (before is None or after.value() > before.value())
