from __future__ import annotations

from typing import NamedTuple, cast

import pytest

from berthing.api.pod_info import PodInfo
from berthing.framework import QueuedPodInfo
from berthing.plugins.priority_sort import PrioritySort
from berthing.testing import make_pod
from plugins.harness import fake_handle


class Waiting(NamedTuple):
    """The little of a queued pod that is compared."""

    pod_info: PodInfo
    timestamp: float


def waiting(priority: int, timestamp: float) -> QueuedPodInfo:
    info = PodInfo.of(make_pod(priority=priority))
    return cast("QueuedPodInfo", Waiting(info, timestamp))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(
            waiting(10, 2.0), waiting(5, 1.0), True, id="the more important one goes first"
        ),
        pytest.param(waiting(5, 1.0), waiting(10, 2.0), False, id="however long the other waited"),
        pytest.param(waiting(5, 1.0), waiting(5, 2.0), True, id="among equals the earlier one"),
        pytest.param(waiting(5, 2.0), waiting(5, 1.0), False, id="among equals not the later one"),
        pytest.param(waiting(5, 1.0), waiting(5, 1.0), False, id="a tie puts neither first"),
        pytest.param(waiting(-1, 1.0), waiting(0, 2.0), False, id="priorities may be negative"),
    ],
)
def test_order(first: QueuedPodInfo, second: QueuedPodInfo, expected: bool) -> None:
    assert PrioritySort(None, fake_handle()).less(first, second) is expected
