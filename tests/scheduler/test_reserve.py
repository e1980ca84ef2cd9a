"""Reserve: what was taken is given back, in reverse order, whoever objects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from berthing.framework import Status
from berthing.testing import make_node, make_pod
from scheduler.stories import make_plugin, samples, scheduling, story


def no(*_: object) -> Status:
    return Status.unschedulable("sold out")


def breaks(*_: object) -> Status:
    raise OSError("sold out")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param(no, "Unschedulable: 0/1 nodes are available: 1 sold out.", id="a no"),
        pytest.param(breaks, 'SchedulerError: running Reserve plugin "B": sold out', id="an error"),
    ],
)
@story
async def test_all_give_back_in_reverse_order(answer: Callable[..., Status], message: str) -> None:
    calls: list[str] = []
    plugins = [
        make_plugin("A", calls=calls, reserve=None),
        make_plugin("B", calls=calls, reserve=answer),
        make_plugin("C", calls=calls, reserve=None),
    ]
    async with scheduling(*plugins, nodes=[make_node("n", cpu="1")]) as world:
        await world.comes(make_pod("a", cpu="1"))
        assert calls == ["A reserve", "B reserve", "C unreserve", "B unreserve", "A unreserve"]
        assert world.api.conditions("a") == [message]
        assert world.requested_cpu("n") == 0
        assert "bind a to n" not in world.api.said


@story
async def test_one_that_breaks_while_giving_back_stops_nobody() -> None:
    calls: list[str] = []
    plugins = [
        make_plugin("A", calls=calls, reserve=None),
        make_plugin("B", calls=calls, reserve=None, unreserve=OSError("stuck")),
        make_plugin("C", calls=calls, reserve=Status.unschedulable("no")),
    ]
    async with scheduling(*plugins, nodes=[make_node("n")]) as world:
        await world.comes(make_pod("a"))
        assert calls[-3:] == ["C unreserve", "B unreserve", "A unreserve"]
        assert world.where("a") == "unschedulable"


@story
async def test_what_is_measured() -> None:
    async with scheduling(
        make_plugin("A", reserve=Status.unresolvable("no")), nodes=[make_node("n")]
    ) as world:
        await world.comes(make_pod("a"))
        points = world.scheduler.metrics.framework_extension_point_duration_seconds
        assert samples(points, "Reserve", "UnschedulableAndUnresolvable") == 1
        assert samples(points, "Unreserve", "Success") == 1
        assert samples(points, "Permit") == 0
