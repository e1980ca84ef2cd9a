"""etcd stops for 20 s while 500 pods are in flight, as on a disk that hangs: nothing is lost."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

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
from e2e.processes import Process
from e2e.proxy import Proxy, is_binding
from e2e.waiting import wait_until

IN_FLIGHT = 500
BOUND = 50
SECONDS = 20.0


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
        control_plane.etcd.send(signal.SIGSTOP)
    with goes_on(control_plane.etcd):
        end = time.monotonic() + SECONDS

        def is_over() -> bool:
            # All the while the scheduler answers, and takes nothing for done.
            assert berthing.is_healthy
            assert berthing.metrics().bindings == IN_FLIGHT
            return time.monotonic() > end

        wait_until(is_over, timeout=2 * SECONDS, meanwhile=berthing.process.check)
    wait_bound(control_plane, count)
    check_bound_once(control_plane, pods, since=since)
    # That the answer took long is no failure that users are told of.
    assert "FailedScheduling" not in events_by_reason(control_plane)
    check_settled(berthing, pods=count)


@contextmanager
def goes_on(process: Process) -> Iterator[None]:
    """Let a process that was stopped go on after the block."""
    try:
        yield
    finally:
        process.send(signal.SIGCONT)
