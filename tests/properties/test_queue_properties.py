"""Whatever happens to a queue, in whatever order: every pod is in the one place where it belongs.

`Model` is told the rules of the queue and keeps pods in a plain dict: each knows what happened while
it was in flight, and nothing is indexed.  After every step it must agree with the queue about all
places, waits, reasons, kept events and nominations; pods must leave both in the same order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from berthing.api.node import Node
from berthing.api.pod_info import PodInfo
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
    Status,
)
from berthing.queue.queued_pod import Place, QueuedPod
from berthing.testing import make_node, make_pod
from scheduling_queue.queues import NODE_ADD, PV_ADD, Gate, on, queue

# Few, so that what happens mostly happens to what is there.
GROUPS = ["red", "blue"]
NODES = ["n", "m"]
PLUGINS = ["ByGroup", "Always", "OnLabel"]

PVC_ADD = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)
POD_LABEL = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_LABEL)

MAX_BACKOFF, MAX_STAY = 4, 20

# What happened, to whom; and which plugins say Queue to it, for whose pods.
Event = tuple[str, str]


@dataclass
class Mine:
    """A pod as the model has it; `place` is "away" once nobody but the API server has it."""

    uid: str
    priority: int
    # As the queue has it; the API server may show another by now.
    group: str
    stamp: float
    place: str = ""
    shown_group: str = ""
    gone: bool = False
    gated: bool = False
    plugins: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    fails: int = 0
    errors: int = 0
    until: float = -math.inf
    flushed_at: float = -math.inf
    seen: list[Event] = field(default_factory=list)

    @property
    def order(self) -> tuple[int, float]:
        return -self.priority, self.stamp


class Model:
    """The rules, applied to every pod one by one."""

    def __init__(self) -> None:
        self.pods: dict[str, Mine] = {}
        self.closed: set[str] = set()
        self.nominated: dict[str, str] = {}
        self.now = 0.0

    def at(self, *places: str) -> list[Mine]:
        return [pod for pod in self.pods.values() if pod.place in places]

    def enter(self, uid: str, priority: int, group: str) -> None:
        pod = self.pods[uid] = Mine(uid, priority, group, self.now, shown_group=group)
        self.admit(pod, "active")

    def admit(self, pod: Mine, place: str) -> None:
        pod.gated = pod.group in self.closed
        if pod.gated:
            pod.plugins.add("Gate")
        pod.place = "unschedulable" if pod.gated else place

    def pop(self) -> Mine | None:
        ready = sorted(self.at("active"), key=lambda pod: pod.order)
        waits = sorted(self.at("backoff"), key=lambda pod: (pod.until, pod.order))
        for pod in ready or waits:
            pod.place, pod.seen = "in flight", []
            return pod
        return None

    def happened(self, event: Event) -> None:
        for pod in self.at("in flight"):
            pod.seen.append(event)

    def verdict(self, pod: Mine, event: Event) -> str:
        what, whose = event
        if not pod.plugins and not pod.pending:
            return "after backoff"
        if what in ("activate", "timeout"):
            return "after backoff" if whose in ("", pod.uid) else "skip"
        says_queue = {
            "node": {"ByGroup"} if whose == pod.group else set(),
            "volume": {"Always"},
            "claim": {"Gate"},
            "label": {"OnLabel"},
            "update": set(),
        }[what]
        if says_queue & pod.pending:
            return "at once"
        return "after backoff" if says_queue & pod.plugins else "skip"

    def requeue(self, pod: Mine, verdict: str) -> None:
        if verdict == "skip":
            pod.place = "unschedulable"
        elif verdict == "after backoff" and pod.until >= math.floor(self.now):
            self.admit(pod, "backoff" if pod.plugins or pod.pending else "error backoff")
        else:
            self.admit(pod, "active")

    def event(self, event: Event) -> None:
        for pod in self.at("unschedulable"):
            if not pod.gated or event[0] in ("claim", "timeout"):
                verdict = self.verdict(pod, event)
                if verdict != "skip":
                    self.requeue(pod, verdict)
        self.happened(event)

    def fail(self, pod: Mine, plugins: set[str], pending: set[str]) -> bool:
        if pod.gone:
            del self.pods[pod.uid]
            return False
        pod.group, pod.plugins, pod.pending = pod.shown_group, set(plugins), set(pending)
        pod.stamp, pod.flushed_at = self.now, -math.inf
        if plugins or pending:
            pod.fails, pod.errors = pod.fails + 1, 0
        else:
            pod.errors += 1
        wait = min(2 ** ((pod.errors or pod.fails) - 1), MAX_BACKOFF)
        pod.until = math.floor(self.now + wait)
        verdicts = [self.verdict(pod, event) for event in pod.seen]
        if not plugins and not pending:
            verdicts = ["after backoff"]
        best = next((v for v in ("at once", "after backoff") if v in verdicts), "skip")
        self.requeue(pod, best)
        return True


class AnyHistory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.gate = GroupGate()
        self.queue = queue(
            events={
                "ByGroup": [on(NODE_ADD, by_group)],
                "Always": [on(PV_ADD)],
                "OnLabel": [on(POD_LABEL)],
                "Gate": [ClusterEventWithHint(PVC_ADD)],
            },
            pre_enqueue=[self.gate],
            max_backoff=MAX_BACKOFF,
            max_in_unschedulable=MAX_STAY,
        )
        self.popped: dict[str, QueuedPod] = {}
        self.count = 0

    # What can happen.

    @rule(priority=st.integers(0, 1), group=st.sampled_from(GROUPS))
    def add(self, priority: int, group: str) -> None:
        self.count += 1
        uid = f"u{self.count}"
        self.model.enter(uid, priority, group)
        self.queue.add(shown(uid, priority, group), now=self.tick())

    @rule(data=st.data(), group=st.sampled_from(GROUPS))
    def update(self, data: st.DataObject, group: str) -> None:
        pod = self.pick(data, *PLACES, "away")
        if pod is None:
            return
        event = ("label" if group != pod.shown_group else "update", pod.uid)
        pod.shown_group = group
        if pod.place == "away":
            self.model.enter(pod.uid, pod.priority, group)
            if self.model.pods[pod.uid].place == "active":
                # Now it goes by its status, which says nothing.
                self.model.nominated.pop(pod.uid, None)
        elif pod.place == "in flight":
            self.model.happened(event)
        else:
            pod.group = group
            if pod.uid in self.model.nominated:
                self.model.nominated[pod.uid] = self.model.nominated.pop(pod.uid)
            if pod.place == "unschedulable":
                verdict = self.model.verdict(pod, event)
                if verdict != "skip":
                    self.model.requeue(pod, verdict)
        self.queue.update(shown(pod.uid, pod.priority, group), now=self.tick())

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        pod = self.pick(data, *PLACES, "away")
        if pod is None:
            return
        self.model.nominated.pop(pod.uid, None)
        if pod.place == "in flight":
            pod.gone = True
        else:
            del self.model.pods[pod.uid]
        self.queue.delete(pod.uid)

    @rule()
    def pop(self) -> None:
        mine, popped = self.model.pop(), self.queue.pop()
        assert (mine.uid if mine else None) == (popped.uid if popped else None)
        if popped is not None:
            self.popped[popped.uid] = popped

    @rule(
        data=st.data(),
        plugins=st.sets(st.sampled_from(PLUGINS), max_size=2),
        pending=st.sets(st.sampled_from(PLUGINS), max_size=1),
    )
    def fail(self, data: st.DataObject, plugins: set[str], pending: set[str]) -> None:
        pod = self.pick(data, "in flight", gone=True)
        if pod is None:
            return
        now = self.tick()
        taken_back = self.model.fail(pod, plugins - pending, pending)
        assert taken_back == self.queue.give_back(
            self.popped[pod.uid], unschedulable=plugins - pending, pending=pending, now=now
        )

    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        pod = self.pick(data, "in flight", gone=True)
        if pod is None:
            return
        if pod.gone:
            del self.model.pods[pod.uid]
        pod.place = "away"
        self.queue.done(pod.uid)

    @rule(group=st.sampled_from(GROUPS))
    def node_comes(self, group: str) -> None:
        self.model.event(("node", group))
        self.queue.move_all(NODE_ADD, None, make_node(group), now=self.tick())

    @rule(what=st.sampled_from(["volume", "claim"]))
    def storage_comes(self, what: str) -> None:
        self.model.event((what, ""))
        event = PV_ADD if what == "volume" else PVC_ADD
        self.queue.move_all(event, None, None, now=self.tick())

    @rule(data=st.data())
    def activate(self, data: st.DataObject) -> None:
        pod = self.pick(data, *PLACES, "away", gone=True)
        if pod is None:
            return
        if pod.place == "in flight":
            self.model.happened(("activate", pod.uid))
        elif pod.place == "unschedulable":
            self.model.admit(pod, "active")
        elif "backoff" in pod.place:
            pod.place = "active"
        self.queue.activate([shown(pod.uid, 0, pod.group).pod], now=self.tick())

    @rule(data=st.data(), node=st.sampled_from(["", *NODES]))
    def nominate(self, data: st.DataObject, node: str) -> None:
        pod = self.pick(data, *PLACES, "away", gone=True)
        if pod is None:
            return
        self.model.nominated.pop(pod.uid, None)
        if not pod.gone:
            self.model.nominated[pod.uid] = node
        self.queue.nominator.add(shown(pod.uid, pod.priority, pod.group), node)

    @rule()
    def flush_backoff(self) -> None:
        now = self.tick()
        for pod in self.model.at("backoff", "error backoff"):
            if pod.until < math.floor(now):
                pod.place = "active"
        self.queue.flush_backoff(now=now)

    @rule()
    def flush_unschedulable(self) -> None:
        now = self.tick()
        overdue = [
            pod
            for pod in self.model.at("unschedulable")
            if now - max(pod.stamp, pod.flushed_at) > MAX_STAY
        ]
        for pod in overdue:
            pod.flushed_at = now
            self.model.requeue(pod, "after backoff")
        if overdue:
            self.model.happened(("timeout", ""))
        self.queue.flush_unschedulable(now=now)

    @rule(groups=st.sets(st.sampled_from(GROUPS), max_size=1))
    def close(self, groups: set[str]) -> None:
        self.model.closed = self.gate.closed = groups

    @rule(seconds=st.sampled_from([0.3, 1, 2.5, 21]))
    def wait(self, seconds: float) -> None:
        self.model.now += seconds

    # What must hold after each step.

    @invariant()
    def every_pod_is_where_it_belongs(self) -> None:
        self.queue.check()
        ours = {queued.uid: queued.place.value for queued in self.queue.waiting()}
        ours |= {queued.uid: "in flight" for queued in self.queue.in_flight}
        assert ours == {pod.uid: pod.place for pod in self.model.at(*PLACES)}
        known = {pod.uid for pod in self.model.pods.values() if not pod.gone}
        assert self.queue.unbound.keys() == known

    @invariant()
    def the_history_of_a_pod_is_right(self) -> None:
        for queued in self.queue.waiting():
            pod = self.model.pods[queued.uid]
            assert set(queued.unschedulable_plugins) == pod.plugins
            assert set(queued.pending_plugins) == pod.pending
            assert bool(queued.gating_plugin) == pod.gated
            assert queued.backoff_until == pod.until
            assert queued.pod_info.labels["group"] == pod.group

    @invariant()
    def no_more_events_are_kept_than_are_needed(self) -> None:
        in_flight = self.queue.in_flight
        seen = {queued.uid: len(list(in_flight.since(queued.uid))) for queued in in_flight}
        assert seen == {pod.uid: len(pod.seen) for pod in self.model.at("in flight")}
        assert len(in_flight.events) == max(seen.values(), default=0)

    @invariant()
    def pods_leave_in_order(self) -> None:
        active = [queued.uid for queued in self.queue.waiting() if queued.place is Place.ACTIVE]
        expected = sorted(self.model.at("active"), key=lambda pod: pod.order)
        assert active == [pod.uid for pod in expected]

    @invariant()
    def nominations_are_kept_by_node(self) -> None:
        by_node: dict[str, list[str]] = {}
        for uid, node in self.model.nominated.items():
            if node:
                by_node.setdefault(node, []).append(uid)
        assert {
            node: [pod.uid for pod in pods] for node, pods in self.queue.nominator.by_node.items()
        } == by_node

    @precondition(lambda self: self.model.now > 0)
    @invariant()
    def what_metrics_count_adds_up(self) -> None:
        pending = self.queue.pending()
        assert sum(pending.values()) == len(self.model.at(*PLACES[:-1]))
        assert pending["gated"] == sum(pod.gated for pod in self.model.at("unschedulable"))

    # Helpers.

    def tick(self) -> float:
        """Another moment, so that no two pods are equally old."""
        now = self.model.now
        self.model.now = now + 0.001
        return now

    def pick(self, data: st.DataObject, *places: str, gone: bool = False) -> Mine | None:
        found = [pod for pod in self.model.at(*places) if gone or not pod.gone]
        return data.draw(st.sampled_from(found)) if found else None


PLACES = ("active", "backoff", "error backoff", "unschedulable", "in flight")


class GroupGate(Gate):
    """Holds back pods by group."""

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        return Status.unresolvable("closed") if pod.labels["group"] in self.closed else None


def by_group(pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
    helps = isinstance(new, Node) and new.name == pod.labels["group"]
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def shown(uid: str, priority: int, group: str) -> PodInfo:
    return PodInfo.of(make_pod(uid, uid=uid, priority=priority, labels={"group": group}))


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=100, stateful_step_count=50, deadline=None)
