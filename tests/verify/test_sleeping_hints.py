"""Where upstream's hint sleeps and ours wakes the pod, the row differs on purpose, by a rule."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from berthing.api.core import Namespace
from berthing.api.meta import ApiObject, ObjectMeta
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.testing import (
    ZONE,
    make_affinity_term,
    make_node,
    make_pod,
    make_spread_constraint,
)
from berthing.verify.queue_hints import check
from verify.rows import Row, config, hint_row, slept

RIVAL, FRONT = make_affinity_term({"app": "rival"}), make_affinity_term({"tier": "front"})
ANYWHERE_PROD = make_affinity_term({"app": "rival"}, namespace_labels={"env": "prod"})
BY_ZONE = make_spread_constraint({"app": "web"}, topology_key=ZONE)
PROD = Namespace(metadata=ObjectMeta(name="team", labels={"env": "prod"}))
NODE = make_node("n")

NAMESPACES = "affinity-hint-knows-namespaces"
ONE = "anti-affinity-hint-asks-for-one"
RUNNING = "affinity-hint-knows-running-pods"


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


KEEPING_AWAY = make_pod(
    "running",
    node_name="n",
    pod_anti_affinity=[make_affinity_term({"app": "web"}, topology_key=ZONE)],
)


@pytest.mark.parametrize(
    ("label", "there", "old", "new"),
    [
        pytest.param(
            "NodeAdd", make_node("n", zone="a"), None, make_node("m", zone="b"), id="comes"
        ),
        pytest.param(
            "NodeUpdateNodeLabel",
            make_node("m", zone="a"),
            make_node("m", zone="a"),
            make_node("m", zone="b"),
            id="leaves the domain",
        ),
    ],
)
def test_a_node_out_of_reach_of_a_pod_that_keeps_others_away(
    label: str, there: Node, old: Node | None, new: Node
) -> None:
    row = hint_row(
        make_pod("waiting", labels={"app": "web"}),
        [make_node("n", zone="a"), KEEPING_AWAY, *([there] if there.name != "n" else [])],
        old=old,
        new=new,
        config=config("InterPodAffinity"),
        expect=slept(
            label, resource="Node", action=label.removeprefix("Node"), plugin="InterPodAffinity"
        ),
    )
    outcome = check(row)
    assert (outcome.differences, outcome.on_purpose) == ((), (RUNNING,))


def test_a_namespace_that_gets_other_labels() -> None:
    relabelled = replace(PROD, metadata=replace(PROD.metadata, labels={}))
    row = hint_row(
        make_pod("waiting", pod_anti_affinity=[ANYWHERE_PROD]),
        [NODE, PROD, running(app="rival")],
        old=PROD,
        new=relabelled,
        config=config("InterPodAffinity"),
        expect={**slept("", resource="", action="", plugin="InterPodAffinity"), "derived": []},
    )
    outcome = check(row)
    assert (outcome.differences, outcome.on_purpose) == ((), ("affinity-hint-hears-of-namespaces",))


def node_change(plugin: str, waiting: Pod, old: ApiObject, new: ApiObject, **args: Row) -> Row:
    grows = plugin == "NodeResourcesFit"
    label = "NodeUpdateNodeAllocatable" if grows else "NodeUpdateNodeLabel"
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


def test_a_node_that_ceases_to_count() -> None:
    full, closed = (
        make_node(name, zone=zone, labels={"disk": "ssd"}, cordoned=zone == "b")
        for name, zone in (("n", "a"), ("m", "b"))
    )
    waiting = make_pod(
        "waiting", labels={"app": "web"}, node_selector={"disk": "ssd"}, spread=[BY_ZONE]
    )
    row = hint_row(
        waiting,
        [full, closed, at_home(app="web")],
        old=closed,
        new=make_node("m", zone="b", cordoned=True),
        config=config("PodTopologySpread", "NodeUnschedulable"),
        expect={
            **slept(
                "NodeUpdateNodeLabel",
                resource="Node",
                action="UpdateNodeLabel",
                plugin="PodTopologySpread",
            ),
            "rejectedBy": ["NodeUnschedulable", "PodTopologySpread"],
        },
    )
    outcome = check(row)
    assert (outcome.differences, outcome.on_purpose) == ((), ("spread-hint-knows-node-affinity",))


def test_a_pod_whose_own_labels_change_what_its_constraints_select() -> None:
    def waiting(version: str) -> Pod:
        labels = {"version": version}
        by_version = make_spread_constraint(
            {"app": "web"}, topology_key=ZONE, match_label_keys=["version"]
        )
        pod = make_pod("waiting", labels=labels, spread=[by_version])
        return replace(pod, metadata=replace(pod.metadata, resource_version=version))

    label = "UnschedulablePodUpdatePodLabel"
    row = hint_row(
        waiting("1"),
        [NODE],
        old=waiting("1"),
        new=waiting("2"),
        config=config("PodTopologySpread"),
        expect=slept(
            label, resource="UnschedulablePod", action="UpdatePodLabel", plugin="PodTopologySpread"
        ),
    )
    outcome = check(row)
    assert (outcome.differences, outcome.on_purpose) == ((), ("spread-hint-knows-own-labels",))


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            node_change(
                "PodTopologySpread",
                make_pod("waiting", spread=[BY_ZONE]),
                make_node("n"),
                make_node("n", zone="a"),
            ),
            id="upstream wakes the pod as well: the node has a zone now",
        ),
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
