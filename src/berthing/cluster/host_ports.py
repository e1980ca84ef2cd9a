"""Which nodes have given out which of their own ports.

Upstream: HostPortInfo in kube-scheduler/framework/types.go (v1.36.4).
Differs:  a port that several pods hold is free when the last of them is gone, not with the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from berthing.api.pod_info import HostPort
from berthing.cluster.counters import RowCounter
from berthing.cluster.node_table import NodeTable
from berthing.framework.columns import BoolColumn, CodeColumn


class HostPorts:
    """For each port that a running pod holds, on which rows and how often."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        # By protocol and number, which decide; then by address.
        self._holders: dict[tuple[str, int], dict[HostPort, RowCounter]] = {}

    def take(self, ports: Iterable[HostPort], row: int) -> None:
        """A pod with these ports came to a row."""
        for port in ports:
            holders = self._holders.setdefault((port.protocol, port.port), {})
            if port not in holders:
                holders[port] = RowCounter(self._table)
            holders[port].add(row, 1)

    def release(self, ports: Iterable[HostPort], row: int) -> None:
        """A pod with these ports left a row."""
        for port in ports:
            number = port.protocol, port.port
            holders = self._holders[number]
            holders[port].add(row, -1)
            if not holders[port].total:
                holders.pop(port).close()
                if not holders:
                    del self._holders[number]

    def conflicts(self, ports: Iterable[HostPort], index: slice | CodeColumn) -> BoolColumn:
        """(n_rows,) true where a running pod holds one of these ports, of the rows in `index`."""
        taken = np.zeros(len(self._table.alive[index]), np.bool_)
        for port in ports:
            for held, holders in self._holders.get((port.protocol, port.port), {}).items():
                if held.conflicts_with(port):
                    taken |= holders.counts[index] > 0
        return taken

    def all(self) -> Iterator[tuple[HostPort, RowCounter]]:
        """Every port that a running pod holds, and how many hold it on each row."""
        for holders in self._holders.values():
            yield from holders.items()

    def held_on(self, row: int) -> frozenset[HostPort]:
        """The ports that pods of one node hold."""
        return frozenset(port for port, holders in self.all() if holders.counts[row])
