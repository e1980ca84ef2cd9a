"""Recorded queue scripts are compared after every step."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from berthing.testing import make_affinity_term, make_node, make_pod
from berthing.verify.outcome import BadRowError
from berthing.verify.queue_scripts import check, recognises
from verify.rows import Row, as_json

EMPTY: Row = {
    "active": [],
    "backoff": [],
    "errorBackoff": [],
    "unschedulable": [],
    "gated": {},
    "inFlight": [],
    "inFlightLog": [],
    "nominated": {},
}
POD = as_json(make_pod("a", uid="u", labels={"group": "red"}))
NODE = as_json(make_node("n", labels={"for": "red"}))
EVENT = {"resource": "Node", "actions": ["Add"], "label": "NodeAdd", "old": None, "new": NODE}
POPPED: Row = {
    "from": "active",
    "pod": "default/a",
    "backoffSkipped": False,
    "attempts": 1,
    "unschedulableCount": 0,
    "consecutiveErrors": 0,
    "unschedulablePlugins": [],
    "pendingPlugins": [],
    "timestamp": 1,
    "firstAttempt": 1,
    "flushed": False,
}


def script_row(*steps: tuple[Row, object, Row], plugins: object, objects: list[object]) -> Row:
    """Steps with their results, and what of the state is not empty after each."""
    return {
        "script": {
            "id": "row",
            "config": {
                "podInitialBackoffSeconds": 1,
                "podMaxBackoffSeconds": 10,
                "podMaxInUnschedulablePodsSeconds": 300,
            },
            "plugins": plugins,
            "objects": objects,
            "steps": [step for step, _, _ in steps],
        },
        "expect": {
            "steps": [{"result": result, "state": EMPTY | state} for _, result, state in steps]
        },
    }


ALPHA = {"name": "Alpha", "events": [{"resource": "Node", "actions": ["Add"], "hint": "label"}]}
ROW = script_row(
    ({"op": "add", "at": 1, "pod": POD}, None, {"active": ["default/a"]}),
    (
        {"op": "nominate", "at": 2, "pod": "default/a", "node": "n"},
        None,
        {
            "active": ["default/a"],
            "nominated": {"n": ["default/a"]},
        },
    ),
    (
        {"op": "pop", "at": 3},
        POPPED,
        {
            "inFlight": ["default/a"],
            "inFlightLog": ["default/a"],
            "nominated": {"n": ["default/a"]},
        },
    ),
    (
        {"op": "event", "at": 4, "event": EVENT},
        None,
        {
            "inFlight": ["default/a"],
            "inFlightLog": ["default/a", "+NodeAdd"],
            "nominated": {"n": ["default/a"]},
        },
    ),
    (
        {"op": "fail", "at": 5, "uid": "u", "unschedulable": ["Alpha"], "pending": []},
        None,
        {
            "backoff": [{"pod": "default/a", "expires": 1000}],
            "nominated": {"n": ["default/a"]},
        },
    ),
    ({"op": "delete", "at": 6, "uid": "u"}, None, {}),
    ({"op": "pop", "at": 7}, None, {}),
    plugins=[ALPHA],
    objects=[],
)


def changed(change: Callable[[Any], None]) -> Row:
    row = copy.deepcopy(ROW)
    change(row)
    return row


def test_it_knows_its_rows() -> None:
    assert recognises(ROW)
    assert not recognises({"script": {}})


def test_a_script_that_is_met() -> None:
    outcome = check(ROW)
    assert (outcome.name, outcome.differences, outcome.unchecked) == ("row", (), ())


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param(
            lambda row: row["expect"]["steps"][2]["result"].update(attempts=2),
            "steps[2].result.attempts",
            id="a result",
        ),
        pytest.param(
            lambda row: row["expect"]["steps"][4]["state"]["backoff"][0].update(expires=2000),
            "steps[4].state.backoff[0].expires",
            id="a time",
        ),
        pytest.param(
            lambda row: row["script"]["plugins"][0]["events"][0].update(hint="skip"),
            "steps[4].state.backoff",
            id="what another hint would have come to",
        ),
    ],
)
def test_the_first_step_that_differs_is_told(change: Callable[[Any], None], field: str) -> None:
    differences = check(changed(change)).differences
    assert differences[0].field == field
    assert {difference.field[:8] for difference in differences} == {field[:8]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(lambda row: row["script"].pop("plugins"), "script: .*plugins", id="plugins"),
        pytest.param(
            lambda row: row["script"]["steps"][0].update(op="jump"), "cannot do 'jump'", id="op"
        ),
        pytest.param(
            lambda row: row["script"]["steps"][4].update(uid="x"), "fail of unknown 'x'", id="uid"
        ),
        pytest.param(
            lambda row: row["script"]["plugins"][0]["events"][0].update(hint="maybe"),
            "no such hint: 'maybe'",
            id="hint",
        ),
        pytest.param(
            lambda row: row["script"]["plugins"][0]["events"][0].update(actions=["Fly"]),
            "no such action: 'Fly'",
            id="action",
        ),
        pytest.param(
            lambda row: row["script"].update(objects=[NODE]), "have no cluster", id="objects"
        ),
        pytest.param(
            lambda row: row["expect"]["steps"].pop(), "one for each step", id="too few steps"
        ),
    ],
)
def test_a_row_of_another_format_is_told(change: Callable[[Any], None], message: str) -> None:
    with pytest.raises(BadRowError, match=message):
        check(changed(change))


def test_on_the_default_plugins_upstreams_sleep_is_told_by_its_rule() -> None:
    terms = [make_affinity_term({"app": "rival"}), make_affinity_term({"tier": "front"})]
    waiting = make_pod("a", uid="u", pod_anti_affinity=terms)
    rival = as_json(make_pod("rival", node_name="n", labels={"app": "rival"}))
    in_flight: Row = {"inFlight": ["default/a"], "inFlightLog": ["default/a"]}
    row = script_row(
        ({"op": "add", "at": 1, "pod": as_json(waiting)}, [], {"active": ["default/a"]}),
        ({"op": "pop", "at": 2}, POPPED, in_flight),
        (
            {
                "op": "fail",
                "at": 3,
                "uid": "u",
                "unschedulable": ["InterPodAffinity"],
                "pending": [],
            },
            None,
            {"unschedulable": ["default/a"]},
        ),
        (
            {"op": "object", "at": 4, "old": rival, "new": None},
            ["AssignedPodDelete"],
            {"unschedulable": ["default/a"]},
        ),
        plugins="default",
        objects=[NODE, rival],
    )
    outcome = check(row)
    assert (outcome.differences, outcome.on_purpose) == ((), ("anti-affinity-hint-asks-for-one",))
