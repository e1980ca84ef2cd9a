"""The cluster as plugins see it: its nodes during a cycle, and objects by kind at any time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar, cast

from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Row, Rows
from berthing.framework import NodeInfo, PodGroupState

T = TypeVar("T")


class ClusterSnapshot:
    """The cluster during a cycle: nothing changes it until the cycle is over."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def nodes(self) -> Rows:
        """All nodes."""
        return self._cluster.rows()

    def node(self, name: str) -> Row | None:
        """One node, or None if there is none of that name."""
        return self._cluster.row(name)

    def pods_with_affinity(self) -> Iterator[tuple[PodInfo, NodeInfo]]:
        """Running pods that carry affinity or anti-affinity terms, each with its node."""
        for pod, node_name, _ in self._cluster.placed():
            terms = pod.terms
            carries = terms.required or terms.required_anti or terms.preferred
            node = self._cluster.row(node_name)
            if node is not None and (carries or terms.preferred_anti):
                yield pod, node

    def is_pvc_used_by_pods(self, key: str) -> bool:
        """Whether a running pod mounts the claim namespace/name."""
        namespace, _, name = key.partition("/")
        return any(
            pod.namespace == namespace and name in pod.shape.claim_names
            for pod, _, _ in self._cluster.placed()
        )

    def pod_group_state(self, namespace: str, name: str) -> PodGroupState | None:
        """The members of a pod group: this version knows of no groups."""
        return None


class ObjectLister(Generic[T]):
    """The objects of one kind as the API server last showed them."""

    def __init__(self, cluster: Cluster, kind: type[T]) -> None:
        self._cluster = cluster
        self._kind = kind

    def get(self, name: str, namespace: str = "") -> T | None:
        """One object, or None if there is none of that name."""
        if self._kind is Node:
            node = self._cluster.row(name)
            return cast("T", node.node) if node is not None else None
        return cast("T | None", self._cluster.objects.get(self._api_kind, name, namespace))

    def list(self, namespace: str | None = None) -> Iterable[T]:
        """All objects, or those of one namespace."""
        if self._kind is Node:
            return (cast("T", node.node) for node in self._cluster.rows() if node.name)
        return cast("Iterable[T]", self._cluster.objects.list(self._api_kind, namespace))

    @property
    def _api_kind(self) -> type[ApiObject]:
        return cast("type[ApiObject]", self._kind)
