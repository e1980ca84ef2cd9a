"""Fake kubelets, one for every node: pods that are bound run, and end, without any container.

    bound ---> Running and Ready ---> Succeeded, if it says when: command: [sleep, "3"]
                      |
                   deleted ---> gone

A kubelet says that its node is ready, and renews the node's lease.  One that has failed does
nothing any more: its pods stay as they are until somebody else removes them.

Upstream: pkg/kubelet, as far as the API server sees it (v1.36.4).
Differs:  pods need no image and never fail, their containers have no status; a pod that does not
          restart and whose first container is told to `sleep N` succeeds after N seconds; an
          evicted or deleted pod takes a moment to end, whatever its grace period.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Final, Never

import msgspec

from berthing.api.coordination import Lease
from berthing.api.kinds import kind_of
from berthing.api.meta import micro_time
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.embedded.objects import Objects
from berthing.embedded.patches import STRATEGIC_MERGE
from berthing.embedded.pods import PODS
from berthing.embedded.refusals import Refused
from berthing.embedded.store import Change, Key, Store, Stored
from berthing.embedded.trees import Tree, branch_at, list_at, text_at
from berthing.telemetry import logs

_log = logs.get("embedded")

NODES: Final = kind_of(Node)
LEASES: Final = kind_of(Lease)
LEASE_NAMESPACE: Final = "kube-node-lease"


class Pace(msgspec.Struct, frozen=True):
    """How long things take; starting and stopping between the first and the second number."""

    start_seconds: tuple[float, float] = (0.5, 2.0)
    stop_seconds: tuple[float, float] = (0.1, 1.0)
    lease_seconds: float = 10.0


class Kubelets:
    """The kubelets of all nodes of a cluster."""

    def __init__(
        self,
        store: Store,
        objects: Objects,
        *,
        now: Callable[[], float],
        random: Random,
        pace: Pace | None = None,
    ) -> None:
        self._store = store
        self._objects = objects
        self._now = now
        self._random = random
        self._pace = pace or Pace()
        self._failed: set[str] = set()
        # What each pod is about to do, by its uid: only the last of it counts.
        self._plans: dict[str, tuple[str, asyncio.TimerHandle]] = {}

    def fail(self, node_name: str) -> None:
        """Let a node's kubelet fall silent, as if the machine were dead."""
        self._failed.add(node_name)

    def recover(self, node_name: str) -> None:
        """Let it go on, and take up what it missed."""
        self._failed.discard(node_name)
        if (node := self._store.get(NODES, ("", node_name))) is not None:
            self._report(node)
        for pod in tuple(self._store.all(PODS)):
            self._consider(pod)

    async def run(self) -> Never:
        """Run pods and renew leases until cancelled."""
        stop_listening = [
            self._store.listen(PODS, self._pod_changed),
            self._store.listen(NODES, self._node_changed),
        ]
        try:
            for node in tuple(self._store.all(NODES)):
                self._report(node)
            for pod in tuple(self._store.all(PODS)):
                self._consider(pod)
            while True:
                await asyncio.sleep(self._pace.lease_seconds)
                for node in tuple(self._store.all(NODES)):
                    if node.key[1] not in self._failed:
                        self._renew(node.key[1])
        finally:
            for stop in stop_listening:
                stop()
            for _, timer in self._plans.values():
                timer.cancel()
            self._plans.clear()

    # Nodes.

    def _node_changed(self, change: Change) -> None:
        if change.before is None and change.after is not None:
            # A change is told in the middle of a write: what it leads to is written after that.
            asyncio.get_running_loop().call_soon(self._join, change.after.key)
        elif change.after is None and change.before is not None:
            # A machine that comes under that name is another one.
            self._failed.discard(change.before.key[1])

    def _join(self, key: Key) -> None:
        if (node := self._store.get(NODES, key)) is not None:
            self._report(node)

    def _report(self, node: Stored) -> None:
        """Say that a node is ready, if its kubelet lives."""
        if node.key[1] in self._failed:
            return
        ready: Tree = {
            "type": "Ready",
            "status": "True",
            "reason": "KubeletReady",
            "message": "kubelet is posting ready status",
        }
        patch: Tree = {"status": {"conditions": [ready]}}
        self._objects.patch(
            NODES, node.key, patch, content_type=STRATEGIC_MERGE, subresource="status"
        )
        self._renew(node.key[1])

    def _renew(self, node_name: str) -> None:
        key = (LEASE_NAMESPACE, node_name)
        renewed = micro_time(datetime.fromtimestamp(self._now(), UTC))
        spec: Tree = {
            "holderIdentity": node_name,
            "leaseDurationSeconds": max(round(4 * self._pace.lease_seconds), 1),
            "renewTime": renewed,
        }
        tree: Tree = {"metadata": {"name": node_name}, "spec": spec}
        try:
            if self._store.get(LEASES, key) is None:
                self._objects.create(LEASES, LEASE_NAMESPACE, tree)
            else:
                self._objects.update(LEASES, key, tree)
        except Refused as refused:
            # A kubelet that cannot be heard is as good as none; it goes on trying.
            _log.warning("Lease not renewed", node=node_name, err=refused)

    # Pods.

    def _pod_changed(self, change: Change) -> None:
        if change.after is not None:
            self._consider(change.after)
        elif change.before is not None:
            self._forget(change.before.uid)

    def _consider(self, stored: Stored) -> None:
        """Plan what a pod does next, unless that is planned already."""
        pod = stored.object
        assert isinstance(pod, Pod), "of this kind"
        next_step = self._next_step(pod, stored.tree)
        planned = self._plans.get(stored.uid)
        if next_step is None:
            self._forget(stored.uid)
        elif planned is None or planned[0] != next_step[0]:
            self._forget(stored.uid)
            name, seconds = next_step
            loop = asyncio.get_running_loop()
            timer = loop.call_later(seconds, self._take_step, stored.key, stored.uid, name)
            self._plans[stored.uid] = (name, timer)

    def _next_step(self, pod: Pod, tree: Tree) -> tuple[str, float] | None:
        """What comes next for a pod, and in how many seconds; None if nothing does."""
        if not pod.spec.node_name or pod.spec.node_name in self._failed:
            return None
        if pod.metadata.deletion_timestamp is not None:
            return "stop", self._random.uniform(*self._pace.stop_seconds)
        if pod.status.phase == "Pending":
            return "start", self._random.uniform(*self._pace.start_seconds)
        if pod.status.phase == "Running" and (seconds := _run_seconds(tree)) is not None:
            return "succeed", seconds
        return None

    def _forget(self, uid: str) -> None:
        if (planned := self._plans.pop(uid, None)) is not None:
            planned[1].cancel()

    def _take_step(self, key: Key, uid: str, step: str) -> None:
        del self._plans[uid]
        stored = self._store.get(PODS, key)
        if stored is None or stored.uid != uid:
            return
        node_name = text_at(stored.tree, "spec", "nodeName")
        if node_name in self._failed or self._store.get(NODES, ("", node_name)) is None:
            return
        match step:
            case "start":
                self._set_status(key, "Running", is_ready=True, startTime=self._time())
            case "succeed":
                self._set_status(key, "Succeeded", is_ready=False)
            case "stop":
                self._objects.delete(PODS, key, {"gracePeriodSeconds": 0})

    def _set_status(self, key: Key, phase: str, *, is_ready: bool, **others: str) -> None:
        conditions: list[Tree] = [
            {"type": type_, "status": str(is_ready), "lastTransitionTime": self._time()}
            for type_ in ("ContainersReady", "Ready")
        ]
        patch: Tree = {"status": {"phase": phase, "conditions": [*conditions], **others}}
        self._objects.patch(PODS, key, patch, content_type=STRATEGIC_MERGE, subresource="status")

    def _time(self) -> str:
        return datetime.fromtimestamp(int(self._now()), UTC).isoformat().replace("+00:00", "Z")


def _run_seconds(tree: Tree) -> float | None:
    """How long a pod runs until it is over by itself; None if it goes on."""
    spec = branch_at(tree, "spec")
    containers = list_at(spec, "containers")
    if text_at(spec, "restartPolicy") == "Always" or not containers:
        return None
    match list_at(containers[0], "command"):
        case ["sleep", str(seconds)] if seconds.replace(".", "", 1).isdecimal():
            return float(seconds)
    return None
