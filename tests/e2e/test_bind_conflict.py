"""A second scheduler binds a pod first: ours finds out, and counts the pod where it is."""

from __future__ import annotations

from berthing.api.events import Event
from berthing.api.pod import Pod
from berthing.testing import make_node, make_pod
from e2e.conftest import StartBerthing, StartKubeScheduler
from e2e.control_plane import ControlPlane
from e2e.kube_scheduler import Config
from e2e.load import check_settled, events_by_reason
from e2e.proxy import Proxy, is_binding

# Ours likes the emptiest node best, the other one the fullest.
FULLEST: Config = {
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {"scoringStrategy": {"type": "MostAllocated"}},
                }
            ]
        }
    ]
}


def pod(name: str, node_name: str = "") -> Pod:
    """A pod that takes what room there is on either node."""
    return make_pod(name, image="app", cpu="600m", memory="1Gi", node_name=node_name)


def test_the_pod_stays_where_the_other_put_it(
    control_plane: ControlPlane,
    proxy: Proxy,
    start_berthing: StartBerthing,
    start_kube_scheduler: StartKubeScheduler,
) -> None:
    empty, half_full = make_node("empty", cpu="1"), make_node("half-full", cpu="1500m")
    control_plane.add_nodes(empty, half_full)
    control_plane.client.create(pod("there", "half-full"))
    berthing = start_berthing(through=proxy)
    with proxy.holding(is_binding) as held:
        control_plane.client.create(pod("first"))
        held.wait_for(1)
        other = start_kube_scheduler(FULLEST)
        wait_on(control_plane, "default/first", "half-full")
        control_plane.client.wait_for(Event, lambda events: len(events) == 1)
        other.stop()
    check_settled(berthing, pods=2)
    assert proxy.statuses(is_binding) == [409]
    # The room that it was to have is free, that which it has is not.
    control_plane.client.create(pod("second"))
    wait_on(control_plane, "default/second", "empty")
    check_settled(berthing, pods=3)
    assert berthing.process.stop() == 0
    assert events_by_reason(control_plane) == {"Scheduled": {"first": 1, "second": 1}}
    assert proxy.statuses(is_binding) == [409, 201]


def wait_on(control_plane: ControlPlane, key: str, node_name: str) -> None:
    control_plane.client.wait_for(
        Pod, lambda pods: key in pods and pods[key].spec.node_name == node_name
    )
