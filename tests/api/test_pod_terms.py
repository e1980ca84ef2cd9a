from __future__ import annotations

from collections.abc import Mapping

import pytest

from berthing.api.frozen import FrozenDict
from berthing.api.labels import EVERYTHING, NOTHING, LabelSelector, LabelSelectorRequirement
from berthing.api.pod import PodAffinityTerm, TopologySpreadConstraint
from berthing.api.pod_info import PodInfo
from berthing.api.pod_terms import (
    NO_CONSTRAINTS,
    NO_TERMS,
    compile_spread_constraints,
    spread_constraints,
)
from berthing.testing import ZONE, make_affinity_term, make_pod, make_spread_constraint

WEB = make_affinity_term({"app": "web"})
BROKEN = LabelSelector(match_expressions=(LabelSelectorRequirement("app", "Like", ("web",)),))


def test_each_kind_of_term_has_its_place() -> None:
    pod = make_pod(
        pod_affinity=[make_affinity_term({"app": "a"})],
        pod_anti_affinity=[make_affinity_term({"app": "b"})],
        preferred_pod_affinity=[(1, make_affinity_term({"app": "c"}))],
        preferred_pod_anti_affinity=[(2, make_affinity_term({"app": "d"}))],
    )
    terms = PodInfo.of(pod).terms
    assert [str(term.selector) for term in terms.required] == ["app=a"]
    assert [str(term.selector) for term in terms.required_anti] == ["app=b"]
    assert [(each.weight, str(each.term.selector)) for each in terms.preferred] == [(1, "app=c")]
    assert [(each.weight, str(each.term.selector)) for each in terms.preferred_anti] == [
        (2, "app=d")
    ]
    assert terms.error == ""


def test_most_pods_have_no_terms() -> None:
    assert PodInfo.of(make_pod()).terms is NO_TERMS


@pytest.mark.parametrize(
    ("term", "namespaces", "namespace_selector"),
    [
        pytest.param(WEB, {"shop"}, NOTHING, id="none named: the pod's own"),
        pytest.param(
            make_affinity_term({"app": "web"}, namespaces=["a", "b"]),
            {"a", "b"},
            NOTHING,
            id="named",
        ),
        pytest.param(
            make_affinity_term({"app": "web"}, namespace_labels={}),
            set(),
            EVERYTHING,
            id="an empty selector: all, so that none is named",
        ),
    ],
)
def test_which_namespaces_a_term_means(
    term: PodAffinityTerm, namespaces: set[str], namespace_selector: object
) -> None:
    (compiled,) = PodInfo.of(make_pod(namespace="shop", pod_affinity=[term])).terms.required
    assert compiled.namespaces == namespaces
    assert compiled.namespace_selector == namespace_selector


@pytest.mark.parametrize(
    ("term", "namespace", "labels", "namespace_labels", "matches"),
    [
        pytest.param(WEB, "shop", {"app": "web"}, {}, True, id="a pod next door"),
        pytest.param(WEB, "shop", {"app": "db"}, {}, False, id="with other labels"),
        pytest.param(WEB, "bank", {"app": "web"}, {}, False, id="in another namespace"),
        pytest.param(
            make_affinity_term({"app": "web"}, namespace_labels={"team": "a"}),
            "bank",
            {"app": "web"},
            {"team": "a"},
            True,
            id="in a namespace with the right labels",
        ),
        pytest.param(
            make_affinity_term({"app": "web"}, namespaces=["x"], namespace_labels={"team": "a"}),
            "x",
            {"app": "web"},
            {},
            True,
            id="named or labelled: either will do",
        ),
        pytest.param(
            PodAffinityTerm(topology_key=ZONE), "shop", {}, {}, False, id="no selector, no pods"
        ),
    ],
)
def test_which_pods_a_term_means(
    term: PodAffinityTerm,
    namespace: str,
    labels: Mapping[str, str],
    namespace_labels: Mapping[str, str],
    matches: bool,
) -> None:
    (compiled,) = PodInfo.of(make_pod(namespace="shop", pod_affinity=[term])).terms.required
    assert compiled.matches(namespace, labels, namespace_labels) is matches


def test_label_keys_are_merged_by_api_servers_and_not_here() -> None:
    term = PodAffinityTerm(
        label_selector=LabelSelector(match_labels={"app": "web"}), match_label_keys=("hash",)
    )
    pod = make_pod(labels={"hash": "1"}, pod_affinity=[term])
    (compiled,) = PodInfo.of(pod).terms.required
    assert str(compiled.selector) == "app=web"


def test_a_bad_selector_costs_its_group_and_no_other() -> None:
    bad = make_affinity_term(BROKEN)
    pod = make_pod(pod_affinity=[WEB, bad], pod_anti_affinity=[WEB])
    terms = PodInfo.of(pod).terms
    assert terms.required == ()
    assert len(terms.required_anti) == 1
    assert terms.error == ('requiredAffinityTerms: "Like" is not a valid label selector operator')


def test_several_errors_are_told_as_upstream_joins_them() -> None:
    bad = make_affinity_term(BROKEN)
    pod = make_pod(pod_affinity=[bad], preferred_pod_anti_affinity=[(1, bad)])
    problem = '"Like" is not a valid label selector operator'
    assert PodInfo.of(pod).terms.error == (
        f"[requiredAffinityTerms: {problem}, preferredAntiAffinityTerms: {problem}]"
    )


def test_constraints_are_hard_or_soft() -> None:
    pod = make_pod(
        spread=[
            make_spread_constraint({"app": "a"}, max_skew=2, min_domains=3),
            make_spread_constraint({"app": "b"}, when_unsatisfiable="ScheduleAnyway"),
            TopologySpreadConstraint(when_unsatisfiable="Whatever"),
        ]
    )
    spread = PodInfo.of(pod).spread
    assert [(str(each.selector), each.max_skew, each.min_domains) for each in spread.hard] == [
        ("app=a", 2, 3)
    ]
    assert [(str(each.selector), each.max_skew, each.min_domains) for each in spread.soft] == [
        ("app=b", 1, 1)
    ]


def test_most_pods_have_no_constraints() -> None:
    assert PodInfo.of(make_pod()).spread is NO_CONSTRAINTS


@pytest.mark.parametrize(
    ("affinity", "taints", "honors"),
    [
        pytest.param("", "", (True, False), id="by default affinity counts and taints do not"),
        pytest.param("Ignore", "Honor", (False, True), id="or the other way round"),
        pytest.param("Honor", "Ignore", (True, False), id="or the default in words"),
    ],
)
def test_which_nodes_count(affinity: str, taints: str, honors: tuple[bool, bool]) -> None:
    constraint = make_spread_constraint(
        {}, node_affinity_policy=affinity, node_taints_policy=taints
    )
    (compiled,) = compile_spread_constraints([constraint], {})
    assert (compiled.honors_node_affinity, compiled.honors_node_taints) == honors


@pytest.mark.parametrize(
    ("selector", "labels", "text"),
    [
        pytest.param(
            {"app": "web"}, {"hash": "1"}, "app=web,hash=1", id="the pod's own value counts"
        ),
        pytest.param({"app": "web"}, {"other": "1"}, "app=web", id="unless it has none"),
        pytest.param({}, {"hash": "1"}, "hash=1", id="with nothing else asked for"),
    ],
)
def test_label_keys_narrow_the_selector(
    selector: Mapping[str, str], labels: Mapping[str, str], text: str
) -> None:
    constraint = make_spread_constraint(selector, match_label_keys=["hash"])
    (compiled,) = compile_spread_constraints([constraint], labels)
    assert str(compiled.selector) == text


def test_no_selector_selects_nothing_whatever_the_label_keys() -> None:
    constraint = TopologySpreadConstraint(
        when_unsatisfiable="DoNotSchedule", match_label_keys=("hash",)
    )
    (compiled,) = compile_spread_constraints([constraint], {"hash": "1"})
    assert compiled.selector == NOTHING


def test_an_error_is_told_per_group() -> None:
    bad = make_spread_constraint(BROKEN)
    soft = make_spread_constraint({}, when_unsatisfiable="ScheduleAnyway")
    spread = spread_constraints((bad, soft), FrozenDict())
    assert (spread.hard, len(spread.soft)) == ((), 1)
    assert spread.hard_error == '"Like" is not a valid label selector operator'
    assert spread.soft_error == ""


def test_replicas_share_what_was_compiled() -> None:
    one, other = (
        PodInfo.of(make_pod(name, labels={"app": "web"}, pod_affinity=[WEB])) for name in "ab"
    )
    assert one.terms is other.terms
