from __future__ import annotations

import pytest

from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.framework import QueueingHint, Status
from berthing.plugins.scheduling_gates import SchedulingGates
from berthing.testing import make_node, make_pod
from plugins.harness import fake_handle

GATED = make_pod(scheduling_gates=["second", "first"])
PLUGIN = SchedulingGates(None, fake_handle())


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(make_pod(), None, id="a pod without gates enters"),
        pytest.param(
            make_pod(scheduling_gates=["one"]),
            Status.unresolvable("waiting for scheduling gates: [one]"),
            id="a pod with a gate waits",
        ),
        pytest.param(
            GATED,
            Status.unresolvable("waiting for scheduling gates: [second first]"),
            id="gates are named in the order of the spec",
        ),
    ],
)
def test_pre_enqueue(pod: Pod, expected: Status | None) -> None:
    assert PLUGIN.pre_enqueue(PodInfo.of(pod)) == expected


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param(make_pod(), QueueingHint.QUEUE, id="its own gates are gone"),
        pytest.param(make_pod("other"), QueueingHint.SKIP, id="another pod's gates are gone"),
    ],
)
def test_hint(changed: Pod, expected: QueueingHint) -> None:
    (registered,) = PLUGIN.events_to_register()
    assert registered.event.label == "PodUpdatePodSchedulingGatesEliminated"
    assert registered.hint is not None
    assert registered.hint(PodInfo.of(GATED), GATED, changed) is expected


def test_hint_raises_over_anything_but_a_pod() -> None:
    with pytest.raises(TypeError, match="expected a Pod, got Node"):
        PLUGIN.after_gates_are_gone(PodInfo.of(GATED), None, make_node())
