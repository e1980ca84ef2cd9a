from __future__ import annotations

import pytest

from berthing.framework import ActionType, ClusterEvent, ClusterEventWithHint, EventResource, Status
from berthing.plugins.node_name import NodeName
from berthing.testing import make_node, make_pod
from plugins.harness import cluster_of, fake_handle, filter_all

REJECTED = Status.unresolvable("node(s) didn't match the requested node name")
PLUGIN = NodeName(None, fake_handle())
NODES = [make_node(name) for name in ("a", "b")]


@pytest.mark.parametrize(
    ("node_name", "expected"),
    [
        pytest.param("", {"a": None, "b": None}, id="a pod that names no node may go anywhere"),
        pytest.param("b", {"a": REJECTED, "b": None}, id="a pod goes to the node it names"),
        pytest.param("c", {"a": REJECTED, "b": REJECTED}, id="the named node does not exist"),
        pytest.param("B", {"a": REJECTED, "b": REJECTED}, id="case matters"),
    ],
)
def test_filter(node_name: str, expected: dict[str, Status | None]) -> None:
    assert filter_all(PLUGIN, make_pod(node_name=node_name), cluster_of(NODES)) == expected


def test_a_node_that_is_gone_is_nobodys_match() -> None:
    cluster = cluster_of(NODES)
    cluster.remove_node("b")
    assert filter_all(PLUGIN, make_pod(node_name="b"), cluster) == {"a": REJECTED}


def test_every_new_node_wakes() -> None:
    assert PLUGIN.events_to_register() == (
        ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),
    )
