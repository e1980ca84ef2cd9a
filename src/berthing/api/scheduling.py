"""Priority classes, and the groups of pods that are placed together.

Upstream: api/scheduling/v1/types.go, api/scheduling/v1alpha2/types.go (v1.36.4).
"""

from __future__ import annotations

from berthing.api.core import TypedLocalObjectReference
from berthing.api.meta import ApiObject, Condition, Int32, Value


class PriorityClass(ApiObject, frozen=True, kw_only=True):
    """A name for how important pods are."""

    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str = ""


class BasicSchedulingPolicy(Value, frozen=True, kw_only=True):
    """Pods of the group are placed one by one."""


class GangSchedulingPolicy(Value, frozen=True, kw_only=True):
    """So many pods of the group are placed together, or none."""

    min_count: Int32 = 0


class PodGroupSchedulingPolicy(Value, frozen=True, kw_only=True):
    """How the pods of a group are placed; exactly one is set."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(Value, frozen=True, kw_only=True):
    """A node label of which all pods of the group see one value."""

    key: str = ""


class PodGroupSchedulingConstraints(Value, frozen=True, kw_only=True):
    """Where the pods of a group may be, as a group."""

    topology: tuple[TopologyConstraint, ...] = ()


class PodGroupResourceClaim(Value, frozen=True, kw_only=True):
    """A resource claim that the pods of the group share."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodGroupTemplate(Value, frozen=True, kw_only=True):
    """What a pod group of a workload looks like."""

    name: str = ""
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: str | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None


class WorkloadSpec(Value, frozen=True, kw_only=True):
    """Who manages the workload, and the groups it is made of."""

    controller_ref: TypedLocalObjectReference | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()


class Workload(ApiObject, frozen=True, kw_only=True):
    """Pods that belong together, in groups."""

    spec: WorkloadSpec = WorkloadSpec()


class WorkloadPodGroupTemplateReference(Value, frozen=True, kw_only=True):
    """A template of a workload."""

    workload_name: str = ""
    pod_group_template_name: str = ""


class PodGroupTemplateReference(Value, frozen=True, kw_only=True):
    """The template that a group was made from."""

    workload: WorkloadPodGroupTemplateReference | None = None


class PodGroupSpec(Value, frozen=True, kw_only=True):
    """How the pods of the group are placed, and how important they are."""

    pod_group_template_ref: PodGroupTemplateReference | None = None
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: str | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None


class PodGroupResourceClaimStatus(Value, frozen=True, kw_only=True):
    """The claim that was made for one of the group's claim templates, if one had to be."""

    name: str = ""
    resource_claim_name: str | None = None


class PodGroupStatus(Value, frozen=True, kw_only=True):
    """How far a group has come."""

    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: tuple[PodGroupResourceClaimStatus, ...] = ()


class PodGroup(ApiObject, frozen=True, kw_only=True):
    """Pods that are placed together."""

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()
