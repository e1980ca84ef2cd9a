"""The cluster as the scheduler believes it to be: nodes, and the pods that run or are about to.

    node events ---> NodeTable (rows) ---> label columns, taints, features, images
    pod events  ---> a pod on a row   ---> requested, ports, counters, carried terms
    assume      ---> the same, before the API server knows; forget takes it back

All of it is brought up to date in proportion to what changed; `check()` in `audit` compares it
with a rebuild.  Pods may be seen before their node is, and outlive it: they wait without a row
until a node of that name comes.

Upstream: pkg/scheduler/backend/cache/cache.go (v1.36.4).
Differs:  assumed pods do not expire, as upstream's do not by default.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache

from berthing.api.core import Namespace
from berthing.api.frozen import EMPTY
from berthing.api.node import Node
from berthing.api.pod_info import PodInfo, PodShape
from berthing.api.pod_terms import AffinityTerm, AffinityTerms
from berthing.cluster.carried_terms import CarriedTerm, CarriedTerms, TermKind
from berthing.cluster.counters import Counters, PodClass, PodSelector
from berthing.cluster.host_ports import HostPorts
from berthing.cluster.images import Images
from berthing.cluster.node_table import NodeTable
from berthing.cluster.objects import Objects
from berthing.cluster.rows import Row, Rows


class _Placed:
    """A pod and where it is; without a row as long as its node is unknown."""

    __slots__ = ("assumed", "info", "node_name", "row")

    def __init__(self, info: PodInfo, node_name: str, *, assumed: bool) -> None:
        self.info = info
        self.node_name = node_name
        self.assumed = assumed
        self.row: int | None = None


class Cluster:
    """Nodes, pods and all that is counted about them."""

    def __init__(self) -> None:
        self.nodes = NodeTable()
        self.objects = Objects()
        self.counters = Counters(self.nodes, self.namespace_labels)
        self.terms = CarriedTerms(self.nodes, self.namespace_labels)
        self.ports = HostPorts(self.nodes)
        self.images = Images(self.nodes)
        self._namespaces: dict[str, Mapping[str, str]] = {}
        self._pods: dict[str, _Placed] = {}
        self._on_row: dict[int, dict[str, PodInfo]] = {}
        self._of_node: dict[str, dict[str, _Placed]] = {}
        # How many pods with a node there are of each priority.
        self.priorities: Counter[int] = Counter()

    # What there is.

    def rows(self) -> Rows:
        """All rows; those without a node are turned down by the cycle."""
        return Rows(self)

    def row(self, node_name: str) -> Row | None:
        """One node, or None if there is none of that name."""
        row = self.nodes.row(node_name)
        return None if row is None else Row(self, row)

    def pods_on(self, row: int) -> Collection[PodInfo]:
        """The pods of one node, in the order in which they came."""
        return self._on_row.get(row, {}).values()

    def pod(self, uid: str) -> PodInfo | None:
        """A pod that has a node, if only an assumed one."""
        placed = self._pods.get(uid)
        return placed.info if placed else None

    def placed(self) -> Iterator[tuple[PodInfo, str, bool]]:
        """Every pod, its node, and whether that is assumed; in the order in which they came."""
        for placed in self._pods.values():
            yield placed.info, placed.node_name, placed.assumed

    def is_assumed(self, uid: str) -> bool:
        """Whether the pod's node is our word alone so far."""
        placed = self._pods.get(uid)
        return placed is not None and placed.assumed

    def node_name_of(self, uid: str) -> str:
        """The node of a pod, if only assumed; empty for a pod that has none."""
        placed = self._pods.get(uid)
        return placed.node_name if placed else ""

    def namespaces(self) -> Mapping[str, Mapping[str, str]]:
        """The labels of every namespace that there is."""
        return self._namespaces

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        """The labels of a namespace; none for one that is not there."""
        return self._namespaces.get(namespace, EMPTY)

    # Nodes.

    def set_node(self, node: Node) -> int:
        """A node came or changed; returns its row."""
        row = self.nodes.row(node.name)
        before = None if row is None else self.nodes.objects[row]
        if row is None:
            row = self.nodes.add(node)
            for placed in self._of_node.get(node.name, {}).values():
                self._settle(placed, row)
        else:
            self.nodes.update(row, node)
        self.images.change(row, before, node)
        return row

    def remove_node(self, name: str) -> None:
        """A node is gone.  Its pods, if any are left, wait for it to come back."""
        row = self.nodes.row(name)
        if row is None:
            return
        for placed in self._of_node.get(name, {}).values():
            self._unsettle(placed)
        self.images.change(row, self.nodes.objects[row], None)
        self.nodes.remove(row)

    # Pods that have a node.

    def set_pod(self, info: PodInfo) -> None:
        """A pod with a node came or changed, or an assumed one was confirmed."""
        self._place(info, info.pod.spec.node_name, assumed=False)

    def assume(self, info: PodInfo, node_name: str) -> None:
        """From here on the pod counts as running there, though nobody else knows yet.

        ValueError if it is in the cluster already: `forget` would take away a pod that runs.
        """
        known = self._pods.get(info.uid)
        if known is not None:
            raise ValueError(f"{info.key} is on node {known.node_name!r} already")
        self._place(info, node_name, assumed=True)

    def forget(self, uid: str) -> None:
        """The assumption came to nothing."""
        if self.is_assumed(uid):
            self.remove_pod(uid)

    def remove_pod(self, uid: str) -> None:
        """The pod is gone, or over."""
        placed = self._pods.pop(uid, None)
        if placed is None:
            return
        self._unsettle(placed)
        self.priorities[placed.info.priority] -= 1
        if not self.priorities[placed.info.priority]:
            del self.priorities[placed.info.priority]
        siblings = self._of_node[placed.node_name]
        del siblings[uid]
        if not siblings:
            del self._of_node[placed.node_name]

    @contextmanager
    def with_pods(self, pods: Sequence[PodInfo], node_name: str) -> Iterator[None]:
        """The cluster as it would be with some more pods on a node, for as long as one looks."""
        added: list[str] = []
        try:
            for pod in pods:
                if pod.uid not in self._pods:
                    self.assume(pod, node_name)
                    added.append(pod.uid)
            yield
        finally:
            for uid in added:
                self.forget(uid)

    def _place(self, info: PodInfo, node_name: str, *, assumed: bool) -> None:
        before = self._pods.get(info.uid)
        if before is not None and before.node_name == node_name:
            before.assumed = assumed
            self._replace(before, info)
            return
        if before is not None:
            self.remove_pod(info.uid)
        placed = self._pods[info.uid] = _Placed(info, node_name, assumed=assumed)
        self.priorities[info.priority] += 1
        self._of_node.setdefault(node_name, {})[info.uid] = placed
        row = self.nodes.row(node_name)
        if row is not None:
            self._settle(placed, row)

    def _replace(self, placed: _Placed, info: PodInfo) -> None:
        """The same pod at the same place, said anew; mostly nothing that counts has changed."""
        row = placed.row
        old, placed.info = placed.info, info
        if row is None:
            return
        self._on_row[row][info.uid] = info
        if (
            old.shape is info.shape
            and old.spent == info.spent
            and pod_class(old) == pod_class(info)
        ):
            return
        self._count(old, row, -1)
        self._count(info, row, 1)

    def _settle(self, placed: _Placed, row: int) -> None:
        placed.row = row
        self._on_row.setdefault(row, {})[placed.info.uid] = placed.info
        self._count(placed.info, row, 1)

    def _unsettle(self, placed: _Placed) -> None:
        if placed.row is None:
            return
        del self._on_row[placed.row][placed.info.uid]
        self._count(placed.info, placed.row, -1)
        placed.row = None

    def _count(self, info: PodInfo, row: int, sign: int) -> None:
        spent = info.spent
        non_zero = (spent.non_zero_cpu_millis, spent.non_zero_memory_bytes)
        self.nodes.use(row, spent.requests, non_zero, sign=sign)
        terms = carried(info.terms)
        if sign > 0:
            self.counters.add_pod(pod_class(info), row)
            self.ports.take(info.host_ports, row)
            for term in terms:
                self.terms.add(term, row)
        else:
            self.counters.remove_pod(pod_class(info), row)
            self.ports.release(info.host_ports, row)
            for term in terms:
                self.terms.remove(term, row)

    # Namespaces.

    def set_namespace(self, namespace: Namespace) -> None:
        """A namespace came or changed."""
        self._set_namespace_labels(namespace.name, namespace.metadata.labels)

    def remove_namespace(self, name: str) -> None:
        """A namespace is gone."""
        self._set_namespace_labels(name, EMPTY)
        self._namespaces.pop(name, None)

    def _set_namespace_labels(self, name: str, labels: Mapping[str, str]) -> None:
        changed = self.namespace_labels(name) != labels
        self._namespaces[name] = labels
        if changed:
            self.counters.namespace_changed(name)
            self.terms.namespace_changed(name)


def pod_class(info: PodInfo) -> PodClass:
    """What counters can tell about a pod."""
    if info.pod.metadata.deletion_timestamp is None:
        return _staying_class(info.shape)
    return PodClass(info.namespace, info.labels, is_terminating=True)


# Every cycle asks for it several times over.
@lru_cache(maxsize=32768)
def _staying_class(shape: PodShape) -> PodClass:
    return PodClass(shape.facts.namespace, shape.facts.labels)


def pod_selector(term: AffinityTerm) -> PodSelector:
    """The pods that an affinity term means, wherever they are."""
    by_labels = None if term.namespace_selector.is_nothing else term.namespace_selector
    return PodSelector(term.selector, term.namespaces, by_labels)


@lru_cache(maxsize=8192)
def carried(terms: AffinityTerms) -> tuple[CarriedTerm, ...]:
    """What a running pod's terms mean for others."""

    def one(kind: TermKind, term: AffinityTerm, weight: int = 0) -> CarriedTerm:
        return CarriedTerm(kind, pod_selector(term), term.topology_key, weight)

    return (
        *(one(TermKind.REQUIRED_AFFINITY, term) for term in terms.required),
        *(one(TermKind.REQUIRED_ANTI_AFFINITY, term) for term in terms.required_anti),
        *(one(TermKind.PREFERRED_AFFINITY, each.term, each.weight) for each in terms.preferred),
        *(
            one(TermKind.PREFERRED_ANTI_AFFINITY, each.term, each.weight)
            for each in terms.preferred_anti
        ),
    )
