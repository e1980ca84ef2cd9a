"""A server that turns everything away at first, and says when to come back."""

from __future__ import annotations

from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.load import check_bound_once, events_by_reason, nodes_for, plain_pods, wait_bound
from e2e.pod_history import revision
from e2e.proxy import Answer, Proxy, Request, is_binding

TOO_MANY = Answer(
    429, {"Retry-After": "1"}, b'{"kind":"Status","code":429,"reason":"TooManyRequests"}'
)


def test_each_request_is_turned_away_twice_and_gets_there(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(*nodes_for(200))
    pods = plain_pods(200)
    since = revision(control_plane)
    control_plane.client.create_all(pods)
    with proxy.answering(anything, TOO_MANY, times=2) as storm:
        berthing = start_berthing(through=proxy)
        wait_bound(control_plane, 200)
        # Each binding, and each kind that it lists and watches.
        assert storm.count > 2 * 200 + 2 * 15
    assert berthing.process.stop() == 0
    check_bound_once(control_plane, pods, since=since)
    assert sorted(proxy.statuses(is_binding)) == [201] * 200 + [429] * 400
    # Being asked to wait is no failure, and nothing that was to be told is lost.
    assert events_by_reason(control_plane) == {"Scheduled": {pod.name: 1 for pod in pods}}


def anything(_: Request) -> bool:
    return True
