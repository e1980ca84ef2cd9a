"""Recorded decisions: what is compared, what is left out, and rows that are not as they should be."""

from __future__ import annotations

import pytest

from berthing.verify.decisions import check, recognises
from berthing.verify.outcome import BadRowError, Difference

Row = dict[str, object]

NODE: Row = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a"},
    "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}},
}
CLAIM: Row = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}


def pod(
    name: str,
    *,
    volumes: list[Row] | None = None,
    scheduler: str | None = None,
    spread: Row | None = None,
) -> Row:
    spec: Row = {
        "schedulerName": scheduler or "default-scheduler",
        "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}],
        "volumes": volumes or [],
    }
    if spread:
        constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        selector = {"matchExpressions": [spread]}
        spec["topologySpreadConstraints"] = [{**constraint, "labelSelector": selector}]
    metadata = {"name": name, "namespace": "default", "uid": name}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def step(name: str, chosen: str, message: str | None = None) -> Row:
    feasible = [chosen] if chosen else []
    return {"pod": f"default/{name}", "feasible": feasible, "chosen": chosen, "message": message}


def single(placed: Row, *, running: list[Row] | None = None, **expect: object) -> Row:
    return {
        "scenario": {"config": None, "objects": [NODE, *(running or [])], "pod": placed},
        "expect": {"id": "one", "feasible": ["a"], **expect},
    }


def sequence(pods: list[Row], steps: list[Row]) -> Row:
    return {
        "scenario": {"config": None, "objects": [NODE], "pods": pods},
        "expect": {"id": "row", "steps": steps},
    }


FULL = "0/1 nodes are available: 1 Insufficient cpu."


def test_what_they_have_is_compared_and_what_preemption_adds_is_not() -> None:
    row = single(pod("web"), message="nonsense", preemption=None)
    assert recognises(row)
    outcome = check(row)
    assert outcome.differences == (Difference("message", "nonsense", None),)
    assert outcome.unchecked == ("preemption",)


def test_a_pod_that_mounts_claims_is_left_out() -> None:
    outcome = check(single(pod("web", volumes=[CLAIM]), message="nonsense"))
    assert not outcome.compared
    assert outcome.unchecked == ("feasible", "message")


def test_claims_of_running_pods_make_no_difference_to_others() -> None:
    running = pod("db", volumes=[CLAIM])
    running["spec"] = {**running["spec"], "nodeName": "a"}  # type: ignore[dict-item]
    outcome = check(single(pod("web"), running=[running], message="nonsense"))
    assert [difference.field for difference in outcome.differences] == ["message"]


def test_a_sequence_goes_on_after_a_pod_that_mounts_claims() -> None:
    pods = [pod("first"), pod("second", volumes=[CLAIM]), pod("third")]
    steps = [step("first", "a"), step("second", "a"), step("third", "", FULL)]
    outcome = check(sequence(pods, steps))
    assert outcome.differences == ()
    assert outcome.compared
    assert outcome.unchecked == ("steps of pods that mount claims",)


def test_a_step_is_named_where_it_differs() -> None:
    outcome = check(sequence([pod("first"), pod("second")], [step("first", "a"), step("x", "a")]))
    assert outcome.differences == (Difference("steps[1].pod", "default/x", "default/second"),)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        pytest.param(
            single(pod("web", scheduler="other")),
            "scenario.pod: schedulerName 'other' is no profile",
            id="a scheduler that is not there",
        ),
        pytest.param(single(NODE), "scenario.pod: expected a Pod, got Node", id="not a pod"),
        pytest.param(
            single(pod("web"), running=[NODE]),
            "scenario.objects: Node a is there twice",
            id="a node twice",
        ),
        pytest.param(
            single(pod("web"), running=[{**NODE, "kind": "Nodule"}]),
            "scenario.objects: Nodule a: no scheduler reads a Nodule of v1",
            id="an unknown kind",
        ),
        pytest.param(
            single(pod("web", spread={"key": "app", "operator": "in", "values": ["web"]})),
            'labelSelector: "in" is not a valid label selector operator',
            id="a selector that does not parse",
        ),
        pytest.param(
            {"scenario": 5, "expect": {"feasible": []}},
            "scenario: expected an object, got int",
            id="no scenario",
        ),
        pytest.param(
            {"scenario": {"objects": []}, "expect": {"feasible": []}},
            "scenario.pod: expected an object, got `null`",
            id="no pod",
        ),
        pytest.param(
            sequence([pod("web")], []), "expect.steps: 0 steps for 1 pods", id="no step for a pod"
        ),
        pytest.param(
            sequence([pod("web"), pod("web")], [step("web", "a"), step("web", "a")]),
            "scenario.pods: default/web is on node 'a' already",
            id="a pod twice",
        ),
    ],
)
def test_bad_rows(row: Row, message: str) -> None:
    with pytest.raises(BadRowError, match=message):
        check(row)
