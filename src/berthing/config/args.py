"""The arguments of the built-in plugins, as `pluginConfig` of a profile has them.

Upstream: kube-scheduler/config/v1/types_pluginargs.go (v1.36.4).

As in `v1`, a field that is not written has its default here, and what needs more is in
`defaults`.  Node selectors are the ones of pods, told apart only in being checked more strictly.
"""

from __future__ import annotations

from berthing.api.labels import LabelSelector
from berthing.api.node_selector import NodeSelectorTerm
from berthing.config.decode import Int32, Int64
from berthing.config.durations import Duration
from berthing.config.v1 import ConfigStruct

# The top of the scale for scores in a shape; the framework's own scale ends at 100.
MAX_SHAPE_SCORE = 10


class DefaultPreemptionArgs(ConfigStruct, frozen=True):
    """How many nodes to consider for preemption: the larger of a share and a number."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100


class DynamicResourcesArgs(ConfigStruct, frozen=True):
    """How long to look for devices on one node, and to wait for them to be ready."""

    # The defaults depend on feature gates.
    filter_timeout: Duration | None = None
    binding_timeout: Duration | None = None


class InterPodAffinityArgs(ConfigStruct, frozen=True):
    """What running pods' wishes count for."""

    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class RequiredNodes(ConfigStruct, frozen=True):
    """Terms of which a node must match one."""

    # None where unset: it is written out as null, and an empty list is not.
    node_selector_terms: tuple[NodeSelectorTerm, ...] | None = None


class PreferredNodes(ConfigStruct, frozen=True):
    """A term and what a node that matches it is worth."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class AddedAffinity(ConfigStruct, frozen=True):
    """Node affinity for every pod, beside what the pod asks for itself."""

    required_during_scheduling_ignored_during_execution: RequiredNodes | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredNodes, ...] = ()


class NodeAffinityArgs(ConfigStruct, frozen=True):
    """Node affinity that the profile adds."""

    added_affinity: AddedAffinity | None = None


class ResourceSpec(ConfigStruct, frozen=True):
    """A resource and what it counts for in a score."""

    name: str = ""
    weight: Int64 = 0


DEFAULT_RESOURCES = (
    ResourceSpec(name="cpu", weight=1),
    ResourceSpec(name="memory", weight=1),
)


class UtilizationShapePoint(ConfigStruct, frozen=True):
    """The score of a node that is used so far, in percent."""

    utilization: Int32 = 0
    score: Int32 = 0


class RequestedToCapacityRatioParam(ConfigStruct, frozen=True):
    """A score for every utilization, by straight lines between these points."""

    shape: tuple[UtilizationShapePoint, ...] = ()


class ScoringStrategy(ConfigStruct, frozen=True):
    """What makes a node a good one."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


class NodeResourcesFitArgs(ConfigStruct, frozen=True):
    """What to overlook when fitting pods on nodes, and how to score what fits."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(
        type="LeastAllocated", resources=DEFAULT_RESOURCES
    )


class NodeResourcesBalancedAllocationArgs(ConfigStruct, frozen=True):
    """Between which resources to strike a balance."""

    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES


class TopologySpreadConstraint(ConfigStruct, frozen=True):
    """How evenly pods that say nothing about it are spread."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class PodTopologySpreadArgs(ConfigStruct, frozen=True):
    """Spreading of pods that have no constraints of their own."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = "System"


class VolumeBindingArgs(ConfigStruct, frozen=True):
    """How long to wait for volumes, and how to score nodes by the storage they offer."""

    bind_timeout_seconds: Int64 = 600
    # None where unset: without the gate StorageCapacityScoring not even an empty list may stand.
    shape: tuple[UtilizationShapePoint, ...] | None = None
