"""What has to be true after every step, whatever goes wrong.

    truth     what is so on the server: a pod is bound once, and we do not overfill a node
    between   a pod whose binding was carried out, or still may be, keeps its room in our columns
              until its process is told what became of it
    told      columns and queue of a process say what its watches have told it, and no pod is in
              none of the queue's places, or in two

A node is overfilled by us if a binding of ours leaves it with more than it offers, and nobody else
has made that node smaller, or put a pod there: what we could not know is not our fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from berthing.api.kinds import kind_of
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.pod_requests import whole_amounts
from berthing.api.resource_list import PODS as PODS_RESOURCE
from berthing.client.transport import Request, Response
from berthing.embedded.pods import PODS
from berthing.embedded.store import Change, Key, Store
from berthing.scheduler.scheduler import Scheduler
from berthing.serving.process import SchedulerProcess
from berthing.simulate.faults.network import Call, FaultyTransport
from berthing.simulate.faults.pods import OURS

NODES: Final = kind_of(Node)
# The pods for which an attempt has taken a node, and whether they are bound as far as it knows.
Attempts = Mapping[str, bool]
_OK: Final = 200
_CREATED: Final = 201


class Truth:
    """What is so on the server, and by whom."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # Every pod that ever got a node, and which.
        self.node_of: dict[str, str] = {}
        # Nodes on which there may be too much through no fault of ours.
        self.upset: set[str] = set()
        # Pods whose status has words that came from a process after its end.
        self.outlived: set[str] = set()
        # What was promised and is not so.
        self.broken: list[str] = []
        # By client: the pods that it has bound; and of these, where it has put those that its
        # watch does not show there yet.
        self._bound: dict[FaultyTransport, dict[str, Key]] = {}
        self._unshown: dict[FaultyTransport, dict[str, tuple[Key, str]]] = {}
        # The bindings that somebody has asked for and that may still be carried out.
        self._asked: dict[Call, None] = {}
        self._over: set[FaultyTransport] = set()
        store.listen(PODS, self._pod_changed)

    # What happens.

    def _pod_changed(self, change: Change) -> None:
        if change.after is None:
            return
        pod = _pod(change.after.object)
        node_name = pod.spec.node_name
        before = self.node_of.get(pod.metadata.uid, "")
        if before and before != node_name:
            self.broken.append(f"{pod.key} was bound to {before}, and then to {node_name!r}")
        if node_name:
            self.node_of[pod.metadata.uid] = node_name

    def sent(self, call: Call) -> None:
        """Somebody has sent a request."""
        if call.binding is not None:
            self._asked[call] = None
        elif (uid := _unscheduled(call.request)) and self._is_bound_by(call.transport, uid):
            self.broken.append(f"{call.what}: it says that a pod does not fit that it has bound")

    def carried_out(self, call: Call, response: Response) -> None:
        """The server did as it was asked."""
        if response.status == _OK and (uid := _unscheduled(call.request)):
            self.outlived.discard(uid)
            if call.transport in self._over:
                self.outlived.add(uid)
        if call.binding is None or response.status != _CREATED:
            return
        key, node_name = _target(call)
        stored = self._store.get(PODS, key)
        assert stored is not None, "it was bound just now"
        self._bound.setdefault(call.transport, {})[stored.uid] = key
        self._unshown.setdefault(call.transport, {})[stored.uid] = (key, node_name)
        if node_name not in self.upset:
            self.broken += self._too_much(node_name, _pod(stored.object))

    def claimed(self, uid: str, node_name: str) -> None:
        """A scheduler takes a pod for bound."""
        bound_to = self.node_of.get(uid)
        if bound_to != node_name:
            self.broken.append(f"pod {uid} is taken for bound to {node_name}, and is on {bound_to}")

    def _is_bound_by(self, transport: FaultyTransport, uid: str) -> bool:
        key = self._bound.get(transport, {}).get(uid)
        if key is not None and self._is_there(uid, key):
            return True
        return any(pod.metadata.uid == uid for pod, _ in self._may_yet_be_bound(transport))

    def _may_yet_be_bound(self, transport: FaultyTransport) -> Iterator[tuple[Pod, str]]:
        """Pods for which a binding is under way that the server would carry out, and the nodes."""
        for call in [call for call in self._asked if not call.may_be_carried_out]:
            del self._asked[call]
        for call in self._asked:
            key, node_name = _target(call)
            stored = self._store.get(PODS, key)
            if call.transport is not transport or stored is None or call.binding is None:
                continue
            pod = _pod(stored.object)
            is_meant = call.binding.metadata.uid in ("", stored.uid)
            if is_meant and not pod.spec.node_name and not pod.metadata.deletion_timestamp:
                yield pod, node_name

    def _too_much(self, node_name: str, bound: Pod) -> Iterator[str]:
        node = self._store.get(NODES, ("", node_name))
        if node is None or not isinstance(node.object, Node):
            return
        there = [
            PodInfo.of(pod)
            for stored in self._store.all(PODS)
            if (pod := _pod(stored.object)).spec.node_name == node_name and not pod.is_terminal
        ]
        offer = whole_amounts(node.object.status.allocatable)
        asked = PodInfo.of(bound)
        used = {
            name: sum(pod.facts.asked.requests.get(name, 0) for pod in there)
            for name in asked.facts.asked.requests
        }
        used[PODS_RESOURCE] = len(there)
        for name, amount in used.items():
            if amount > offer.get(name, 0):
                yield f"{node_name} has {offer.get(name, 0)} {name}, and {amount} is asked for now that {bound.key} is there"
        for other in there:
            if other.uid != asked.uid and set(other.host_ports) & set(asked.host_ports):
                yield f"{other.key} and {bound.key} have one and the same port of {node_name}"

    # What must be so.

    def rooms_lost(self, transport: FaultyTransport, process: SchedulerProcess) -> Iterator[str]:
        """Pods that a process has bound, or may yet have bound, and does not count as there."""
        cluster = process.scheduler.cluster
        told = process.informers["Pod"].objects
        unshown = self._unshown.get(transport, {})
        for uid, (key, node_name) in tuple(unshown.items()):
            shown = told.get("/".join(key))
            if shown is not None and shown.metadata.uid == uid and _pod(shown).spec.node_name:
                del unshown[uid]
            elif self._is_there(uid, key) and cluster.node_name_of(uid) != node_name:
                yield f"{'/'.join(key)} is on {node_name} by our own binding, and has no room there"
        for pod, node_name in self._may_yet_be_bound(transport):
            if cluster.node_name_of(pod.metadata.uid) != node_name:
                yield f"{pod.key} may yet be bound to {node_name}, and has no room there"

    def _is_there(self, uid: str, key: Key) -> bool:
        stored = self._store.get(PODS, key)
        return stored is not None and stored.uid == uid and not _pod(stored.object).is_terminal

    def unsettle(self, transport: FaultyTransport) -> None:
        """A process is over: what it asked for and may still get, nobody else knows of."""
        self._over.add(transport)
        self.upset.update(node_name for _, node_name in self._may_yet_be_bound(transport))


def untrue(process: SchedulerProcess, attempts: Attempts) -> Iterator[str]:
    """Where columns and queue do not say what a process was told."""
    scheduler = process.scheduler
    try:
        scheduler.queue.check()
    except AssertionError as error:
        yield f"the queue is out of order: {error}"
    if not scheduler.attempt_waits:
        yield from _untrue_pods(process, attempts)
        yield from _untrue_nodes(process)


def _untrue_pods(process: SchedulerProcess, attempts: Attempts) -> Iterator[str]:
    scheduler = process.scheduler
    unbound = dict(scheduler.queue.unbound)
    placed = {info.uid: (name, assumed) for info, name, assumed in scheduler.cluster.placed()}
    for each in process.informers["Pod"].objects.values():
        pod = _pod(each)
        uid = pod.metadata.uid
        node_name, is_assumed = placed.pop(uid, ("", False))
        is_unbound = unbound.pop(uid, None) is not None
        if pod.is_terminal or pod.spec.node_name:
            expected = "" if pod.is_terminal else pod.spec.node_name
            if is_unbound or is_assumed or node_name != expected:
                yield f"{pod.key} is on {expected!r}; it is taken to be on {node_name!r}{', assumed' * is_assumed}{', waiting' * is_unbound}"
        elif pod.spec.scheduler_name not in OURS:
            if is_unbound or node_name:
                yield f"{pod.key} is not ours, and is not let alone"
        elif not is_unbound:
            yield f"{pod.key} is unknown to the queue"
        elif node_name and not is_assumed:
            yield f"{pod.key} has no node, and is taken to be on {node_name}"
        elif node_name and uid not in attempts:
            yield f"{pod.key} keeps room on {node_name}, and nobody binds it"
        elif not node_name and not _is_queued(scheduler, pod, attempts):
            yield f"{pod.key} is lost: it neither waits nor is it being bound"
    for uid, (node_name, _) in placed.items():
        if attempts.get(uid, True):
            yield f"pod {uid} is gone, and keeps room on {node_name}"
    for info in unbound.values():
        yield f"{info.key} ({info.uid}) is gone, and the queue does not know"


def _is_queued(scheduler: Scheduler, pod: Pod, attempts: Attempts) -> bool:
    uid = pod.metadata.uid
    if scheduler.queue.get(uid) is not None:
        return True
    # A pod that goes is not worth an attempt; one in flight belongs to an attempt that goes on.
    return pod.metadata.deletion_timestamp is not None or (
        uid in scheduler.queue.in_flight and uid in attempts
    )


def _untrue_nodes(process: SchedulerProcess) -> Iterator[str]:
    nodes = process.scheduler.cluster.nodes
    told = process.informers["Node"].objects
    for name, node in told.items():
        row = nodes.row(name)
        if row is None or nodes.objects[row] is not node:
            yield f"node {name} is not as it was shown"
    if len(nodes) != len(told):
        yield f"{len(nodes)} nodes are known, {len(told)} were shown"


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""


class _Status(msgspec.Struct):
    conditions: list[_Condition] = []


class _Metadata(msgspec.Struct):
    uid: str = ""


class _StatusPatch(msgspec.Struct):
    metadata: _Metadata
    status: _Status


def _unscheduled(request: Request) -> str:
    """The uid of the pod of which a request says that it does not fit; empty for other requests."""
    if request.method != "PATCH" or not request.path.endswith("/status"):
        return ""
    patch = msgspec.json.decode(request.body, type=_StatusPatch)
    says_so = any(each.status == "False" for each in patch.status.conditions)
    return patch.metadata.uid if says_so else ""


def _target(call: Call) -> tuple[Key, str]:
    assert call.binding is not None, "it is a binding"
    metadata = call.binding.metadata
    return (metadata.namespace, metadata.name), call.binding.target.name


def _pod(obj: object) -> Pod:
    assert isinstance(obj, Pod), "these are pods"
    return obj
