"""How nodes rank by preferred terms: the pod's own, and those of pods that run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from berthing.api.core import Namespace
from berthing.api.frozen import FrozenDict
from berthing.api.meta import ApiObject, ObjectMeta
from berthing.api.pod import Pod, PodAffinityTerm
from berthing.api.pod_info import PodInfo
from berthing.config.args import InterPodAffinityArgs
from berthing.framework import CycleState
from berthing.plugins.inter_pod_affinity import InterPodAffinity
from berthing.testing import ZONE, make_affinity_term, make_node, make_pod, make_selector
from plugins.harness import cluster_of, fake_handle, score_all

WEB, DB = {"app": "web"}, {"app": "db"}
DEFAULTS = InterPodAffinityArgs()
IGNORING = InterPodAffinityArgs(ignore_preferred_terms_of_existing_pods=True)

NODES = (
    make_node("a", zone="a"),
    make_node("b", zone="b"),
    make_node("c", zone="c"),
    make_node("nowhere"),
)


def zonal(labels: Mapping[str, str], *, namespace_env: str = "") -> PodAffinityTerm:
    namespaces = {"env": namespace_env} if namespace_env else None
    return make_affinity_term(labels, topology_key=ZONE, namespace_labels=namespaces)


def on(zones: str, labels: Mapping[str, str]) -> list[Pod]:
    """A running pod with these labels for each letter, in the zone of that name."""
    return [
        make_pod(f"{zone}-{index}", labels=labels, node_name=zone)
        for index, zone in enumerate(zones)
    ]


def scores(
    pod: Pod, *others: ApiObject, args: InterPodAffinityArgs = DEFAULTS
) -> Mapping[str, int] | None:
    return score_all(InterPodAffinity(args, fake_handle()), pod, cluster_of((*NODES, *others)))


def abc(a: int, b: int, c: int, nowhere: int) -> Mapping[str, int]:
    return {"a": a, "b": b, "c": c, "nowhere": nowhere}


# What the pod prefers.


def test_more_matching_pods_score_higher() -> None:
    pod = make_pod(preferred_pod_affinity=[(5, zonal(DB))])
    assert scores(pod, *on("aaab", DB)) == abc(100, 33, 0, 0)


def test_more_unwanted_pods_score_lower() -> None:
    pod = make_pod(preferred_pod_anti_affinity=[(5, zonal(DB))])
    assert scores(pod, *on("aaab", DB)) == abc(0, 66, 100, 100)


def test_terms_weigh_against_each_other() -> None:
    pod = make_pod(
        preferred_pod_affinity=[(10, zonal(DB))], preferred_pod_anti_affinity=[(30, zonal(WEB))]
    )
    # 10 for a, 10 - 30 for b, -30 for c: 40 between best and worst.
    assert scores(pod, *on("ab", DB), *on("bc", WEB)) == abc(100, 25, 0, 75)


def test_terms_about_nodes_and_zones_add_up() -> None:
    pod = make_pod(preferred_pod_affinity=[(1, zonal(DB)), (3, make_affinity_term(DB))])
    other = make_node("a-too", zone="a")
    assert scores(pod, other, *on("a", DB)) == {**abc(100, 0, 0, 0), "a-too": 25}


def test_a_namespace_may_be_selected_by_its_labels() -> None:
    pod = make_pod(preferred_pod_affinity=[(1, zonal(DB, namespace_env="prod"))])
    prod = Namespace(metadata=ObjectMeta(name="default", labels=FrozenDict({"env": "prod"})))
    assert scores(pod, *on("a", DB)) is None
    assert scores(pod, prod, *on("a", DB)) == abc(100, 0, 0, 0)


# What running pods prefer.


@pytest.mark.parametrize(
    ("running", "expected"),
    [
        pytest.param(
            make_pod("fan", preferred_pod_affinity=[(7, zonal(WEB))], node_name="a"),
            abc(100, 0, 0, 0),
            id="one that would like it near",
        ),
        pytest.param(
            make_pod("foe", preferred_pod_anti_affinity=[(7, zonal(WEB))], node_name="a"),
            abc(0, 100, 100, 100),
            id="one that would like it away",
        ),
        pytest.param(
            make_pod("needy", pod_affinity=[zonal(WEB)], node_name="a"),
            abc(100, 0, 0, 0),
            id="one that needed such a pod near",
        ),
        pytest.param(
            make_pod("loner", pod_anti_affinity=[zonal(WEB)], node_name="a"),
            None,
            id="one that must not have it near is for the filter",
        ),
        pytest.param(
            make_pod("fan", preferred_pod_affinity=[(7, zonal(DB))], node_name="a"),
            None,
            id="one that speaks of others",
        ),
        pytest.param(
            make_pod("fan", preferred_pod_affinity=[(7, zonal(WEB))], node_name="nowhere"),
            None,
            id="one that is in no domain",
        ),
    ],
)
def test_running_pods_have_a_say(running: Pod, expected: Mapping[str, int] | None) -> None:
    assert scores(make_pod(labels=WEB), running) == expected


def test_required_affinity_of_running_pods_counts_as_configured() -> None:
    needy = make_pod("needy", pod_affinity=[zonal(WEB)], node_name="a")
    fan = make_pod("fan", preferred_pod_affinity=[(10, zonal(WEB))], node_name="b")
    pod = make_pod(labels=WEB)

    def weighing(weight: int) -> Mapping[str, int] | None:
        return scores(pod, needy, fan, args=InterPodAffinityArgs(hard_pod_affinity_weight=weight))

    assert weighing(1) == abc(10, 100, 0, 0)
    assert weighing(40) == abc(100, 25, 0, 0)
    assert weighing(0) == abc(0, 100, 0, 0)
    assert scores(pod, needy, args=InterPodAffinityArgs(hard_pod_affinity_weight=0)) is None


def test_ignoring_running_pods_preferences_holds_for_pods_without_their_own() -> None:
    fan = make_pod("fan", preferred_pod_affinity=[(7, zonal(WEB))], node_name="a")
    needy = make_pod("needy", pod_affinity=[zonal(WEB)], node_name="b")
    assert scores(make_pod(labels=WEB), fan, needy, args=IGNORING) is None
    picky = make_pod(labels=WEB, preferred_pod_affinity=[(1, zonal(DB))])
    assert scores(picky, fan, needy, args=IGNORING) == abc(100, 14, 0, 0)


# Sitting out.


def test_sits_out_where_nothing_contributes() -> None:
    assert scores(make_pod(labels=WEB), *on("ab", DB)) is None
    assert scores(make_pod(preferred_pod_affinity=[(1, zonal(WEB))]), *on("ab", DB)) is None


def test_contributions_that_cancel_out_still_score() -> None:
    pod = make_pod(
        preferred_pod_affinity=[(5, zonal(DB))], preferred_pod_anti_affinity=[(5, zonal(DB))]
    )
    assert scores(pod, *on("ab", DB)) == abc(0, 0, 0, 0)


def test_terms_that_do_not_compile_break_the_attempt() -> None:
    bad = make_affinity_term(make_selector({"app": "no spaces please"}))
    with pytest.raises(ValueError, match=r"^failed to parse pod: preferredAffinityTerms: "):
        scores(make_pod(preferred_pod_affinity=[(1, bad)]))


# Normalizing.


def test_only_the_nodes_that_passed_set_the_scale() -> None:
    plugin = InterPodAffinity(DEFAULTS, fake_handle())
    pod = make_pod(preferred_pod_affinity=[(1, zonal(DB))])
    cluster = cluster_of((*NODES, *on("aaabb", DB)))
    assert score_all(plugin, pod, cluster, feasible=("c", "b")) == {"c": 0, "b": 100}


@pytest.mark.parametrize(
    ("raw", "normalized"),
    [
        pytest.param([-4, 0, 6], [0, 40, 100], id="from the worst to the best"),
        pytest.param([7, 7], [0, 0], id="all alike"),
        pytest.param([], [], id="no nodes"),
        # 29 of 50 is 58 %, but as a floating point number a little less.
        pytest.param([0, 29, 50], [0, 57, 100], id="cut off, in floating point"),
        pytest.param([0, 2, 3], [0, 66, 100], id="cut off"),
    ],
)
def test_normalize(raw: list[int], normalized: list[int]) -> None:
    plugin = InterPodAffinity(DEFAULTS, fake_handle())
    column = np.array(raw, np.int64)
    scaled = plugin.normalize_score(CycleState(), PodInfo.of(make_pod()), column)
    assert scaled.dtype == np.int64
    assert scaled.tolist() == normalized
    assert column.tolist() == raw
