"""Host ports: which rows have given out which of their own."""

from __future__ import annotations

import pytest

from berthing.api.pod_info import EVERY_ADDRESS, HostPort
from berthing.cluster.host_ports import HostPorts
from berthing.cluster.node_table import NodeTable
from berthing.testing import make_node

HTTP = HostPort("TCP", EVERY_ADDRESS, 80)
DNS = HostPort("UDP", EVERY_ADDRESS, 53)
LOCAL_HTTP = HostPort("TCP", "127.0.0.1", 80)


def ports_of_three_nodes() -> HostPorts:
    table = NodeTable()
    for name in "abc":
        table.add(make_node(name))
    return HostPorts(table)


@pytest.mark.parametrize(
    ("wanted", "conflicts"),
    [
        pytest.param([HTTP], True, id="the same port"),
        pytest.param([LOCAL_HTTP], True, id="one address of a port held on all"),
        pytest.param([DNS, HTTP], True, id="one of two"),
        pytest.param([HostPort("UDP", EVERY_ADDRESS, 80)], False, id="another protocol"),
        pytest.param([HostPort("TCP", EVERY_ADDRESS, 81)], False, id="another number"),
        pytest.param([], False, id="none"),
    ],
)
def test_a_port_is_taken_where_a_pod_holds_it(wanted: list[HostPort], *, conflicts: bool) -> None:
    ports = ports_of_three_nodes()
    ports.take([HTTP], 1)
    assert ports.conflicts(wanted, slice(0, 3)).tolist() == [False, conflicts, False]


def test_two_addresses_can_both_give_out_a_port() -> None:
    ports = ports_of_three_nodes()
    ports.take([LOCAL_HTTP], 0)
    other = HostPort("TCP", "10.0.0.1", 80)
    assert not ports.conflicts([other], slice(0, 3)).any()
    assert ports.conflicts([HTTP], slice(0, 3)).tolist() == [True, False, False]


def test_a_port_is_taken_until_the_last_pod_lets_go_of_it() -> None:
    ports = ports_of_three_nodes()
    ports.take([HTTP, HTTP], 1)
    ports.take([HTTP], 1)
    ports.release([HTTP, HTTP], 1)
    assert ports.held_on(1) == {HTTP}
    ports.release([HTTP], 1)
    assert ports.held_on(1) == frozenset()
    assert not ports.conflicts([HTTP], slice(0, 3)).any()


def test_rows_do_not_share_ports() -> None:
    ports = ports_of_three_nodes()
    ports.take([HTTP], 0)
    ports.take([HTTP, DNS], 2)
    ports.release([HTTP], 0)
    assert ports.held_on(0) == frozenset()
    assert ports.held_on(2) == {HTTP, DNS}
    assert ports.conflicts([HTTP], slice(0, 3)).tolist() == [False, False, True]
