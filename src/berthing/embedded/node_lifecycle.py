"""What becomes of a node whose kubelet is silent, and of the pods on it.

    lease not renewed ---> Ready is Unknown ---> taints ---> pods that do not tolerate them are deleted
    node deleted ---> its pods are removed

Upstream: pkg/controller/{nodelifecycle,tainteviction,podgc} (v1.36.4).
Differs:  no zones that fail as a whole, and no limit on how many nodes are tainted per second;
          pods of a node that is gone are removed at once rather than after a minute, and their
          phase is left as it was.  Nobody gives pods the tolerations of five minutes that real
          clusters add, so pods without any leave as soon as the node is found silent.
"""

from __future__ import annotations

import asyncio
from typing import Final, Never

import msgspec

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.taints import Taint, untolerated
from berthing.embedded.kubelets import LEASES, NODES
from berthing.embedded.objects import Objects
from berthing.embedded.patches import MERGE, STRATEGIC_MERGE
from berthing.embedded.pods import PODS
from berthing.embedded.store import Change, Store, Stored
from berthing.embedded.trees import Json, Tree, list_at, text_at

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
_OF_HEALTH: Final = (NOT_READY, UNREACHABLE)
_NO_EXECUTE: Final = ("NoExecute",)


class Patience(msgspec.Struct, frozen=True):
    """How long a kubelet may be silent, and how often nodes are looked at."""

    grace_seconds: float = 50.0
    period_seconds: float = 5.0


class NodeLifecycle:
    """Looks after the nodes of a cluster."""

    def __init__(self, store: Store, objects: Objects, *, patience: Patience | None = None) -> None:
        self._store = store
        self._objects = objects
        self._patience = patience or Patience()
        # How often nodes were looked at since each was heard of.  Looks are counted rather than
        # seconds: a process that was held up for long held up the kubelets in it as well, and must
        # not take them all for dead.
        self._silent_looks: dict[str, int] = {}
        # When pods came to have a taint that they do not tolerate for ever, by node and pod.
        self._tainted_at: dict[str, float] = {}

    async def run(self) -> Never:
        """Look after nodes until cancelled."""
        stop_listening = [
            self._store.listen(LEASES, self._lease_changed),
            self._store.listen(NODES, self._node_changed),
        ]
        try:
            for node in self._store.all(NODES):
                self._hear(node.key[1])
            while True:
                await asyncio.sleep(self._patience.period_seconds)
                self.look()
        finally:
            for stop in stop_listening:
                stop()

    def look(self) -> None:
        """Look at all nodes once, and at the pods of those that are not well."""
        tainted: dict[str, tuple[Taint, ...]] = {}
        for stored in tuple(self._store.all(NODES)):
            node = self._with_right_taints(stored)
            taints = tuple(each for each in node.spec.taints if each.effect in _NO_EXECUTE)
            if taints:
                self._tainted_at.setdefault(node.name, asyncio.get_running_loop().time())
                tainted[node.name] = taints
            else:
                self._tainted_at.pop(node.name, None)
        for stored in tuple(self._store.all(PODS)):
            pod = stored.object
            assert isinstance(pod, Pod), "of this kind"
            node_name = pod.spec.node_name
            if not node_name:
                continue
            if self._store.get(NODES, ("", node_name)) is None:
                self._objects.delete(PODS, stored.key, {"gracePeriodSeconds": 0})
            elif node_name in tainted and self._is_to_go(pod, tainted[node_name]):
                self._objects.delete(PODS, stored.key, {})

    def _lease_changed(self, change: Change) -> None:
        if change.after is not None:
            self._hear(change.after.key[1])

    def _node_changed(self, change: Change) -> None:
        if change.before is None and change.after is not None:
            self._hear(change.after.key[1])
        elif change.after is None and change.before is not None:
            self._silent_looks.pop(change.before.key[1], None)
            self._tainted_at.pop(change.before.key[1], None)

    def _hear(self, node_name: str) -> None:
        self._silent_looks[node_name] = 0

    def _with_right_taints(self, stored: Stored) -> Node:
        """The node, after it was given the taints that its health calls for."""
        self._silent_looks[stored.key[1]] += 1
        silent_seconds = self._silent_looks[stored.key[1]] * self._patience.period_seconds
        if silent_seconds > self._patience.grace_seconds:
            stored = self._set_unknown(stored)
        node = stored.object
        assert isinstance(node, Node), "of this kind"
        ready = {each.type: each.status for each in node.status.conditions}.get("Ready", "Unknown")
        key = {"True": "", "False": NOT_READY}.get(ready, UNREACHABLE)
        if not key and not any(each.key in _OF_HEALTH for each in node.spec.taints):
            return node
        taints: list[Json] = [
            taint
            for taint in list_at(stored.tree, "spec", "taints")
            if text_at(taint, "key") not in _OF_HEALTH
        ]
        if key:
            taints += [{"key": key, "effect": effect} for effect in ("NoSchedule", "NoExecute")]
        patch: Tree = {"spec": {"taints": taints}}
        node = self._objects.patch(NODES, stored.key, patch, content_type=MERGE).object
        assert isinstance(node, Node), "still"
        return node

    def _set_unknown(self, stored: Stored) -> Stored:
        unknown: Tree = {
            "type": "Ready",
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
        }
        patch: Tree = {"status": {"conditions": [unknown]}}
        return self._objects.patch(
            NODES, stored.key, patch, content_type=STRATEGIC_MERGE, subresource="status"
        )

    def _is_to_go(self, pod: Pod, taints: tuple[Taint, ...]) -> bool:
        """Whether a pod has to leave by now: it does not tolerate a taint, or not for so long."""
        if pod.metadata.deletion_timestamp is not None or pod.is_terminal:
            return False
        tolerations = pod.spec.tolerations
        if any(untolerated(taints, tolerations, _NO_EXECUTE)):
            return True
        # Of the tolerations that apply, the shortest counts.
        limits = [
            max(each.toleration_seconds, 0)
            for each in tolerations
            if each.toleration_seconds is not None and any(map(each.tolerates, taints))
        ]
        since = self._tainted_at[pod.spec.node_name]
        return bool(limits) and asyncio.get_running_loop().time() - since >= min(limits)
