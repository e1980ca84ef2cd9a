"""The API server is killed while 500 pods are in flight, and is back: each is bound exactly once.

It may also be away when the scheduler starts.
"""

from __future__ import annotations

from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.load import (
    check_bound_once,
    check_settled,
    nodes_for,
    plain_pods,
    wait_bound,
    wait_in_flight,
)
from e2e.pod_history import revision
from e2e.proxy import Proxy, is_binding

IN_FLIGHT = 500
BOUND = 50


def test_all_are_bound_exactly_once(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing
) -> None:
    count = BOUND + IN_FLIGHT
    control_plane.add_nodes(*nodes_for(count))
    since = revision(control_plane)
    pods = plain_pods(count)
    control_plane.client.create_all(pods)
    with proxy.holding(is_binding, but_for=BOUND):
        berthing = start_berthing(through=proxy)
        wait_in_flight(control_plane, berthing, bound=BOUND, in_flight=IN_FLIGHT)
    # They are all on their way now: some get there, some are carried out without an answer.
    control_plane.api_server.kill()
    assert berthing.is_healthy
    # It asks again and again what became of them.
    berthing.wait_logged("Cannot tell whether pod is bound")
    control_plane.start()
    wait_bound(control_plane, count)
    check_bound_once(control_plane, pods, since=since)
    check_settled(berthing, pods=count)


def test_a_scheduler_waits_for_a_server_that_is_not_there_yet(
    control_plane: ControlPlane, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(*nodes_for(10))
    control_plane.client.create_all(plain_pods(10))
    control_plane.api_server.kill()
    berthing = start_berthing(ready=False)
    berthing.wait_logged("Connection refused")
    # It may be stopped before it has begun.
    assert berthing.process.stop() == 0
    berthing = start_berthing(ready=False)
    berthing.wait_logged("Connection refused")
    control_plane.start()
    berthing.wait_ready()
    wait_bound(control_plane, 10)
    check_settled(berthing, pods=10)
