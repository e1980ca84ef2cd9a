"""Which events wake a pod that hard spread constraints kept waiting."""

from __future__ import annotations

import pytest

from berthing.api.core import Service, ServiceSpec
from berthing.api.labels import LabelSelector, LabelSelectorRequirement
from berthing.api.meta import ObjectMeta
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.config.args import PodTopologySpreadArgs, TopologySpreadConstraint
from berthing.framework import ActionType, ClusterEvent, EventResource, QueueingHint
from berthing.plugins.pod_topology_spread import PodTopologySpread
from berthing.testing import (
    HOSTNAME,
    ZONE,
    make_node,
    make_pod,
    make_spread_constraint,
    make_taint,
    make_toleration,
)
from plugins.harness import cluster_of, fake_handle

WEB, DB = {"app": "web"}, {"app": "db"}
QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP

SPREAD_WEB = make_spread_constraint(WEB)
WAITING = make_pod("waiting", labels=WEB, spread=[SPREAD_WEB])

SYSTEM = PodTopologySpreadArgs()
HARD_BY_ZONE = PodTopologySpreadArgs(
    defaulting_type="List",
    default_constraints=(
        TopologySpreadConstraint(max_skew=1, topology_key=ZONE, when_unsatisfiable="DoNotSchedule"),
    ),
)
SERVICE = Service(
    metadata=ObjectMeta(name="web", namespace="default"), spec=ServiceSpec(selector=WEB)
)


def plugin(args: PodTopologySpreadArgs = SYSTEM) -> PodTopologySpread:
    return PodTopologySpread(args, fake_handle(cluster_of([SERVICE])))


def after_pod(waiting: Pod, old: Pod | None, new: Pod | None) -> QueueingHint:
    return plugin().after_pod_change(PodInfo.of(waiting), old, new)


def after_node(waiting: Pod, old: Node | None, new: Node | None) -> QueueingHint:
    return plugin().after_node_change(PodInfo.of(waiting), old, new)


def test_the_events_are_upstreams() -> None:
    events = [each.event for each in plugin().events_to_register()]
    assert events == [
        ClusterEvent(
            EventResource.POD,
            ActionType.ADD
            | ActionType.DELETE
            | ActionType.UPDATE_POD_LABEL
            | ActionType.UPDATE_POD_TOLERATION,
        ),
        ClusterEvent(
            EventResource.NODE,
            ActionType.ADD
            | ActionType.DELETE
            | ActionType.UPDATE_NODE_LABEL
            | ActionType.UPDATE_NODE_TAINT,
        ),
    ]


@pytest.mark.parametrize(
    ("other", "hint"),
    [
        pytest.param(make_pod("p", labels=WEB, node_name="n"), QUEUE, id="one that is counted"),
        pytest.param(make_pod("p", labels=DB, node_name="n"), SKIP, id="one that is not counted"),
        pytest.param(
            make_pod("p", labels=WEB, nominated_node_name="n"), QUEUE, id="a nominated one"
        ),
        pytest.param(make_pod("p", labels=WEB), SKIP, id="one without a node"),
        pytest.param(
            make_pod("p", labels=WEB, node_name="n", namespace="elsewhere"), SKIP, id="elsewhere"
        ),
    ],
)
def test_another_pod_comes_or_goes(other: Pod, hint: QueueingHint) -> None:
    assert after_pod(WAITING, None, other) == hint
    assert after_pod(WAITING, other, None) == hint


@pytest.mark.parametrize(
    ("was", "is_", "hint"),
    [
        pytest.param(WEB, DB, QUEUE, id="it is no longer counted"),
        pytest.param(DB, WEB, QUEUE, id="it is counted from now on"),
        pytest.param(WEB, {**WEB, "tier": "1"}, SKIP, id="it goes on being counted"),
        pytest.param(DB, {}, SKIP, id="it goes on not being counted"),
    ],
)
def test_another_pod_gets_other_labels(
    was: dict[str, str], is_: dict[str, str], hint: QueueingHint
) -> None:
    old, new = (make_pod("p", labels=labels, node_name="n") for labels in (was, is_))
    assert after_pod(WAITING, old, new) == hint


def test_a_new_toleration_helps_only_where_taints_are_honoured() -> None:
    def tolerating(policy: str, *keys: str) -> Pod:
        return make_pod(
            labels=WEB,
            spread=[make_spread_constraint(WEB, node_taints_policy=policy)],
            tolerations=map(make_toleration, keys),
        )

    for policy, hint in (("Honor", QUEUE), ("Ignore", SKIP), ("", SKIP)):
        before, after = tolerating(policy), tolerating(policy, "gpu")
        assert after_pod(after, before, after) == hint
        assert after_pod(after, after, after) == SKIP


def test_another_pods_toleration_does_not_help() -> None:
    waiting = make_pod(
        "waiting", labels=WEB, spread=[make_spread_constraint(WEB, node_taints_policy="Honor")]
    )
    old = make_pod("p", labels=WEB, node_name="n")
    new = make_pod("p", labels=WEB, node_name="n", tolerations=[make_toleration("gpu")])
    assert after_pod(waiting, old, new) == SKIP


def test_the_pods_own_labels_may_change_whom_it_is_spread_with() -> None:
    constraint = make_spread_constraint(DB, match_label_keys=["version"])

    def version(number: str) -> Pod:
        return make_pod(labels={**WEB, "version": number}, spread=[constraint])

    # It does not count itself, before or after: upstream lets it sleep.
    assert after_pod(version("2"), version("1"), version("2")) == QUEUE
    assert after_pod(version("2"), version("2"), version("2")) == SKIP


ZONED = make_node("n", zone="a")


@pytest.mark.parametrize(
    ("node", "hint"),
    [
        pytest.param(ZONED, QUEUE, id="with a zone"),
        pytest.param(make_node("n"), SKIP, id="without a zone"),
    ],
)
def test_a_node_comes_or_goes(node: Node, hint: QueueingHint) -> None:
    assert after_node(WAITING, None, node) == hint
    assert after_node(WAITING, node, None) == hint


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        pytest.param(make_node("n"), ZONED, QUEUE, id="gets a zone"),
        pytest.param(ZONED, make_node("n"), QUEUE, id="loses its zone"),
        pytest.param(ZONED, make_node("n", zone="b"), QUEUE, id="moves"),
        pytest.param(ZONED, make_node("n", zone="a", taints=[make_taint()]), QUEUE, id="tainted"),
        pytest.param(
            make_node("n", taints=[make_taint()]),
            make_node("n"),
            SKIP,
            id="taints where there is no zone",
        ),
        pytest.param(
            ZONED, make_node("n", zone="a", labels={"rack": "1"}), SKIP, id="another label"
        ),
    ],
)
def test_a_node_changes(old: Node, new: Node, hint: QueueingHint) -> None:
    assert after_node(WAITING, old, new) == hint


@pytest.mark.parametrize(
    ("policy", "hint"),
    [
        pytest.param("Honor", QUEUE, id="honoured"),
        pytest.param("Ignore", SKIP, id="ignored"),
    ],
)
def test_a_node_ceases_to_count_for_its_labels(policy: str, hint: QueueingHint) -> None:
    # If its zone was the emptiest, the others are not too far ahead any more.
    constraint = make_spread_constraint(WEB, node_affinity_policy=policy)
    waiting = make_pod(labels=WEB, spread=[constraint], node_selector={"disk": "ssd"})
    ssd = make_node("n", zone="a", labels={"disk": "ssd"})
    assert after_node(waiting, ssd, ZONED) == hint
    assert after_node(waiting, ZONED, ssd) == hint


def test_all_labels_are_needed() -> None:
    by_rack = make_spread_constraint(WEB, topology_key="rack")
    waiting = make_pod(labels=WEB, spread=[SPREAD_WEB, by_rack])
    assert after_node(waiting, None, ZONED) == SKIP
    assert after_node(waiting, None, make_node("n", zone="a", labels={"rack": "1"})) == QUEUE


def test_default_constraints_count_whom_the_service_selects() -> None:
    waiting = PodInfo.of(make_pod("waiting", labels=WEB))
    by = plugin(HARD_BY_ZONE)
    counted, other = (make_pod("p", labels=labels, node_name="n") for labels in (WEB, DB))
    assert by.after_pod_change(waiting, None, counted) == QUEUE
    assert by.after_pod_change(waiting, None, other) == SKIP
    assert by.after_node_change(waiting, None, ZONED) == QUEUE
    assert by.after_node_change(waiting, None, make_node("n", labels={HOSTNAME: "n"})) == SKIP


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param(None, SERVICE, id="an object of another kind"),
    ],
)
def test_an_event_about_nothing_is_a_mistake(old: object | None, new: object | None) -> None:
    for hint in plugin().events_to_register():
        assert hint.hint is not None
        with pytest.raises(TypeError, match="expected a"):
            hint.hint(PodInfo.of(WAITING), old, new)


def test_a_selector_with_a_mistake_is_raised() -> None:
    broken = LabelSelector(match_expressions=(LabelSelectorRequirement("app", "Near"),))
    waiting = make_pod(labels=WEB, spread=[make_spread_constraint(broken)])
    with pytest.raises(ValueError, match="pod's hard topology spread constraints"):
        after_node(waiting, None, ZONED)
