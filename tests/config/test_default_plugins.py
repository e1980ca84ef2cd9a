"""Which plugins come with Kubernetes, what they take part in, and which are on."""

from __future__ import annotations

import pytest

from berthing.config.default_plugins import IN_TREE, IN_TREE_ARGS, default_plugins
from berthing.config.features import FeatureGates
from berthing.config.load import default
from berthing.config.v1 import EXTENSION_POINTS

DEFAULTS = (
    "SchedulingGates PrioritySort NodeUnschedulable NodeName TaintToleration:3 NodeAffinity:2 "
    "NodePorts NodeResourcesFit:1 VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone "
    "PodTopologySpread:2 InterPodAffinity:2 DynamicResources:2 DefaultPreemption "
    "NodeResourcesBalancedAllocation:1 ImageLocality:1 DefaultBinder"
)


def listed(gates: FeatureGates) -> str:
    return " ".join(
        plugin.name if plugin.weight is None else f"{plugin.name}:{plugin.weight}"
        for plugin in default_plugins(gates)
    )


@pytest.mark.parametrize(
    ("gates", "added"),
    [
        pytest.param({}, " NodeDeclaredFeatures", id="by default"),
        pytest.param({"NodeDeclaredFeatures": False}, "", id="without declared features"),
        pytest.param(
            {"GenericWorkload": True, "GangScheduling": True},
            " NodeDeclaredFeatures GangScheduling",
            id="with gangs",
        ),
        pytest.param(
            {"GangScheduling": True, "TopologyAwareWorkloadScheduling": True},
            " NodeDeclaredFeatures GangScheduling TopologyPlacementGenerator PodGroupPodsCount:1",
            id="with gangs and placements",
        ),
    ],
)
def test_what_is_on(gates: dict[str, bool], added: str) -> None:
    assert listed(FeatureGates().setting(gates)) == DEFAULTS + added


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("SchedulingGates", "preEnqueue"),
        ("PrioritySort", "queueSort"),
        ("NodeUnschedulable", "filter"),
        ("NodeName", "filter"),
        ("TaintToleration", "filter preScore score"),
        ("NodeAffinity", "preFilter filter preScore score"),
        ("NodePorts", "preFilter filter"),
        ("NodeResourcesFit", "preFilter filter preScore score placementScore"),
        ("VolumeRestrictions", "preFilter filter"),
        ("NodeVolumeLimits", "preFilter filter"),
        ("VolumeBinding", "preFilter filter preScore score reserve preBind"),
        ("VolumeZone", "preFilter filter"),
        ("PodTopologySpread", "preFilter filter preScore score"),
        ("InterPodAffinity", "preFilter filter preScore score"),
        ("DynamicResources", "preEnqueue preFilter filter postFilter score reserve preBind"),
        ("DefaultPreemption", "preEnqueue postFilter"),
        ("NodeResourcesBalancedAllocation", "preScore score"),
        ("ImageLocality", "score"),
        ("DefaultBinder", "bind"),
        ("NodeDeclaredFeatures", "preFilter filter"),
        ("GangScheduling", "preEnqueue permit"),
        ("TopologyPlacementGenerator", "placementGenerate"),
        ("PodGroupPodsCount", "placementScore"),
    ],
)
def test_what_a_plugin_takes_part_in(name: str, points: str) -> None:
    assert IN_TREE[name].points == tuple(points.split())
    assert set(IN_TREE[name].points) <= set(EXTENSION_POINTS)


def test_every_plugin_that_can_be_on_is_known() -> None:
    all_on = FeatureGates().setting(
        {"GangScheduling": True, "TopologyAwareWorkloadScheduling": True}
    )
    assert {plugin.name for plugin in default_plugins(all_on)} == IN_TREE.keys()


def test_arguments_are_called_after_their_plugins() -> None:
    assert {f"{name}Args" for name in IN_TREE_ARGS} == {
        type_.__name__ for type_ in IN_TREE_ARGS.values()
    }


@pytest.mark.parametrize(
    ("point", "plugins"),
    [
        ("preEnqueue", "SchedulingGates DynamicResources DefaultPreemption"),
        ("queueSort", "PrioritySort"),
        pytest.param(
            "preFilter",
            "NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits "
            "VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources "
            "NodeDeclaredFeatures",
        ),
        pytest.param(
            "filter",
            "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit "
            "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
            "InterPodAffinity DynamicResources NodeDeclaredFeatures",
        ),
        ("postFilter", "DynamicResources DefaultPreemption"),
        pytest.param(
            "preScore",
            "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
            "InterPodAffinity NodeResourcesBalancedAllocation",
        ),
        pytest.param(
            "score",
            "TaintToleration:3 NodeAffinity:2 NodeResourcesFit:1 VolumeBinding:1 "
            "PodTopologySpread:2 InterPodAffinity:2 DynamicResources:2 "
            "NodeResourcesBalancedAllocation:1 ImageLocality:1",
        ),
        ("reserve", "VolumeBinding DynamicResources"),
        ("permit", ""),
        ("preBind", "VolumeBinding DynamicResources"),
        ("bind", "DefaultBinder"),
        ("postBind", ""),
        ("placementGenerate", ""),
        ("placementScore", "NodeResourcesFit:1"),
    ],
)
def test_what_runs_without_a_configuration(point: str, plugins: str) -> None:
    (profile,) = default().profiles
    assert [
        plugin.name if plugin.weight is None else f"{plugin.name}:{plugin.weight}"
        for plugin in profile.plugins[point]
    ] == plugins.split()
    assert {plugin.origin for plugin in profile.plugins[point]} <= {"default"}
