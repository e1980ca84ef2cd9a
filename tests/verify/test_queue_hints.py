"""Recorded hints are compared in every field."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from berthing.testing import make_node, make_pod
from berthing.verify.outcome import BadRowError
from berthing.verify.queue_hints import check, recognises
from verify.rows import Row, config, hint_row

POD = make_pod("waiting", cpu="8")
EXPECT: Row = {
    "message": "0/1 nodes are available: 1 Insufficient cpu.",
    "rejectedBy": ["NodeResourcesFit"],
    "pendingPlugins": [],
    "gatedBy": None,
    "derived": [
        {
            "resource": "Node",
            "action": "Add",
            "label": "NodeAdd",
            "hints": {"NodeResourcesFit": "Queue"},
            "requeue": "afterBackoff",
        }
    ],
    "requeue": "afterBackoff",
    "queue": "active",
}
ROW = hint_row(
    POD,
    [make_node("small")],
    new=make_node("big", cpu="16"),
    config=config("NodeResourcesFit"),
    expect=EXPECT,
)


def changed(change: Callable[[Any], None]) -> Row:
    row = copy.deepcopy(ROW)
    change(row)
    return row


def test_it_knows_its_rows() -> None:
    assert recognises(ROW)
    assert not recognises({"scenario": {}, "expect": {}})


def test_a_row_that_is_met() -> None:
    outcome = check(ROW)
    assert (outcome.differences, outcome.on_purpose, outcome.unchecked) == ((), (), ())


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        pytest.param(lambda row: row["expect"].update(message="x"), ["message"], id="message"),
        pytest.param(
            lambda row: row["expect"].update(rejectedBy=[]), ["rejectedBy"], id="rejectedBy"
        ),
        pytest.param(lambda row: row["expect"].update(gatedBy="X"), ["gatedBy"], id="gatedBy"),
        pytest.param(lambda row: row["expect"].update(derived=[]), ["derived"], id="derived"),
        pytest.param(
            lambda row: row["expect"]["derived"][0]["hints"].update(X="Queue"),
            ["derived[0].hints.X"],
            id="another plugin's hint",
        ),
        pytest.param(
            lambda row: row["expect"]["derived"][0].update(why="x"), ["derived[0].why"], id="why"
        ),
        pytest.param(lambda row: row["event"].update(after=0.5), ["queue"], id="still in backoff"),
    ],
)
def test_any_other_answer_is_a_difference(change: Callable[[Any], None], fields: list[str]) -> None:
    outcome = check(changed(change))
    assert [difference.field for difference in outcome.differences] == fields


def test_a_hint_that_should_sleep_by_no_rule_is_a_difference() -> None:
    def sleeps(row: Any) -> None:
        row["expect"]["derived"][0].update(hints={"NodeResourcesFit": "QueueSkip"}, requeue="skip")
        row["expect"].update(requeue="skip", queue="unschedulable")

    outcome = check(changed(sleeps))
    assert len(outcome.differences) == 4
    assert outcome.on_purpose == ()


def test_what_an_attempt_with_claims_comes_to_is_not_checked_but_all_else_is() -> None:
    def with_claim(row: Any) -> None:
        row["scenario"]["config"] = config("NodeResourcesFit", "VolumeBinding")
        row["scenario"]["pod"] = hint_row(
            make_pod("waiting", cpu="8", claims=["data"]), [], expect={}
        )["scenario"]["pod"]  # type: ignore[index]
        row["expect"]["derived"][0]["hints"]["VolumeBinding"] = "Queue"
        row["expect"]["message"] = "whatever"

    outcome = check(changed(with_claim))
    assert outcome.differences == ()
    assert outcome.unchecked == ("message", "rejectedBy", "pendingPlugins")


def test_a_gated_pod_is_looked_at_for_its_gate_alone() -> None:
    row = hint_row(
        make_pod("waiting", scheduling_gates=["later"]),
        [],
        new=make_node(),
        config=config("NodeResourcesFit", "SchedulingGates"),
        expect={
            **EXPECT,
            "message": None,
            "gatedBy": "SchedulingGates",
            "rejectedBy": ["SchedulingGates"],
            "derived": [
                {
                    "resource": "Node",
                    "action": "Add",
                    "label": "NodeAdd",
                    "hints": {"NodeResourcesFit": "Queue"},
                    "requeue": "skip",
                    "why": "not an event of the gating plugin",
                }
            ],
            "requeue": "skip",
            "queue": "gated",
        },
    )
    assert check(row).differences == ()


def test_a_plugin_that_only_scores_is_heard_as_well() -> None:
    def scored(row: Any) -> None:
        (profile,) = row["scenario"]["config"]["profiles"]
        profile["plugins"]["score"] = {"enabled": [{"name": "TaintToleration", "weight": 2}]}
        row["expect"]["derived"][0]["hints"]["TaintToleration"] = "Queue"

    assert check(changed(scored)).differences == ()


def test_a_gated_pod_that_is_deleted_is_nowhere() -> None:
    pod = make_pod("waiting", scheduling_gates=["later"])
    row = hint_row(
        pod,
        [],
        old=pod,
        config=config("NodeResourcesFit", "SchedulingGates"),
        expect={
            **EXPECT,
            "message": None,
            "gatedBy": "SchedulingGates",
            "rejectedBy": ["SchedulingGates"],
            "derived": [],
            "requeue": "skip",
            "queue": "none",
        },
    )
    assert check(row).differences == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            lambda row: row["event"].update(after="x"), "event.after: expected seconds", id="after"
        ),
        pytest.param(
            lambda row: row["scenario"]["pod"]["spec"].update(schedulerName="other"),
            "scenario.pod: no profile is responsible for it",
            id="no profile",
        ),
        pytest.param(
            lambda row: row["scenario"].update(pod={"kind": "Node", "apiVersion": "v1"}),
            "scenario.pod: expected a Pod, got Node",
            id="no pod",
        ),
        pytest.param(
            lambda row: row["scenario"].update(objects=1), "objects: expected a list", id="objects"
        ),
    ],
)
def test_a_row_of_another_format_is_told(change: Callable[[Any], None], message: str) -> None:
    with pytest.raises(BadRowError, match=message):
        check(changed(change))
