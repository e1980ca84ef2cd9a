"""Which documents are older configurations, and what ran by default in each version.

Upstream: pkg/scheduler/apis/config/{v1beta1,v1beta2,v1beta3}/default_plugins.go.
v1beta3 already had `multiPoint`, and but for the plugins that are gone today's list.
"""

from __future__ import annotations

from collections.abc import Mapping

from berthing.config.v1 import GROUP, KIND

POLICY_KIND = "Policy"
V1BETA1 = f"{GROUP}/v1beta1"
V1BETA2 = f"{GROUP}/v1beta2"
V1BETA3 = f"{GROUP}/v1beta3"
OLD_VERSIONS = (V1BETA1, V1BETA2, V1BETA3)

Weights = Mapping[str, int]
"""Plugins that run at a point, in order; the weight counts at `score` and is 0 elsewhere."""


def is_legacy(value: object) -> bool:
    """True for what `convert` reads: told by kind and apiVersion alone."""
    if not isinstance(value, dict):
        return False
    kind = value.get("kind")
    return kind == POLICY_KIND or (kind == KIND and value.get("apiVersion") in OLD_VERSIONS)


def short_name(version: str) -> str:
    """v1beta2, say, without the group."""
    return version.rpartition("/")[2]


def _unweighted(*names: str) -> Weights:
    return dict.fromkeys(names, 0)


_V1BETA2: Mapping[str, Weights] = {
    "queueSort": _unweighted("PrioritySort"),
    "preFilter": _unweighted(
        "NodeResourcesFit",
        "NodePorts",
        "VolumeRestrictions",
        "PodTopologySpread",
        "InterPodAffinity",
        "VolumeBinding",
        "NodeAffinity",
    ),
    "filter": _unweighted(
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "EBSLimits",
        "GCEPDLimits",
        "NodeVolumeLimits",
        "AzureDiskLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
    ),
    "postFilter": _unweighted("DefaultPreemption"),
    "preScore": _unweighted(
        "InterPodAffinity", "PodTopologySpread", "TaintToleration", "NodeAffinity"
    ),
    "score": {
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
        "InterPodAffinity": 1,
        "NodeResourcesFit": 1,
        "NodeAffinity": 1,
        "PodTopologySpread": 2,
        "TaintToleration": 1,
    },
    "reserve": _unweighted("VolumeBinding"),
    "permit": {},
    "preBind": _unweighted("VolumeBinding"),
    "bind": _unweighted("DefaultBinder"),
    "postBind": {},
}

_V1BETA1: Mapping[str, Weights] = {
    **_V1BETA2,
    "score": {
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
        "InterPodAffinity": 1,
        "NodeResourcesLeastAllocated": 1,
        "NodeAffinity": 1,
        "NodePreferAvoidPods": 10000,
        "PodTopologySpread": 2,
        "TaintToleration": 1,
    },
}

_V1BETA3: Mapping[str, Weights] = {
    "multiPoint": {
        "PrioritySort": 0,
        "NodeUnschedulable": 0,
        "NodeName": 0,
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodePorts": 0,
        "NodeResourcesFit": 1,
        "VolumeRestrictions": 0,
        "EBSLimits": 0,
        "GCEPDLimits": 0,
        "NodeVolumeLimits": 0,
        "AzureDiskLimits": 0,
        "VolumeBinding": 0,
        "VolumeZone": 0,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "DefaultPreemption": 0,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
        "DefaultBinder": 0,
        "SchedulingGates": 0,
    },
}

OLD_DEFAULTS: Mapping[str, Mapping[str, Weights]] = {
    V1BETA1: _V1BETA1,
    V1BETA2: _V1BETA2,
    V1BETA3: _V1BETA3,
}
"""By version and point; a Policy file stands on the defaults of v1beta1."""
