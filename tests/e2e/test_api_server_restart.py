"""The API server is killed while 500 pods are in flight, and is back: each is bound exactly once."""

from __future__ import annotations

from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.load import bound, check_bound_once, check_settled, nodes_for, plain_pods, wait_bound
from e2e.pod_history import revision
from e2e.waiting import wait_until

PODS = 500
# All are decided about at once, and bound in the course of some seconds.
SLOWLY = {"clientConnection": {"qps": 100, "burst": 100}}


def test_all_are_bound_exactly_once(
    control_plane: ControlPlane, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(*nodes_for(PODS))
    since = revision(control_plane)
    pods = plain_pods(PODS)
    control_plane.client.create_all(pods)
    berthing = start_berthing(SLOWLY)

    def all_are_in_flight() -> bool:
        now = berthing.metrics()
        return now.bindings == PODS - now.sum("scheduler_schedule_attempts_total")

    wait_until(all_are_in_flight)
    seen = wait_bound(control_plane, 1)
    control_plane.api_server.kill()
    assert bound(seen) < PODS
    assert berthing.metrics().bindings > 0
    assert berthing.is_healthy
    # It asks again and again, and finds nobody there.
    berthing.wait_logged("Cannot tell whether pod is bound")
    control_plane.start()
    wait_bound(control_plane, PODS)
    check_bound_once(control_plane, pods, since=since)
    check_settled(berthing, pods=PODS)
