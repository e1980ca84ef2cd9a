"""What the older versions of KubeSchedulerConfiguration, and Policy, have under which name.

Upstream: kube-scheduler/config/{v1beta1,v1beta2,v1beta3}/types.go and types_pluginargs.go,
          and for Policy kube-scheduler/config/v1/types.go (v1.22).
"""

from __future__ import annotations

from collections.abc import Mapping

from berthing.config.args import ResourceSpec, UtilizationShapePoint
from berthing.config.decode import Int32, Int64
from berthing.config.legacy.versions import POLICY_KIND, V1BETA1, V1BETA2, V1BETA3
from berthing.config.v1 import (
    KIND,
    ClientConnectionConfiguration,
    ConfigStruct,
    Extender,
    LeaderElectionConfiguration,
    PluginConfig,
    PluginSet,
)


class PointPlugins(ConfigStruct, frozen=True):
    """Changes to the plugins of a profile, point by point."""

    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()


class MultiPointPlugins(PointPlugins, frozen=True):
    """The same with what came later."""

    pre_enqueue: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()


class PointProfile(ConfigStruct, frozen=True):
    """A profile of v1beta1."""

    scheduler_name: str | None = None
    plugins: PointPlugins = PointPlugins()
    plugin_config: tuple[PluginConfig, ...] = ()


class MultiPointProfile(ConfigStruct, frozen=True):
    """A profile of v1beta2 or v1beta3."""

    scheduler_name: str | None = None
    plugins: MultiPointPlugins = MultiPointPlugins()
    plugin_config: tuple[PluginConfig, ...] = ()


class _Configuration(ConfigStruct, frozen=True):
    api_version: str = ""
    kind: str = KIND
    parallelism: Int32 = 16
    leader_election: LeaderElectionConfiguration = LeaderElectionConfiguration()
    client_connection: ClientConnectionConfiguration = ClientConnectionConfiguration()
    enable_profiling: bool = True
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Int32 = 0
    pod_initial_backoff_seconds: Int64 = 1
    pod_max_backoff_seconds: Int64 = 10
    extenders: tuple[Extender, ...] = ()


class V1Beta1Configuration(_Configuration, frozen=True):
    """KubeSchedulerConfiguration of v1.19 to v1.22."""

    healthz_bind_address: str = ""
    metrics_bind_address: str = ""
    profiles: tuple[PointProfile, ...] = ()


class V1Beta2Configuration(_Configuration, frozen=True):
    """KubeSchedulerConfiguration of v1.22 to v1.27."""

    healthz_bind_address: str = ""
    metrics_bind_address: str = ""
    profiles: tuple[MultiPointProfile, ...] = ()


class V1Beta3Configuration(_Configuration, frozen=True):
    """KubeSchedulerConfiguration of v1.23 to v1.28."""

    profiles: tuple[MultiPointProfile, ...] = ()


OldConfiguration = V1Beta1Configuration | V1Beta2Configuration | V1Beta3Configuration

CONFIGURATIONS: Mapping[str, type[OldConfiguration]] = {
    V1BETA1: V1Beta1Configuration,
    V1BETA2: V1Beta2Configuration,
    V1BETA3: V1Beta3Configuration,
}


class NodeLabelArgs(ConfigStruct, frozen=True):
    """Labels that nodes should have or not have, whatever their values."""

    present_labels: tuple[str, ...] = ()
    absent_labels: tuple[str, ...] = ()
    present_labels_preference: tuple[str, ...] = ()
    absent_labels_preference: tuple[str, ...] = ()


class ServiceAffinityArgs(ConfigStruct, frozen=True):
    """Node labels over which to keep the pods of a service together, or apart."""

    affinity_labels: tuple[str, ...] = ()
    anti_affinity_labels_preference: tuple[str, ...] = ()


class AllocatedArgs(ConfigStruct, frozen=True):
    """What NodeResourcesLeastAllocated and NodeResourcesMostAllocated look at."""

    resources: tuple[ResourceSpec, ...] = ()


class RequestedToCapacityRatioArgs(ConfigStruct, frozen=True):
    """A score for every utilization, and of which resources."""

    shape: tuple[UtilizationShapePoint, ...] = ()
    resources: tuple[ResourceSpec, ...] = ()


# Args of plugins that v1beta1 alone had.
V1BETA1_ARGS: Mapping[str, type[ConfigStruct]] = {
    "NodeLabel": NodeLabelArgs,
    "NodeResourcesLeastAllocated": AllocatedArgs,
    "NodeResourcesMostAllocated": AllocatedArgs,
    "RequestedToCapacityRatio": RequestedToCapacityRatioArgs,
    "ServiceAffinity": ServiceAffinityArgs,
}


class ServiceAffinity(ConfigStruct, frozen=True):
    """Keep the pods of a service on nodes that have the same values for these labels."""

    labels: tuple[str, ...] = ()


class LabelsPresence(ConfigStruct, frozen=True):
    """Use nodes only that have all these labels, or none of them."""

    labels: tuple[str, ...] = ()
    presence: bool = False


class PredicateArgument(ConfigStruct, frozen=True):
    """What makes a predicate of one's own; one of these."""

    service_affinity: ServiceAffinity | None = None
    labels_presence: LabelsPresence | None = None


class PredicatePolicy(ConfigStruct, frozen=True):
    """A predicate, by name or by argument."""

    name: str = ""
    argument: PredicateArgument | None = None


class ServiceAntiAffinity(ConfigStruct, frozen=True):
    """Spread the pods of a service over the values of this label."""

    label: str = ""


class LabelPreference(ConfigStruct, frozen=True):
    """Prefer nodes that have this label, or those that do not."""

    label: str = ""
    presence: bool = False


class PriorityArgument(ConfigStruct, frozen=True):
    """What makes a priority of one's own; one of these."""

    service_anti_affinity: ServiceAntiAffinity | None = None
    label_preference: LabelPreference | None = None
    requested_to_capacity_ratio_arguments: RequestedToCapacityRatioArgs | None = None


class PriorityPolicy(ConfigStruct, frozen=True):
    """A priority, by name or by argument, and what it counts for."""

    name: str = ""
    weight: Int64 = 0
    argument: PriorityArgument | None = None


class Policy(ConfigStruct, frozen=True):
    """The predecessor of KubeSchedulerConfiguration, up to v1.22."""

    api_version: str = ""
    kind: str = POLICY_KIND
    # None: the default set, as opposed to an empty list.
    predicates: tuple[PredicatePolicy, ...] | None = None
    priorities: tuple[PriorityPolicy, ...] | None = None
    # As in v1 but for httpTimeout, and with keys in any case.
    extenders: tuple[object, ...] = ()
    hard_pod_affinity_symmetric_weight: Int32 = 0
    always_check_all_predicates: bool = False
