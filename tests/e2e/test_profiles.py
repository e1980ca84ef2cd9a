"""Two profiles in one process: each places its own pods by its own rules, under its own name."""

from __future__ import annotations

import socket

from berthing.api.events import Event
from berthing.api.pod import Pod
from berthing.testing import make_node, make_pod
from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.kube_scheduler import Config
from e2e.load import check_settled


def profile(name: str, strategy: str) -> Config:
    args = {"scoringStrategy": {"type": strategy}}
    plugins = [{"name": "NodeResourcesFit", "args": args}]
    return {"schedulerName": name, "pluginConfig": plugins}


PROFILES = {"profiles": [profile("spread", "LeastAllocated"), profile("pack", "MostAllocated")]}


def test_each_pod_is_placed_by_the_profile_that_it_names(
    control_plane: ControlPlane, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(make_node("empty"), make_node("busy"))
    there = make_pod("there", image="app", cpu="2", memory="8Gi", node_name="busy")
    control_plane.client.create(there)
    berthing = start_berthing(PROFILES)
    for name in ("spread", "pack", "default-scheduler"):
        pod = make_pod(f"of-{name}", image="app", cpu="1", memory="4Gi", scheduler_name=name)
        control_plane.client.create(pod)
    pods = control_plane.client.wait_for(
        Pod, lambda pods: sum(1 for pod in pods.values() if pod.spec.node_name) == 3
    )
    assert pods["default/of-spread"].spec.node_name == "empty"
    assert pods["default/of-pack"].spec.node_name == "busy"
    check_settled(berthing, pods=3)
    assert berthing.process.stop() == 0
    # Of others' pods nothing is said.
    other = control_plane.client.get(Pod, "of-default-scheduler")
    assert not other.spec.node_name
    assert other.condition("PodScheduled") is None
    host = socket.gethostname()
    assert {
        event.regarding.name: (event.reporting_controller, event.reporting_instance)
        for event in control_plane.client.list(Event)
    } == {"of-spread": ("spread", f"spread-{host}"), "of-pack": ("pack", f"pack-{host}")}


def test_attempts_are_counted_by_profile(
    control_plane: ControlPlane, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(make_node("node", cpu="1"))
    berthing = start_berthing(PROFILES)
    control_plane.client.create(make_pod("fits", image="app", cpu="1", scheduler_name="spread"))
    control_plane.client.create(make_pod("big", image="app", cpu="2", scheduler_name="pack"))
    attempts = "scheduler_schedule_attempts_total"
    berthing.wait_metric(attempts, 1, profile="spread", result="scheduled")
    berthing.wait_metric(attempts, 1, profile="pack", result="unschedulable")
    assert berthing.metric(attempts) == 2
    assert berthing.metric("scheduler_unschedulable_pods", profile="pack") == 1
