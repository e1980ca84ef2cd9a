from __future__ import annotations

from berthing.explain.report import Fallen, Report
from berthing.testing import make_node, make_node_term, make_pod, make_taint
from explain.questions import question


def test_nodes_are_counted_by_the_plugin_they_fell_to() -> None:
    report = Report(
        question(
            make_pod(cpu="8", memory="20Gi"),
            make_node("a"),
            make_node("b", memory="64Gi"),
            make_node("c", cpu="1", memory="64Gi"),
            make_node("d", taints=[make_taint("gpu")]),
        )
    )
    assert report.fallen == (
        Fallen("NodeResourcesFit", 3, ("Insufficient cpu", "Insufficient memory")),
        Fallen("TaintToleration", 1, ("node(s) had untolerated taint(s)",)),
    )
    assert not report.fits


def test_nodes_outside_of_what_prefilter_left_fall_to_who_narrowed_the_search() -> None:
    pod = make_pod(cpu="8", node_affinity=[make_node_term(node_name="a")])
    report = Report(question(pod, make_node("a"), make_node("b")))
    assert {each.plugin: each.count for each in report.fallen} == {
        "NodeResourcesFit": 1,
        "NodeAffinity": 1,
    }


def test_the_ranking_adds_up_and_the_chosen_node_leads() -> None:
    nodes = [make_node(f"n{i}", cpu=str(2 + i)) for i in range(4)]
    report = Report(question(make_pod(cpu="1", memory="1Gi"), *nodes))
    assert report.fits
    assert report.ranking[0].name == report.decision.chosen
    assert [each.total for each in report.ranking] == sorted(
        (each.total for each in report.ranking), reverse=True
    )
    for each in report.ranking:
        assert sum(each.by_plugin.values()) == each.total
        assert tuple(each.by_plugin) == report.scorers


def test_the_only_node_is_scored_too() -> None:
    report = Report(question(make_pod(), make_node("a")))
    assert [each.name for each in report.ranking] == ["a"]


def test_no_changes_are_looked_for_where_the_pod_fits() -> None:
    report = Report(question(make_pod(), make_node("a"), make_node("b", taints=[make_taint("x")])))
    assert report.changes == ()
