"""Where upstream's hint sleeps and ours wakes the pod, the row differs on purpose, by a rule."""

from __future__ import annotations

import pytest

from berthing.api.core import Namespace
from berthing.api.meta import ApiObject, ObjectMeta
from berthing.api.pod import Pod
from berthing.testing import make_affinity_term, make_node, make_pod
from berthing.verify.queue_hints import check
from verify.rows import Row, config, hint_row, slept

RIVAL, FRONT = make_affinity_term({"app": "rival"}), make_affinity_term({"tier": "front"})
ANYWHERE_PROD = make_affinity_term({"app": "rival"}, namespace_labels={"env": "prod"})
PROD = Namespace(metadata=ObjectMeta(name="team", labels={"env": "prod"}))
NODE = make_node("n")

NAMESPACES = "affinity-hint-knows-namespaces"
ONE = "anti-affinity-hint-asks-for-one"


def running(**labels: str) -> Pod:
    return make_pod("running", namespace="team", node_name="n", labels=labels)


def at_home(**labels: str) -> Pod:
    return make_pod("running", node_name="n", labels=labels)


def deletion(waiting: Pod, gone: Pod) -> Row:
    return hint_row(
        waiting,
        [NODE, PROD, gone],
        old=gone,
        config=config("InterPodAffinity"),
        expect=slept(
            "AssignedPodDelete",
            resource="AssignedPod",
            action="Delete",
            plugin="InterPodAffinity",
        ),
    )


@pytest.mark.parametrize(
    ("row", "rules"),
    [
        pytest.param(
            deletion(make_pod("waiting", pod_anti_affinity=[ANYWHERE_PROD]), running(app="rival")),
            (NAMESPACES,),
            id="a pod leaves that a namespace's labels mean",
        ),
        pytest.param(
            deletion(make_pod("waiting", pod_anti_affinity=[RIVAL, FRONT]), at_home(app="rival")),
            (ONE,),
            id="a pod leaves that one of two terms means",
        ),
        pytest.param(
            deletion(
                make_pod("waiting", pod_anti_affinity=[ANYWHERE_PROD, FRONT]), running(app="rival")
            ),
            (NAMESPACES, ONE),
            id="it takes both to see it",
        ),
        pytest.param(
            deletion(
                make_pod("waiting", labels={"app": "web"}),
                make_pod(
                    "running",
                    node_name="n",
                    pod_anti_affinity=[make_affinity_term({"app": "web"}), FRONT],
                ),
            ),
            (ONE,),
            id="a pod leaves that kept this one away by one of its terms",
        ),
    ],
)
def test_pods_with_affinity(row: Row, rules: tuple[str, ...]) -> None:
    outcome = check(row)
    assert (outcome.differences, outcome.on_purpose) == ((), rules)


def test_affinity_to_pods_of_a_namespace_by_its_labels() -> None:
    follows = make_affinity_term({"app": "rival"}, namespace_labels={"env": "prod"})
    row = hint_row(
        make_pod("waiting", pod_affinity=[follows]),
        [NODE, PROD],
        new=running(app="rival"),
        config=config("InterPodAffinity"),
        expect=slept(
            "AssignedPodAdd", resource="AssignedPod", action="Add", plugin="InterPodAffinity"
        ),
    )
    outcome = check(row)
    assert (outcome.differences, outcome.on_purpose) == ((), (NAMESPACES,))


def node_change(plugin: str, waiting: Pod, old: ApiObject, new: ApiObject, **args: Row) -> Row:
    label = "NodeUpdateNodeLabel" if plugin == "NodeAffinity" else "NodeUpdateNodeAllocatable"
    return hint_row(
        waiting,
        [old],
        old=old,
        new=new,
        config=config(plugin, **args),
        expect=slept(label, resource="Node", action=label.removeprefix("Node"), plugin=plugin),
    )


ADDED: Row = {
    "addedAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["ours"]}]}
            ]
        }
    }
}


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        pytest.param(
            node_change(
                "NodeAffinity",
                make_pod("waiting", node_selector={"disk": "ssd"}),
                make_node("n", labels={"disk": "ssd"}),
                make_node("n", labels={"disk": "ssd", "pool": "ours"}),
                NodeAffinity=ADDED,
            ),
            "node-affinity-hint-knows-added",
            id="a node begins to match what the profile adds",
        ),
        pytest.param(
            node_change(
                "NodeResourcesFit",
                make_pod("waiting", cpu="8", requests={"example.com/gpu": "1"}),
                make_node("n", cpu="4"),
                make_node("n", cpu="16"),
                NodeResourcesFit={"ignoredResources": ["example.com/gpu"]},
            ),
            "fit-hint-ignores-what-is-ignored",
            id="a node grows that lacks what is ignored",
        ),
    ],
)
def test_nodes(row: Row, rule: str) -> None:
    outcome = check(row)
    assert (outcome.differences, outcome.on_purpose) == ((), (rule,))


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            deletion(make_pod("waiting", pod_anti_affinity=[RIVAL]), at_home(app="rival")),
            id="upstream wakes the pod as well: the one term means the pod",
        ),
        pytest.param(
            node_change(
                "NodeAffinity",
                make_pod("waiting", node_selector={"disk": "ssd"}),
                make_node("n", labels={"disk": "hdd"}),
                make_node("n", labels={"disk": "ssd", "pool": "ours"}),
                NodeAffinity=ADDED,
            ),
            id="upstream wakes the pod as well: its own affinity matched only now",
        ),
        pytest.param(
            node_change(
                "NodeResourcesFit",
                make_pod("waiting", cpu="8"),
                make_node("n", cpu="4"),
                make_node("n", cpu="16"),
                NodeResourcesFit={"ignoredResources": ["example.com/gpu"]},
            ),
            id="upstream wakes the pod as well: nothing is lacking",
        ),
    ],
)
def test_a_row_that_no_rule_explains_is_a_difference(row: Row) -> None:
    outcome = check(row)
    assert outcome.differences
    assert outcome.on_purpose == ()
