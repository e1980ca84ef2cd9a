"""Which kinds of objects there are, and how the API calls them."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Final, Generic, TypeVar

import msgspec

from berthing.api.apps import ReplicaSet, StatefulSet
from berthing.api.batch import Job
from berthing.api.coordination import Lease
from berthing.api.core import Namespace, ReplicationController, Service
from berthing.api.events import CoreEvent, Event
from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.policy import PodDisruptionBudget
from berthing.api.resource import DeviceClass, ResourceClaim, ResourceSlice
from berthing.api.scheduling import PodGroup, PriorityClass, Workload
from berthing.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    StorageClass,
    VolumeAttachment,
)
from berthing.api.volumes import PersistentVolume, PersistentVolumeClaim

T = TypeVar("T", bound=ApiObject)


class Kind(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """A kind of object: its type here, and its names in the API."""

    type: type[T]
    api_version: str
    kind: str
    # The name in URLs, in the plural.
    resource: str
    namespaced: bool

    @property
    def list_kind(self) -> str:
        """What a list of such objects calls itself."""
        return f"{self.kind}List"

    @property
    def path(self) -> str:
        """Where an API server keeps them, namespaces left out: /apis/apps/v1/replicasets."""
        root = "/apis" if "/" in self.api_version else "/api"
        return f"{root}/{self.api_version}/{self.resource}"


def _namespaced(type_: type[T], api_version: str, resource: str, kind: str = "") -> Kind[T]:
    return Kind(type_, api_version, kind or type_.__name__, resource, namespaced=True)


def _cluster_wide(type_: type[T], api_version: str, resource: str) -> Kind[T]:
    return Kind(type_, api_version, type_.__name__, resource, namespaced=False)


KINDS: Final[tuple[Kind[ApiObject], ...]] = (
    _cluster_wide(Namespace, "v1", "namespaces"),
    _cluster_wide(Node, "v1", "nodes"),
    _namespaced(Pod, "v1", "pods"),
    _namespaced(Service, "v1", "services"),
    _namespaced(ReplicationController, "v1", "replicationcontrollers"),
    _cluster_wide(PersistentVolume, "v1", "persistentvolumes"),
    _namespaced(PersistentVolumeClaim, "v1", "persistentvolumeclaims"),
    _namespaced(CoreEvent, "v1", "events", kind="Event"),
    _namespaced(ReplicaSet, "apps/v1", "replicasets"),
    _namespaced(StatefulSet, "apps/v1", "statefulsets"),
    _namespaced(Lease, "coordination.k8s.io/v1", "leases"),
    _namespaced(Event, "events.k8s.io/v1", "events"),
    _namespaced(PodDisruptionBudget, "policy/v1", "poddisruptionbudgets"),
    _cluster_wide(DeviceClass, "resource.k8s.io/v1", "deviceclasses"),
    _namespaced(ResourceClaim, "resource.k8s.io/v1", "resourceclaims"),
    _cluster_wide(ResourceSlice, "resource.k8s.io/v1", "resourceslices"),
    _cluster_wide(PriorityClass, "scheduling.k8s.io/v1", "priorityclasses"),
    _namespaced(PodGroup, "scheduling.k8s.io/v1alpha2", "podgroups"),
    _namespaced(Workload, "scheduling.k8s.io/v1alpha2", "workloads"),
    _cluster_wide(CSIDriver, "storage.k8s.io/v1", "csidrivers"),
    _cluster_wide(CSINode, "storage.k8s.io/v1", "csinodes"),
    _namespaced(CSIStorageCapacity, "storage.k8s.io/v1", "csistoragecapacities"),
    _cluster_wide(StorageClass, "storage.k8s.io/v1", "storageclasses"),
    _cluster_wide(VolumeAttachment, "storage.k8s.io/v1", "volumeattachments"),
)

# With what no scheduler reads: the embedded API server keeps it for its own controllers.
SERVED_KINDS: Final[tuple[Kind[ApiObject], ...]] = (*KINDS, _namespaced(Job, "batch/v1", "jobs"))

_BY_NAME: Final = MappingProxyType({(each.api_version, each.kind): each for each in KINDS})
_BY_TYPE: Final = MappingProxyType({each.type: each for each in SERVED_KINDS})


def find_kind(api_version: str, kind: str) -> Kind[ApiObject] | None:
    """The kind that an object says it is of; None for what a scheduler does not read."""
    return _BY_NAME.get((api_version, kind))


@lru_cache
def find_resource(api_version: str, resource: str) -> Kind[ApiObject] | None:
    """The kind that is called so in URLs: `("apps/v1", "replicasets")`."""
    for each in SERVED_KINDS:
        if (each.api_version, each.resource) == (api_version, resource):
            return each
    return None


def kind_of(type_: type[ApiObject]) -> Kind[ApiObject]:
    """The kind that objects of this type are of."""
    return _BY_TYPE[type_]
