"""The cluster as a plugin sees it during a cycle: one node, or a set of rows.

The cluster room keeps the columns; these are the shapes that plugins may rely on.  A set of rows
is the whole cluster, the rows that changed, or a hypothetical world in which some pods are gone:
a plugin must not care which, and so computes from what it is handed and nothing else.

Upstream: NodeInfo in staging kube-scheduler/framework/types.go (v1.36.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from berthing.api.node import Node
from berthing.api.pod_info import HostPort, PodInfo
from berthing.api.taints import Taint
from berthing.framework.columns import BoolColumn, Int64Column, InternedColumn
from berthing.framework.status import Code, Status


class NodeInfo(Protocol):
    """One node with the pods that run there or are assumed to."""

    @property
    def name(self) -> str:
        """The node's name."""
        ...

    @property
    def node(self) -> Node:
        """The node as the API server sent it."""
        ...

    @property
    def pods(self) -> Sequence[PodInfo]:
        """Pods on the node, assumed ones included."""
        ...

    @property
    def allocatable(self) -> Mapping[str, int]:
        """What the node offers, by resource: cpu in millis, all others in their unit."""
        ...

    @property
    def requested(self) -> Mapping[str, int]:
        """What its pods request, in the same units."""
        ...

    @property
    def non_zero_requested(self) -> Mapping[str, int]:
        """As `requested`, for cpu and memory, each container counted with a least amount."""
        ...

    @property
    def used_ports(self) -> frozenset[HostPort]:
        """Host ports that its pods hold."""
        ...


class Nodes(Protocol):
    """A set of rows with their columns, all in the same order."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[NodeInfo]:
        """Each row as a NodeInfo, for plugins that look at one node at a time."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """(n_rows,) node names."""
        ...

    @property
    def unschedulable(self) -> BoolColumn:
        """(n_rows,) true for cordoned nodes."""
        ...

    @property
    def pod_counts(self) -> Int64Column:
        """(n_rows,) pods on each node, assumed ones included."""
        ...

    def allocatable(self, resource: str) -> Int64Column:
        """(n_rows,) what each node offers of a resource; 0 where it offers none."""
        ...

    def requested(self, resource: str) -> Int64Column:
        """(n_rows,) what the pods of each node request of a resource."""
        ...

    def non_zero_requested(self, resource: str) -> Int64Column:
        """(n_rows,) the same for cpu and memory, each container counted with a least amount."""
        ...

    def label(self, key: str) -> InternedColumn[str | None]:
        """(n_rows,) each node's value of a label; None where it has no such label."""
        ...

    def taints(self) -> InternedColumn[tuple[Taint, ...]]:
        """(n_rows,) each node's whole list of taints."""
        ...

    def declared_features(self) -> InternedColumn[frozenset[str]]:
        """(n_rows,) the features each node declares."""
        ...


class NodeToStatus(Protocol):
    """Why each node was turned down, for PostFilter plugins."""

    def get(self, node_name: str) -> Status | None:
        """The status of one node; None for a node that was not turned down."""
        ...

    def nodes_with(self, code: Code) -> Sequence[str]:
        """The names of the nodes whose status has this code."""
        ...
