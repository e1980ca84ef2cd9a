"""What can happen in a cluster, and how a plugin says which of it may help its pods.

A plugin that rejects a pod names the events that could change its mind, each with a hint: a
function that looks at the changed object and answers whether this pod should be tried again.

    ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD), self.fits_new_node)

Upstream: staging kube-scheduler/framework/types.go, pkg/scheduler/framework/types.go (v1.36.4).
Differs:  there are events of namespaces.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag, StrEnum

import msgspec

from berthing.api.pod_info import PodInfo


class ActionType(IntFlag):
    """What happened to an object; the bits are upstream's and combine with `|`."""

    ADD = 1 << 0
    DELETE = 1 << 1
    UPDATE_NODE_ALLOCATABLE = 1 << 2
    UPDATE_NODE_LABEL = 1 << 3
    # Taints, and uncordoning, which acts as a taint.
    UPDATE_NODE_TAINT = 1 << 4
    UPDATE_NODE_CONDITION = 1 << 5
    UPDATE_NODE_ANNOTATION = 1 << 6
    UPDATE_NODE_DECLARED_FEATURE = 1 << 7
    UPDATE_POD_LABEL = 1 << 8
    UPDATE_POD_SCALE_DOWN = 1 << 9
    UPDATE_POD_TOLERATION = 1 << 10
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1 << 11
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1 << 12
    ALL = (1 << 13) - 1
    UPDATE = ALL & ~ADD & ~DELETE

    @property
    def label(self) -> str:
        """Upstream's name, as in logs and metrics; empty for a combination without one."""
        return _ACTION_LABELS.get(self, "")


_ACTION_LABELS = {
    action: "".join(word.capitalize() for word in name.split("_"))
    for name, action in ActionType.__members__.items()
}


class EventResource(StrEnum):
    """A kind of object whose changes plugins can register for.

    Where an event is registered, `plural.version.group` names any other kind.
    """

    POD = "Pod"
    # Only ever seen on incoming events: plugins register for POD, which matches both.
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULABLE_POD = "UnschedulablePod"
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    POD_GROUP = "scheduling.k8s.io/PodGroup"
    # Ours alone; of an update only that labels changed is told.
    NAMESPACE = "Namespace"
    WILDCARD = "*"


class ClusterEvent(msgspec.Struct, frozen=True, cache_hash=True):
    """A kind of change to a kind of object."""

    resource: str
    action: ActionType
    # In place of the usual label, for events that no object caused: UnschedulableTimeout, say.
    custom_label: str = ""

    @property
    def label(self) -> str:
        """How logs and metrics call the event: NodeUpdateNodeTaint, AssignedPodDelete."""
        return self.custom_label or f"{self.resource}{self.action.label}"

    @property
    def is_wildcard(self) -> bool:
        """True for the event that stands for all of them."""
        return self.resource == EventResource.WILDCARD and self.action == ActionType.ALL

    def matches(self, incoming: ClusterEvent) -> bool:
        """Whether a plugin that registered for this one is concerned by the incoming one.

        An incoming event is as narrow as the change allows, so one that is wider than what was
        registered (a plain Update of a pod against UPDATE_POD_LABEL) does not match.
        """
        return self.is_wildcard or (
            self._covers(incoming.resource)
            and bool(self.action & incoming.action)
            and incoming.action <= self.action
        )

    def _covers(self, resource: str) -> bool:
        return self.resource in (resource, EventResource.WILDCARD) or (
            self.resource == EventResource.POD and resource in _PODS
        )


_PODS = (EventResource.ASSIGNED_POD, EventResource.UNSCHEDULABLE_POD)


class QueueingHint(StrEnum):
    """Whether an event is worth another attempt for a pod."""

    SKIP = "QueueSkip"
    QUEUE = "Queue"


# (the rejected pod, the object before or None, the object after or None) -> hint.  One that
# raises counts as QUEUE: better an attempt too many than a pod that sleeps for good.
QueueingHintFn = Callable[[PodInfo, object | None, object | None], QueueingHint]


class ClusterEventWithHint(msgspec.Struct, frozen=True):
    """An event that may help a plugin's pods; without a hint, each such event does."""

    event: ClusterEvent
    hint: QueueingHintFn | None = None


# What wakes the pods of a plugin that rejects pods but registers for nothing.
DEFAULT_EVENTS = tuple(
    ClusterEventWithHint(ClusterEvent(resource, ActionType.ALL))
    for resource in (
        EventResource.POD,
        EventResource.NODE,
        EventResource.PERSISTENT_VOLUME,
        EventResource.PERSISTENT_VOLUME_CLAIM,
        EventResource.CSI_NODE,
        EventResource.CSI_DRIVER,
        EventResource.CSI_STORAGE_CAPACITY,
        EventResource.STORAGE_CLASS,
        EventResource.RESOURCE_CLAIM,
        EventResource.DEVICE_CLASS,
        EventResource.NAMESPACE,
    )
)

_UNCORDON = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)


def completed(registered: tuple[ClusterEventWithHint, ...]) -> tuple[ClusterEventWithHint, ...]:
    """What the queue listens to for a plugin that registered these events.

    A plugin that wants to hear of new nodes hears of changed taints too, without a hint: a node
    may have been new while it was tainted.  Upstream: buildQueueingHintMap, k/k issue 109437.
    """
    on_nodes = [
        item.event.action for item in registered if item.event.resource == _UNCORDON.resource
    ]
    hears_new = any(action & ActionType.ADD for action in on_nodes)
    hears_taints = any(action & ActionType.UPDATE_NODE_TAINT for action in on_nodes)
    if hears_new and not hears_taints:
        return (*registered, ClusterEventWithHint(_UNCORDON))
    return registered
