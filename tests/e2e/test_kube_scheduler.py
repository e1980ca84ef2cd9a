"""Upstream's scheduler works with the rights that we ship, so they are enough for any scheduler."""

from __future__ import annotations

from collections.abc import Mapping

from berthing.api.pod import Pod
from berthing.testing import make_node, make_pod
from e2e.conftest import StartKubeScheduler
from e2e.control_plane import ControlPlane


def test_it_places_a_pod_and_is_denied_nothing(
    control_plane: ControlPlane, start_kube_scheduler: StartKubeScheduler
) -> None:
    control_plane.add_nodes(make_node("small", cpu="1"), make_node("large", cpu="8"))
    scheduler = start_kube_scheduler({})
    control_plane.client.create(make_pod("web", image="app", cpu="2"))
    control_plane.client.wait_for(Pod, lambda pods: pods["default/web"].spec.node_name == "large")
    scheduler.stop()
    assert "forbidden" not in scheduler.log.read_text()


def test_it_tells_why_a_pod_fits_nowhere(
    control_plane: ControlPlane, start_kube_scheduler: StartKubeScheduler
) -> None:
    control_plane.add_nodes(make_node("one"), make_node("two", cordoned=True))
    control_plane.client.create(make_pod("big", image="app", cpu="64"))
    start_kube_scheduler({})
    pods = control_plane.client.wait_for(Pod, is_told_why)
    condition = pods["default/big"].condition("PodScheduled")
    assert condition
    assert condition.message.startswith("0/2 nodes are available: 1 Insufficient cpu, 1 node(s)")


def is_told_why(pods: Mapping[str, Pod]) -> bool:
    condition = pods["default/big"].condition("PodScheduled")
    return condition is not None and condition.reason == "Unschedulable"
