from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import as_rows
from berthing.framework import (
    CycleState,
    FilterPlugin,
    Int64Column,
    Nodes,
    PreFilterPlugin,
    PreScorePlugin,
    ScoreExtensions,
    ScorePlugin,
    Status,
    Verdicts,
)
from berthing.scheduler.cycle import Cycle
from berthing.testing import make_node, make_pod
from scheduler.cycles import cluster_of, decide, make_cycle

FULL = Status.unschedulable("full")


class Room(PreFilterPlugin, FilterPlugin):
    """At most two pods to a node; says which rows it was asked about."""

    name: ClassVar[str] = "Room"
    row_local = True
    asked: ClassVar[list[int]] = []
    skips: ClassVar[bool] = False

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        return Status.skip() if self.skips else None

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        self.asked.append(len(nodes))
        return Verdicts.reject(nodes.pod_counts >= 2, FULL)


class Cordons(FilterPlugin):
    """Heeds nothing but the node itself."""

    name: ClassVar[str] = "Cordons"
    row_local = True
    reads_pods = False
    asked: ClassVar[list[int]] = []

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        self.asked.append(len(nodes))
        return Verdicts.reject(nodes.unschedulable, FULL)


class Emptiest(PreScorePlugin, ScorePlugin):
    name: ClassVar[str] = "Emptiest"
    row_local = True
    asked: ClassVar[list[int]] = []
    skips: ClassVar[bool] = False

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        return Status.skip() if self.skips else None

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        self.asked.append(len(nodes))
        return 100 - 60 * nodes.pod_counts


@pytest.fixture(autouse=True)
def _fresh_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    for plugin in (Room, Cordons, Emptiest):
        monkeypatch.setattr(plugin, "asked", [])
    for plugin in (Room, Emptiest):
        monkeypatch.setattr(plugin, "skips", False)


def ten() -> Cluster:
    return cluster_of(*(make_node(f"n{number}") for number in range(10)))


def place(cluster: Cluster, name: str, node: str) -> None:
    cluster.set_pod(PodInfo.of(make_pod(name, uid=name, node_name=node)))


def feasible(cycle: Cycle) -> list[int]:
    rows: list[int] = decide(cycle, make_pod()).feasible.tolist()
    return rows


def test_only_rows_that_changed_are_asked_about_again() -> None:
    cluster = ten()
    cycle = make_cycle(cluster, Room, Cordons, Emptiest)
    decide(cycle, make_pod())
    place(cluster, "a", "n3")
    decide(cycle, make_pod("other"))
    decide(cycle, make_pod())
    assert (Room.asked, Cordons.asked, Emptiest.asked) == ([10, 1], [10], [10, 1])


def test_a_plugin_that_reads_no_pods_is_asked_when_the_node_changes() -> None:
    cluster = ten()
    cycle = make_cycle(cluster, Room, Cordons)
    decide(cycle, make_pod())
    cluster.set_node(make_node("n3", cordoned=True))
    place(cluster, "a", "n4")
    assert 3 not in feasible(cycle)
    assert (Room.asked, Cordons.asked) == ([10, 2], [10, 1])


def test_after_many_changes_all_rows_are_asked_about() -> None:
    cluster = ten()
    cycle = make_cycle(cluster, Room)
    decide(cycle, make_pod())
    for number in range(4):
        place(cluster, f"a{number}", f"n{number}")
    decide(cycle, make_pod())
    assert Room.asked == [10, 10]


def test_another_kind_of_pod_is_another_question() -> None:
    cycle = make_cycle(ten(), Room)
    decide(cycle, make_pod())
    decide(cycle, make_pod(labels={"app": "web"}))
    assert Room.asked == [10, 10]


def test_a_verdict_can_come_and_go() -> None:
    cluster = ten()
    cycle = make_cycle(cluster, Room)
    for name in ("a", "b"):
        decide(cycle, make_pod())
        place(cluster, name, "n3")
    assert 3 not in feasible(cycle)
    cluster.remove_pod("a")
    assert 3 in feasible(cycle)


def test_a_decision_that_is_kept_stays_as_it_was() -> None:
    cluster = ten()
    cycle = make_cycle(cluster, Room, Emptiest)
    place(cluster, "a", "n3")
    decide(cycle, make_pod())
    place(cluster, "b", "n4")
    before = decide(cycle, make_pod())
    assert before.total is not None
    told = before.total.tolist(), before.scores[0].raw.tolist(), dict(before.statuses())
    place(cluster, "c", "n3")
    decide(cycle, make_pod())
    assert before.feasible.tolist() == list(range(10))
    assert told == (
        before.total.tolist(),
        before.scores[0].raw.tolist(),
        dict(before.statuses()),
    )
    assert before.total[3] == 40


def test_a_node_that_comes_back_on_a_row_is_looked_at_anew() -> None:
    cluster = ten()
    cycle = make_cycle(cluster, Cordons)
    assert len(feasible(cycle)) == 10
    cluster.remove_node("n3")
    assert 3 not in feasible(cycle)
    cluster.set_node(make_node("n10"))
    assert 3 in feasible(cycle)
    assert decide(cycle, make_pod()).node_names[3] == "n10"


def test_a_plugin_that_sat_out_is_asked_about_all_rows() -> None:
    cluster = ten()
    cycle = make_cycle(cluster, Room, Emptiest)
    for name in ("a", "b"):
        place(cluster, name, "n3")
    Room.skips = Emptiest.skips = True
    decision = decide(cycle, make_pod())
    assert (Room.asked, Emptiest.asked) == ([], [])
    assert (len(decision.feasible), list(decision.scores)) == (10, [])
    Room.skips = Emptiest.skips = False
    decision = decide(cycle, make_pod())
    assert 3 not in decision.feasible
    assert [each.plugin for each in decision.scores] == ["Emptiest"]
    Room.skips = True
    assert 3 in feasible(cycle)


class Relative(ScoreExtensions):
    """Counts pods; the most is worth nothing."""

    name: ClassVar[str] = "Relative"
    row_local = True

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        return nodes.pod_counts.copy()

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Int64Column) -> Int64Column:
        return 100 - scores * 100 // max(int(scores.max()), 1)


def normalized(cycle: Cycle) -> list[int]:
    (scores,) = decide(cycle, make_pod()).scores
    return list(map(int, scores.normalized))


def test_scores_are_normalised_anew_when_any_changes() -> None:
    cluster = ten()
    cycle = make_cycle(cluster, Relative)
    place(cluster, "a", "n0")
    assert normalized(cycle) == [0, *[100] * 9]
    place(cluster, "b", "n1")
    assert normalized(cycle) == [0, 0, *[100] * 8]
    place(cluster, "c", "n1")
    assert normalized(cycle) == [50, 0, *[100] * 8]


def test_scores_are_normalised_anew_when_other_nodes_pass() -> None:
    cluster = ten()
    cycle = make_cycle(cluster, Cordons, Relative)
    for name, node in (("a", "n0"), ("b", "n1"), ("c", "n1")):
        place(cluster, name, node)
    assert normalized(cycle) == [50, 0, *[100] * 8]
    cluster.set_node(make_node("n1", cordoned=True))
    assert normalized(cycle) == [0, *[100] * 8]


class Share(ScorePlugin):
    """Every node gets the same share of a hundred points."""

    name: ClassVar[str] = "Share"
    row_local = True
    reads_pods = False

    def score_basis(self, nodes: Nodes) -> object:
        return len(as_rows(nodes).cluster.nodes)

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        return np.full(len(nodes), 100 // len(as_rows(nodes).cluster.nodes), np.int64)


def test_scores_that_have_lost_their_basis_are_asked_for_again() -> None:
    cluster = ten()
    cycle = make_cycle(cluster, Cordons, Share, Emptiest)
    decide(cycle, make_pod())
    cluster.remove_node("n9")
    decision = decide(cycle, make_pod())
    assert decision.scores[0].raw.tolist() == [11] * 9
    assert decision.total is not None
    assert decision.total.tolist() == [111] * 9
    assert Emptiest.asked == [10, 1]


@pytest.mark.parametrize(
    "pods", [pytest.param((), id="from the start"), pytest.param(("z",), id="once a pod came")]
)
def test_a_score_out_of_range_fails_the_attempt_if_the_node_passes(pods: tuple[str, ...]) -> None:
    cluster = ten()
    cycle = make_cycle(cluster, Room, Emptiest)
    for name in pods:
        decide(cycle, make_pod())
        place(cluster, name, "n5")
    place(cluster, "a", "n3")
    place(cluster, "b", "n3")
    assert decide(cycle, make_pod()).error is None, "a full node's score is nobody's business"
    Room.skips = True
    error = decide(cycle, make_pod()).error
    assert error is not None
    assert "a score of -20" in error.message


class Breaks(Emptiest):
    name: ClassVar[str] = "Breaks"
    broken: ClassVar[bool] = False

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        if self.broken:
            raise ValueError("broke")
        return 50 + nodes.pod_counts


def test_a_plugin_that_failed_once_has_missed_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = ten()
    cycle = make_cycle(cluster, Share, Emptiest, Breaks)
    decide(cycle, make_pod())
    cluster.remove_node("n9")
    place(cluster, "a", "n3")
    monkeypatch.setattr(Breaks, "broken", True)
    assert decide(cycle, make_pod()).error is not None
    monkeypatch.setattr(Breaks, "broken", False)
    decision = decide(cycle, make_pod())
    assert decision.total is not None
    assert decision.total.tolist() == [161, 161, 161, 102, *[161] * 5]
