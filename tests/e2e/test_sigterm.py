"""SIGTERM under load: what is under way ends in order, and a new process finishes the rest."""

from __future__ import annotations

import signal

from berthing.api.pod import Pod
from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.load import bound, check_bound_once, events_by_reason, nodes_for, plain_pods, wait_bound
from e2e.pod_history import revision
from e2e.proxy import Proxy, is_binding
from e2e.waiting import wait_until


def test_a_new_process_finishes_the_rest(
    control_plane: ControlPlane, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(*nodes_for(500))
    berthing = start_berthing({"clientConnection": {"qps": 100, "burst": 100}})
    since = revision(control_plane)
    early, late = plain_pods(300, prefix="early"), plain_pods(200, prefix="late")
    control_plane.client.create_all(early)
    wait_bound(control_plane, 1)
    berthing.process.send(signal.SIGTERM)
    berthing.wait_logged('"Stopping"')
    control_plane.client.create_all(late)
    assert berthing.process.stop() == 0
    first = {pod.name: pod.spec.node_name for pod in control_plane.client.list(Pod)}
    # Nothing was begun, and nothing that was begun was left.
    assert [name for name, node in first.items() if node and name.startswith("late")] == []
    told = events_by_reason(control_plane)
    assert told == {"Scheduled": {name: 1 for name, node in first.items() if node}}

    start_berthing()
    wait_bound(control_plane, 500)
    check_bound_once(control_plane, [*early, *late], since=since)
    second = {pod.name: pod.spec.node_name for pod in control_plane.client.list(Pod)}
    assert {name: second[name] for name, node in first.items() if node} == {
        name: node for name, node in first.items() if node
    }


def test_bindings_under_way_are_waited_for(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(*nodes_for(20, count=2))
    berthing = start_berthing(through=proxy)
    pods = plain_pods(20)
    with proxy.holding(is_binding) as held:
        control_plane.client.create_all(pods)
        held.wait_for(20)
        berthing.process.send(signal.SIGTERM)
        berthing.wait_logged('"Stopping"')
        assert bound({pod.name: pod for pod in control_plane.client.list(Pod)}) == 0
        assert berthing.process.is_running
    wait_until(lambda: not berthing.process.is_running)
    assert berthing.process.stop() == 0
    assert bound({pod.name: pod for pod in control_plane.client.list(Pod)}) == 20
    # Their events have been written, too.
    assert events_by_reason(control_plane) == {"Scheduled": {pod.name: 1 for pod in pods}}
