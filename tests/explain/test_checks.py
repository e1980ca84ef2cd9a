from __future__ import annotations

import pytest

from berthing.api.apps import ReplicaSet, ReplicaSetSpec
from berthing.api.labels import LabelSelector, LabelSelectorRequirement
from berthing.api.meta import ApiObject, ObjectMeta
from berthing.api.node_selector import NodeSelectorRequirement
from berthing.api.pod import PodAffinityTerm
from berthing.explain.checks import mistakes, oddities
from berthing.testing import (
    make_affinity_term,
    make_node,
    make_node_term,
    make_pod,
    make_spread_constraint,
    make_toleration,
)

BAD = LabelSelector(match_expressions=(LabelSelectorRequirement("a", "Inn", ("b",)),))
WRONG = '"Inn" is not a valid label selector operator'
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@pytest.mark.parametrize(
    ("obj", "path"),
    [
        pytest.param(
            make_pod(pod_affinity=[make_affinity_term(BAD)]),
            f"Pod default/pod: spec.affinity.podAffinity.{REQUIRED}[0].labelSelector",
            id="required affinity",
        ),
        pytest.param(
            make_pod(preferred_pod_anti_affinity=[(1, PodAffinityTerm(namespace_selector=BAD))]),
            f"Pod default/pod: spec.affinity.podAntiAffinity.{PREFERRED}[0].podAffinityTerm.namespaceSelector",
            id="preferred anti-affinity, namespaces",
        ),
        pytest.param(
            make_pod(spread=[make_spread_constraint({"a": "b"}), make_spread_constraint(BAD)]),
            "Pod default/pod: spec.topologySpreadConstraints[1].labelSelector",
            id="spread constraint",
        ),
        pytest.param(
            ReplicaSet(
                metadata=ObjectMeta(name="web", namespace="shop"), spec=ReplicaSetSpec(selector=BAD)
            ),
            "ReplicaSet shop/web: spec.selector",
            id="replica set",
        ),
    ],
)
def test_a_selector_that_does_not_parse(obj: ApiObject, path: str) -> None:
    assert list(mistakes(obj)) == [f"{path}: {WRONG}"]


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        pytest.param(
            make_pod(
                node_affinity=[make_node_term(expressions=[NodeSelectorRequirement("a", "Is")])]
            ),
            f'spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Is"',
            id="node affinity",
        ),
        pytest.param(
            make_pod(node_selector={"disk": "s s d"}),
            'spec.nodeSelector[disk]: Invalid value: "s s d"',
            id="a value in a nodeSelector",
        ),
        pytest.param(
            make_pod(node_selector={"a b": "c"}),
            'spec.nodeSelector: Invalid value: "a b"',
            id="a key in a nodeSelector",
        ),
        pytest.param(
            make_pod(tolerations=[make_toleration("gpu", operator="Equals", value="x")]),
            'spec.tolerations[0].operator: Unsupported value: "Equals"',
            id="a toleration",
        ),
        pytest.param(
            make_pod(requests={"cpu": "-3"}),
            'spec.containers[0].resources.requests[cpu]: Invalid value: "-3": must be greater than or equal to 0',
            id="less than nothing",
        ),
        pytest.param(
            make_pod(overhead={"memory": "-1Mi"}),
            'spec.overhead[memory]: Invalid value: "-1Mi": must be greater than or equal to 0',
            id="less than nothing, as overhead",
        ),
        pytest.param(
            make_pod(spread=[make_spread_constraint({"a": "b"}, max_skew=0)]),
            "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
            id="no skew at all",
        ),
        pytest.param(
            make_pod(spread=[make_spread_constraint({"a": "b"}, topology_key="")]),
            "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
            id="a spread constraint over nothing",
        ),
        pytest.param(
            make_pod(spread=[make_spread_constraint({"a": "b"}, when_unsatisfiable="Maybe")]),
            'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Maybe": '
            'supported values: "DoNotSchedule", "ScheduleAnyway"',
            id="a spread constraint that does nothing known",
        ),
        pytest.param(
            make_pod(spread=[make_spread_constraint({"a": "b"}, min_domains=0)]),
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero",
            id="no domains",
        ),
        pytest.param(
            make_pod(
                spread=[
                    make_spread_constraint(
                        {"a": "b"}, min_domains=2, when_unsatisfiable="ScheduleAnyway"
                    )
                ]
            ),
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains "
            "if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
            id="domains that are only wished for",
        ),
        pytest.param(
            make_pod(pod_anti_affinity=[make_affinity_term({"a": "b"}, topology_key="")]),
            f"spec.affinity.podAntiAffinity.{REQUIRED}[0].topologyKey: Required value: can not be empty",
            id="an affinity term over nothing",
        ),
        pytest.param(
            make_pod(preferred_pod_affinity=[(101, make_affinity_term({"a": "b"}))]),
            f"spec.affinity.podAffinity.{PREFERRED}[0].weight: Invalid value: 101: must be in the range 1-100",
            id="a weight beyond 100",
        ),
    ],
)
def test_what_an_api_server_refuses(obj: ApiObject, expected: str) -> None:
    (mistake,) = mistakes(obj)
    assert mistake.startswith(f"Pod default/pod: {expected}")


def test_a_node_that_offers_less_than_nothing() -> None:
    negative = 'Invalid value: "-1": must be greater than or equal to 0'
    assert list(mistakes(make_node("n", cpu="-1"))) == [
        f"Node n: status.capacity[cpu]: {negative}",
        f"Node n: status.allocatable[cpu]: {negative}",
    ]


@pytest.mark.parametrize(
    "obj",
    [make_node(), make_pod(pod_affinity=[make_affinity_term({"a": "b"})])],
    ids=lambda obj: obj.name,
)
def test_nothing_wrong(obj: ApiObject) -> None:
    assert list(mistakes(obj)) == []


def test_what_an_api_server_lets_through_is_only_odd() -> None:
    beyond = NodeSelectorRequirement("gen", "Gt", ("x7",))
    pod = make_pod(node_affinity=[make_node_term(expressions=[beyond])])
    assert list(mistakes(pod)) == []
    (oddity,) = oddities(pod)
    assert oddity.endswith("for 'Gt', 'Lt' operators, the value must be an integer")
