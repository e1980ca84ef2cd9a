"""Pods, as far as placing them is concerned.

Upstream: api/core/v1/types.go (v1.36.4).
Differs:  ephemeral containers are left out: they ask for nothing and hold no ports.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from berthing.api.frozen import EMPTY
from berthing.api.labels import LabelSelector
from berthing.api.meta import ApiObject, Int32, Int64, Time, Value
from berthing.api.node_selector import NodeSelector, PreferredSchedulingTerm
from berthing.api.resource_list import EMPTY_LIST, ResourceList
from berthing.api.taints import Toleration
from berthing.api.volumes import Volume


class ContainerClaim(Value, frozen=True, kw_only=True):
    """A resource claim of the pod that a container uses (upstream's core/v1 ResourceClaim)."""

    name: str = ""
    request: str = ""


class ResourceRequirements(Value, frozen=True, kw_only=True):
    """What a container, or a pod as a whole, is promised and kept to."""

    requests: ResourceList = EMPTY_LIST
    limits: ResourceList = EMPTY_LIST
    claims: tuple[ContainerClaim, ...] = ()


class ContainerPort(Value, frozen=True, kw_only=True):
    """A port that a container listens on, perhaps on the node itself."""

    container_port: Int32 = 0
    host_port: Int32 = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = ""


class ContainerRestartRule(Value, frozen=True, kw_only=True):
    """What is done when a container ends in a certain way."""

    action: str = ""


class Container(Value, frozen=True, kw_only=True):
    """A container: its image and what it needs of the node."""

    name: str = ""
    image: str = ""
    ports: tuple[ContainerPort, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str = ""
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()

    @property
    def restarts_always(self) -> bool:
        """True of an init container that goes on beside the others: a sidecar."""
        return self.restart_policy == "Always"


class NodeAffinity(Value, frozen=True, kw_only=True):
    """Which nodes the pod needs, and which it would rather have."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[PreferredSchedulingTerm, ...] = msgspec.field(
        default=(), name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class PodAffinityTerm(Value, frozen=True, kw_only=True):
    """Some pods, and the topology in which "near them" is meant.

    API servers merge `match_label_keys` and `mismatch_label_keys` into the selector when the pod
    is created; a scheduler reads the selector only.
    """

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Value, frozen=True, kw_only=True):
    """A term, and what a node is worth that meets it, from 1 to 100."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Value, frozen=True, kw_only=True):
    """Pods that this one must, or would rather, be near; under podAntiAffinity, be away from."""

    required: tuple[PodAffinityTerm, ...] = msgspec.field(
        default=(), name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[WeightedPodAffinityTerm, ...] = msgspec.field(
        default=(), name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Value, frozen=True, kw_only=True):
    """All rules of attraction of a pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(Value, frozen=True, kw_only=True):
    """How evenly pods are spread over the values of a node label."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    # Empty stands for upstream's defaults: Honor for affinity, Ignore for taints.
    node_affinity_policy: str = ""
    node_taints_policy: str = ""
    match_label_keys: tuple[str, ...] = ()


class PodSchedulingGate(Value, frozen=True, kw_only=True):
    """As long as a pod has one, nobody tries to place it."""

    name: str = ""


class PodResourceClaim(Value, frozen=True, kw_only=True):
    """A resource claim of the pod: one that exists, or one to be made from a template."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGroup(Value, frozen=True, kw_only=True):
    """The group of pods that is placed together."""

    pod_group_name: str | None = None


class PodOS(Value, frozen=True, kw_only=True):
    """The operating system that the containers are made for."""

    name: str = ""


class PodSpec(Value, frozen=True, kw_only=True):
    """What a pod runs and where it may."""

    volumes: tuple[Volume, ...] = ()
    init_containers: tuple[Container, ...] = ()
    containers: tuple[Container, ...] = ()
    node_selector: Mapping[str, str] = EMPTY
    node_name: str = ""
    host_network: bool = False
    host_users: bool | None = None
    affinity: Affinity | None = None
    scheduler_name: str = ""
    tolerations: tuple[Toleration, ...] = ()
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: str = ""
    overhead: ResourceList = EMPTY_LIST
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    os: PodOS | None = None
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    # For the pod as a whole, beside what its containers have.
    resources: ResourceRequirements | None = None
    scheduling_group: PodSchedulingGroup | None = None


class PodCondition(Value, frozen=True, kw_only=True):
    """One aspect of how a pod is doing, as PodScheduled or PodResizePending."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: Int64 = 0
    last_transition_time: Time | None = None


class ContainerStatus(Value, frozen=True, kw_only=True):
    """What a running container has, which during a resize is not what its spec says."""

    name: str = ""
    allocated_resources: ResourceList = EMPTY_LIST
    # None until a kubelet reports it.
    resources: ResourceRequirements | None = None


class PodResourceClaimStatus(Value, frozen=True, kw_only=True):
    """The claim that was made for one of the pod's claim templates, if one had to be."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(Value, frozen=True, kw_only=True):
    """Which request of a claim stands for which extended resource of a container."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(Value, frozen=True, kw_only=True):
    """The claim that provides the extended resources of the pod."""

    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str = ""


class NodeAllocatableResourceClaimStatus(Value, frozen=True, kw_only=True):
    """What a claim of the pod takes from the node's own resources."""

    resource_claim_name: str = ""
    containers: tuple[str, ...] = ()
    resources: ResourceList = EMPTY_LIST


class PodStatus(Value, frozen=True, kw_only=True):
    """How a pod is doing."""

    phase: str = ""
    conditions: tuple[PodCondition, ...] = ()
    nominated_node_name: str = ""
    start_time: Time | None = None
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    resize: str = ""
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    allocated_resources: ResourceList = EMPTY_LIST
    resources: ResourceRequirements | None = None
    node_allocatable_resource_claim_statuses: tuple[NodeAllocatableResourceClaimStatus, ...] = ()


class Pod(ApiObject, frozen=True, kw_only=True):
    """Containers that run together on one node."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def is_terminal(self) -> bool:
        """True if the pod is over for good and takes up nothing anywhere."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def priority(self) -> int:
        """How important the pod is; 0 if nobody said."""
        return self.spec.priority or 0

    @property
    def pod_group_name(self) -> str:
        """The group that the pod is placed with; empty for a pod on its own."""
        group = self.spec.scheduling_group
        return (group.pod_group_name or "") if group else ""

    def condition(self, type_: str) -> PodCondition | None:
        """The condition of this type, if the pod has it."""
        for condition in self.status.conditions:
            if condition.type == type_:
                return condition
        return None
