"""What each change in the cluster does: to the columns, to the queue, and to pods being bound.

    pod with a node         columns, then the pods that it may help
    pod without, ours       the queue
    pod without, not ours   nothing
    node                    columns, then the pods that it may help (a deletion: the other way round)
    namespace               columns, then the pods that other labels may help
    any other kind          the listers, then the pods that it may help

A pod that is over (Succeeded, Failed) is gone as far as scheduling is concerned.  What the API
server says counts: a pod that it shows on another node than the one we assumed is on that node.

Upstream: pkg/scheduler/eventhandlers.go (v1.36.4), default feature gates.
Differs:  a pod that came in place of another of its name, without a word about the other's end,
          is taken for what it is: one deletion and one addition.  Labels of a namespace that
          change wake pods; there they sleep on.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from time import perf_counter
from typing import Protocol, TypeVar

from msgspec.structs import replace

from berthing.api.core import Namespace
from berthing.api.frozen import EMPTY
from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.resource import DeviceClass, ResourceClaim, ResourceSlice
from berthing.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    StorageClass,
    VolumeAttachment,
)
from berthing.api.volumes import PersistentVolume, PersistentVolumeClaim
from berthing.cluster.cluster import Cluster
from berthing.framework import ActionType, ClusterEvent, EventResource
from berthing.queue.derived_events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    ASSIGNED_POD_UPDATE,
    NODE_ADD,
    NODE_DELETE,
    UNSCHEDULABLE_POD_ADD,
    UNSCHEDULABLE_POD_DELETE,
    UNSCHEDULABLE_POD_UPDATE,
    node_events,
    pod_events,
)
from berthing.queue.scheduling_queue import SchedulingQueue
from berthing.telemetry import logs

T = TypeVar("T", bound=ApiObject)

_log = logs.get("scheduler")

# The kinds whose changes plugins can register for, beside pods and nodes.
RESOURCES: Mapping[type[ApiObject], EventResource] = {
    PersistentVolume: EventResource.PERSISTENT_VOLUME,
    PersistentVolumeClaim: EventResource.PERSISTENT_VOLUME_CLAIM,
    StorageClass: EventResource.STORAGE_CLASS,
    CSINode: EventResource.CSI_NODE,
    CSIDriver: EventResource.CSI_DRIVER,
    CSIStorageCapacity: EventResource.CSI_STORAGE_CAPACITY,
    VolumeAttachment: EventResource.VOLUME_ATTACHMENT,
    ResourceClaim: EventResource.RESOURCE_CLAIM,
    ResourceSlice: EventResource.RESOURCE_SLICE,
    DeviceClass: EventResource.DEVICE_CLASS,
    Namespace: EventResource.NAMESPACE,
}


class Assumed(Protocol):
    """Pods whose node we have chosen and nobody else knows of yet."""

    def deleted(self, pod: PodInfo) -> None:
        """Such a pod is gone, or about to be: turn it back if it waits on Permit, else forget it.

        Its binding goes on and fails by itself.
        """
        ...


class EventHandlers:
    """Brings cluster and queue up to date with what the API server shows.

    responsible  the schedulerNames that have a profile
    observe      told how many seconds a change took, with the label of each event it was
    """

    def __init__(
        self,
        cluster: Cluster,
        queue: SchedulingQueue,
        *,
        responsible: Container[str],
        assumed: Assumed,
        observe: Callable[[float, str], None] = lambda _seconds, _label: None,
    ) -> None:
        self._cluster = cluster
        self._queue = queue
        self._responsible = responsible
        self._assumed = assumed
        self._observe = observe
        # What the change at hand is called in metrics.
        self._labels: list[str] = []

    def apply(
        self, kind: type[ApiObject], old: object | None, new: object | None, *, now: float
    ) -> None:
        """An object came (no `old`), changed, or is gone (no `new`); what is malformed is passed over."""
        if any(each is not None and not isinstance(each, kind) for each in (old, new)):
            _log.error(None, "Cannot handle objects of another kind", kind=kind.__name__)
        elif old is not None or new is not None:
            started = perf_counter()
            self._handler(kind)(old, new, now)
            seconds = perf_counter() - started
            for label in dict.fromkeys(self._labels):
                self._observe(seconds, label)
            self._labels.clear()

    def _handler(self, kind: type[ApiObject]) -> Callable[..., None]:
        if kind is Pod:
            return self._pod
        if kind is Node:
            return self._node
        if kind is Namespace:
            return self._namespace
        return self._other

    # Pods.

    def _pod(self, old: Pod | None, new: Pod | None, now: float) -> None:
        old, new = _running(old), _running(new)
        if new is None:
            if old is not None:
                self._delete_pod(old, now)
        elif old is None:
            self._add_pod(new, now)
        elif old.metadata.uid != new.metadata.uid:
            self._delete_pod(old, now)
            self._add_pod(new, now)
        else:
            self._update_pod(old, new, now)

    def _add_pod(self, pod: Pod, now: float) -> None:
        if pod.spec.node_name:
            self._add_assigned(pod, now)
        elif self._is_ours(pod):
            self._labels.append(UNSCHEDULABLE_POD_ADD.label)
            self._queue.add(PodInfo.of(pod), now=now)

    def _update_pod(self, old: Pod, new: Pod, now: float) -> None:
        if old.spec.node_name:
            self._labels.append(ASSIGNED_POD_UPDATE.label)
            self._cluster.set_pod(PodInfo.of(new))
            for event in pod_events(old, new):
                self._move(event, old, new, now)
        elif new.spec.node_name:
            # It is bound: what others may gain by that, the binding tells them.
            self._add_assigned(new, now)
            if self._is_ours(new):
                self._unqueue(new)
        elif self._is_ours(new):
            self._update_unassigned(old, new, now)

    def _delete_pod(self, pod: Pod, now: float) -> None:
        if pod.spec.node_name:
            self._cluster.remove_pod(pod.metadata.uid)
            self._move(ASSIGNED_POD_DELETE, pod, None, now)
        elif self._is_ours(pod):
            self._unqueue(pod)
            if not self._drop_assumed(pod, now) and pod.status.nominated_node_name:
                self._give_up_nomination(pod, now)

    def _add_assigned(self, pod: Pod, now: float) -> None:
        self._cluster.set_pod(PodInfo.of(pod))
        self._move(ASSIGNED_POD_ADD, None, pod, now)

    def _unqueue(self, pod: Pod) -> None:
        self._labels.append(UNSCHEDULABLE_POD_DELETE.label)
        self._queue.delete(pod.metadata.uid)

    def _update_unassigned(self, old: Pod, new: Pod, now: float) -> None:
        # A relist shows objects anew that are no newer.
        if old.metadata.resource_version == new.metadata.resource_version:
            return
        self._labels.append(UNSCHEDULABLE_POD_UPDATE.label)
        self._labels += (event.label for event in pod_events(old, new))
        if self._cluster.is_assumed(new.metadata.uid):
            self._queue.keep(PodInfo.of(new))
            if _is_leaving(new) and not _is_leaving(old):
                self._drop_assumed(new, now)
            return
        self._queue.update(PodInfo.of(new), now=now)
        before = old.status.nominated_node_name
        if before and before != new.status.nominated_node_name:
            self._give_up_nomination(old, now)

    def _drop_assumed(self, pod: Pod, now: float) -> bool:
        """See to an assumed pod that is gone; False if it is not an assumed one."""
        uid = pod.metadata.uid
        assumed = self._cluster.pod(uid)
        if assumed is None or not self._cluster.is_assumed(uid):
            return False
        there = placed_on(assumed.pod, self._cluster.node_name_of(uid))
        self._assumed.deleted(assumed)
        self._queue.move_all(ASSIGNED_POD_DELETE, there, None, now=now)
        return True

    def _give_up_nomination(self, pod: Pod, now: float) -> None:
        """Room that was kept for the pod is free: pods no more important had respected it."""
        self._queue.move_all(
            ASSIGNED_POD_DELETE,
            pod,
            None,
            now=now,
            only=lambda waiting: waiting.priority <= pod.priority,
        )

    def _is_ours(self, pod: Pod) -> bool:
        return pod.spec.scheduler_name in self._responsible

    # All else.

    def _node(self, old: Node | None, new: Node | None, now: float) -> None:
        if new is None:
            if old is not None:
                self._move(NODE_DELETE, old, None, now)
                self._cluster.remove_node(old.name)
            return
        self._cluster.set_node(new)
        for event in (NODE_ADD,) if old is None else node_events(old, new):
            self._move(event, old, new, now)

    def _namespace(self, old: Namespace | None, new: Namespace | None, now: float) -> None:
        if new is not None:
            self._cluster.set_namespace(new)
        elif old is not None:
            self._cluster.remove_namespace(old.name)
        event = object_event(old, new)
        if event is not None and _labels(old) != _labels(new):
            self._move(event, old, new, now)

    def _other(self, old: ApiObject | None, new: ApiObject | None, now: float) -> None:
        if new is not None:
            self._cluster.objects.set(new)
        elif old is not None:
            self._cluster.objects.remove(old)
        event = object_event(old, new)
        if event is not None:
            self._move(event, old, new, now)

    def _move(
        self, event: ClusterEvent, old: ApiObject | None, new: ApiObject | None, now: float
    ) -> None:
        self._labels.append(event.label)
        self._queue.move_all(event, old, new, now=now)


def object_event(old: ApiObject | None, new: ApiObject | None) -> ClusterEvent | None:
    """What a change of an object comes to that is neither a pod nor a node."""
    changed = old if new is None else new
    resource = None if changed is None else RESOURCES.get(type(changed))
    if resource is None:
        return None
    if old is None:
        return _ADDED[resource]
    return _DELETED[resource] if new is None else _UPDATED[resource]


def placed_on(pod: Pod, node_name: str) -> Pod:
    """The pod as it will look once it is bound: what hints are told about one that was assumed."""
    return replace(pod, spec=replace(pod.spec, node_name=node_name))


def _labels(namespace: Namespace | None) -> Mapping[str, str]:
    return EMPTY if namespace is None else namespace.metadata.labels


def _running(pod: Pod | None) -> Pod | None:
    return None if pod is None or pod.is_terminal else pod


def _is_leaving(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


# Made once: the queue looks them up by themselves.
_ADDED, _UPDATED, _DELETED = (
    {resource: ClusterEvent(resource, action) for resource in RESOURCES.values()}
    for action in (ActionType.ADD, ActionType.UPDATE, ActionType.DELETE)
)
