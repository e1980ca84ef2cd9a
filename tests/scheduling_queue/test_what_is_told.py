"""What the queue tells about itself: counts at any time, and what is counted as it goes."""

from __future__ import annotations

from collections import Counter

from berthing.framework import Code
from scheduling_queue.queues import (
    NODE_ADD,
    Gate,
    fail,
    node,
    on,
    only_labelled,
    pod,
    popped,
    queue,
)


class Listener:
    def __init__(self) -> None:
        self.came: Counter[tuple[str, str]] = Counter()
        self.hints: Counter[tuple[str, str, str]] = Counter()
        self.asked: Counter[Code] = Counter()

    def incoming(self, queue: str, event: str) -> None:
        self.came[queue, event] += 1

    def hint(self, plugin: str, event: str, result: str, seconds: float) -> None:
        assert seconds >= 0
        self.hints[plugin, event, result] += 1

    def pre_enqueue(self, profile: str, code: Code, seconds: float) -> None:
        self.asked[code] += 1


def test_every_move_is_told_with_upstreams_labels() -> None:
    listener = Listener()
    waiting = queue(observer=listener, max_in_unschedulable=60)
    waiting.add(pod(), now=0)
    fail(waiting, now=0)
    waiting.move_all(NODE_ADD, None, node(), now=0.1)
    fail(waiting, now=0.2)
    waiting.flush_unschedulable(now=70)
    fail(waiting, now=70, by=[])
    waiting.flush_backoff(now=90)
    fail(waiting, now=90)
    waiting.activate([pod().pod], now=91)
    assert listener.came == {
        ("active", "UnschedulablePodAdd"): 1,
        ("unschedulable", "ScheduleAttemptFailure"): 3,
        ("backoff", "NodeAdd"): 1,
        ("active", "PopFromBackoffQ"): 1,
        ("active", "UnschedulableTimeout"): 1,
        ("backoff", "ScheduleAttemptFailure"): 1,
        ("active", "BackoffComplete"): 1,
        ("active", "ForceActivate"): 1,
    }


def test_hints_and_gates_are_told_with_their_answers() -> None:
    listener = Listener()
    gate = Gate()
    waiting = queue(
        observer=listener, events={"Fit": [on(NODE_ADD, only_labelled)]}, pre_enqueue=[gate]
    )
    gate.closed = {"b"}
    for number, name in enumerate("ab"):
        waiting.add(pod(name), now=number)
    fail(waiting, now=2)
    waiting.move_all(NODE_ADD, None, node(), now=3)
    assert listener.hints == {("Fit", "NodeAdd", "QueueSkip"): 1}
    assert listener.asked == {Code.SUCCESS: 1, Code.UNSCHEDULABLE_AND_UNRESOLVABLE: 1}


def test_counts_at_any_time() -> None:
    waiting = queue(pre_enqueue=[gate := Gate()])
    gate.closed = {"gated"}
    for number, name in enumerate(["gated", "a", "b", "c", "d"]):
        waiting.add(pod(name), now=number)
    fail(waiting, now=9)
    fail(waiting, now=9, by=[])
    popped(waiting)
    waiting.move_all(NODE_ADD, None, node(), now=9.1)
    assert waiting.pending() == {"active": 1, "backoff": 2, "unschedulable": 0, "gated": 1}
    assert waiting.rejections() == {
        ("Gate", "default-scheduler"): 1,
        ("Fit", "default-scheduler"): 1,
    }
    assert waiting.in_flight_events() == {"PodPopped": 1, "NodeAdd": 1}
