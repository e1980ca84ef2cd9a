"""Which changes wake a pod that was turned down for its terms, or for those of running pods."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from berthing.api.core import Namespace
from berthing.api.frozen import FrozenDict
from berthing.api.meta import ObjectMeta
from berthing.api.node import Node
from berthing.api.pod import Pod, PodAffinityTerm
from berthing.api.pod_info import PodInfo
from berthing.config.args import InterPodAffinityArgs
from berthing.framework import ActionType, ClusterEvent, EventResource, QueueingHint
from berthing.plugins.inter_pod_affinity import InterPodAffinity
from berthing.testing import ZONE, make_affinity_term, make_node, make_pod, make_selector
from plugins.harness import cluster_of, fake_handle

WEB, DB = {"app": "web"}, {"app": "db"}
FAST_DB = {"app": "db", "disk": "fast"}
PROD = Namespace(metadata=ObjectMeta(name="prod", labels=FrozenDict({"env": "prod"})))


def zonal(
    labels: Mapping[str, str], *, namespace_labels: Mapping[str, str] | None = None
) -> PodAffinityTerm:
    return make_affinity_term(labels, topology_key=ZONE, namespace_labels=namespace_labels)


def running(
    labels: Mapping[str, str], *, namespace: str = "default", away: PodAffinityTerm | None = None
) -> Pod:
    return make_pod(
        "other",
        namespace=namespace,
        labels=labels,
        node_name="n1",
        pod_anti_affinity=[away] if away else (),
    )


WAITING = make_pod("other", labels=FAST_DB)
NOMINATED = make_pod("other", labels=FAST_DB, nominated_node_name="n1")

NEAR = make_pod(labels=WEB, pod_affinity=[zonal(DB), zonal({"disk": "fast"})])
AWAY = make_pod(labels=WEB, pod_anti_affinity=[zonal(DB), zonal({"disk": "fast"})])
NEAR_IN_PROD = make_pod(pod_affinity=[zonal(DB, namespace_labels={"env": "prod"})])
AWAY_IN_PROD = make_pod(pod_anti_affinity=[zonal(DB, namespace_labels={"env": "prod"})])
PLAIN = make_pod(labels=WEB)


def plugin() -> InterPodAffinity:
    return InterPodAffinity(InterPodAffinityArgs(), fake_handle(cluster_of((PROD,))))


@pytest.mark.parametrize(
    ("event", "is_registered"),
    [
        pytest.param(ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD), True, id="pod"),
        pytest.param(ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE), True, id="gone"),
        pytest.param(
            ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_LABEL),
            True,
            id="relabelled pod",
        ),
        pytest.param(
            ClusterEvent(EventResource.ASSIGNED_POD, ActionType.UPDATE_POD_SCALE_DOWN),
            False,
            id="smaller pod",
        ),
        pytest.param(ClusterEvent(EventResource.NODE, ActionType.ADD), True, id="node"),
        pytest.param(
            ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL), True, id="relabelled"
        ),
        pytest.param(
            ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT), False, id="untainted"
        ),
        pytest.param(ClusterEvent(EventResource.NODE, ActionType.DELETE), False, id="node gone"),
        pytest.param(
            ClusterEvent(EventResource.NAMESPACE, ActionType.UPDATE), True, id="namespace"
        ),
    ],
)
def test_events(event: ClusterEvent, *, is_registered: bool) -> None:
    registered = plugin().events_to_register()
    assert any(item.event.matches(event) for item in registered) is is_registered


@pytest.mark.parametrize(
    ("pod", "added", "wakes"),
    [
        pytest.param(NEAR, running(FAST_DB), True, id="matches all terms"),
        pytest.param(NEAR, NOMINATED, True, id="is only nominated"),
        pytest.param(NEAR, WAITING, False, id="waits itself"),
        pytest.param(NEAR, running(DB), False, id="matches one of two terms"),
        pytest.param(AWAY, running(DB), False, id="is one more to avoid"),
        pytest.param(PLAIN, running(FAST_DB), False, id="the pod wants nothing"),
        pytest.param(NEAR_IN_PROD, running(DB, namespace="prod"), True, id="in a chosen namespace"),
        pytest.param(NEAR_IN_PROD, running(DB), False, id="in another namespace"),
    ],
)
def test_a_pod_comes(pod: Pod, added: Pod, *, wakes: bool) -> None:
    assert wakes_after_pod_change(pod, None, added) is wakes


@pytest.mark.parametrize(
    ("pod", "deleted", "wakes"),
    [
        pytest.param(AWAY, running(FAST_DB), True, id="matched all terms"),
        pytest.param(AWAY, running(DB), True, id="matched one of two terms"),
        pytest.param(AWAY, running(WEB), False, id="matched none"),
        pytest.param(AWAY, WAITING, False, id="ran nowhere"),
        pytest.param(AWAY, NOMINATED, True, id="was nominated"),
        pytest.param(AWAY_IN_PROD, running(DB, namespace="prod"), True, id="in a chosen namespace"),
        pytest.param(AWAY_IN_PROD, running(DB), False, id="in another namespace"),
        pytest.param(NEAR, running(FAST_DB), False, id="was wanted near"),
        pytest.param(PLAIN, running({}, away=zonal(WEB)), True, id="kept the pod away"),
        pytest.param(PLAIN, running({}, away=zonal(DB)), False, id="kept others away"),
    ],
)
def test_a_pod_goes(pod: Pod, deleted: Pod, *, wakes: bool) -> None:
    assert wakes_after_pod_change(pod, deleted, None) is wakes


def test_of_several_terms_that_kept_the_pod_away_one_is_enough() -> None:
    rival = make_pod("rival", pod_anti_affinity=[zonal(DB), zonal(WEB)], node_name="n1")
    assert wakes_after_pod_change(PLAIN, rival, None)


def test_a_pod_that_kept_the_pod_away_may_have_chosen_namespaces() -> None:
    in_prod = make_pod(namespace="prod", labels=WEB)
    rival = running({}, away=zonal(WEB, namespace_labels={"env": "prod"}))
    assert wakes_after_pod_change(in_prod, rival, None)
    assert not wakes_after_pod_change(PLAIN, rival, None)


@pytest.mark.parametrize(
    ("pod", "before", "after", "wakes"),
    [
        pytest.param(NEAR, running(DB), running(FAST_DB), True, id="matches all terms now"),
        pytest.param(NEAR, running(WEB), running(DB), False, id="matches one more term"),
        pytest.param(
            NEAR, running(FAST_DB), running({**FAST_DB, "x": "y"}), False, id="matched before"
        ),
        pytest.param(AWAY, running(FAST_DB), running(WEB), True, id="matches no term any more"),
        pytest.param(AWAY, running(FAST_DB), running(DB), True, id="matches one term less"),
        pytest.param(AWAY, running(DB), running(FAST_DB), False, id="matches one more to avoid"),
        pytest.param(AWAY, WAITING, make_pod("other", labels=WEB), False, id="runs nowhere"),
        pytest.param(PLAIN, PLAIN, make_pod(labels=DB), True, id="is the pod itself"),
        pytest.param(
            NEAR_IN_PROD,
            running(WEB, namespace="prod"),
            running(DB, namespace="prod"),
            True,
            id="in a chosen namespace",
        ),
    ],
)
def test_a_pod_is_relabelled(pod: Pod, before: Pod, after: Pod, *, wakes: bool) -> None:
    assert wakes_after_pod_change(pod, before, after) is wakes


A, B, NOWHERE = make_node(zone="a"), make_node(zone="b"), make_node()


@pytest.mark.parametrize(
    ("pod", "before", "after", "wakes"),
    [
        pytest.param(NEAR, None, A, True, id="a new node in a domain"),
        pytest.param(NEAR, None, NOWHERE, False, id="a new node in no domain"),
        pytest.param(NEAR, NOWHERE, A, True, id="comes to a domain"),
        pytest.param(NEAR, A, B, True, id="changes its domain"),
        pytest.param(NEAR, A, NOWHERE, False, id="leaves its domain"),
        pytest.param(NEAR, A, A, False, id="stays where it is"),
        pytest.param(AWAY, None, NOWHERE, True, id="any new node may suit anti-affinity"),
        pytest.param(AWAY, A, NOWHERE, True, id="leaves a domain to avoid"),
        pytest.param(AWAY, A, B, True, id="changes a domain to avoid"),
        pytest.param(AWAY, NOWHERE, A, False, id="comes to a domain to avoid"),
        pytest.param(PLAIN, None, A, False, id="the pod has no terms"),
    ],
)
def test_a_node_changes(pod: Pod, before: Node | None, after: Node, *, wakes: bool) -> None:
    hint = plugin().after_node_change(PodInfo.of(pod), before, after)
    assert hint is (QueueingHint.QUEUE if wakes else QueueingHint.SKIP)


@pytest.mark.parametrize(
    ("before", "after", "wakes"),
    [
        pytest.param(None, B, True, id="a new node out of their reach"),
        pytest.param(None, A, False, id="a new node within it"),
        pytest.param(None, NOWHERE, True, id="a new node in no domain"),
        pytest.param(A, B, True, id="leaves their domain"),
        pytest.param(A, NOWHERE, True, id="leaves all domains"),
        pytest.param(NOWHERE, A, False, id="comes to a domain"),
        pytest.param(A, make_node(zone="a", labels={"x": "y"}), False, id="stays in its domain"),
    ],
)
def test_a_node_changes_while_running_pods_keep_the_pod_away(
    before: Node | None, after: Node, *, wakes: bool
) -> None:
    keeper = running({}, away=zonal(WEB))
    cluster = cluster_of((make_node("n1", zone="a"), keeper))
    hint = InterPodAffinity(InterPodAffinityArgs(), fake_handle(cluster)).after_node_change
    assert hint(PodInfo.of(PLAIN), before, after) is (
        QueueingHint.QUEUE if wakes else QueueingHint.SKIP
    )
    assert hint(PodInfo.of(make_pod(labels=DB)), before, after) is QueueingHint.SKIP


STAGING = Namespace(metadata=ObjectMeta(name="prod", labels=FrozenDict({"env": "staging"})))
OWN = Namespace(metadata=ObjectMeta(name="default", labels=FrozenDict({"env": "staging"})))


@pytest.mark.parametrize(
    ("pod", "before", "after", "wakes"),
    [
        pytest.param(NEAR_IN_PROD, STAGING, PROD, True, id="begins to match"),
        pytest.param(NEAR_IN_PROD, None, PROD, True, id="is heard of"),
        pytest.param(AWAY_IN_PROD, PROD, STAGING, True, id="ceases to match"),
        pytest.param(AWAY_IN_PROD, PROD, None, True, id="goes"),
        pytest.param(NEAR_IN_PROD, None, STAGING, False, id="matches neither way"),
        pytest.param(NEAR, STAGING, PROD, False, id="nobody goes by its labels"),
        pytest.param(PLAIN, None, OWN, True, id="is the pod's own: running pods may go by it"),
    ],
)
def test_a_namespace_is_relabelled(
    pod: Pod, before: Namespace | None, after: Namespace | None, *, wakes: bool
) -> None:
    hint = plugin().after_namespace_change(PodInfo.of(pod), before, after)
    assert hint is (QueueingHint.QUEUE if wakes else QueueingHint.SKIP)


def test_a_pod_whose_terms_do_not_compile_is_tried_again() -> None:
    bad = make_affinity_term(make_selector({"app": "no spaces please"}))
    pod = make_pod(pod_affinity=[bad])
    assert wakes_after_pod_change(pod, None, running(WEB))
    assert plugin().after_node_change(PodInfo.of(pod), None, NOWHERE) is QueueingHint.QUEUE


def wakes_after_pod_change(pod: Pod, before: Pod | None, after: Pod | None) -> bool:
    hint = plugin().after_pod_change(PodInfo.of(pod), before, after)
    return hint is QueueingHint.QUEUE
