"""The demo in virtual time: the same objects that run in real time, and everything comes out right."""

from __future__ import annotations

import pytest

from berthing.demo.checks import checks
from berthing.demo.outcome import Outcome
from demo.outcomes import shown, the_outcome


@pytest.mark.parametrize(
    ("nodes", "seed"),
    [
        pytest.param(30, 1, id="as few nodes as may be"),
        pytest.param(30, 2, id="another seed"),
        pytest.param(43, 3, id="zones that differ in size"),
    ],
)
def test_every_placement_is_as_it_should_be(nodes: int, seed: int) -> None:
    outcome = shown(nodes=nodes, seed=seed).outcome
    assert {each.name: each.faults for each in checks(outcome) if not each.passed} == {}


@pytest.mark.parametrize("begins", [0.3, 0.6, 0.7, 0.8])
def test_it_comes_out_right_whenever_in_a_second_it_begins(begins: float) -> None:
    outcome = shown(begins=begins).outcome
    assert {each.name: each.faults for each in checks(outcome) if not each.passed} == {}


def test_one_seed_gives_one_story() -> None:
    def told(outcome: Outcome) -> list[tuple[str, str, float]]:
        return [
            (each.pod.name, place.node_name, place.at)
            for each in outcome.pods
            for place in each.placements
        ]

    first = told(the_outcome())
    shown.cache_clear()
    assert told(the_outcome()) == first
    assert told(shown(seed=2).outcome) != first


def test_a_node_died_and_some_of_its_pods_came_back_under_their_names() -> None:
    outcome = the_outcome()
    assert outcome.death is not None
    assert outcome.nodes[outcome.death.node_name].gone_at is not None
    lost = {each.pod.name for each in outcome.death.lost if each.app == "database"}
    assert lost
    now = {each.pod.name for each in outcome.of("database") if each.is_live and each.placements}
    assert lost <= now


def test_somebody_waited_for_each_kind_of_event() -> None:
    outcome = the_outcome()
    assert all(each.refused_at is not None for each in outcome.of("payroll", "reports"))
    assert all(each.let_go_at > each.created_at for each in outcome.of("season") if each.let_go_at)


def test_the_explanation_names_what_would_place_the_pod() -> None:
    report = shown().report
    assert report.pod_key == "default/trainer"
    assert not report.fits
    changes = [each.text for each in report.changes]
    assert "if nvidia.com/gpu <= 1" in changes
    assert "without nodeSelector topology.kubernetes.io/zone=zone-a" in changes
