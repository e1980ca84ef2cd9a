"""What hard constraints say if some pods were gone, or others there."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from berthing.api.labels import LabelSelector
from berthing.api.pod import Pod, TopologySpreadConstraint
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Rows
from berthing.config.args import PodTopologySpreadArgs
from berthing.framework import CycleState
from berthing.plugins.pod_topology_spread import PodTopologySpread
from berthing.testing import make_node, make_pod, make_spread_constraint, make_taint
from plugins.harness import cluster_of, fake_handle

WEB = {"app": "web"}

NODES = (
    make_node("a1", zone="a"),
    make_node("a2", zone="a"),
    make_node("b1", zone="b"),
    make_node("c1", zone="c"),
    make_node("nowhere"),
)


class WhatIf:
    """A pod's attempt in a cluster, and what would be if."""

    def __init__(self, *constraints: TopologySpreadConstraint, **running: int) -> None:
        pods = [
            make_pod(f"{node}-{number}", labels=WEB, node_name=node)
            for node, count in running.items()
            for number in range(count)
        ]
        self.cluster: Cluster = cluster_of((*NODES, *pods))
        self.plugin = PodTopologySpread(PodTopologySpreadArgs(), fake_handle())
        constraints = constraints or (make_spread_constraint(WEB),)
        self.pod = PodInfo.of(make_pod(labels=WEB, spread=constraints))
        self.state = CycleState()
        self.plugin.pre_filter(self.state, self.pod, self.cluster.rows())

    def add(self, pod: Pod, node: str) -> None:
        row = self.cluster.row(node)
        assert row is not None
        self.plugin.add_pod(self.state, self.pod, PodInfo.of(pod), row)

    def remove(self, pod: Pod, node: str) -> None:
        row = self.cluster.row(node)
        assert row is not None
        self.plugin.remove_pod(self.state, self.pod, PodInfo.of(pod), row)

    def fitting(self) -> set[str]:
        rows = self.cluster.rows()
        verdicts = self.plugin.filter_nodes(self.state, self.pod, rows)
        together = {name for name, fits in zip(rows.names, verdicts.fits, strict=True) if fits}
        one_by_one = {
            name
            for row, name in enumerate(rows.names)
            if self.plugin.filter_nodes(
                self.state, self.pod, Rows(self.cluster, np.array([row], np.intp))
            ).fits.all()
        }
        assert together == one_by_one
        return together


OTHER = make_pod("other", labels=WEB)


def test_a_pod_less_in_a_full_zone_makes_room_on_its_node_alone() -> None:
    what_if = WhatIf(a1=1, a2=1, b1=1, c1=1)
    what_if.remove(OTHER, "a1")
    # Without it there would be 1 in its zone and 1 at least; elsewhere nothing has changed.
    assert what_if.fitting() == {"a1", "b1", "c1"}


def test_each_node_has_its_own_world() -> None:
    what_if = WhatIf(a1=2, b1=2, c1=1)
    assert what_if.fitting() == {"c1"}
    what_if.remove(OTHER, "a1")
    what_if.remove(OTHER, "b1")
    # Each would do if only its own pod were gone, and so each does.
    assert what_if.fitting() == {"a1", "b1", "c1"}


def test_what_is_removed_and_added_again_changes_nothing() -> None:
    what_if = WhatIf(a1=1)
    what_if.remove(OTHER, "a1")
    assert what_if.fitting() == {"a1", "b1", "c1"}
    what_if.add(OTHER, "a1")
    assert what_if.fitting() == {"b1", "c1"}


def test_a_zone_may_become_the_emptiest() -> None:
    what_if = WhatIf(a1=3, b1=2, c1=2)
    for _ in range(3):
        what_if.remove(OTHER, "a1")
    assert what_if.fitting() == {"a1", "b1", "c1"}


def test_the_only_emptiest_zone_may_fill_up() -> None:
    what_if = WhatIf(a1=2, b1=2, c1=1)
    what_if.add(OTHER, "c1")
    # Now there are two everywhere, and one more is not too many.
    assert what_if.fitting() == {"c1"}
    what_if.add(OTHER, "c1")
    assert what_if.fitting() == set()


def test_one_of_two_emptiest_zones_may_fill_up() -> None:
    what_if = WhatIf(a1=1)
    what_if.add(OTHER, "b1")
    assert what_if.fitting() == {"c1"}


def test_with_too_few_domains_the_emptiest_still_has_none() -> None:
    what_if = WhatIf(make_spread_constraint(WEB, min_domains=4), a1=1, b1=1, c1=1)
    assert what_if.fitting() == set()
    what_if.remove(OTHER, "a1")
    assert what_if.fitting() == {"a1"}
    what_if.add(OTHER, "a1")
    assert what_if.fitting() == set()


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(make_pod("other", labels={"app": "db"}), id="of other labels"),
        pytest.param(make_pod("other", labels=WEB, namespace="elsewhere"), id="elsewhere"),
    ],
)
def test_pods_that_are_not_counted_make_no_difference(other: Pod) -> None:
    what_if = WhatIf(a1=1)
    what_if.remove(other, "a1")
    assert what_if.fitting() == {"b1", "c1"}


def test_nodes_that_are_not_counted_make_no_difference() -> None:
    what_if = WhatIf(make_spread_constraint(WEB, node_taints_policy="Honor"), a1=1)
    what_if.cluster.set_node(make_node("a2", zone="a", taints=[make_taint()]))
    what_if.state = CycleState()
    what_if.plugin.pre_filter(what_if.state, what_if.pod, what_if.cluster.rows())
    what_if.remove(OTHER, "a2")
    what_if.remove(OTHER, "nowhere")
    assert what_if.fitting() == {"b1", "c1"}


def test_a_pod_on_its_way_out_counts_when_it_is_removed() -> None:
    # It was not counted while it was there, and upstream takes it off all the same.
    leaving = make_pod("leaving", labels=WEB, deleted=datetime(2030, 1, 1, tzinfo=UTC))
    what_if = WhatIf(a1=1)
    what_if.remove(leaving, "a1")
    assert what_if.fitting() == {"a1", "b1", "c1"}


def test_a_selector_that_selects_all_counts_pods_that_are_added() -> None:
    # It counts nobody who is there, and upstream adds them all the same.
    what_if = WhatIf(make_spread_constraint(LabelSelector()), a1=3)
    assert what_if.fitting() == {"a1", "a2", "b1", "c1"}
    what_if.add(OTHER, "a1")
    assert what_if.fitting() == {"a2", "b1", "c1"}


def test_a_copy_of_the_state_goes_its_own_way() -> None:
    what_if = WhatIf(a1=1)
    before = what_if.state
    what_if.state = before.clone()
    what_if.remove(OTHER, "a1")
    assert what_if.fitting() == {"a1", "b1", "c1"}
    what_if.state = before
    assert what_if.fitting() == {"b1", "c1"}


def test_the_clusters_counters_may_follow_or_not() -> None:
    what_if = WhatIf(a1=1)
    what_if.remove(OTHER, "a1")
    what_if.cluster.remove_pod("uid-of-default/a1-0")
    assert what_if.fitting() == {"a1", "b1", "c1"}
