"""KubeSchedulerConfiguration: every type of kubescheduler.config.k8s.io/v1 but plugins' arguments.

Upstream: kube-scheduler/config/v1/types.go, component-base/config/v1alpha1/types.go (v1.36.4).

A field that is not written has upstream's default here already.  What needs more than that is
in `defaults`: zero or "" standing for the default, and everything about profiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec import field

from berthing.config.decode import Float32, Int32, Int64
from berthing.config.durations import Duration

GROUP = "kubescheduler.config.k8s.io"
API_VERSION = f"{GROUP}/v1"
KIND = "KubeSchedulerConfiguration"

# The keys of `plugins` but for multiPoint, in upstream's order.
EXTENSION_POINTS = (
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
    "placementGenerate",
    "placementScore",
)
MULTI_POINT = "multiPoint"
# Only here does the weight of a plugin mean anything.
WEIGHTED_POINTS = ("score", "placementScore")

# In `disabled`: every plugin that is on by default.
ALL_PLUGINS = "*"


class ConfigStruct(msgspec.Struct, frozen=True, rename="camel"):
    """What all types of a configuration have in common."""


class LeaderElectionConfiguration(ConfigStruct, frozen=True):
    """How replicas of a scheduler agree on the one that works."""

    leader_elect: bool = True
    lease_duration: Duration = Duration.seconds(15)
    renew_deadline: Duration = Duration.seconds(10)
    retry_period: Duration = Duration.seconds(2)
    resource_lock: str = "leases"
    resource_name: str = "kube-scheduler"
    resource_namespace: str = "kube-system"


class ClientConnectionConfiguration(ConfigStruct, frozen=True):
    """How to reach the API server, and how hard to press it."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = "application/vnd.kubernetes.protobuf"
    qps: Float32 = 50
    burst: Int32 = 100


class Plugin(ConfigStruct, frozen=True):
    """A plugin's name, and what its scores count for where it scores."""

    name: str = ""
    weight: Int32 | None = None


class PluginSet(ConfigStruct, frozen=True):
    """Changes to the plugins of one extension point."""

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


class Plugins(ConfigStruct, frozen=True):
    """Changes to the plugins of a profile."""

    pre_enqueue: PluginSet = PluginSet()
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
    multi_point: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()

    @classmethod
    def of(cls, sets: Mapping[str, PluginSet]) -> Plugins:
        """Build one from its keys as files write them."""
        keys = zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True)
        return cls(**{field: sets[key] for field, key in keys})

    def sets(self) -> Iterator[tuple[str, PluginSet]]:
        """Every key of `plugins`, multiPoint included, with what stands there."""
        return zip(self.__struct_encode_fields__, msgspec.structs.astuple(self), strict=True)


class PluginConfig(ConfigStruct, frozen=True):
    """The arguments of one plugin: as written at first, of the plugin's own type once read."""

    name: str = ""
    args: object = None


class KubeSchedulerProfile(ConfigStruct, frozen=True):
    """One of the schedulers in this process: pods choose it by its name."""

    scheduler_name: str | None = None
    # None: as the configuration has it for all profiles.
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()


class ExtenderManagedResource(ConfigStruct, frozen=True):
    """A resource that an extender looks after."""

    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderTLSConfig(ConfigStruct, frozen=True):
    """Certificates for talking to an extender; data goes before files."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = b""


class Extender(ConfigStruct, frozen=True):
    """An HTTP service that has a say in scheduling; a verb that is empty is not called."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = field(default=False, name="enableHTTPS")
    tls_config: ExtenderTLSConfig | None = None
    http_timeout: Duration = Duration.seconds(5)
    node_cache_capable: bool = False
    managed_resources: tuple[ExtenderManagedResource, ...] = ()
    ignorable: bool = False


class KubeSchedulerConfiguration(ConfigStruct, frozen=True):
    """All that a scheduler is told by its configuration file."""

    api_version: str = API_VERSION
    kind: str = KIND
    parallelism: Int32 = 16
    leader_election: LeaderElectionConfiguration = LeaderElectionConfiguration()
    client_connection: ClientConnectionConfiguration = ClientConnectionConfiguration()
    enable_profiling: bool = True
    # None: on if profiling is.
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Int32 = 0
    pod_initial_backoff_seconds: Int64 = 1
    pod_max_backoff_seconds: Int64 = 10
    profiles: tuple[KubeSchedulerProfile, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False
