"""What users read of pods that fit nowhere is byte for byte what kube-scheduler writes there.

One cluster; kube-scheduler writes events and conditions, all pods are made anew, Berthing writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple

import pytest

from berthing.api.events import Event
from berthing.api.pod import Pod
from berthing.testing import (
    ZONE,
    make_affinity_term,
    make_node,
    make_node_term,
    make_pod,
    make_spread_constraint,
    make_taint,
    make_toleration,
    tolerate,
)
from e2e.conftest import StartBerthing, StartKubeScheduler
from e2e.control_plane import ControlPlane
from e2e.pods import add_priority_class, create_pod, of_class

DEDICATED = make_taint("dedicated", "db")
SSD = {"disk": "ssd"}
WEB = {"app": "web"}
MANY = {
    f"example.com/an-accelerator-with-a-very-long-name-{number:02}": "1" for number in range(20)
}

NODES = (
    make_node("small", cpu="1", zone="a", labels=SSD),
    make_node("tainted", zone="a", taints=[DEDICATED], labels=SSD),
    make_node("cordoned", zone="b", cordoned=True),
    make_node("full", zone="b", pods="1"),
    make_node("slim", zone="c", memory="1Gi"),
    make_node("nowhere", resources={"example.com/gpu": "1"}),
)

THERE = (
    make_pod("on-full", image="app", node_name="full", labels=WEB),
    make_pod("on-small", image="app", node_name="small", labels=WEB, host_ports=[8080]),
    make_pod(
        "on-slim",
        image="app",
        node_name="slim",
        labels={"app": "lonely"},
        pod_anti_affinity=[make_affinity_term({"app": "crowd"}, topology_key=ZONE)],
    ),
)

PENDING: tuple[Pod, ...] = (
    make_pod("much-cpu", cpu="64"),
    make_pod("much-memory", memory="1Ti"),
    make_pod("much-of-both", cpu="64", memory="1Ti"),
    make_pod("gpus", requests={"example.com/gpu": "2"}),
    make_pod("long-text", requests=MANY),
    make_pod("little-cpu-on-ssd", cpu="2", node_selector=SSD),
    make_pod("tolerant", cpu="8", tolerations=[tolerate(DEDICATED)]),
    make_pod("tolerates-all", cpu="8", tolerations=[make_toleration()]),
    make_pod("no-such-label", node_selector={"disk": "tape"}),
    make_pod("named", node_affinity=[make_node_term(node_name="small")], cpu="2"),
    make_pod("named-twice", node_affinity=[make_node_term(node_name="gone")]),
    make_pod("port", node_selector=SSD, host_ports=[8080]),
    make_pod("alone", pod_anti_affinity=[make_affinity_term(WEB, topology_key=ZONE)], cpu="2"),
    make_pod("together", pod_affinity=[make_affinity_term({"app": "none"}, topology_key=ZONE)]),
    make_pod("crowd", labels={"app": "crowd"}, node_selector={ZONE: "c"}),
    make_pod("spread", labels=WEB, node_selector={ZONE: "a"}, spread=[make_spread_constraint(WEB)]),
    make_pod("spread-by-rack", spread=[make_spread_constraint(WEB, topology_key="rack")]),
    of_class("meek", make_pod("meek", cpu="64")),
    make_pod("gated", cpu="64", scheduling_gates=["wait"]),
    # It fits on one node.
    make_pod("fits", node_selector={ZONE: "c"}),
)


class Word(NamedTuple):
    """An event, but for what is different each time."""

    type: str
    reason: str
    action: str
    note: str
    reporting_controller: str
    reporting_instance: str
    regarding: tuple[str, str, str, str]
    namespace: str


class Told(NamedTuple):
    """What users see of a pod."""

    events: frozenset[Word]
    # Type, status, reason, message, generation.
    conditions: tuple[tuple[str, str, str, str, int], ...]
    nominated_node_name: str


Write = Callable[[Sequence[Pod]], Mapping[str, Told]]


@pytest.fixture
def upstream(control_plane: ControlPlane, start_kube_scheduler: StartKubeScheduler) -> Write:
    """Have kube-scheduler look at pods; what it told of each."""

    @contextmanager
    def scheduling() -> Iterator[None]:
        scheduler = start_kube_scheduler({})
        yield
        scheduler.stop()

    return lambda pods: told_of(control_plane, pods, scheduling)


@pytest.fixture
def ours(control_plane: ControlPlane, start_berthing: StartBerthing) -> Write:
    """Have Berthing look at pods; what it told of each."""

    @contextmanager
    def scheduling() -> Iterator[None]:
        berthing = start_berthing()
        yield
        assert berthing.process.stop() == 0

    return lambda pods: told_of(control_plane, pods, scheduling)


def test_on_a_cluster_where_each_node_lacks_something_else(
    control_plane: ControlPlane, upstream: Write, ours: Write
) -> None:
    control_plane.add_nodes(*NODES)
    control_plane.client.create_all(THERE)
    add_priority_class(control_plane, "meek", 0, "Never")
    expected = upstream(PENDING)
    assert ours(PENDING) == expected
    # And upstream said what this test is about.
    texts = {
        name: [word.note for word in told.events] for name, told in expected.items() if told.events
    }
    assert "gated" not in texts
    assert texts["fits"] == ["Successfully assigned default/fits to slim"]
    assert len(texts["long-text"][0]) == 1024
    refused = {text for name, (text, *_) in texts.items() if name != "fits"}
    assert len(refused) == len(PENDING) - 2


def test_on_a_cluster_without_nodes(upstream: Write, ours: Write) -> None:
    pods = [make_pod("early")]
    expected = upstream(pods)
    assert ours(pods) == expected
    (event,) = expected["early"].events
    assert event.note == "no nodes available to schedule pods"


def told_of(
    control_plane: ControlPlane,
    pods: Sequence[Pod],
    scheduling: Callable[[], AbstractContextManager[None]],
) -> Mapping[str, Told]:
    """Make the pods, have them scheduled, and take them away again."""
    client = control_plane.client
    for pod in pods:
        create_pod(control_plane, pod)
    heard = {pod.name for pod in pods if not pod.spec.scheduling_gates}
    with scheduling():
        client.wait_for(Pod, lambda seen: all(map(is_told, seen.values())))
        client.wait_for(Event, lambda seen: {e.regarding.name for e in seen.values()} == heard)
    told = {pod.name: of_pod(control_plane, pod.name) for pod in pods}
    for pod in pods:
        client.delete(Pod, pod.name)
    for event in client.list(Event):
        client.delete(Event, event.name)
    return told


def of_pod(control_plane: ControlPlane, name: str) -> Told:
    pod = control_plane.client.get(Pod, name)
    # When it was is told, too.
    assert all(each.last_transition_time for each in pod.status.conditions)
    return Told(
        events=frozenset(
            word(event)
            for event in control_plane.client.list(Event)
            if event.regarding.name == name
        ),
        conditions=tuple(
            (each.type, each.status, each.reason, each.message, each.observed_generation)
            for each in pod.status.conditions
        ),
        nominated_node_name=pod.status.nominated_node_name,
    )


def word(event: Event) -> Word:
    regarding = event.regarding
    assert event.event_time
    assert regarding.uid
    assert regarding.resource_version
    return Word(
        type=event.type,
        reason=event.reason,
        action=event.action,
        note=event.note,
        reporting_controller=event.reporting_controller,
        reporting_instance=event.reporting_instance,
        regarding=(
            regarding.api_version,
            regarding.kind,
            regarding.namespace,
            regarding.name,
        ),
        namespace=event.namespace,
    )


def is_told(pod: Pod) -> bool:
    return bool(pod.spec.node_name) or pod.condition("PodScheduled") is not None
