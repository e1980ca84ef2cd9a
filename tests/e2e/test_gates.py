"""Gated pods: nobody tries them until their last gate is gone, and nobody says that they failed."""

from __future__ import annotations

from berthing.api.pod import Pod
from berthing.testing import make_node, make_pod
from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.load import check_settled, events_by_reason


def test_a_pod_waits_for_its_last_gate(
    control_plane: ControlPlane, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(make_node("node"))
    control_plane.client.create(gated_pod("gated", "quota", "audit"))
    berthing = start_berthing()
    assert berthing.metric("scheduler_pending_pods", queue="gated") == 1
    open_gates(control_plane, "audit")
    # Pods are seen in the order of their changes: what befell the first is known with the second.
    control_plane.client.create(make_pod("free", image="app"))
    wait_on_node(control_plane, "default/free")
    now = berthing.metrics()
    assert now.sum("scheduler_schedule_attempts_total") == 1
    assert now.sum("scheduler_pending_pods", queue="gated") == 1
    # The API server says so, and we do not.
    condition = control_plane.client.get(Pod, "gated").condition("PodScheduled")
    assert condition
    assert condition.reason == "SchedulingGated"
    assert "gated" not in events_by_reason(control_plane)["Scheduled"]

    open_gates(control_plane)
    wait_on_node(control_plane, "default/gated")
    check_settled(berthing, pods=2)
    now = berthing.metrics()
    assert now.sum("scheduler_schedule_attempts_total", result="scheduled") == 2
    assert now.sum("scheduler_schedule_attempts_total") == 2
    label = {"event": "UnschedulablePodUpdatePodSchedulingGatesEliminated", "queue": "active"}
    assert now.sum("scheduler_queue_incoming_pods_total", **label) == 1
    assert berthing.process.stop() == 0
    assert events_by_reason(control_plane) == {"Scheduled": {"free": 1, "gated": 1}}


def test_a_gated_pod_that_is_deleted_is_forgotten(
    control_plane: ControlPlane, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(make_node("node"))
    berthing = start_berthing()
    control_plane.client.create(gated_pod("gated", "quota"))
    berthing.wait_metric("scheduler_pending_pods", 1, queue="gated")
    control_plane.client.delete(Pod, "gated")
    check_settled(berthing, pods=0)


def gated_pod(name: str, *gates: str) -> Pod:
    return make_pod(name, image="app", scheduling_gates=gates)


def open_gates(control_plane: ControlPlane, *left: str) -> None:
    """Take away all gates but these."""
    gates = [{"name": gate} for gate in left]
    control_plane.client.patch(Pod, "gated", {"spec": {"schedulingGates": gates}})


def wait_on_node(control_plane: ControlPlane, key: str) -> None:
    control_plane.client.wait_for(
        Pod, lambda pods: key in pods and pods[key].spec.node_name == "node"
    )
