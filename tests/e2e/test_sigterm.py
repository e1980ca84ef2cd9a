"""SIGTERM under load: what is under way ends in order, and a new process finishes the rest."""

from __future__ import annotations

import signal

from berthing.api.pod import Pod
from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.load import (
    check_bound_once,
    check_settled,
    events_by_reason,
    nodes_for,
    plain_pods,
    wait_bound,
    wait_in_flight,
)
from e2e.pod_history import revision
from e2e.proxy import Proxy, is_binding
from e2e.waiting import wait_until

BOUND = 50
IN_FLIGHT = 250
LATE = 200


def test_a_new_process_finishes_the_rest(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(*nodes_for(BOUND + IN_FLIGHT + LATE))
    since = revision(control_plane)
    early = plain_pods(BOUND + IN_FLIGHT, prefix="early")
    late = plain_pods(LATE, prefix="late")
    control_plane.client.create_all(early)
    with proxy.holding(is_binding, but_for=BOUND):
        first = start_berthing(through=proxy)
        wait_in_flight(control_plane, first, bound=BOUND, in_flight=IN_FLIGHT)
        first.process.send(signal.SIGTERM)
        first.wait_logged('"Stopping"')
        control_plane.client.create_all(late)
        assert first.process.is_running
    wait_until(lambda: not first.process.is_running)
    assert first.process.stop() == 0
    # What was begun is done and told, and nothing else was begun.
    placed = {pod.name for pod in control_plane.client.list(Pod) if pod.spec.node_name}
    assert placed == {pod.name for pod in early}
    assert events_by_reason(control_plane) == {"Scheduled": {pod.name: 1 for pod in early}}

    second = start_berthing()
    wait_bound(control_plane, len(early) + len(late))
    check_bound_once(control_plane, [*early, *late], since=since)
    check_settled(second, pods=len(early) + len(late))
    assert second.metric("scheduler_schedule_attempts_total") == len(late)
    assert second.process.stop() == 0
    told = events_by_reason(control_plane)
    assert told == {"Scheduled": {pod.name: 1 for pod in [*early, *late]}}


def test_a_second_signal_ends_it_at_once(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(*nodes_for(10))
    berthing = start_berthing(through=proxy)
    with proxy.holding(is_binding) as held:
        control_plane.client.create_all(plain_pods(10))
        held.wait_for(10)
        berthing.process.send(signal.SIGTERM)
        berthing.wait_logged('"Stopping"')
        berthing.process.send(signal.SIGTERM)
        wait_until(lambda: not berthing.process.is_running)
    assert berthing.process.stop() == -signal.SIGTERM
    berthing.process.was_killed = True
