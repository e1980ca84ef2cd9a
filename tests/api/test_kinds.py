from __future__ import annotations

import pytest

from berthing.api.batch import Job
from berthing.api.events import CoreEvent, Event
from berthing.api.kinds import KINDS, find_kind, find_resource, kind_of
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.storage import CSIStorageCapacity

READ = """
v1/Namespace v1/Node v1/Pod v1/Service v1/ReplicationController v1/PersistentVolume
v1/PersistentVolumeClaim v1/Event apps/v1/ReplicaSet apps/v1/StatefulSet coordination.k8s.io/v1/Lease
events.k8s.io/v1/Event policy/v1/PodDisruptionBudget resource.k8s.io/v1/DeviceClass
resource.k8s.io/v1/ResourceClaim resource.k8s.io/v1/ResourceSlice
scheduling.k8s.io/v1/PriorityClass scheduling.k8s.io/v1alpha2/PodGroup
scheduling.k8s.io/v1alpha2/Workload storage.k8s.io/v1/CSIDriver storage.k8s.io/v1/CSINode
storage.k8s.io/v1/CSIStorageCapacity storage.k8s.io/v1/StorageClass
storage.k8s.io/v1/VolumeAttachment
"""


def test_all_that_a_scheduler_reads_is_known() -> None:
    assert sorted(f"{each.api_version}/{each.kind}" for each in KINDS) == sorted(READ.split())


def test_a_kind_is_found_by_each_of_its_names() -> None:
    kind = kind_of(Pod)
    assert find_kind("v1", "Pod") is kind
    assert find_resource("v1", "pods") is kind
    assert find_kind("v1", "Pods") is None
    assert find_resource("apps/v1", "pods") is None


def test_the_two_forms_of_events_are_told_apart() -> None:
    core, new = find_kind("v1", "Event"), find_kind("events.k8s.io/v1", "Event")
    assert core is not None
    assert new is not None
    assert (core.type, new.type) == (CoreEvent, Event)


@pytest.mark.parametrize(
    ("type_", "path", "namespaced"),
    [
        (Node, "/api/v1/nodes", False),
        (Pod, "/api/v1/pods", True),
        (CSIStorageCapacity, "/apis/storage.k8s.io/v1/csistoragecapacities", True),
    ],
)
def test_where_api_servers_keep_them(type_: type[Pod], path: str, namespaced: bool) -> None:
    kind = kind_of(type_)
    assert (kind.path, kind.namespaced) == (path, namespaced)


def test_what_the_embedded_server_keeps_beside_is_no_object_of_a_scheduler() -> None:
    assert find_resource("batch/v1", "jobs") is kind_of(Job)
    assert find_kind("batch/v1", "Job") is None
