"""Bindings whose answers are lost: they are looked up, and nothing is bound twice or told as failed."""

from __future__ import annotations

from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.load import (
    check_bound_once,
    check_settled,
    events_by_reason,
    nodes_for,
    plain_pods,
    wait_bound,
)
from e2e.pod_history import revision
from e2e.proxy import Proxy, is_binding


def test_pods_are_bound_once_and_nobody_hears_of_a_failure(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(*nodes_for(50))
    berthing = start_berthing(through=proxy)
    since = revision(control_plane)
    pods = plain_pods(50)
    with proxy.losing_answers(is_binding) as lost:
        control_plane.client.create_all(pods)
        wait_bound(control_plane, 50)
        check_settled(berthing, pods=50)
    assert lost.count == 50
    check_bound_once(control_plane, pods, since=since)
    assert berthing.process.stop() == 0
    assert events_by_reason(control_plane) == {"Scheduled": {pod.name: 1 for pod in pods}}
