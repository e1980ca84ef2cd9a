"""A pod that is tried in vain again and again: one event becomes a series, as kube-scheduler makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from berthing.api.events import Event
from berthing.api.pod import Pod
from berthing.testing import make_node, make_pod
from e2e.conftest import StartBerthing, StartKubeScheduler
from e2e.control_plane import ControlPlane

LEAVING = ("first", "second")


@pytest.mark.parametrize("who", ["berthing", "kube-scheduler"])
def test_the_third_failure_is_counted_with_the_second(
    control_plane: ControlPlane,
    start_berthing: StartBerthing,
    start_kube_scheduler: StartKubeScheduler,
    who: str,
) -> None:
    control_plane.add_nodes(make_node("node"))
    for name in LEAVING:
        control_plane.client.create(make_pod(name, image="app", node_name="node"))
    control_plane.client.create(make_pod("big", image="app", cpu="64"))
    start: Mapping[str, Callable[[], object]] = {
        "berthing": start_berthing,
        "kube-scheduler": lambda: start_kube_scheduler({}),
    }
    start[who]()
    # The condition that comes with the first changes the pod, and so what events are about.
    first = wait_for_counts(control_plane, [1])
    since = scheduled_condition(control_plane)
    # Room that is given back is a reason to try, even if it is not enough.
    control_plane.client.delete(Pod, "first")
    wait_for_counts(control_plane, [1, 1])
    control_plane.client.delete(Pod, "second")
    told = wait_for_counts(control_plane, [1, 2])
    assert {event.note for event in told} == {first[0].note}
    assert all(event.series.last_observed_time for event in told if event.series)
    # It has been so since the first time.
    assert scheduled_condition(control_plane) == since


def wait_for_counts(control_plane: ControlPlane, counts: list[int]) -> list[Event]:
    """Wait for so many events about the pod, each counted so often."""

    def told(events: Mapping[str, Event]) -> list[Event]:
        about = [event for event in events.values() if event.regarding.name == "big"]
        return sorted(about, key=lambda event: event.name)

    return told(
        control_plane.client.wait_for(
            Event, lambda events: list(map(count, told(events))) == counts
        )
    )


def count(event: Event) -> int:
    return event.series.count if event.series else 1


def scheduled_condition(control_plane: ControlPlane) -> object:
    pods = control_plane.client.wait_for(
        Pod, lambda pods: pods["default/big"].condition("PodScheduled") is not None
    )
    return pods["default/big"].condition("PodScheduled")
