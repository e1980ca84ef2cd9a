"""etcd stops for 20 s in the middle of 500 bindings, as on a disk that hangs: nothing is lost."""

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
)
from e2e.pod_history import revision
from e2e.processes import Process
from e2e.waiting import wait_until

PODS = 500
SECONDS = 20.0
# So that there is something left to do when it stops.
SLOWLY = {"clientConnection": {"qps": 100, "burst": 100}}


def test_all_are_bound_exactly_once(
    control_plane: ControlPlane, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(*nodes_for(PODS))
    since = revision(control_plane)
    pods = plain_pods(PODS)
    control_plane.client.create_all(pods)
    berthing = start_berthing(SLOWLY)
    wait_bound(control_plane, 1)
    with stopped(control_plane.etcd):
        since_when = time.monotonic()
        assert berthing.metrics().bindings > 0

        def is_over() -> bool:
            # All the while the scheduler answers.
            assert berthing.is_healthy
            return time.monotonic() > since_when + SECONDS

        wait_until(is_over, timeout=2 * SECONDS, meanwhile=berthing.process.check)
    wait_bound(control_plane, PODS)
    check_bound_once(control_plane, pods, since=since)
    # That the answer took long is no failure that users are told of.
    assert "FailedScheduling" not in events_by_reason(control_plane)
    check_settled(berthing, pods=PODS)


@contextmanager
def stopped(process: Process) -> Iterator[None]:
    """Keep a process from running, though it is there, for the length of the block."""
    process.send(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send(signal.SIGCONT)
