"""Sets of rows as plugins see them, and single rows as one-at-a-time plugins do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from berthing.api.node import Node
from berthing.api.pod_info import HostPort, PodInfo
from berthing.api.resource_list import CPU, MEMORY
from berthing.api.taints import Taint
from berthing.framework.columns import BoolColumn, CodeColumn, Int64Column, InternedColumn

if TYPE_CHECKING:
    from berthing.cluster.cluster import Cluster


# Of so few rows Python computes the answers one by one sooner than numpy gets going.
_FEW = 4


class Rows:
    """All rows, or some, with their columns.

    index  picks rows from the table's columns: a slice costs nothing, an array copies
    """

    __slots__ = ("_count", "cluster", "index")

    def __init__(self, cluster: Cluster, index: slice | CodeColumn | None = None) -> None:
        self.cluster = cluster
        if index is None:
            index = slice(0, cluster.nodes.n_rows)
        self.index = index
        self._count = index.stop - index.start if isinstance(index, slice) else len(index)

    @classmethod
    def some(cls, cluster: Cluster, numbers: Sequence[int]) -> Rows:
        """These rows of the table, in this order."""
        if len(numbers) == 1:
            return cls(cluster, slice(numbers[0], numbers[0] + 1))
        return cls(cluster, np.array(numbers, np.intp))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return (Row(self.cluster, int(row)) for row in self.numbers)

    @property
    def numbers(self) -> CodeColumn:
        """(n_rows,) the table's row of each of ours."""
        every = np.arange(self.cluster.nodes.n_rows)
        return every[self.index]

    @property
    def few(self) -> Sequence[int]:
        """The table's rows one by one where there are but a few, else none."""
        if self._count > _FEW:
            return ()
        if isinstance(self.index, slice):
            return range(self.index.start, self.index.stop)
        numbers: list[int] = self.index.tolist()
        return numbers

    @property
    def names(self) -> Sequence[str]:
        """(n_rows,) node names; empty where there is no node."""
        names = self.cluster.nodes.names_now()
        if isinstance(self.index, slice):
            return names[self.index]
        return [names[row] for row in self.index]

    @property
    def alive(self) -> BoolColumn:
        """(n_rows,) false where no node has the row at present."""
        return self.cluster.nodes.alive[self.index]

    def named(self, name: str) -> BoolColumn:
        """(n_rows,) true for the node of this name, and so for one row at most."""
        row = self.cluster.nodes.row(name)
        if not isinstance(self.index, slice):
            return np.equal(self.index, -1 if row is None else row)
        named = np.zeros(self._count, np.bool_)
        if row is not None and self.index.start <= row < self.index.stop:
            named[row - self.index.start] = True
        return named

    @property
    def unschedulable(self) -> BoolColumn:
        """(n_rows,) true for cordoned nodes."""
        return self.cluster.nodes.unschedulable[self.index]

    @property
    def pod_counts(self) -> Int64Column:
        """(n_rows,) pods on each node, assumed ones included."""
        return self.cluster.nodes.pod_counts[self.index]

    def allocatable(self, resource: str) -> Int64Column:
        """(n_rows,) what each node offers of a resource."""
        nodes = self.cluster.nodes
        return nodes.allocatable_of(resource)[self.index]

    def requested(self, resource: str) -> Int64Column:
        """(n_rows,) what the pods of each node request of a resource."""
        nodes = self.cluster.nodes
        return nodes.requested_of(resource)[self.index]

    def non_zero_requested(self, resource: str) -> Int64Column:
        """(n_rows,) the same for cpu and memory, each container counted with a least amount."""
        if resource not in (CPU, MEMORY):
            return self.requested(resource)
        return self.cluster.nodes.non_zero_requested_of(resource)[self.index]

    def label(self, key: str) -> InternedColumn[str | None]:
        """(n_rows,) each node's value of a label."""
        column = self.cluster.nodes.labels(key)
        return InternedColumn(column.values.values, column.codes[self.index])

    def taints(self) -> InternedColumn[tuple[Taint, ...]]:
        """(n_rows,) each node's whole list of taints."""
        nodes = self.cluster.nodes
        return InternedColumn(nodes.taint_lists.values, nodes.taint_codes[self.index])

    def declared_features(self) -> InternedColumn[frozenset[str]]:
        """(n_rows,) the features each node declares."""
        nodes = self.cluster.nodes
        return InternedColumn(nodes.feature_sets.values, nodes.feature_codes[self.index])


class Row:
    """One node with its pods."""

    __slots__ = ("_cluster", "row")

    def __init__(self, cluster: Cluster, row: int) -> None:
        self._cluster = cluster
        self.row = row

    @property
    def name(self) -> str:
        """The node's name."""
        return self._cluster.nodes.names[self.row]

    @property
    def node(self) -> Node:
        """The node as the API server sent it."""
        return self._cluster.nodes.objects[self.row] or Node()

    @property
    def pods(self) -> Sequence[PodInfo]:
        """Pods on the node, in the order in which they came."""
        return tuple(self._cluster.pods_on(self.row))

    @property
    def allocatable(self) -> Mapping[str, int]:
        """What the node offers, by resource."""
        nodes = self._cluster.nodes
        return _amounts(nodes.resources.values, nodes.allocatable[:, self.row])

    @property
    def requested(self) -> Mapping[str, int]:
        """What its pods request."""
        nodes = self._cluster.nodes
        return _amounts(nodes.resources.values, nodes.requested[:, self.row])

    @property
    def non_zero_requested(self) -> Mapping[str, int]:
        """The same for cpu and memory, each container counted with a least amount."""
        cpu, memory = self._cluster.nodes.non_zero_requested[:, self.row]
        return {CPU: int(cpu), MEMORY: int(memory)}

    @property
    def used_ports(self) -> frozenset[HostPort]:
        """Host ports that its pods hold."""
        return self._cluster.ports.held_on(self.row)


def _amounts(names: Sequence[str], amounts: Int64Column) -> dict[str, int]:
    return {name: int(amount) for name, amount in zip(names, amounts, strict=True) if amount}


def as_rows(nodes: object) -> Rows:
    """What built-in plugins are handed as `nodes`, with the cluster behind it."""
    if not isinstance(nodes, Rows):
        raise TypeError(f"expected rows of a cluster, got {type(nodes).__name__}")
    return nodes
