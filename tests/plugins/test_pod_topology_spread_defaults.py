"""How pods without constraints are spread: which pods belong together, and by what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from berthing.api.apps import ReplicaSet, ReplicaSetSpec, StatefulSet, StatefulSetSpec
from berthing.api.core import (
    ReplicationController,
    ReplicationControllerSpec,
    Service,
    ServiceSpec,
)
from berthing.api.frozen import FrozenDict
from berthing.api.labels import LabelSelector, LabelSelectorRequirement
from berthing.api.meta import ApiObject, ObjectMeta, OwnerReference
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.config.args import PodTopologySpreadArgs, TopologySpreadConstraint
from berthing.framework import CycleState, Status
from berthing.plugins.pod_topology_spread import PodTopologySpread
from berthing.plugins.topology_spread_defaults import deduced_selector
from berthing.testing import (
    ZONE,
    make_node,
    make_owner,
    make_pod,
    make_selector,
    make_spread_constraint,
)
from plugins.harness import cluster_of, fake_handle, filter_all, score_all

WEB = {"app": "web"}
SYSTEM = PodTopologySpreadArgs()


def by_list(*constraints: TopologySpreadConstraint) -> PodTopologySpreadArgs:
    return PodTopologySpreadArgs(default_constraints=constraints, defaulting_type="List")


HARD_BY_ZONE = TopologySpreadConstraint(
    max_skew=1, topology_key=ZONE, when_unsatisfiable="DoNotSchedule"
)
SOFT_BY_ZONE = TopologySpreadConstraint(
    max_skew=1, topology_key=ZONE, when_unsatisfiable="ScheduleAnyway"
)


def meta(name: str, namespace: str = "default") -> ObjectMeta:
    return ObjectMeta(name=name, namespace=namespace)


def service(
    selector: Mapping[str, str] | None, *, name: str = "service", namespace: str = "default"
) -> Service:
    return Service(metadata=meta(name, namespace), spec=ServiceSpec(selector=selector))


def replica_set(selector: LabelSelector | None, *, name: str = "owner") -> ReplicaSet:
    return ReplicaSet(metadata=meta(name), spec=ReplicaSetSpec(selector=selector))


def replication_controller(**selector: str) -> ReplicationController:
    spec = ReplicationControllerSpec(selector=FrozenDict(selector))
    return ReplicationController(metadata=meta("owner"), spec=spec)


def stateful_set(selector: LabelSelector) -> StatefulSet:
    return StatefulSet(metadata=meta("owner"), spec=StatefulSetSpec(selector=selector))


NODES = (
    make_node("a1", zone="a"),
    make_node("a2", zone="a"),
    make_node("b1", zone="b"),
    make_node("nowhere"),
)


def running(**per_node: int) -> list[Pod]:
    return [
        make_pod(f"{node}-{number}", labels=WEB, node_name=node)
        for node, count in per_node.items()
        for number in range(count)
    ]


def plugin(args: PodTopologySpreadArgs) -> PodTopologySpread:
    return PodTopologySpread(args, fake_handle())


def scored(
    args: PodTopologySpreadArgs, objects: Iterable[ApiObject], pod: Pod | None = None
) -> Mapping[str, int] | None:
    cluster = cluster_of((*NODES, *objects))
    return score_all(plugin(args), pod or make_pod(labels=WEB), cluster)


def rejected(args: PodTopologySpreadArgs, objects: Iterable[ApiObject]) -> set[str]:
    verdicts = filter_all(plugin(args), make_pod(labels=WEB), cluster_of((*NODES, *objects)))
    return {name for name, status in verdicts.items() if status is not None}


# By what pods are spread.


def test_the_system_spreads_over_hosts_and_a_little_less_over_zones() -> None:
    # Four hosts and three zones, of which having none is one: 4 ln(6) + 2 + 4 ln(5) + 4 for a1.
    # Raw scores are 20, 12, 6 and 2.
    assert scored(SYSTEM, [service(WEB), *running(a1=4)]) == {
        "a1": 10,
        "a2": 50,
        "b1": 80,
        "nowhere": 100,
    }


def test_the_system_rules_no_node_out() -> None:
    cluster = cluster_of((*NODES, service(WEB)))
    pod = PodInfo.of(make_pod(labels=WEB))
    assert plugin(SYSTEM).pre_filter(CycleState(), pod, cluster.rows()) == Status.skip()


def test_a_list_takes_the_place_of_the_systems_constraints() -> None:
    objects = [service(WEB), *running(a1=4)]
    scores = scored(by_list(SOFT_BY_ZONE), objects)
    # Unlike with the system's, a node without a zone is left out.
    assert scores == {"a1": 0, "a2": 0, "b1": 100, "nowhere": 0}


def test_a_list_may_rule_nodes_out() -> None:
    objects = [service(WEB), *running(a1=1)]
    assert rejected(by_list(HARD_BY_ZONE), objects) == {"a1", "a2", "nowhere"}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(make_pod(labels=WEB), True, id="a pod without constraints"),
        pytest.param(
            make_pod(labels=WEB, spread=[make_spread_constraint(WEB)]),
            False,
            id="a pod with a constraint of its own, though it is hard",
        ),
        pytest.param(make_pod(labels={"app": "db"}), False, id="a pod that belongs to nothing"),
    ],
)
def test_which_pods_are_scored_by_default(pod: Pod, expected: bool) -> None:  # a row's answer
    for args in (SYSTEM, by_list(SOFT_BY_ZONE)):
        assert (scored(args, [service(WEB)], pod) is not None) is expected


def test_an_empty_list_spreads_nothing() -> None:
    assert scored(by_list(), [service(WEB)]) is None


def test_an_empty_zone_is_the_same_as_none() -> None:
    nodes = (make_node("blank", labels={ZONE: ""}), make_node("a1", zone="a"), make_node("none"))
    cluster = cluster_of((*nodes, service(WEB), *running(none=4)))
    scores = score_all(plugin(SYSTEM), make_pod(labels=WEB), cluster)
    # The blank node has no pods, but its zone has four: it scores worse than one in zone a.
    assert scores is not None
    assert scores["blank"] < scores["a1"]


def test_having_no_zone_is_a_zone_also_if_another_node_has_an_empty_one() -> None:
    nodes = (make_node("blank", labels={ZONE: ""}), make_node("a1", zone="a"), make_node("none"))
    cluster = cluster_of((*nodes, service(WEB), *running(a1=3)))
    pod, feasible = make_pod(labels=WEB), ["a1", "none"]
    # Two hosts and two zones passed.  Raw: 3 ln(4) + 2 + 3 ln(4) + 4 for a1, and 2.
    assert score_all(plugin(SYSTEM), pod, cluster, feasible=feasible) == {"a1": 14, "none": 100}


# Which pods belong together.

OWNED_BY_REPLICA_SET = make_owner()
OWNED_BY_STATEFUL_SET = make_owner(kind="StatefulSet")
OWNED_BY_CONTROLLER = make_owner(kind="ReplicationController", api_version="v1")
SELECTS_WEB = make_selector(WEB)
BROKEN = LabelSelector(match_expressions=(LabelSelectorRequirement("app", "Near"),))


@pytest.mark.parametrize(
    ("objects", "owner", "expected"),
    [
        pytest.param([], None, "", id="to nothing"),
        pytest.param([service(WEB)], None, "app=web", id="to a service"),
        pytest.param([service({"app": "db"})], None, "", id="not to a service of other pods"),
        pytest.param([service(None)], None, "", id="not to a service that selects nothing"),
        pytest.param([service({})], None, "", id="a service that selects all says nothing"),
        pytest.param(
            [service(WEB, namespace="elsewhere")], None, "", id="not to a service elsewhere"
        ),
        pytest.param(
            [service(WEB), service({"tier": "1"}, name="other")],
            None,
            "app=web,tier=1",
            id="to several services at once",
        ),
        pytest.param(
            [replica_set(SELECTS_WEB)], OWNED_BY_REPLICA_SET, "app=web", id="to a replica set"
        ),
        pytest.param(
            [service({"tier": "1"}), replica_set(SELECTS_WEB)],
            OWNED_BY_REPLICA_SET,
            "app=web,tier=1",
            id="to a service and a replica set",
        ),
        pytest.param(
            [stateful_set(make_selector({}, absent=["canary"]))],
            OWNED_BY_STATEFUL_SET,
            "!canary",
            id="to a stateful set",
        ),
        pytest.param(
            [replication_controller(app="web")],
            OWNED_BY_CONTROLLER,
            "app=web",
            id="to a replication controller",
        ),
        pytest.param(
            [service(WEB), replication_controller(app="other")],
            OWNED_BY_CONTROLLER,
            "app=other",
            id="a replication controller has the last word",
        ),
        pytest.param([], OWNED_BY_REPLICA_SET, "", id="not to an owner that is gone"),
        pytest.param(
            [replica_set(SELECTS_WEB, name="other")], OWNED_BY_REPLICA_SET, "", id="not to another"
        ),
        pytest.param(
            [replica_set(SELECTS_WEB)],
            make_owner(controller=False),
            "",
            id="not to an owner that is no controller",
        ),
        pytest.param(
            [replica_set(SELECTS_WEB)],
            make_owner(api_version="extensions/v1beta1"),
            "",
            id="not to an owner of an unknown version",
        ),
        pytest.param(
            [replica_set(None)], OWNED_BY_REPLICA_SET, "", id="an owner may select nothing"
        ),
        pytest.param(
            [service(WEB), replica_set(BROKEN)],
            OWNED_BY_REPLICA_SET,
            "app=web",
            id="an owner's selector with a mistake does not count",
        ),
    ],
)
def test_what_a_pod_belongs_to(
    objects: list[ApiObject], owner: OwnerReference | None, expected: str
) -> None:
    pod = make_pod(labels={**WEB, "tier": "1"}, owner=owner)
    selector = deduced_selector(PodInfo.of(pod).facts, cluster_of(objects).objects)
    assert str(selector) == expected


def test_what_pods_belong_to_may_change() -> None:
    by, cluster = plugin(by_list(SOFT_BY_ZONE)), cluster_of((*NODES, *running(a1=1)))
    pod = make_pod(labels=WEB, owner=make_owner())
    assert score_all(by, pod, cluster) is None
    cluster.objects.set(service(WEB))
    spread = {"a1": 0, "a2": 0, "b1": 100, "nowhere": 0}
    assert score_all(by, pod, cluster) == spread
    cluster.objects.set(replica_set(make_selector({**WEB, "version": "2"})))
    assert score_all(by, pod, cluster) == {"a1": 100, "a2": 100, "b1": 100, "nowhere": 0}
    # A status that changes makes a new object with the same selector.
    cluster.objects.set(replica_set(make_selector({**WEB, "version": "2"})))
    assert score_all(by, pod, cluster) == {"a1": 100, "a2": 100, "b1": 100, "nowhere": 0}
    cluster.objects.set(replica_set(SELECTS_WEB))
    assert score_all(by, pod, cluster) == spread
    cluster.objects.remove(replica_set(SELECTS_WEB))
    cluster.objects.remove(service(WEB))
    assert score_all(by, pod, cluster) is None


def test_hosts_that_do_not_say_their_name_are_not_scored_for_it() -> None:
    nameless = Node(metadata=ObjectMeta(name="nameless", labels=FrozenDict({ZONE: "b"})))
    cluster = cluster_of((make_node("a1", zone="a"), nameless, service(WEB), *running(nameless=3)))
    scores = score_all(plugin(SYSTEM), make_pod(labels=WEB), cluster)
    # Raw: 2 for its host and 4 for its zone, against 3 pods in its zone at ln(4), and 4.
    assert scores == {"a1": 100, "nameless": 100 * 6 // 8}
