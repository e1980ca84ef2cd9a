"""What each change in the cluster does to the columns and to the queue."""

from __future__ import annotations

from typing import Any, cast

import pytest
from msgspec.structs import replace

from berthing.api.core import Namespace
from berthing.api.meta import ObjectMeta
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.storage import CSINode
from berthing.cluster.cluster import Cluster
from berthing.framework import ActionType, ClusterEvent, ClusterEventWithHint, EventResource, Handle
from berthing.plugins.priority_sort import PrioritySort
from berthing.queue.scheduling_queue import QueueingProfile, SchedulingQueue
from berthing.scheduler.events import EventHandlers
from berthing.testing import make_node, make_pod

PROFILE = "default-scheduler"


class World:
    """Handlers on a real cluster and queue; "Any" registers for all, and remembers what came."""

    def __init__(self) -> None:
        self.cluster = Cluster()
        self.seen: list[str] = []
        self.dropped: list[str] = []
        everything = ClusterEvent(EventResource.WILDCARD, ActionType.ALL)
        self.queue = SchedulingQueue(
            {PROFILE: QueueingProfile((), {"Any": (ClusterEventWithHint(everything),)})},
            sort_key=PrioritySort(None, cast("Handle", None)).sort_key,
        )
        self.handlers = EventHandlers(
            self.cluster, self.queue, responsible={PROFILE}, assumed=self, observe=self.observe
        )
        # In flight for good, so that every event is kept.
        self.queue.add(PodInfo.of(make_pod("witness")), now=0)
        self.queue.pop()

    def observe(self, seconds: float, label: str) -> None:
        assert seconds >= 0
        self.seen.append(label)

    def deleted(self, pod: PodInfo) -> None:
        self.dropped.append(pod.pod.name)
        self.cluster.forget(pod.uid)

    def apply(self, old: Any, new: Any) -> list[str]:
        """Hand in a change; the labels of the events that it came to."""
        known = len(self.queue.in_flight.events)
        self.handlers.apply(type(new if old is None else old), old, new, now=0)
        return [each.event.label for each in list(self.queue.in_flight.events)[known:]]

    def waiting(self) -> list[str]:
        return [queued.pod_info.pod.name for queued in self.queue.waiting()]


def changed(pod: Pod, **fields: Any) -> Pod:
    """The same pod in a newer version; a node name, or what its status says."""
    node_name = fields.pop("node_name", pod.spec.node_name)
    return replace(
        pod,
        metadata=replace(pod.metadata, resource_version="2", **fields.pop("metadata", {})),
        spec=replace(pod.spec, node_name=node_name),
        status=replace(pod.status, **fields),
    )


@pytest.fixture
def world() -> World:
    return World()


def test_a_pod_with_a_node_goes_to_the_columns(world: World) -> None:
    world.apply(None, make_node("n"))
    pod = make_pod("runs", node_name="n")
    assert world.apply(None, pod) == ["AssignedPodAdd"]
    assert world.cluster.pod(pod.metadata.uid) is not None
    assert world.apply(pod, None) == ["AssignedPodDelete"]
    assert world.cluster.pod(pod.metadata.uid) is None


def test_a_pod_that_is_over_is_gone(world: World) -> None:
    pod = make_pod("runs", node_name="n")
    world.apply(None, pod)
    assert world.apply(pod, changed(pod, phase="Succeeded")) == ["AssignedPodDelete"]
    assert world.cluster.pod(pod.metadata.uid) is None


def test_only_pods_of_our_profiles_are_queued(world: World) -> None:
    assert world.apply(None, make_pod("ours")) == []
    assert world.apply(None, make_pod("theirs", scheduler_name="other")) == []
    assert world.waiting() == ["ours"]


def test_a_pod_that_somebody_bound_leaves_the_queue(world: World) -> None:
    pod = make_pod("a")
    world.apply(None, pod)
    assert world.apply(pod, changed(pod, node_name="n")) == ["AssignedPodAdd"]
    assert world.waiting() == []


def test_a_pod_shown_elsewhere_than_assumed_is_there(world: World) -> None:
    pod = make_pod("a")
    world.apply(None, pod)
    world.cluster.assume(PodInfo.of(pod), "mine")
    world.apply(pod, changed(pod, node_name="theirs"))
    assert world.cluster.node_name_of(pod.metadata.uid) == "theirs"
    assert not world.cluster.is_assumed(pod.metadata.uid)


def test_an_assumed_pod_that_is_deleted_gives_back_its_room(world: World) -> None:
    pod = make_pod("a")
    world.apply(None, pod)
    world.queue.done(world.queue.pop().uid)  # type: ignore[union-attr]
    world.cluster.assume(PodInfo.of(pod), "n")
    assert world.apply(pod, None) == ["AssignedPodDelete"]
    assert world.dropped == ["a"]
    (told,) = [each.old for each in world.queue.in_flight.events if isinstance(each.old, Pod)]
    assert told.spec.node_name == "n", "hints look at where the room was"


def test_an_assumed_pod_that_changes_is_left_alone_but_known(world: World) -> None:
    pod = make_pod("a")
    world.apply(None, pod)
    world.queue.done(world.queue.pop().uid)  # type: ignore[union-attr]
    world.cluster.assume(PodInfo.of(pod), "n")
    newer = changed(pod, phase="Pending")
    assert world.apply(pod, newer) == []
    assert world.waiting() == []
    assert world.queue.unbound[pod.metadata.uid].pod is newer


def test_a_lost_nomination_counts_as_room_for_the_less_important(world: World) -> None:
    pod = make_pod("a", priority=1, nominated_node_name="n")
    world.apply(None, pod)
    assert list(world.queue.nominator.by_node) == ["n"]
    assert world.apply(pod, changed(pod, nominated_node_name="")) == ["AssignedPodDelete"]
    assert not world.queue.nominator.by_node


def test_another_pod_of_the_same_name_is_another_pod(world: World) -> None:
    old, new = make_pod("a", uid="1"), make_pod("a", uid="2")
    world.apply(None, old)
    world.apply(old, new)
    assert list(world.queue.unbound) == ["uid-of-default/witness", "2"]


def test_an_object_shown_again_moves_nothing(world: World) -> None:
    pod = make_pod("a")
    world.apply(None, pod)
    queued = world.queue.get(pod.metadata.uid)
    assert world.apply(pod, make_pod("a")) == []
    assert queued is not None
    assert queued.pod_info.pod is pod


def test_a_node_is_gone_only_after_pods_were_told(world: World) -> None:
    node = make_node("n")
    assert world.apply(None, node) == ["NodeAdd"]
    assert world.apply(node, make_node("n", labels={"a": "b"})) == ["NodeUpdateNodeLabel"]
    assert world.apply(node, make_node("n")) == []
    assert world.apply(node, None) == ["NodeDelete"]
    assert world.cluster.row("n") is None


def test_namespaces_and_other_objects_are_kept(world: World) -> None:
    namespace = Namespace(metadata=ObjectMeta(name="team", labels={"env": "prod"}))
    assert world.apply(None, namespace) == ["NamespaceAdd"]
    assert world.cluster.namespace_labels("team") == {"env": "prod"}
    assert world.apply(namespace, namespace) == [], "its labels are what they were"
    unlabelled = Namespace(metadata=ObjectMeta(name="team"))
    assert world.apply(namespace, unlabelled) == ["NamespaceUpdate"]
    assert world.apply(unlabelled, None) == []
    csi_node = CSINode(metadata=ObjectMeta(name="n"))
    assert world.apply(None, csi_node) == ["storage.k8s.io/CSINodeAdd"]
    assert world.cluster.objects.get(CSINode, "n") is csi_node
    assert world.apply(csi_node, csi_node) == ["storage.k8s.io/CSINodeUpdate"]
    assert world.apply(csi_node, None) == ["storage.k8s.io/CSINodeDelete"]
    assert world.cluster.objects.get(CSINode, "n") is None


def test_what_makes_no_sense_is_passed_over(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.handlers.apply(Pod, None, make_node("n"), now=0)
    world.handlers.apply(Node, None, None, now=0)
    assert world.cluster.row("n") is None
    assert "another kind" in caplog.text


def test_what_was_handled_is_told_by_upstreams_labels(world: World) -> None:
    pod = make_pod("a")
    bound = changed(pod, node_name="n")
    steps = [
        (None, make_node("n")),
        (None, pod),
        (pod, changed(pod, metadata={"labels": {"a": "b"}})),
        (pod, bound),
        (bound, changed(bound, phase="Running")),
        (bound, None),
        (None, Namespace(metadata=ObjectMeta(name="team"))),
    ]
    for old, new in steps:
        world.apply(old, new)
    assert world.seen == [
        "NodeAdd",
        "UnschedulablePodAdd",
        "UnschedulablePodUpdate",
        "UnschedulablePodUpdatePodLabel",
        "AssignedPodAdd",
        "UnschedulablePodDelete",
        "AssignedPodUpdate",
        "AssignedPodDelete",
    ]
