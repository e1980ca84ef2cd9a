"""What the old versions refused is refused: all of it, each mistake at its line."""

from __future__ import annotations

import pytest

from config.legacy.conversions import GROUP, configuration, mistakes, policy, profile

ONE_OF_TWO = "give either serviceAffinity or labelsPresence"
ONE_OF_THREE = (
    "give one of serviceAntiAffinity, labelPreference and requestedToCapacityRatioArguments"
)


@pytest.mark.parametrize(
    ("text", "line", "path", "suggestion"),
    [
        pytest.param(
            configuration("v1beta2", "paralelism: 3\n"),
            3,
            "paralelism",
            "did you mean parallelism?",
            id="a misspelt field",
        ),
        pytest.param(
            configuration("v1beta3", "healthzBindAddress: :0\n"),
            3,
            "healthzBindAddress",
            "",
            id="v1beta3 had no bind addresses",
        ),
        pytest.param(
            configuration("v1beta3", "delayCacheUntilActive: true\n"),
            3,
            "delayCacheUntilActive",
            "",
            id="only v1 delays caches",
        ),
        pytest.param(
            profile("v1beta3", "percentageOfNodesToScore: 5"),
            5,
            "profiles[0].percentageOfNodesToScore",
            "",
            id="only v1 has percentages in profiles",
        ),
        pytest.param(
            profile("v1beta1", "plugins:\n  multiPoint: {}"),
            6,
            "profiles[0].plugins.multiPoint",
            "",
            id="v1beta1 had no multiPoint",
        ),
        pytest.param(
            profile(
                "v1beta1",
                "pluginConfig:\n- name: NodeLabel\n  args:\n    presentLabel: [a]",
            ),
            8,
            "profiles[0].pluginConfig[0].args.presentLabel",
            "did you mean presentLabels?",
            id="a misspelt field of args that are gone",
        ),
        pytest.param(
            profile(
                "v1beta2",
                "pluginConfig:\n- name: NodeResourcesFit\n  args:\n    ignoredResource: [a]",
            ),
            8,
            "profiles[0].pluginConfig[0].args.ignoredResource",
            "did you mean ignoredResources?",
            id="a misspelt field of args",
        ),
        pytest.param(
            policy("predicate: []\n"), 3, "predicate", "did you mean predicates?", id="Policy"
        ),
    ],
)
def test_unknown_fields(text: str, line: int, path: str, suggestion: str) -> None:
    ((at, where, message, hint),) = mistakes(text)
    assert (at, where) == (line, path)
    assert "unknown field" in message
    assert suggestion in hint


@pytest.mark.parametrize(
    ("text", "line", "path", "message", "suggestion"),
    [
        pytest.param(
            profile("v1beta2", "plugins:\n  score: {enabled: [{name: NodeLabel}]}"),
            6,
            "profiles[0].plugins.score.enabled[0]",
            "plugin NodeLabel was removed in v1beta2",
            "NodeAffinity does its work, with addedAffinity in its args",
            id="a plugin that was gone by then",
        ),
        pytest.param(
            profile("v1beta1", "plugins:\n  filter: {enabled: [{name: NodeName}]}"),
            6,
            "profiles[0].plugins.filter.enabled[0]",
            "plugin NodeName is enabled twice: it runs at filter by default",
            "disable NodeName there as well, to give it another weight or place",
            id="v1beta1 did not let defaults be named again",
        ),
        pytest.param(
            profile(
                "v1beta1",
                "plugins:\n  score:\n    enabled:\n    - {name: NodeResourcesFit, weight: 2}",
            ),
            8,
            "profiles[0].plugins.score.enabled[0]",
            "NodeResourcesFit cannot score beside NodeResourcesLeastAllocated in v1beta1",
            "disable NodeResourcesLeastAllocated",
            id="two ways of scoring resources",
        ),
        pytest.param(
            profile(
                "v1beta1",
                "pluginConfig:\n- name: NodeResourcesLeastAllocated\n"
                "  args:\n    resources:\n    - name: cpu",
            ),
            9,
            "profiles[0].pluginConfig[0].args.resources[0].weight",
            "the weight of cpu must be 1 to 100, got 0",
            "write weight: 1",
            id="a resource without a weight",
        ),
        pytest.param(
            profile(
                "v1beta1",
                "pluginConfig:\n- name: NodeResourcesMostAllocated\n"
                "  args:\n    resources:\n    - name: cpu\n      weight: 101",
            ),
            10,
            "profiles[0].pluginConfig[0].args.resources[0].weight",
            "the weight of cpu must be 1 to 100, got 101",
            "",
            id="a resource with too much weight",
        ),
        pytest.param(
            profile(
                "v1beta1",
                "pluginConfig:\n- name: NodeLabel\n"
                "  args: {presentLabels: [a, b],\n    absentLabels: [b]}",
            ),
            7,
            "profiles[0].pluginConfig[0].args.presentLabels[1]",
            "label b cannot be both present and absent",
            "",
            id="a label that is to be there and not",
        ),
        pytest.param(
            profile(
                "v1beta2",
                "pluginConfig:\n- name: NodeResourcesFit\n  args:\n    kind: NodeAffinityArgs",
            ),
            8,
            "profiles[0].pluginConfig[0].args.kind",
            "these are args of another plugin, need NodeResourcesFitArgs",
            "write NodeResourcesFitArgs",
            id="args of another plugin",
        ),
        pytest.param(
            profile(
                "v1beta2",
                f"pluginConfig:\n- name: NodeResourcesFit\n  args:\n    apiVersion: {GROUP}/v2",
            ),
            8,
            "profiles[0].pluginConfig[0].args.apiVersion",
            f"there is no version {GROUP}/v2 of a configuration",
            "leave it out",
            id="args of no version",
        ),
        pytest.param(
            policy("hardPodAffinitySymmetricWeight: 101\n"),
            3,
            "hardPodAffinitySymmetricWeight",
            "must be 0 to 100, got 101",
            "",
            id="too much for hard affinity",
        ),
        pytest.param(
            policy("predicates:\n- name: PodFitsResource\n"),
            4,
            "predicates[0].name",
            "there is no predicate 'PodFitsResource'",
            "did you mean PodFitsResources?",
            id="an unknown predicate",
        ),
        pytest.param(
            policy("predicates:\n- name: Mine\n  argument: {}\n"),
            5,
            "predicates[0].argument",
            ONE_OF_TWO,
            "",
            id="a predicate with an empty argument",
        ),
        pytest.param(
            policy(
                "predicates:\n- name: Mine\n"
                "  argument: {serviceAffinity: {labels: [a]}, labelsPresence: {labels: [a]}}\n"
            ),
            5,
            "predicates[0].argument",
            ONE_OF_TWO,
            "",
            id="a predicate with two arguments",
        ),
        pytest.param(
            policy(
                "predicates:\n- name: CheckNodeLabelPresence\n"
                "  argument: {labelsPresence: {labels: [a]}}\n"
            ),
            4,
            "predicates[0].name",
            "CheckNodeLabelPresence does not read its argument",
            "give it any other name",
            id="a name that a predicate of one's own cannot have",
        ),
        pytest.param(
            policy(
                "predicates:\n"
                "- {name: A, argument: {labelsPresence: {labels: [a], presence: true}}}\n"
                "- {name: B, argument: {labelsPresence: {labels: [a]}}}\n"
            ),
            4,
            "predicates[0].argument.labelsPresence.labels[0]",
            "label a cannot be both present and absent",
            "",
            id="predicates that contradict each other",
        ),
        pytest.param(
            policy("priorities:\n- {name: LeastRequestedPriority}\n"),
            4,
            "priorities[0].weight",
            "must be 1 to 2147483647, got 0",
            "",
            id="a priority without a weight",
        ),
        pytest.param(
            policy("priorities:\n- name: EqualPriority\n  weight: -1\n"),
            5,
            "priorities[0].weight",
            "must be 1 to 2147483647, got -1",
            "",
            id="a negative weight, even where it counts for nothing",
        ),
        pytest.param(
            policy("priorities:\n- {name: LeastRequested, weight: 1}\n"),
            4,
            "priorities[0].name",
            "there is no priority 'LeastRequested'",
            "did you mean LeastRequestedPriority?",
            id="an unknown priority",
        ),
        pytest.param(
            policy("priorities:\n- name: Mine\n  weight: 1\n  argument: {}\n"),
            6,
            "priorities[0].argument",
            ONE_OF_THREE,
            "",
            id="a priority with an empty argument",
        ),
        pytest.param(
            policy(
                "priorities:\n- name: NodeLabel\n  weight: 1\n"
                "  argument: {labelPreference: {label: a}}\n"
            ),
            4,
            "priorities[0].name",
            "NodeLabel does not read its argument",
            "give it any other name",
            id="a name that a priority of one's own cannot have",
        ),
        pytest.param(
            policy(
                "priorities:\n"
                "- {name: A, weight: 1, argument: {requestedToCapacityRatioArguments: {}}}\n"
                "- {name: B, weight: 1, argument: {requestedToCapacityRatioArguments: {}}}\n"
            ),
            5,
            "priorities[1].argument",
            "only one priority can have requestedToCapacityRatioArguments",
            "",
            id="two ratios",
        ),
        pytest.param(
            policy(
                "priorities:\n"
                "- {name: A, weight: 1, argument: {labelPreference: {label: a}}}\n"
                "- {name: B, weight: 2, argument: {labelPreference: {label: b}}}\n"
            ),
            5,
            "priorities[1].weight",
            "priorities of this kind must have one weight, got 1 before and 2 here",
            "",
            id="preferences of different weights",
        ),
    ],
)
def test_mistakes(text: str, line: int, path: str, message: str, suggestion: str) -> None:
    assert mistakes(text) == [(line, path, message, suggestion)]


def test_all_mistakes_are_told_at_once() -> None:
    text = configuration(
        "v1beta1",
        """\
parallelism: many
leaderElection: {leasDuration: 5s}
profiles:
- schedulerName: a
  plugins:
    filter: {enabled: [{name: NodeName}]}
    score: {enabled: [{nam: X}]}
  pluginConfig:
  - {name: NodeLabel, args: {presentLabels: a}}
  - {name: NodeResourcesMostAllocated, args: {resources: [{name: cpu}]}}
""",
    )
    assert [line for line, *_ in mistakes(text)] == [3, 4, 8, 9, 11, 12]


def test_all_mistakes_of_a_policy_are_told_at_once() -> None:
    text = policy("""\
hardPodAffinitySymmetricWeight: -1
predicates:
- {name: Wrong}
- {name: HostName, arguments: 1}
priorities:
- {name: Wrong, weight: 0}
extenders:
- {weight: x}
alwaysCheckAllPredicates: sure
""")
    assert [line for line, *_ in mistakes(text)] == [3, 5, 6, 8, 8, 10, 11]
