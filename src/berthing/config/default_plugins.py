"""The plugins that come with Kubernetes v1.36: what each takes part in, and which are on by default.

Upstream: pkg/scheduler/apis/config/v1/default_plugins.go, framework/plugins/registry.go.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from berthing.config import args
from berthing.config.features import FeatureGates
from berthing.config.v1 import ConfigStruct, Plugin

_FILTERS = ("preFilter", "filter")
_SCORES = ("preScore", "score")


class InTreePlugin(msgspec.Struct, frozen=True):
    """What is known of a built-in plugin without its code."""

    points: tuple[str, ...]
    args: type[ConfigStruct] | None = None


IN_TREE: Mapping[str, InTreePlugin] = {
    "SchedulingGates": InTreePlugin(("preEnqueue",)),
    "PrioritySort": InTreePlugin(("queueSort",)),
    "NodeUnschedulable": InTreePlugin(("filter",)),
    "NodeName": InTreePlugin(("filter",)),
    "TaintToleration": InTreePlugin(("filter", *_SCORES)),
    "NodeAffinity": InTreePlugin((*_FILTERS, *_SCORES), args.NodeAffinityArgs),
    "NodePorts": InTreePlugin(_FILTERS),
    "NodeResourcesFit": InTreePlugin(
        (*_FILTERS, *_SCORES, "placementScore"), args.NodeResourcesFitArgs
    ),
    "VolumeRestrictions": InTreePlugin(_FILTERS),
    "NodeVolumeLimits": InTreePlugin(_FILTERS),
    "VolumeBinding": InTreePlugin(
        (*_FILTERS, *_SCORES, "reserve", "preBind"), args.VolumeBindingArgs
    ),
    "VolumeZone": InTreePlugin(_FILTERS),
    "PodTopologySpread": InTreePlugin((*_FILTERS, *_SCORES), args.PodTopologySpreadArgs),
    "InterPodAffinity": InTreePlugin((*_FILTERS, *_SCORES), args.InterPodAffinityArgs),
    "DynamicResources": InTreePlugin(
        ("preEnqueue", *_FILTERS, "postFilter", "score", "reserve", "preBind"),
        args.DynamicResourcesArgs,
    ),
    "DefaultPreemption": InTreePlugin(("preEnqueue", "postFilter"), args.DefaultPreemptionArgs),
    "NodeResourcesBalancedAllocation": InTreePlugin(
        _SCORES, args.NodeResourcesBalancedAllocationArgs
    ),
    "ImageLocality": InTreePlugin(("score",)),
    "DefaultBinder": InTreePlugin(("bind",)),
    "NodeDeclaredFeatures": InTreePlugin(_FILTERS),
    "GangScheduling": InTreePlugin(("preEnqueue", "permit")),
    "TopologyPlacementGenerator": InTreePlugin(("placementGenerate",)),
    "PodGroupPodsCount": InTreePlugin(("placementScore",)),
}

IN_TREE_CATALOGUE: Mapping[str, tuple[str, ...]] = {
    name: plugin.points for name, plugin in IN_TREE.items()
}
IN_TREE_ARGS: Mapping[str, type[ConfigStruct]] = {
    name: plugin.args for name, plugin in IN_TREE.items() if plugin.args is not None
}

# Without its feature gate, such a plugin exists but is not on by default.
FEATURES_OF_PLUGINS: Mapping[str, str] = {
    "NodeDeclaredFeatures": "NodeDeclaredFeatures",
    "GangScheduling": "GangScheduling",
    "TopologyPlacementGenerator": "TopologyAwareWorkloadScheduling",
    "PodGroupPodsCount": "TopologyAwareWorkloadScheduling",
}

# Refused by name wherever v1 looks for them.
INVALID_PLUGINS = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})

# Plugins of earlier releases, and what does their work now.
REPLACEMENTS: Mapping[str, str] = {
    **dict.fromkeys(INVALID_PLUGINS, "NodeVolumeLimits does its work for all kinds of volumes"),
    "SelectorSpread": "PodTopologySpread does its work",
    "DefaultPodTopologySpread": "PodTopologySpread does its work",
    "NodeResourcesLeastAllocated": (
        "NodeResourcesFit does its work, with scoringStrategy.type LeastAllocated in its args"
    ),
    "NodeResourcesMostAllocated": (
        "NodeResourcesFit does its work, with scoringStrategy.type MostAllocated in its args"
    ),
    "RequestedToCapacityRatio": (
        "NodeResourcesFit does its work, with scoringStrategy.type RequestedToCapacityRatio "
        "in its args"
    ),
    "NodePreferAvoidPods": "taint the nodes instead",
    "NodeLabel": "NodeAffinity does its work, with addedAffinity in its args",
    "ServiceAffinity": "nothing does its work any more",
}


def default_plugins(gates: FeatureGates) -> tuple[Plugin, ...]:
    """What stands under `multiPoint` before anybody changes it."""
    names = [
        ("SchedulingGates", None),
        ("PrioritySort", None),
        ("NodeUnschedulable", None),
        ("NodeName", None),
        ("TaintToleration", 3),
        ("NodeAffinity", 2),
        ("NodePorts", None),
        ("NodeResourcesFit", 1),
        ("VolumeRestrictions", None),
        ("NodeVolumeLimits", None),
        ("VolumeBinding", None),
        ("VolumeZone", None),
        ("PodTopologySpread", 2),
        ("InterPodAffinity", 2),
        # Before preemption: better to free an idle claim than to evict a pod at work.
        ("DynamicResources", 2),
        ("DefaultPreemption", None),
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
        ("DefaultBinder", None),
    ]
    if gates.enabled("NodeDeclaredFeatures"):
        names.append(("NodeDeclaredFeatures", None))
    if gates.enabled("GangScheduling"):
        names.append(("GangScheduling", None))
    if gates.enabled("TopologyAwareWorkloadScheduling"):
        names += [("TopologyPlacementGenerator", None), ("PodGroupPodsCount", 1)]
    return tuple(Plugin(name=name, weight=weight) for name, weight in names)
