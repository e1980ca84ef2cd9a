"""A pod or its node goes while the pod is being bound: its room is given back, or is not given twice.

Bindings are held on their way to the API server, which then decides about them as it always does.
"""

from __future__ import annotations

import pytest

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.testing import make_node, make_pod
from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.load import check_settled, events_by_reason
from e2e.proxy import Proxy, is_binding


@pytest.fixture
def one_place(control_plane: ControlPlane) -> Node:
    """A node with room for one of the pods."""
    node = make_node("node", cpu="1")
    control_plane.add_nodes(node)
    return node


def pod(name: str) -> Pod:
    return make_pod(name, image="app", cpu="600m")


def wait_on(control_plane: ControlPlane, key: str, node_name: str) -> None:
    control_plane.client.wait_for(
        Pod, lambda pods: key in pods and pods[key].spec.node_name == node_name
    )


@pytest.mark.usefixtures("one_place")
def test_a_pod_that_is_deleted_leaves_its_room_to_another(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing
) -> None:
    berthing = start_berthing(through=proxy)
    with proxy.holding(is_binding) as held:
        control_plane.client.create(pod("gone"))
        held.wait_for(1)
        control_plane.client.delete(Pod, "gone")
        # The room is free at once, though nobody knows yet what becomes of the binding.
        control_plane.client.create(pod("next"))
        held.wait_for(2)
    wait_on(control_plane, "default/next", "node")
    check_settled(berthing, pods=1)
    assert sorted(proxy.statuses(is_binding)) == [201, 404]
    # Of a pod that is gone nobody is told.
    assert events_by_reason(control_plane) == {"Scheduled": {"next": 1}}


@pytest.mark.usefixtures("one_place")
def test_a_pod_that_takes_the_place_of_another_is_bound_by_its_own_binding(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing
) -> None:
    berthing = start_berthing(through=proxy)
    with proxy.holding(is_binding) as held:
        control_plane.client.create(pod("db"))
        held.wait_for(1)
        control_plane.client.delete(Pod, "db")
        second = control_plane.client.create(pod("db"))
        held.wait_for(2)
    wait_on(control_plane, "default/db", "node")
    check_settled(berthing, pods=1)
    assert control_plane.client.get(Pod, "db").metadata.uid == second.metadata.uid
    # The first was meant for a pod with another uid.
    assert sorted(proxy.statuses(is_binding)) == [201, 409]


def test_a_pod_on_a_node_that_is_deleted_keeps_its_room_for_when_the_node_is_back(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing, one_place: Node
) -> None:
    berthing = start_berthing(through=proxy)
    with proxy.holding(is_binding) as held:
        control_plane.client.create(pod("first"))
        held.wait_for(1)
        control_plane.client.delete(Node, "node")
        berthing.wait_metric(
            "scheduler_event_handling_duration_seconds_count", 1, event="NodeDelete"
        )
    # API servers bind to whatever node they are told.
    wait_on(control_plane, "default/first", "node")
    control_plane.add_nodes(make_node("other", cpu="1"))
    control_plane.client.create(pod("second"))
    wait_on(control_plane, "default/second", "other")
    # A node of that name comes: the pod is on it.
    control_plane.add_nodes(one_place)
    control_plane.client.create(pod("third"))
    told = control_plane.client.wait_for(Pod, lambda pods: is_told(pods["default/third"]))
    condition = told["default/third"].condition("PodScheduled")
    assert condition
    assert condition.message.startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert berthing.metric("scheduler_cache_size", type="nodes") == 2


def test_a_node_that_is_deleted_gets_no_more_pods(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing, one_place: Node
) -> None:
    berthing = start_berthing(through=proxy)
    with proxy.holding(is_binding) as held:
        control_plane.client.create(pod("first"))
        held.wait_for(1)
        control_plane.client.delete(Node, "node")
        berthing.wait_metric(
            "scheduler_event_handling_duration_seconds_count", 1, event="NodeDelete"
        )
        control_plane.client.create(pod("second"))
        told = control_plane.client.wait_for(
            Pod, lambda pods: "default/second" in pods and is_told(pods["default/second"])
        )
    condition = told["default/second"].condition("PodScheduled")
    assert condition
    assert condition.message == "no nodes available to schedule pods"


def is_told(pod: Pod) -> bool:
    condition = pod.condition("PodScheduled")
    return condition is not None and condition.reason == "Unschedulable"
