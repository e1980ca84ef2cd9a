"""Which arguments plugins take."""

from __future__ import annotations

import pytest

from berthing.config.features import FeatureGates
from config.reading import errors, warnings, with_args

ARGS = "profiles[0].pluginConfig[0].args."


def wrong(plugin: str, args: str, gates: FeatureGates | None = None) -> set[str]:
    """Where arguments are wrong, as seen from the arguments."""
    found = errors(with_args(plugin, args), gates=gates or FeatureGates())
    assert all(path.startswith(ARGS) for path in found), found
    return {path.removeprefix(ARGS) for path in found}


@pytest.mark.parametrize(
    ("plugin", "args", "paths"),
    [
        ("DefaultPreemption", "minCandidateNodesPercentage: -1", "minCandidateNodesPercentage"),
        ("DefaultPreemption", "minCandidateNodesPercentage: 101", "minCandidateNodesPercentage"),
        ("DefaultPreemption", "minCandidateNodesAbsolute: -1", "minCandidateNodesAbsolute"),
        (
            "DefaultPreemption",
            "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}",
            "minCandidateNodesPercentage minCandidateNodesAbsolute",
        ),
        ("InterPodAffinity", "hardPodAffinityWeight: -1", "hardPodAffinityWeight"),
        ("InterPodAffinity", "hardPodAffinityWeight: 101", "hardPodAffinityWeight"),
        ("NodeResourcesFit", "ignoredResources: [a, b c]", "ignoredResources[1]"),
        ("NodeResourcesFit", "ignoredResourceGroups: [a/b]", "ignoredResourceGroups[0]"),
        ("NodeResourcesFit", "ignoredResourceGroups: [b c]", "ignoredResourceGroups[0]"),
        ("NodeResourcesFit", "scoringStrategy: {}", "scoringStrategy.type"),
        ("NodeResourcesFit", "scoringStrategy: {type: Foo}", "scoringStrategy.type"),
        (
            "NodeResourcesFit",
            "scoringStrategy: {type: LeastAllocated, resources: [{name: a, weight: -1}]}",
            "scoringStrategy.resources[0].weight",
        ),
        (
            "NodeResourcesFit",
            "scoringStrategy: {type: LeastAllocated, resources: [{name: a, weight: 101}]}",
            "scoringStrategy.resources[0].weight",
        ),
        (
            "NodeResourcesFit",
            "scoringStrategy: {type: RequestedToCapacityRatio}",
            "scoringStrategy.requestedToCapacityRatio",
        ),
        (
            "NodeResourcesFit",
            "scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {}}",
            "scoringStrategy.requestedToCapacityRatio.shape",
        ),
        (
            "NodeResourcesFit",
            "scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: {}}",
            "scoringStrategy.requestedToCapacityRatio",
        ),
        (
            "NodeResourcesBalancedAllocation",
            "resources: [{name: a, weight: 2}]",
            "resources[0].weight",
        ),
        (
            "NodeResourcesBalancedAllocation",
            "resources: [{name: a}, {name: a}]",
            "resources[1].name",
        ),
        ("PodTopologySpread", "defaultingType: Foo", "defaultingType"),
        ("VolumeBinding", "bindTimeoutSeconds: -1", "bindTimeoutSeconds"),
        ("VolumeBinding", "shape: []", "shape"),
        ("DynamicResources", "filterTimeout: -1ns", "filterTimeout"),
        ("DynamicResources", "bindingTimeout: 999ms", "bindingTimeout"),
    ],
)
def test_arguments_that_are_wrong(plugin: str, args: str, paths: str) -> None:
    assert wrong(plugin, args) == set(paths.split())


@pytest.mark.parametrize(
    ("plugin", "args"),
    [
        ("DefaultPreemption", "minCandidateNodesPercentage: 0"),
        ("DefaultPreemption", "minCandidateNodesPercentage: 100"),
        ("DefaultPreemption", "minCandidateNodesAbsolute: 0"),
        ("InterPodAffinity", "hardPodAffinityWeight: 0"),
        ("InterPodAffinity", "hardPodAffinityWeight: 100"),
        ("NodeResourcesFit", "ignoredResources: [example.com/gpu, cpu]"),
        ("NodeResourcesFit", "ignoredResourceGroups: [example.com]"),
        ("NodeResourcesFit", "scoringStrategy: {type: LeastAllocated}"),
        (
            "NodeResourcesFit",
            "scoringStrategy: {type: MostAllocated, resources: [{name: a, weight: 100}]}",
        ),
        ("NodeResourcesBalancedAllocation", "resources: [{name: a, weight: 0}]"),
        ("PodTopologySpread", "defaultingType: List"),
        ("VolumeBinding", "bindTimeoutSeconds: 0"),
        ("DynamicResources", "{filterTimeout: 0s, bindingTimeout: 1s}"),
    ],
)
def test_arguments_that_are_just_right(plugin: str, args: str) -> None:
    assert wrong(plugin, args) == set()


@pytest.mark.parametrize(
    ("shape", "paths"),
    [
        ("[{utilization: 0, score: 0}, {utilization: 100, score: 10}]", ""),
        ("[{utilization: 50, score: 5}]", ""),
        ("[{utilization: 101, score: 0}]", "[0].utilization"),
        ("[{utilization: -1, score: 0}]", "[0].utilization"),
        ("[{utilization: 0, score: 11}]", "[0].score"),
        ("[{utilization: 0, score: -1}]", "[0].score"),
        ("[{utilization: 5}, {utilization: 5}]", "[1].utilization"),
        ("[{utilization: 5}, {utilization: 4}, {utilization: 3}]", "[1].utilization"),
    ],
)
def test_points_of_a_shape(shape: str, paths: str) -> None:
    strategy = f"{{type: RequestedToCapacityRatio, requestedToCapacityRatio: {{shape: {shape}}}}}"
    base = "scoringStrategy.requestedToCapacityRatio.shape"
    expected = {base + path for path in paths.split()}
    assert wrong("NodeResourcesFit", f"scoringStrategy: {strategy}") == expected
    gates = FeatureGates().setting({"StorageCapacityScoring": True})
    expected = {"shape" + path for path in paths.split()}
    assert wrong("VolumeBinding", f"shape: {shape}", gates) == expected


SPREAD = "maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway"


@pytest.mark.parametrize(
    ("constraints", "paths"),
    [
        (f"[{{{SPREAD}}}]", ""),
        (f"[{{{SPREAD}, labelSelector: null}}]", ""),
        (f"[{{{SPREAD}, labelSelector: {{}}}}]", "[0].labelSelector"),
        ("[{topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]", "[0].maxSkew"),
        ("[{maxSkew: -1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]", "[0].maxSkew"),
        ("[{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]", "[0].topologyKey"),
        ("[{maxSkew: 1, topologyKey: a b, whenUnsatisfiable: DoNotSchedule}]", "[0].topologyKey"),
        ("[{maxSkew: 1, topologyKey: zone}]", "[0].whenUnsatisfiable"),
        ("[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: Foo}]", "[0].whenUnsatisfiable"),
        (f"[{{{SPREAD}}}, {{{SPREAD}}}, {{{SPREAD}}}]", "[1] [2]"),
        (
            f"[{{{SPREAD}}}, {{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}}]",
            "",
        ),
    ],
)
def test_constraints_of_spreading(constraints: str, paths: str) -> None:
    args = f"{{defaultingType: List, defaultConstraints: {constraints}}}"
    expected = {f"defaultConstraints{path}" for path in paths.split()}
    assert wrong("PodTopologySpread", args) == expected


def test_constraints_are_a_list_of_ones_own() -> None:
    assert wrong("PodTopologySpread", f"defaultConstraints: [{{{SPREAD}}}]") == {"defaultingType"}


@pytest.mark.parametrize(
    ("gate", "args", "path"),
    [
        ("DRASchedulerFilterTimeout", "filterTimeout: 1s", "filterTimeout"),
        ("DRADeviceBindingConditions", "bindingTimeout: 1s", "bindingTimeout"),
        ("DRAResourceClaimDeviceStatus", "bindingTimeout: 1s", "bindingTimeout"),
    ],
)
def test_arguments_of_a_feature_that_is_off(gate: str, args: str, path: str) -> None:
    gates = FeatureGates().setting({gate: False})
    assert wrong("DynamicResources", args, gates) == {path}
    assert wrong("DynamicResources", f"{path}: null", gates) == set()


REQUIRED = "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution"


@pytest.mark.parametrize(
    ("term", "path"),
    [
        ("{matchExpressions: [{key: k, operator: Exists}]}", ""),
        ("{}", ""),
        ("{matchExpressions: [{key: k, operator: Is}]}", "matchExpressions[0].operator"),
        ("{matchExpressions: [{key: k/, operator: Exists}]}", "matchExpressions[0].key"),
        ("{matchExpressions: [{key: k, operator: In}]}", "matchExpressions[0].values"),
        (
            "{matchExpressions: [{key: k, operator: Gt, values: [x]}]}",
            "matchExpressions[0].values[0]",
        ),
        (
            "{matchExpressions: [{key: k, operator: In, values: [a b]}]}",
            "matchExpressions[0].values[0].k",
        ),
        ("{matchFields: [{key: k, operator: Exists}]}", "matchFields[0].operator"),
        ("{matchFields: [{key: k, operator: In, values: [a, b]}]}", "matchFields[0].values"),
    ],
)
def test_terms_of_added_affinity(term: str, path: str) -> None:
    terms = f"{REQUIRED.split('.')[1]}: {{nodeSelectorTerms: [{{}}, {term}]}}"
    expected = {f"{REQUIRED}.nodeSelectorTerms[1].{path}"} if path else set()
    assert wrong("NodeAffinity", f"addedAffinity: {{{terms}}}") == expected
    terms = f"{PREFERRED.split('.')[1]}: [{{weight: 1, preference: {term}}}]"
    expected = {f"{PREFERRED}[0].{path}"} if path else set()
    assert wrong("NodeAffinity", f"addedAffinity: {{{terms}}}") == expected


def test_a_preferred_term_of_no_weight_is_not_read() -> None:
    term = "{weight: 0, preference: {matchExpressions: [{key: k, operator: Is}]}}"
    assert wrong("NodeAffinity", f"addedAffinity: {{{PREFERRED.split('.')[1]}: [{term}]}}") == set()


DISABLED = """
profiles:
- plugins:
    multiPoint: {{disabled: [{{name: {plugin}}}]}}
  pluginConfig:
  - name: {plugin}
    args: {args}
"""


def test_arguments_of_fit_stop_nobody_who_has_disabled_it() -> None:
    body = DISABLED.format(plugin="NodeResourcesFit", args="{scoringStrategy: {type: Foo}}")
    assert warnings(body).keys() == {
        "profiles[0].pluginConfig[0]",
        "profiles[0].pluginConfig[0].args.scoringStrategy.type",
    }


def test_other_arguments_are_checked_whether_or_not_they_are_used() -> None:
    body = DISABLED.format(plugin="InterPodAffinity", args="{hardPodAffinityWeight: 101}")
    assert errors(body).keys() == {"profiles[0].pluginConfig[0].args.hardPodAffinityWeight"}
