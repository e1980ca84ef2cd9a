from __future__ import annotations

import sys
from typing import ClassVar

import numpy as np
import pytest

from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.framework import (
    CycleState,
    FilterPlugin,
    Int64Column,
    NodeInfo,
    Nodes,
    Plugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScoreExtensions,
    ScorePlugin,
    Status,
    Verdicts,
)
from berthing.scheduler.cycle import nodes_to_find
from berthing.testing import make_node, make_pod
from scheduler.cycles import cluster_of, decide, make_cycle

ODD = Status.unschedulable("node(s) were odd")
CORDONED = Status.unresolvable("node(s) were unschedulable")


class NoCordons(FilterPlugin):
    name: ClassVar[str] = "NoCordons"
    row_local = True
    reads_pods = False

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        return Verdicts.reject(nodes.unschedulable, CORDONED)


class NoOdds(FilterPlugin):
    name: ClassVar[str] = "NoOdds"

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        odd = np.array([name[-1:] in "13579" and bool(name) for name in nodes.names])
        return Verdicts.reject(odd, ODD)


class Emptiest(ScorePlugin):
    name: ClassVar[str] = "Emptiest"
    row_local = True

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        return 100 - 10 * nodes.pod_counts


def five(*cordoned: int) -> Cluster:
    return cluster_of(*(make_node(f"n{i}", cordoned=i in cordoned) for i in range(5)))


def test_a_pod_goes_where_every_filter_passes() -> None:
    cycle = make_cycle(five(0, 2), NoCordons, NoOdds)
    assert decide(cycle, make_pod()).chosen == "n4"


def test_the_first_plugin_that_rejects_a_node_owns_it() -> None:
    decision = decide(make_cycle(five(1), NoCordons, NoOdds), make_pod())
    assert dict(decision.statuses()) == {
        "n0": None,
        "n1": CORDONED.by("NoCordons"),
        "n2": None,
        "n3": ODD.by("NoOdds"),
        "n4": None,
    }


def test_the_message_counts_reasons() -> None:
    decision = decide(make_cycle(five(0, 2, 4), NoCordons, NoOdds), make_pod())
    assert decision.chosen == ""
    assert decision.message == (
        "0/5 nodes are available: 2 node(s) were odd, 3 node(s) were unschedulable."
    )
    assert decision.unschedulable_plugins() == {"NoCordons", "NoOdds"}


def test_a_node_that_left_is_not_counted() -> None:
    cluster = five(0, 2, 4)
    cluster.remove_node("n1")
    decision = decide(make_cycle(cluster, NoCordons, NoOdds), make_pod())
    assert decision.message == (
        "0/4 nodes are available: 1 node(s) were odd, 3 node(s) were unschedulable."
    )


def test_the_highest_score_wins_and_placing_pods_changes_it() -> None:
    cluster = five()
    cycle = make_cycle(cluster, NoCordons, Emptiest)
    for number in range(10):
        info = PodInfo.of(make_pod(f"p{number}"))
        cluster.assume(info, decide(cycle, info.pod).chosen)
    assert cluster.rows().pod_counts.tolist() == [2, 2, 2, 2, 2]


def test_ties_are_broken_by_the_seed() -> None:
    def choices(seed: int) -> list[str]:
        cycle = make_cycle(five(), NoCordons, Emptiest, seed=seed)
        return [decide(cycle, make_pod()).chosen for _ in range(20)]

    assert choices(1) == choices(1)
    assert set(choices(1)) == {"n0", "n1", "n2", "n3", "n4"}
    assert choices(1) != choices(2)


def test_a_single_feasible_node_is_not_scored_unless_asked() -> None:
    cycle = make_cycle(five(0, 1, 2, 3), NoCordons, Emptiest)
    decision = decide(cycle, make_pod())
    assert (decision.chosen, decision.total) == ("n4", None)
    ranked = decide(cycle, make_pod(), rank_all=True)
    assert ranked.total is not None
    assert ranked.total.tolist() == [100]


def test_without_score_plugins_every_node_is_worth_one() -> None:
    decision = decide(make_cycle(five(), NoCordons), make_pod())
    assert decision.total is not None
    assert decision.total.tolist() == [1, 1, 1, 1, 1]


class Names(PreFilterPlugin):
    """Narrows to the names in the pod's label, or answers what the pod says."""

    name: ClassVar[str] = "Names"

    def pre_filter(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> PreFilterResult | Status | None:
        wanted = pod.labels.get("names")
        return None if wanted is None else PreFilterResult(frozenset(wanted.split(".")))


class OtherNames(Names):
    name: ClassVar[str] = "OtherNames"

    def pre_filter(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> PreFilterResult | Status | None:
        return PreFilterResult(frozenset({"n1", "n2"}))


def test_prefilter_narrows_the_search() -> None:
    cycle = make_cycle(five(), Names, NoOdds)
    decision = decide(cycle, make_pod(labels={"names": "n1.n2.gone"}))
    assert decision.chosen == "n2"


def test_nodes_outside_the_narrowing_are_told_by_whom() -> None:
    cycle = make_cycle(five(), Names, NoOdds)
    decision = decide(cycle, make_pod(labels={"names": "n1"}))
    assert decision.message == (
        "0/5 nodes are available: 1 node(s) were odd, 4 node(s) didn't satisfy plugin(s) [Names]."
    )


def test_two_narrowings_meet() -> None:
    cycle = make_cycle(five(), Names, OtherNames)
    assert decide(cycle, make_pod(labels={"names": "n2.n3"})).chosen == "n2"


def test_narrowings_that_do_not_meet_end_the_attempt() -> None:
    cycle = make_cycle(five(), Names, OtherNames)
    decision = decide(cycle, make_pod(labels={"names": "n3.n4"}))
    assert decision.message == (
        "0/5 nodes are available: node(s) didn't satisfy plugin(s) [Names OtherNames] "
        "simultaneously."
    )


def test_a_narrowing_to_nothing_names_its_plugin() -> None:
    cycle = make_cycle(five(), type("N", (Names,), {"name": "N", "pre_filter": _nowhere}))
    assert decide(cycle, make_pod()).message == (
        "0/5 nodes are available: node(s) didn't satisfy plugin N."
    )


def _nowhere(self: object, state: CycleState, pod: PodInfo, nodes: Nodes) -> PreFilterResult:
    return PreFilterResult(frozenset())


class Skips(PreFilterPlugin, FilterPlugin):
    name: ClassVar[str] = "Skips"

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status:
        return Status.skip()

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        raise AssertionError("asked although it skipped")


def test_a_plugin_that_skips_prefilter_is_not_asked_to_filter() -> None:
    assert decide(make_cycle(five(), Skips), make_pod()).error is None


class SaysNo(PreFilterPlugin):
    name: ClassVar[str] = "SaysNo"
    answer: ClassVar[Status] = Status.unschedulable("no, but preemption may help")

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status:
        return self.answer


class SaysNever(SaysNo):
    name: ClassVar[str] = "SaysNever"
    answer: ClassVar[Status] = Status.unresolvable("never")


class SaysNoToo(SaysNo):
    name: ClassVar[str] = "SaysNoToo"
    answer: ClassVar[Status] = Status.unschedulable("no either")


@pytest.mark.parametrize(
    ("plugins", "text"),
    [
        pytest.param((SaysNo, SaysNoToo), "no either", id="of two the last is told"),
        pytest.param((SaysNo, SaysNever), "never", id="the unresolvable one goes first"),
        pytest.param((SaysNever, SaysNo), "never", id="and ends the attempt"),
    ],
)
def test_prefilter_rejections(plugins: tuple[type[SaysNo], ...], text: str) -> None:
    decision = decide(make_cycle(five(), *plugins), make_pod())
    assert decision.message == f"0/5 nodes are available: {text}."
    assert all(status is not None for _, status in decision.statuses())


class OneAtATime(FilterPlugin):
    name: ClassVar[str] = "OneAtATime"
    asked: ClassVar[list[str]] = []

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        self.asked.append(node.name)
        return ODD if node.name[-1] in "13579" else None


def test_plugins_for_one_node_see_only_nodes_in_play() -> None:
    OneAtATime.asked.clear()
    decision = decide(make_cycle(five(0, 1), NoCordons, OneAtATime), make_pod())
    assert OneAtATime.asked == ["n2", "n3", "n4"]
    assert dict(decision.statuses())["n3"] == ODD.by("OneAtATime")
    assert decision.chosen in ("n2", "n4")


def test_a_percentage_ends_their_search_and_the_next_goes_on_from_there() -> None:
    cluster = cluster_of(*(make_node(f"n{i:04}0") for i in range(400)))
    cycle = make_cycle(cluster, OneAtATime, percentage=25)
    OneAtATime.asked.clear()
    assert len(decide(cycle, make_pod()).feasible) == 100
    assert len(OneAtATime.asked) == 100
    decide(cycle, make_pod())
    assert OneAtATime.asked[100] == "n01000"


@pytest.mark.parametrize(
    ("nodes", "percentage", "enough"),
    [
        pytest.param(99, 10, 99, id="fewer than a hundred nodes are all looked at"),
        pytest.param(1000, 50, 500, id="the percentage"),
        pytest.param(1000, 5, 100, id="but never fewer than a hundred"),
        pytest.param(5000, 0, 500, id="adaptive: 50 - 5000/125 = 10 per cent"),
        pytest.param(10000, 0, 500, id="adaptive: never less than 5 per cent"),
    ],
)
def test_how_many_nodes_are_enough(nodes: int, percentage: int, enough: int) -> None:
    assert nodes_to_find(nodes, percentage) == enough


class Raises(FilterPlugin, PreFilterPlugin, PreScorePlugin, ScoreExtensions):
    """Misbehaves at the point that the pod's label names."""

    name: ClassVar[str] = "Raises"

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        if pod.labels["how"] == "prefilter waits":
            return Status.pending("x")
        if pod.labels["how"] == "prefilter exits":
            sys.exit(1)
        self._maybe("prefilter", pod)
        return None

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        self._maybe("filter", pod)
        if pod.labels["how"] == "filter shape":
            return Verdicts.all_pass(2)
        if pod.labels["how"] == "filter type":
            return None  # type: ignore[return-value]  # what a careless author returns
        if pod.labels["how"] == "filter code":
            return Verdicts.reject(nodes.pod_counts == 0, Status.skip())
        if pod.labels["how"] == "filter statuses":
            return Verdicts(np.ones(len(nodes), np.intp))
        if pod.labels["how"] == "filter bools":
            return Verdicts(nodes.pod_counts == 0, [Status.unschedulable("x")])
        return Verdicts.all_pass(len(nodes))

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        if pod.labels["how"] == "prescore rejects":
            return Status.unschedulable("x")
        self._maybe("prescore", pod)
        return None

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        self._maybe("score", pod)
        if pod.labels["how"] == "score type":
            return [1] * len(nodes)  # type: ignore[return-value]  # what a careless author returns
        if pod.labels["how"] == "score shape":
            return np.zeros(1, np.int64)
        return np.full(len(nodes), 101 if pod.labels["how"] == "score range" else 7)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Int64Column) -> Int64Column:
        self._maybe("normalize", pod)
        if pod.labels["how"] == "normalize type":
            return None  # type: ignore[return-value]  # as above
        if pod.labels["how"] == "normalize fractions":
            return scores / 2  # type: ignore[return-value]  # as above
        return scores

    def _maybe(self, point: str, pod: PodInfo) -> None:
        if pod.labels["how"] == point:
            raise ValueError(f"{point} broke")


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("prefilter", 'running PreFilter plugin "Raises": prefilter broke'),
        ("prefilter exits", 'running PreFilter plugin "Raises": 1'),
        ("prefilter waits", "PreFilter must not answer Pending"),
        ("filter", 'running "Raises" filter plugin: filter broke'),
        ("filter shape", "2 verdicts for 5 nodes"),
        ("filter type", "filter_nodes returned None, not Verdicts"),
        ("filter code", "Filter answered Skip"),
        ("filter statuses", "verdicts with codes beyond 0 to 0, its statuses"),
        ("filter bools", "verdicts with codes array([ True,"),
        ("prescore", 'running PreScore plugin "Raises": prescore broke'),
        ("prescore rejects", "PreScore answered Unschedulable"),
        ("score", 'running Score plugins: plugin "Raises" failed with: score broke'),
        ("score type", "not an int64 array"),
        ("score shape", "scores of shape (1,) for 5 nodes"),
        ("score range", "a score of 101, not within 0 to 100"),
        (
            "normalize",
            'running Normalize on Score plugins: plugin "Raises" failed with: normalize broke',
        ),
        ("normalize type", "normalize_score returned None, not an int64 array"),
        ("normalize fractions", "normalize_score returned array([3.5,"),
    ],
)
def test_a_plugin_that_misbehaves_fails_the_attempt_with_its_name(how: str, text: str) -> None:
    decision = decide(make_cycle(five(), Raises), make_pod(labels={"how": how}))
    assert decision.error is not None
    assert decision.error.is_error
    assert decision.error.plugin == "Raises"
    assert text in decision.error.message
    assert decision.chosen == ""


class NamesNumbers(PreFilterPlugin):
    name: ClassVar[str] = "NamesNumbers"

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> PreFilterResult:
        return PreFilterResult([1])  # type: ignore[arg-type]  # what a careless author returns


class Halves(ScorePlugin):
    name: ClassVar[str] = "Halves"

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        return 0.5  # type: ignore[return-value]  # as above


class Unsure(ScorePlugin):
    """Cannot even say yes or no."""

    name: ClassVar[str] = "Unsure"
    row_local = True

    def score_basis(self, nodes: Nodes) -> object:
        return nodes.pod_counts.copy()

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        return np.zeros(len(nodes), np.int64)


class CannotAdd(PreFilterExtensions):
    name: ClassVar[str] = "CannotAdd"

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> None: ...

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> Status:
        return Status.unschedulable("out of memory")


@pytest.mark.parametrize(
    ("plugin", "text"),
    [
        (NamesNumbers, "PreFilter named the nodes [1], not a frozenset of names"),
        (Halves, "'float' object cannot be interpreted as an integer"),
        (CannotAdd, 'running AddPod on PreFilter plugin "CannotAdd": out of memory'),
        (Unsure, 'running Score plugins: plugin "Unsure" failed with: The truth value of an array'),
    ],
)
def test_other_ways_to_misbehave(plugin: type[Plugin], text: str) -> None:
    # So many that the one that changes is asked about alone.
    cluster = cluster_of(*(make_node(f"n{i}") for i in range(8)))
    cycle = make_cycle(cluster, plugin)
    nominated = {"n1": [make_pod("nominated", uid="nominated", priority=9)]}
    decide(cycle, make_pod(uid="first"))
    cluster.assume(PodInfo.of(make_pod("other", uid="other")), "n3")
    decision = decide(cycle, make_pod(uid="second"), nominated=nominated)
    assert decision.error is not None
    assert decision.error.plugin == plugin.name
    assert text in decision.error.message
    assert decision.chosen == ""


class Room(FilterPlugin):
    """At most two pods to a node."""

    name: ClassVar[str] = "Room"
    row_local = True

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        return Verdicts.reject(nodes.pod_counts >= 2, Status.unschedulable("full"))


def test_a_pod_yields_to_nominated_pods_as_important_as_itself() -> None:
    cluster = cluster_of(make_node("n0"), make_node("n1"))
    cycle = make_cycle(cluster, Room)
    waiting = [make_pod(f"w{i}", uid=f"w{i}", priority=5) for i in range(2)]
    nominated = {"n0": waiting}
    assert decide(cycle, make_pod(priority=5), nominated=nominated).chosen == "n1"
    unimportant = decide(cycle, make_pod(priority=6), nominated=nominated)
    assert unimportant.feasible.tolist() == [0, 1]
    assert cluster.rows().pod_counts.tolist() == [0, 0]


def test_its_own_nomination_goes_before_all_scores() -> None:
    cluster = five()
    cycle = make_cycle(cluster, NoCordons, Emptiest)
    cluster.assume(PodInfo.of(make_pod("other", uid="other")), "n3")
    pod = make_pod(nominated_node_name="n3")
    assert decide(cycle, pod).chosen == "n3"


def test_a_nomination_that_fell_through_is_no_obstacle() -> None:
    cycle = make_cycle(five(3), NoCordons, Emptiest)
    decision = decide(cycle, make_pod(nominated_node_name="n3"))
    assert decision.nominated_passed is False
    assert decision.chosen in {"n0", "n1", "n2", "n4"}


def test_a_nomination_for_a_node_that_is_gone_is_no_obstacle() -> None:
    cycle = make_cycle(five(), Names, NoCordons, Emptiest)
    pod = make_pod(labels={"names": "n1"}, nominated_node_name="gone")
    decision = decide(cycle, pod)
    assert (decision.nominated_node, decision.nominated_passed) == ("gone", False)
    assert decision.chosen == "n1"
    pod = make_pod(labels={"names": "n4"}, nominated_node_name="gone")
    cordoned = decide(make_cycle(five(4), Names, NoCordons, Emptiest), pod)
    assert cordoned.message == (
        "0/5 nodes are available: 1 node(s) were unschedulable, "
        "4 node(s) didn't satisfy plugin(s) [Names]."
    )


class Nowhere(FilterPlugin):
    name: ClassVar[str] = "Nowhere"

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        return Verdicts.reject(np.ones(len(nodes), np.bool_), ODD)


def test_a_row_without_a_node_is_nobodys_nomination() -> None:
    cluster = five()
    cluster.remove_node("n0")
    decision = decide(make_cycle(cluster, Names, Nowhere), make_pod(labels={"names": "n4"}))
    assert decision.message == (
        "0/4 nodes are available: 1 node(s) were odd, 3 node(s) didn't satisfy plugin(s) [Names]."
    )


def test_a_nomination_outside_the_narrowing_speaks_for_itself() -> None:
    cycle = make_cycle(five(3), Names, NoCordons, NoOdds)
    pod = make_pod(labels={"names": "n1"}, nominated_node_name="n3")
    decision = decide(cycle, pod)
    assert decision.message == (
        "0/5 nodes are available: 1 node(s) were odd, 1 node(s) were unschedulable, "
        "3 node(s) didn't satisfy plugin(s) [Names NoCordons]."
    )
    assert decision.unschedulable_plugins() == {"Names", "NoCordons", "NoOdds"}
    (outside,) = {str(decision.get(name)) for name in ("n0", "n2", "n3", "n4")}
    assert outside == "node(s) didn't satisfy plugin(s) [Names]"


def test_a_nomination_inside_the_narrowing_names_its_plugin_to_the_others() -> None:
    cycle = make_cycle(five(3), Names, NoCordons, NoOdds)
    pod = make_pod(labels={"names": "n3"}, nominated_node_name="n3")
    assert decide(cycle, pod).message == (
        "0/5 nodes are available: 1 node(s) were unschedulable, "
        "4 node(s) didn't satisfy plugin(s) [Names NoCordons]."
    )


def test_the_last_decisions_are_kept_as_they_were() -> None:
    cluster = five()
    cycle = make_cycle(cluster, NoCordons, NoOdds, Emptiest)
    first = decide(cycle, make_pod("a", uid="a"))
    assert first.total is not None
    then = first.total.tolist()
    for number in range(120):
        info = PodInfo.of(make_pod(f"p{number}", uid=f"p{number}"))
        cluster.assume(info, decide(cycle, info.pod).chosen)
    assert first.total.tolist() == then
    assert len(cycle.decisions) == 32
    assert cycle.decisions.last("default/a") is None
    newest = cycle.decisions.last("default/p119")
    assert newest is not None
    assert newest.pod.uid == "p119"
