"""Feature gates: what is on, and what `--feature-gates` accepts."""

from __future__ import annotations

import pytest

from berthing.config.features import FeatureGates, parse_feature_gates
from berthing.config.findings import Finding, Findings
from berthing.config.known_features import DEPENDENCIES, KNOWN_GATES, SCHEDULER_GATES, Stage


def parse(*texts: str) -> tuple[FeatureGates | None, list[Finding]]:
    findings = Findings()
    return parse_feature_gates(texts, findings), list(findings)


def parsed(*texts: str) -> FeatureGates:
    gates, findings = parse(*texts)
    assert gates is not None, findings
    return gates


def errors(*texts: str) -> dict[str, tuple[str, str]]:
    gates, findings = parse(*texts)
    assert gates is None
    return {
        ".".join(map(str, finding.path)): (finding.message, finding.suggestion)
        for finding in findings
        if finding.is_error
    }


@pytest.mark.parametrize(
    ("name", "stage", "default", "locked"),
    [
        ("SchedulerQueueingHints", Stage.GA, True, True),
        ("SchedulerPopFromBackoffQ", Stage.BETA, True, False),
        ("SchedulerAsyncPreemption", Stage.BETA, True, False),
        ("SchedulerAsyncAPICalls", Stage.BETA, False, False),
        ("OpportunisticBatching", Stage.BETA, True, False),
        ("NominatedNodeNameForExpectation", Stage.BETA, True, False),
        ("DynamicResourceAllocation", Stage.GA, True, True),
        ("DRAExtendedResource", Stage.BETA, True, False),
        ("DRAPrioritizedList", Stage.GA, True, False),
        ("DRAAdminAccess", Stage.GA, True, True),
        ("DRADeviceTaints", Stage.BETA, True, False),
        ("DRADeviceTaintRules", Stage.BETA, False, False),
        ("DRAConsumableCapacity", Stage.BETA, True, False),
        ("DRAPartitionableDevices", Stage.BETA, True, False),
        ("DRADeviceBindingConditions", Stage.BETA, True, False),
        ("DRAResourceClaimDeviceStatus", Stage.BETA, True, False),
        ("DRASchedulerFilterTimeout", Stage.BETA, True, False),
        ("DRAListTypeAttributes", Stage.ALPHA, False, False),
        ("DRANodeAllocatableResources", Stage.ALPHA, False, False),
        ("DRAWorkloadResourceClaims", Stage.ALPHA, False, False),
        ("NodeDeclaredFeatures", Stage.BETA, True, False),
        ("GenericWorkload", Stage.ALPHA, False, False),
        ("GangScheduling", Stage.ALPHA, False, False),
        ("TopologyAwareWorkloadScheduling", Stage.ALPHA, False, False),
        ("WorkloadAwarePreemption", Stage.ALPHA, False, False),
        ("StorageCapacityScoring", Stage.ALPHA, False, False),
        ("VolumeLimitScaling", Stage.ALPHA, False, False),
        ("TaintTolerationComparisonOperators", Stage.ALPHA, False, False),
        ("PodLevelResources", Stage.BETA, True, False),
        ("InPlacePodVerticalScaling", Stage.GA, True, True),
        ("InPlacePodLevelResourcesVerticalScaling", Stage.BETA, True, False),
        ("SidecarContainers", Stage.GA, True, True),
        ("NodeInclusionPolicyInPodTopologySpread", Stage.GA, True, True),
        ("MatchLabelKeysInPodTopologySpread", Stage.BETA, True, False),
        ("CoordinatedLeaderElection", Stage.BETA, False, False),
        ("ComponentFlagz", Stage.BETA, True, False),
        ("ComponentStatusz", Stage.BETA, True, False),
        ("NativeHistograms", Stage.ALPHA, False, False),
        ("ContextualLogging", Stage.BETA, True, False),
        ("LoggingAlphaOptions", Stage.ALPHA, False, False),
        ("LoggingBetaOptions", Stage.BETA, True, False),
    ],
)
def test_gates_of_a_scheduler(name: str, stage: Stage, default: bool, locked: bool) -> None:
    gate = KNOWN_GATES[name]
    assert (gate.stage, gate.default, gate.locked) == (stage, default, locked)
    assert FeatureGates().enabled(name) is default
    assert name in SCHEDULER_GATES


def test_every_need_is_a_gate_and_met_by_default() -> None:
    for name, needed in DEPENDENCIES.items():
        for other in needed:
            assert KNOWN_GATES[other].default or not KNOWN_GATES[name].default


def test_a_gate_that_is_not_known_cannot_be_asked_about() -> None:
    with pytest.raises(KeyError):
        FeatureGates().enabled("NoSuchFeature")


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(["StorageCapacityScoring=true,DRADeviceTaints=false"], id="a list"),
        pytest.param(["StorageCapacityScoring=true", "DRADeviceTaints=false"], id="repeated"),
        pytest.param([" StorageCapacityScoring = T , ,DRADeviceTaints=0,"], id="blanks and gaps"),
        pytest.param(["kube:StorageCapacityScoring=1,kube:DRADeviceTaints=F"], id="with a prefix"),
        pytest.param(
            ["StorageCapacityScoring=false,DRADeviceTaints=false", "StorageCapacityScoring=True"],
            id="the last one wins",
        ),
    ],
)
def test_setting_gates(texts: list[str]) -> None:
    gates = parsed(*texts)
    assert gates.enabled("StorageCapacityScoring")
    assert not gates.enabled("DRADeviceTaints")
    assert gates.enabled("OpportunisticBatching")


def test_gates_set_to_their_defaults_are_the_default_gates() -> None:
    assert parsed("StorageCapacityScoring=false,PodLevelResources=true") == FeatureGates()
    assert parsed() == parsed("") == FeatureGates()


def test_gates_of_other_components_are_accepted() -> None:
    assert parsed("MemoryQoS=true").enabled("MemoryQoS")


@pytest.mark.parametrize("text", ["SidecarContainers=true", "DynamicResourceAllocation=1"])
def test_a_locked_gate_may_be_set_to_what_it_is(text: str) -> None:
    gates, findings = parse(text)
    assert gates == FeatureGates()
    assert [finding.message for finding in findings] == [
        "it is GA and will be gone in a later version"
    ]


def test_all_alpha_is_for_those_that_are_not_named() -> None:
    gates = parsed("AllAlpha=true,StorageCapacityScoring=false")
    assert gates.enabled("GangScheduling")
    assert not gates.enabled("StorageCapacityScoring")
    assert not gates.enabled("SchedulerAsyncAPICalls")


def test_all_beta_turns_off_too() -> None:
    gates = parsed("PodLevelResources=true,AllBeta=false,InPlacePodVerticalScaling=true")
    assert gates.enabled("PodLevelResources")
    assert not gates.enabled("OpportunisticBatching")
    assert gates.enabled("DRAPrioritizedList")


@pytest.mark.parametrize(
    ("text", "path", "message", "suggestion"),
    [
        pytest.param(
            "GangSchedulin=true",
            "GangSchedulin",
            "there is no feature gate 'GangSchedulin' in v1.36",
            "did you mean GangScheduling?",
            id="misspelt",
        ),
        pytest.param(
            "SidecarContainers=false",
            "SidecarContainers",
            "it is locked: always on in v1.36",
            "leave it out",
            id="locked on",
        ),
        pytest.param(
            "GitRepoVolumeDriver=true",
            "GitRepoVolumeDriver",
            "it is locked: always off in v1.36",
            "leave it out",
            id="locked off",
        ),
        pytest.param(
            "PodLevelResources",
            "PodLevelResources",
            "it says neither true nor false",
            "PodLevelResources=true?",
            id="no value",
        ),
        pytest.param(
            "PodLevelResources=yes",
            "PodLevelResources",
            "'yes' is neither true nor false",
            "PodLevelResources=true?",
            id="bad value",
        ),
        pytest.param(
            "wardle:PodLevelResources=true",
            "PodLevelResources",
            "no component is called 'wardle' here",
            "write PodLevelResources=true without a prefix",
            id="another component",
        ),
        pytest.param(
            "kube:PodLevelResources=true,DRADeviceTaints=true",
            "",
            "some gates have the prefix kube: and some have none",
            "leave it out everywhere",
            id="with and without a prefix",
        ),
        pytest.param(
            "GangScheduling=true",
            "GangScheduling",
            "it is on, but needs what is off: GenericWorkload",
            "set GenericWorkload=true or GangScheduling=false",
            id="needs another one",
        ),
    ],
)
def test_mistakes(text: str, path: str, message: str, suggestion: str) -> None:
    assert errors(text) == {path: (message, suggestion)}


def test_all_mistakes_are_told_at_once() -> None:
    assert errors("Foo=true,SidecarContainers=false", "PodLevelResources=on").keys() == {
        "Foo",
        "SidecarContainers",
        "PodLevelResources",
    }


def test_turning_off_what_others_need_names_all_of_them() -> None:
    assert errors("NodeDeclaredFeatures=false").keys() == {
        "ExtendWebSocketsToKubelet",
        "InPlacePodLevelResourcesVerticalScaling",
        "InPlacePodVerticalScalingInitContainers",
        "RestartAllContainersOnContainerExits",
    }
