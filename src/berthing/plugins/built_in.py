"""All plugins that come with Berthing, by the names that configurations use."""

from __future__ import annotations

from collections.abc import Mapping

from berthing.framework import Plugin
from berthing.plugins.default_binder import DefaultBinder
from berthing.plugins.default_preemption import DefaultPreemption
from berthing.plugins.dynamic_resources import DynamicResources
from berthing.plugins.image_locality import ImageLocality
from berthing.plugins.inter_pod_affinity import InterPodAffinity
from berthing.plugins.node_affinity import NodeAffinity
from berthing.plugins.node_declared_features import NodeDeclaredFeatures
from berthing.plugins.node_name import NodeName
from berthing.plugins.node_ports import NodePorts
from berthing.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from berthing.plugins.node_resources_fit import NodeResourcesFit
from berthing.plugins.node_unschedulable import NodeUnschedulable
from berthing.plugins.node_volume_limits import NodeVolumeLimits
from berthing.plugins.pod_topology_spread import PodTopologySpread
from berthing.plugins.priority_sort import PrioritySort
from berthing.plugins.scheduling_gates import SchedulingGates
from berthing.plugins.taint_toleration import TaintToleration
from berthing.plugins.volume_binding import VolumeBinding
from berthing.plugins.volume_restrictions import VolumeRestrictions
from berthing.plugins.volume_zone import VolumeZone

COMPLETE: tuple[type[Plugin], ...] = (
    SchedulingGates,
    PrioritySort,
    NodeUnschedulable,
    NodeName,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    PodTopologySpread,
    InterPodAffinity,
    NodeResourcesBalancedAllocation,
    ImageLocality,
    NodeDeclaredFeatures,
    DefaultBinder,
)

# Silent for pods that do not concern them; those that do are refused.
UNSUPPORTED: tuple[type[Plugin], ...] = (
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    DynamicResources,
    DefaultPreemption,
)

BUILT_IN: Mapping[str, type[Plugin]] = {plugin.name: plugin for plugin in (*COMPLETE, *UNSUPPORTED)}
