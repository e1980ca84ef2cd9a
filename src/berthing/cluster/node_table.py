"""Nodes in columns: a row per node, which keeps its row while it lives.

A freed row is used again.  Until then it reads as a node that has nothing, offers nothing and
bears no name; `alive` tells the two apart, and a cycle turns such rows down before any plugin is
asked.  Arrays double when they are full.

Labels become columns when somebody first asks for their key; taint lists and declared features
are interned whole.  Two logs tell what changed: `node_changes` for what the node object says,
`usage_changes` for what its pods take.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

import numpy as np

from berthing.api.node import Node
from berthing.api.pod_requests import whole_amounts
from berthing.api.resource_list import CPU
from berthing.api.taints import Taint
from berthing.cluster.arrays import int64, wider
from berthing.cluster.changes import Changes
from berthing.cluster.interner import Interner
from berthing.cluster.labels import LabelColumn
from berthing.framework.columns import BoolColumn, CodeColumn, Int64Column

_FIRST_CAPACITY = 64


class Growing(Protocol):
    """Something with a value per row that is kept outside the table."""

    def grow(self, capacity: int) -> None:
        """Make room for rows up to `capacity`."""
        ...


class NodeTable:
    """The nodes of a cluster.

    allocatable, requested  (n_resources, capacity)  by `resources`; cpu in millis
    non_zero_requested      (2, capacity)            cpu in millis, memory in bytes
    all other columns       (capacity,)
    """

    def __init__(self) -> None:
        self.capacity = _FIRST_CAPACITY
        # One more than the highest row ever used: columns beyond it hold nothing.
        self.n_rows = 0
        self.names: list[str] = []
        self.objects: list[Node | None] = []
        self.node_changes = Changes()
        self.usage_changes = Changes()
        self.alive: BoolColumn = np.zeros(self.capacity, np.bool_)
        self.unschedulable: BoolColumn = np.zeros(self.capacity, np.bool_)
        self.pod_counts: Int64Column = np.zeros(self.capacity, np.int64)
        self.resources: Interner[str] = Interner()
        self.allocatable: Int64Column = np.zeros((0, self.capacity), np.int64)
        self.requested: Int64Column = np.zeros((0, self.capacity), np.int64)
        self.non_zero_requested: Int64Column = np.zeros((2, self.capacity), np.int64)
        self.taint_lists: Interner[tuple[Taint, ...]] = Interner(())
        self.taint_codes: CodeColumn = np.zeros(self.capacity, np.intp)
        self.feature_sets: Interner[frozenset[str]] = Interner(frozenset())
        self.feature_codes: CodeColumn = np.zeros(self.capacity, np.intp)
        self._names_now: tuple[str, ...] | None = None
        self._row_of: dict[str, int] = {}
        self._free: list[int] = []
        self._labels: dict[str, LabelColumn] = {}
        # A dict for its order; thousands of counters come and go.
        self._growing: dict[Growing, None] = {}

    def __len__(self) -> int:
        return len(self._row_of)

    def row(self, name: str) -> int | None:
        """The row of a node, or None if there is no such node."""
        return self._row_of.get(name)

    def add(self, node: Node) -> int:
        """Give a node its row."""
        row = self._free.pop() if self._free else self._new_row()
        self._row_of[node.name] = row
        self._name(row, node.name, alive=True)
        self._write(row, node)
        return row

    def update(self, row: int, node: Node) -> None:
        """The node's object changed."""
        self._write(row, node)

    def remove(self, row: int) -> None:
        """The node is gone; what its pods took must be gone before."""
        del self._row_of[self.names[row]]
        self._name(row, "", alive=False)
        self._write(row, Node())
        self.objects[row] = None
        self._free.append(row)

    def names_now(self) -> tuple[str, ...]:
        """The names of all rows, as they are now and for good."""
        if self._names_now is None:
            self._names_now = tuple(self.names)
        return self._names_now

    def alive_now(self) -> BoolColumn:
        """(n_rows,) true where there is a node, as it is now and for good."""
        return self.alive[: self.n_rows]

    def _name(self, row: int, name: str, *, alive: bool) -> None:
        # What was handed out stays as it was.
        self.alive = self.alive.copy()
        self.alive[row] = alive
        self.names[row] = name
        self._names_now = None

    def _new_row(self) -> int:
        row = self.n_rows
        if row == self.capacity:
            self._grow()
        self.n_rows += 1
        self.names.append("")
        self.objects.append(None)
        return row

    def _write(self, row: int, node: Node) -> None:
        self.objects[row] = node
        self.unschedulable[row] = node.spec.unschedulable
        self.taint_codes[row] = self.taint_lists.code(node.spec.taints)
        self.feature_codes[row] = self.feature_sets.code(frozenset(node.status.declared_features))
        self.allocatable[:, row] = 0
        for name, amount in whole_amounts(node.status.allocatable).items():
            # First the index: a new resource makes new arrays.
            index = self.resource(name)
            self.allocatable[index, row] = amount
        for column in self._labels.values():
            column.set(row, node.metadata.labels)
        self.node_changes.add(row)

    def resource(self, name: str) -> int:
        """The index of a resource, new if nobody has asked for it before."""
        known = self.resources.find(name)
        if known is not None:
            return known
        code = self.resources.code(name)
        empty = np.zeros((1, self.capacity), np.int64)
        self.allocatable = np.concatenate((self.allocatable, empty))
        self.requested = np.concatenate((self.requested, empty))
        return code

    def allocatable_of(self, resource: str) -> Int64Column:
        """(capacity,) what each node offers of a resource."""
        index = self.resource(resource)
        column: Int64Column = self.allocatable[index]
        return column

    def requested_of(self, resource: str) -> Int64Column:
        """(capacity,) what the pods of each node request of a resource."""
        index = self.resource(resource)
        column: Int64Column = self.requested[index]
        return column

    def non_zero_requested_of(self, resource: str) -> Int64Column:
        """(capacity,) the same for cpu or memory, each container counted with a least amount."""
        column: Int64Column = self.non_zero_requested[0 if resource == CPU else 1]
        return column

    def labels(self, key: str) -> LabelColumn:
        """The column of a label; made when first asked for."""
        column = self._labels.get(key)
        if column is None:
            column = self._labels[key] = LabelColumn(key, self.capacity)
            for row, node in enumerate(self.objects):
                if node is not None:
                    column.set(row, node.metadata.labels)
        return column

    def label_keys(self) -> Collection[str]:
        """The labels that somebody has asked for."""
        return self._labels.keys()

    def use(
        self, row: int, requests: Mapping[str, int], non_zero: tuple[int, int], *, sign: int
    ) -> None:
        """A pod came to a node (sign 1) or left it (-1)."""
        for name, amount in requests.items():
            index = self.resource(name)
            _add(self.requested, index, row, sign * amount)
        _add(self.non_zero_requested, 0, row, sign * non_zero[0])
        _add(self.non_zero_requested, 1, row, sign * non_zero[1])
        self.pod_counts[row] += sign
        self.usage_changes.add(row)

    def join(self, growing: Growing) -> None:
        """From now on this grows along with the table."""
        self._growing[growing] = None

    def leave(self, growing: Growing) -> None:
        """It need not grow any more."""
        del self._growing[growing]

    def _grow(self) -> None:
        self.capacity *= 2
        for name in (
            "alive",
            "unschedulable",
            "pod_counts",
            "allocatable",
            "requested",
            "non_zero_requested",
            "taint_codes",
            "feature_codes",
        ):
            setattr(self, name, wider(getattr(self, name), self.capacity))
        for each in (*self._labels.values(), *self._growing):
            each.grow(self.capacity)


def _add(matrix: Int64Column, index: int, row: int, amount: int) -> None:
    # It may overflow, as upstream's does: pods that were sent to a node by hand may ask for
    # anything, and what they took must be free again once they leave.
    matrix[index, row] = int64(matrix.item(index, row) + amount)
