"""Pods that preemption made room for, and the nodes where it did.

A nomination is in the pod's status, or here alone as long as the API server has not been told.
Only pods that still wait for a node are kept; one that is bound, or gone, needs no room.

Upstream: pkg/scheduler/backend/queue/nominator.go (v1.36.4).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo


class Nominator:
    """Nominations by node, each node's in the order in which they came.

    unbound  the uids of pods that wait for a node
    """

    def __init__(self, unbound: Container[str]) -> None:
        self._unbound = unbound
        # By uid; the node is "" where a nomination was taken back.
        self._all: dict[str, tuple[str, PodInfo]] = {}
        self._by_node: dict[str, list[PodInfo]] = {}

    @property
    def by_node(self) -> Mapping[str, Sequence[PodInfo]]:
        """The nominated pods of each node that has any: always the same mapping, as it stands."""
        return self._by_node

    def __iter__(self) -> Iterator[tuple[str, PodInfo]]:
        """Each node, or "" where a nomination was taken back, with a pod; in order of coming."""
        return iter(self._all.values())

    def node_of(self, uid: str) -> str | None:
        """Where the pod is nominated to; "" if that was taken back, None if nothing is known."""
        known = self._all.get(uid)
        return known[0] if known else None

    def add(self, pod: PodInfo, node_name: str | None = None) -> None:
        """Nominate the pod, in place of an earlier nomination.

        None goes by the pod's status; "" takes the nomination back.
        """
        if pod.uid in self._all:
            self.delete(pod.uid)
        if node_name is None:
            node_name = pod.pod.status.nominated_node_name
            if not node_name:
                return
        if pod.uid not in self._unbound:
            return
        self._all[pod.uid] = (node_name, pod)
        if node_name:
            self._by_node.setdefault(node_name, []).append(pod)

    def update(self, old: Pod, new: PodInfo) -> None:
        """The pod changed: what its status says counts, if it says or said anything."""
        node_name = None
        if not old.status.nominated_node_name and not new.pod.status.nominated_node_name:
            # Told here and not written down yet, most likely.
            node_name = self.node_of(new.uid)
        self.add(new, node_name)

    def delete(self, uid: str) -> None:
        """The pod needs its room no more, if it had any."""
        node_name, pod = self._all.pop(uid, (None, None))
        if not node_name or pod is None:
            return
        there = self._by_node[node_name]
        # A PodInfo equals only itself.
        there.remove(pod)
        if not there:
            del self._by_node[node_name]
