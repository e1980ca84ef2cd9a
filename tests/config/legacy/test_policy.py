"""Policy files: what they become beside the plugins that run, and what is told about it."""

from __future__ import annotations

import pytest

from config.legacy.conversions import (
    GROUP,
    args,
    converted,
    mistakes,
    names,
    notes,
    notes_at,
    plugins,
    policy,
    weights,
)


def test_an_empty_policy_keeps_the_old_weights() -> None:
    assert converted(policy()).value == {
        "apiVersion": f"{GROUP}/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": {
                    "multiPoint": {
                        "enabled": [
                            {"name": "TaintToleration", "weight": 1},
                            {"name": "NodeAffinity", "weight": 1},
                            {"name": "InterPodAffinity", "weight": 1},
                        ]
                    }
                },
            }
        ],
    }


def test_lists_of_a_policy_stand_alone() -> None:
    text = policy("""\
predicates: [{name: PodFitsResources}, {name: CheckVolumeBinding}]
priorities: [{name: MostRequestedPriority, weight: 3}]
""")
    everything = [{"name": "*"}]
    assert plugins(text) == {
        "multiPoint": {
            "disabled": [{"name": "DynamicResources"}, {"name": "NodeDeclaredFeatures"}]
        },
        "preFilter": {
            "disabled": everything,
            "enabled": [{"name": "NodeResourcesFit"}, {"name": "VolumeBinding"}],
        },
        "filter": {
            "disabled": everything,
            "enabled": [
                {"name": "NodeUnschedulable"},
                {"name": "NodeResourcesFit"},
                {"name": "TaintToleration"},
                {"name": "VolumeBinding"},
            ],
        },
        "preScore": {"disabled": everything, "enabled": [{"name": "NodeResourcesFit"}]},
        "score": {"disabled": everything, "enabled": [{"name": "NodeResourcesFit", "weight": 3}]},
    }
    assert args(text) == {"NodeResourcesFit": {"scoringStrategy": {"type": "MostAllocated"}}}


@pytest.mark.parametrize(
    ("line", "noted"),
    [
        pytest.param("apiVersion: v1", False, id="v1"),
        pytest.param(f"apiVersion: {GROUP}/v1", False, id="with a group"),
        pytest.param('apiVersion: ""', True, id="empty"),
        pytest.param("# no version", True, id="missing"),
    ],
)
def test_versions(line: str, *, noted: bool) -> None:
    told = [message for _, message in notes(f"{line}\nkind: Policy\n")]
    assert ("apiVersion is missing: this is read as a Policy of v1" in told) is noted


@pytest.mark.parametrize("version", [f"{GROUP}/v1beta1", "v2", "policy/v1"])
def test_other_versions_are_refused(version: str) -> None:
    ((line, path, message, _),) = mistakes(f"kind: Policy\napiVersion: {version}\n")
    assert (line, path) == (2, "apiVersion")
    assert message == f"a Policy has the apiVersion v1 or {GROUP}/v1, got {version}"


def test_labels_become_added_affinity() -> None:
    text = policy("""\
predicates:
- {name: InZone, argument: {labelsPresence: {labels: [zone, rack], presence: true}}}
- {name: NotRetiring, argument: {labelsPresence: {labels: [retiring]}}}
- {name: MatchNodeSelector}
priorities:
- {name: Fast, weight: 4, argument: {labelPreference: {label: ssd, presence: true}}}
- {name: Quiet, weight: 4, argument: {labelPreference: {label: noisy}}}
- {name: NodeAffinityPriority, weight: 2}
""")
    assert args(text) == {
        "NodeAffinity": {
            "addedAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": "zone", "operator": "Exists"},
                                {"key": "rack", "operator": "Exists"},
                                {"key": "retiring", "operator": "DoesNotExist"},
                            ]
                        }
                    ]
                },
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 4,
                        "preference": {"matchExpressions": [{"key": "ssd", "operator": "Exists"}]},
                    },
                    {
                        "weight": 4,
                        "preference": {
                            "matchExpressions": [{"key": "noisy", "operator": "DoesNotExist"}]
                        },
                    },
                ],
            }
        }
    }
    assert names(text, "filter") == ["NodeUnschedulable", "NodeAffinity", "TaintToleration"]
    assert weights(text) == {"NodeAffinity": 2}


def test_labels_without_any_other_node_affinity() -> None:
    text = policy("""\
predicates:
- {name: InZone, argument: {labelsPresence: {labels: [zone], presence: true}}}
priorities:
- {name: Fast, weight: 4, argument: {labelPreference: {label: ssd, presence: true}}}
""")
    assert names(text, "filter") == ["NodeUnschedulable", "TaintToleration", "NodeAffinity"]
    assert weights(text) == {"NodeAffinity": 4}


def test_a_ratio_becomes_a_strategy() -> None:
    text = policy("""\
priorities:
- name: BinPacking
  weight: 2
  argument:
    requestedToCapacityRatioArguments:
      shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]
      resources: [{name: example.com/gpu, weight: 3}, {name: cpu}]
""")
    assert weights(text) == {"NodeResourcesFit": 2}
    assert args(text) == {
        "NodeResourcesFit": {
            "scoringStrategy": {
                "type": "RequestedToCapacityRatio",
                "resources": [{"name": "example.com/gpu", "weight": 3}, {"name": "cpu"}],
                "requestedToCapacityRatio": {
                    "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
                },
            }
        }
    }


@pytest.mark.parametrize(
    ("priorities", "weight", "spread_args"),
    [
        pytest.param(
            "{name: SelectorSpreadPriority, weight: 3}", 3, None, id="spreading by default"
        ),
        pytest.param(
            "{name: ServiceSpreadingPriority, weight: 3}", 3, None, id="by its older name"
        ),
        pytest.param(
            "{name: EvenPodsSpreadPriority, weight: 5}",
            5,
            {"defaultingType": "List"},
            id="only by the pods' own constraints",
        ),
        pytest.param(
            "{name: SelectorSpreadPriority, weight: 3}, {name: EvenPodsSpreadPriority, weight: 5}",
            5,
            None,
            id="both share a plugin",
        ),
    ],
)
def test_spreading(priorities: str, weight: int, spread_args: object) -> None:
    text = policy(f"priorities: [{priorities}]\n")
    assert weights(text) == {"PodTopologySpread": weight}
    assert args(text).get("PodTopologySpread") == spread_args


def test_two_weights_for_spreading_are_told() -> None:
    text = policy("""\
priorities:
- {name: SelectorSpreadPriority, weight: 3}
- {name: EvenPodsSpreadPriority, weight: 5}
""")
    assert notes_at(text, 4) == ["EvenPodsSpreadPriority goes before: both count with its weight 5"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            "hardPodAffinitySymmetricWeight: 10\n",
            {"hardPodAffinityWeight": 10},
            id="with the default priorities",
        ),
        pytest.param(
            "hardPodAffinitySymmetricWeight: 10\n"
            "priorities: [{name: InterPodAffinityPriority, weight: 1}]\n",
            {"hardPodAffinityWeight": 10},
            id="with its priority",
        ),
        pytest.param("hardPodAffinitySymmetricWeight: 0\n", None, id="0 is the default"),
    ],
)
def test_hard_affinity(body: str, expected: object) -> None:
    assert args(policy(body)).get("InterPodAffinity") == expected


def test_hard_affinity_without_its_priority() -> None:
    text = policy("hardPodAffinitySymmetricWeight: 10\npriorities: []\n")
    assert args(text) == {}
    assert notes_at(text, 3) == [
        "it had no effect without InterPodAffinityPriority: it is left out"
    ]


@pytest.mark.parametrize(
    ("body", "line", "note"),
    [
        pytest.param(
            "alwaysCheckAllPredicates: true\n",
            3,
            "alwaysCheckAllPredicates has no equivalent: the first plugin that rejects a node is "
            "the one that is told about; what fits is the same",
            id="alwaysCheckAllPredicates",
        ),
        pytest.param(
            "predicates:\n- {name: Region, argument: {serviceAffinity: {labels: [region]}}}\n",
            4,
            "ServiceAffinity is gone and nothing does the same: it is left out",
            id="service affinity",
        ),
        pytest.param(
            "priorities:\n"
            "- {name: Zones, weight: 1, argument: {serviceAntiAffinity: {label: zone}}}\n",
            4,
            "ServiceAffinity is gone and nothing does the same: it is left out",
            id="service anti-affinity",
        ),
        pytest.param(
            "priorities:\n- {name: NodePreferAvoidPodsPriority, weight: 1}\n",
            4,
            "NodePreferAvoidPods is gone: the annotation "
            "scheduler.alpha.kubernetes.io/preferAvoidPods of a node has no effect any more",
            id="pods to avoid",
        ),
        pytest.param(
            "predicates:\n- name: HostName\n"
            "  argument: {labelsPresence: {labels: [a], presence: true}}\n",
            5,
            "HostName takes no argument: it is left out",
            id="a built-in predicate with an argument",
        ),
        pytest.param(
            "priorities:\n- name: ImageLocalityPriority\n  weight: 1\n"
            "  argument: {labelPreference: {label: a}}\n",
            6,
            "ImageLocalityPriority takes no argument: it is left out",
            id="a built-in priority with an argument",
        ),
        pytest.param(
            "priorities:\n- {name: LeastRequestedPriority, weight: 1}\n"
            "- {name: MostRequestedPriority, weight: 2}\n",
            4,
            "NodeResourcesFit can score by one strategy only: MostAllocated (weight 2) is kept, "
            "LeastAllocated (weight 1) is left out",
            id="two ways of scoring resources",
        ),
    ],
)
def test_what_does_not_carry_over_is_told(body: str, line: int, note: str) -> None:
    assert notes_at(policy(body), line) == [note]
