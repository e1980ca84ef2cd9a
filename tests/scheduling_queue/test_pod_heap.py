"""Pods in order, with some leaving from the middle."""

from __future__ import annotations

import random

from berthing.queue.pod_heap import PodHeap
from berthing.queue.queued_pod import QueuedPod
from scheduling_queue.queues import pod


def pods(count: int) -> list[QueuedPod]:
    return [QueuedPod.new(pod(f"p{number}"), now=number) for number in range(count)]


def taken(heap: PodHeap) -> list[QueuedPod]:
    found = []
    while (queued := heap.pop()) is not None:
        found.append(queued)
    return found


def test_equal_keys_leave_in_the_order_they_came() -> None:
    heap = PodHeap(lambda queued: 0)
    waiting = pods(20)
    for queued in waiting:
        heap.push(queued)
    assert taken(heap) == waiting


def test_a_pod_pushed_again_has_its_new_key() -> None:
    heap = PodHeap(lambda queued: queued.timestamp)
    first, second = pods(2)
    heap.push(first)
    heap.push(second)
    first.timestamp = 9
    heap.push(first)
    assert list(heap) == taken(heap) == [second, first]


def test_pods_that_left_from_the_middle_are_passed_over_and_swept_out() -> None:
    heap = PodHeap(lambda queued: queued.timestamp)
    waiting = pods(500)
    for queued in random.Random(7).sample(waiting, len(waiting)):
        heap.push(queued)
    for queued in waiting[10:]:
        heap.remove(queued)
    assert len(heap) == 10
    assert len(heap._entries) < 100
    assert heap.peek() is waiting[0]
    assert taken(heap) == waiting[:10]
