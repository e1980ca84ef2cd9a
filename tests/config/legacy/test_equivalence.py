"""What ran under the old version runs under v1: by the lists of the old releases themselves."""

from __future__ import annotations

import pytest

from berthing.config.default_plugins import IN_TREE, default_plugins
from berthing.config.features import FeatureGates
from berthing.config.legacy.versions import OLD_DEFAULTS, V1BETA3
from config.legacy.conversions import configuration, names, policy, profile, running, weights

# pkg/scheduler/apis/config/v1beta1/default_plugins.go at v1.22, without what is gone;
# v1beta2's and Policy's are the same.
FILTERS = [
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
]
PRE_FILTERS = {
    "NodeResourcesFit",
    "NodePorts",
    "VolumeRestrictions",
    "PodTopologySpread",
    "InterPodAffinity",
    "VolumeBinding",
    "NodeAffinity",
}
PRE_SCORERS = {"InterPodAffinity", "PodTopologySpread", "TaintToleration", "NodeAffinity"}
SCORERS = {
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
    "InterPodAffinity": 1,
    "NodeResourcesFit": 1,
    "NodeAffinity": 1,
    "PodTopologySpread": 2,
    "TaintToleration": 1,
}
# Of these there were none: VolumeBinding's scores are all 0 unless a gate is on.
NEWER = {"SchedulingGates", "DynamicResources", "NodeDeclaredFeatures"}
NEWER_SCORERS = {"DynamicResources": 2, "VolumeBinding": 1}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(configuration("v1beta1"), id="v1beta1"),
        pytest.param(configuration("v1beta2"), id="v1beta2"),
        pytest.param(policy(), id="Policy"),
        pytest.param(configuration("v1beta2", "profiles: []\n"), id="an empty list of profiles"),
        pytest.param(configuration("v1beta2", "profiles: [null]\n"), id="a null profile"),
        pytest.param(profile("v1beta2", "plugins: {score: {}}"), id="an empty point"),
        pytest.param(profile("v1beta2", "plugins: null"), id="null for plugins"),
    ],
)
def test_a_file_that_says_nothing_keeps_the_defaults_of_its_version(text: str) -> None:
    assert [name for name in names(text, "filter") if name not in NEWER] == FILTERS
    assert set(names(text, "preFilter")) >= PRE_FILTERS
    assert set(names(text, "preScore")) >= PRE_SCORERS
    assert weights(text) == {**SCORERS, **NEWER_SCORERS}
    for point, only in {
        "queueSort": ["PrioritySort"],
        "postFilter": ["DefaultPreemption"],
        "reserve": ["VolumeBinding"],
        "preBind": ["VolumeBinding"],
        "bind": ["DefaultBinder"],
        "permit": [],
        "postBind": [],
    }.items():
        assert [name for name in names(text, point) if name not in NEWER] == only


def test_v1beta3_without_profiles_runs_as_v1_does() -> None:
    assert running(configuration("v1beta3")) == running(configuration("v1"))


def test_today_has_the_weights_of_v1beta3() -> None:
    today = {plugin.name: plugin.weight or 0 for plugin in default_plugins(FeatureGates())}
    old = OLD_DEFAULTS[V1BETA3]["multiPoint"]
    assert {name: old[name] for name in old if name in IN_TREE} == {
        name: today[name] for name in today if name in old
    }


def test_every_default_of_old_still_exists_or_is_replaced() -> None:
    gone = {"EBSLimits", "GCEPDLimits", "AzureDiskLimits"}
    gone |= {"NodeResourcesLeastAllocated", "NodePreferAvoidPods"}
    for defaults in OLD_DEFAULTS.values():
        for point, plugins in defaults.items():
            for name in plugins.keys() - gone:
                assert point == "multiPoint" or point in IN_TREE[name].points


# The expectations of upstream's own test of Policy files, without what is gone and in the
# order of v1.22: pkg/scheduler/apis/config/testing/compatibility_test.go.
@pytest.mark.parametrize(
    ("body", "filters", "pre_filters"),
    [
        pytest.param(
            "predicates: []\npriorities: []\n",
            ["NodeUnschedulable", "TaintToleration"],
            set(),
            id="no predicates but the mandatory ones",
        ),
        pytest.param(
            "predicates: [{name: GeneralPredicates}]\npriorities: []\n",
            [
                "NodeUnschedulable",
                "NodeResourcesFit",
                "NodeName",
                "NodePorts",
                "NodeAffinity",
                "TaintToleration",
            ],
            {"NodeResourcesFit", "NodePorts", "NodeAffinity"},
            id="GeneralPredicates are four plugins",
        ),
        pytest.param(
            """\
predicates:
- {name: MatchNodeSelector}
- {name: PodFitsResources}
- {name: PodFitsPorts}
- {name: HostName}
- {name: NoDiskConflict}
- {name: NoVolumeZoneConflict}
- {name: PodToleratesNodeTaints}
- {name: MaxEBSVolumeCount}
- {name: MaxGCEPDVolumeCount}
- {name: MaxAzureDiskVolumeCount}
- {name: MaxCSIVolumeCountPred}
- {name: MaxCinderVolumeCount}
- {name: MatchInterPodAffinity}
- {name: CheckVolumeBinding}
priorities: []
""",
            [
                "NodeUnschedulable",
                "NodeName",
                "NodePorts",
                "NodeAffinity",
                "NodeResourcesFit",
                "VolumeRestrictions",
                "TaintToleration",
                "NodeVolumeLimits",
                "VolumeBinding",
                "VolumeZone",
                "InterPodAffinity",
            ],
            {
                "NodePorts",
                "NodeAffinity",
                "NodeResourcesFit",
                "VolumeRestrictions",
                "VolumeBinding",
                "InterPodAffinity",
                # These prepare their work only lately.
                "NodeVolumeLimits",
                "VolumeZone",
            },
            id="nearly all predicates",
        ),
    ],
)
def test_predicates_of_a_policy(body: str, filters: list[str], pre_filters: set[str]) -> None:
    text = policy(body)
    assert names(text, "filter") == filters
    assert set(names(text, "preFilter")) == pre_filters
    volumes = ["VolumeBinding"] if "VolumeBinding" in filters else []
    assert names(text, "reserve") == names(text, "preBind") == volumes
    assert names(text, "postFilter") == ["DefaultPreemption"]
    assert names(text, "queueSort") == ["PrioritySort"]
    assert names(text, "bind") == ["DefaultBinder"]
    assert weights(text) == {}


def test_priorities_of_a_policy() -> None:
    text = policy("""\
priorities:
- {name: EqualPriority, weight: 2}
- {name: ImageLocalityPriority, weight: 2}
- {name: LeastRequestedPriority, weight: 2}
- {name: BalancedResourceAllocation, weight: 2}
- {name: SelectorSpreadPriority, weight: 2}
- {name: NodePreferAvoidPodsPriority, weight: 2}
- {name: NodeAffinityPriority, weight: 2}
- {name: TaintTolerationPriority, weight: 2}
- {name: InterPodAffinityPriority, weight: 2}
""")
    assert weights(text) == {
        "NodeResourcesBalancedAllocation": 2,
        "ImageLocality": 2,
        "InterPodAffinity": 2,
        "NodeResourcesFit": 2,
        "NodeAffinity": 2,
        "PodTopologySpread": 2,
        "TaintToleration": 2,
    }
    assert set(names(text, "preScore")) == {
        *PRE_SCORERS,
        # These prepare their scores only lately.
        "NodeResourcesFit",
        "NodeResourcesBalancedAllocation",
    }
    assert [name for name in names(text, "filter") if name not in NEWER] == FILTERS
