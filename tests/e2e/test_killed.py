"""A scheduler is killed, and its last bindings arrive while the next one is at work already."""

from __future__ import annotations

from berthing.testing import make_node
from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.load import check_bound_once, check_settled, plain_pods, wait_bound
from e2e.pod_history import revision
from e2e.proxy import Proxy, is_binding

PODS = 60


def test_each_pod_is_bound_by_one_of_them(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing
) -> None:
    # Enough room for both to be right about.
    control_plane.add_nodes(*(make_node(f"node-{number}") for number in range(10)))
    since = revision(control_plane)
    pods = plain_pods(PODS)
    control_plane.client.create_all(pods)
    with proxy.holding(is_binding) as held:
        first = start_berthing(through=proxy)
        held.wait_for(PODS)
        first.process.kill()
        second = start_berthing(through=proxy)
        held.wait_for(2 * PODS)
    wait_bound(control_plane, PODS)
    check_settled(second, pods=PODS)
    check_bound_once(control_plane, pods, since=since)
    # Of two bindings of a pod one is turned down.
    assert sorted(proxy.statuses(is_binding)) == [201] * PODS + [409] * PODS
