"""PreFilter and PreScore plugins that go by the pod alone are asked once per kind of pod."""

from __future__ import annotations

from typing import ClassVar

import pytest

from berthing.api.pod_info import PodInfo
from berthing.framework import (
    CycleState,
    FilterPlugin,
    Int64Column,
    Nodes,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
    Status,
    Verdicts,
)
from berthing.scheduler.decision import Decision
from berthing.testing import make_node, make_pod
from scheduler.cycles import cluster_of, decide, make_cycle

NODES = (make_node("a"), make_node("b"))


class Local(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Sits out for pods without labels, and notes which points it was asked at."""

    name: ClassVar[str] = "Local"
    asked: ClassVar[list[str]] = []
    fails: ClassVar[bool] = False

    def is_pod_local(self, pod: PodInfo) -> bool:
        if self.fails:
            raise RuntimeError("no idea")
        return pod.labels.get("volatile") != "yes"

    def pre_filter(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> PreFilterResult | Status | None:
        self.asked.append("PreFilter")
        if node := pod.labels.get("node"):
            return PreFilterResult(frozenset({node}))
        if "hopeless" in pod.labels:
            return Status.unresolvable("hopeless")
        return None if pod.labels else Status.skip()

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        self.asked.append("Filter")
        return Verdicts.all_pass(len(nodes))

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        self.asked.append("PreScore")
        return None if pod.labels else Status.skip()

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        self.asked.append("Score")
        return nodes.pod_counts


@pytest.fixture(autouse=True)
def _fresh_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Local, "asked", [])
    monkeypatch.setattr(Local, "fails", False)


def asked_twice(labels: dict[str, str]) -> tuple[Decision, list[str]]:
    """The second decision about two replicas, and what was asked for it."""
    cycle = make_cycle(cluster_of(*NODES), Local)
    decide(cycle, make_pod("first", labels=labels))
    Local.asked.clear()
    return decide(cycle, make_pod("second", labels=labels)), Local.asked


@pytest.mark.parametrize(
    ("labels", "asked"),
    [
        pytest.param({}, [], id="who sits out does so for all replicas"),
        pytest.param({"app": "web"}, ["Filter", "Score"], id="who lets pass need not say so again"),
        pytest.param(
            {"volatile": "yes"},
            ["PreFilter", "Filter", "PreScore", "Score"],
            id="who does not go by the pod alone is asked again",
        ),
    ],
)
def test_replicas(labels: dict[str, str], asked: list[str]) -> None:
    assert asked_twice(labels)[1] == asked


def test_nodes_are_narrowed_down_for_every_replica() -> None:
    decision, _ = asked_twice({"node": "b"})
    assert decision.narrowing is not None
    assert decision.chosen == "b"


def test_every_replica_is_turned_down() -> None:
    decision, asked = asked_twice({"hopeless": ""})
    assert decision.pre_filter == Status.unresolvable("hopeless").by("Local")
    assert asked == ["PreFilter"]


def test_a_plugin_that_cannot_say_fails_the_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Local, "fails", True)
    decision = decide(make_cycle(cluster_of(*NODES), Local), make_pod())
    assert decision.error is not None
    assert decision.error.plugin == "Local"
    assert "no idea" in decision.error.message
