"""The defaults that a type alone cannot hold: zero for "unset", profiles, arguments of plugins.

Upstream: pkg/scheduler/apis/config/v1/defaults.go, component-base/config/v1alpha1/defaults.go.
Differs:  an extender's timeout is filled in here, upstream only when the extender is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from berthing.config import args
from berthing.config.durations import Duration
from berthing.config.features import FeatureGates
from berthing.config.profile import Merged
from berthing.config.v1 import (
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    Plugin,
    PluginConfig,
    Plugins,
    PluginSet,
)

DEFAULT_SCHEDULER_NAME = "default-scheduler"

# Zero, or an empty text, means the default in these.
_LEASE_FIELDS = (
    "lease_duration",
    "renew_deadline",
    "retry_period",
    "resource_lock",
    "resource_name",
    "resource_namespace",
)
_CLIENT_FIELDS = ("content_type", "qps", "burst")
_EXTENDER_FIELDS = ("http_timeout",)

_FILTER_TIMEOUT = Duration.seconds(10)
_BINDING_TIMEOUT = Duration.minutes(10)

S = TypeVar("S", bound=msgspec.Struct)


def with_profiles(config: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    """At least one profile, and a name for it if it is the only one.

    Several profiles without names stay without: that is a mistake.
    """
    profiles = config.profiles or (KubeSchedulerProfile(),)
    if len(profiles) == 1 and profiles[0].scheduler_name is None:
        profiles = (replace(profiles[0], scheduler_name=DEFAULT_SCHEDULER_NAME),)
    return replace(config, profiles=profiles)


def with_defaults(config: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    """Everything outside of profiles filled in."""
    contention = config.enable_contention_profiling
    return replace(
        config,
        leader_election=_not_zero(config.leader_election, _LEASE_FIELDS),
        client_connection=_not_zero(config.client_connection, _CLIENT_FIELDS),
        enable_contention_profiling=config.enable_profiling if contention is None else contention,
        extenders=tuple(_not_zero(extender, _EXTENDER_FIELDS) for extender in config.extenders),
    )


def _not_zero(value: S, fields: tuple[str, ...]) -> S:
    """The value with its type's defaults for those fields that are zero."""
    default = type(value)()
    zero = [field for field in fields if not getattr(value, field)]
    return replace(value, **{field: getattr(default, field) for field in zero})


def profile_with_defaults(
    profile: KubeSchedulerProfile, merged: Merged, default_args: Mapping[str, object]
) -> KubeSchedulerProfile:
    """A profile with all its plugins, and with arguments for those it gives none."""
    return replace(
        profile,
        plugins=Plugins.of({key: _plugin_set(merged, key) for key in merged}),
        plugin_config=(
            *profile.plugin_config,
            *(PluginConfig(name=name, args=each) for name, each in default_args.items()),
        ),
    )


def _plugin_set(merged: Merged, key: str) -> PluginSet:
    return PluginSet(
        enabled=tuple(
            Plugin(name=entry.name, weight=entry.weight) for entry in merged[key].enabled
        ),
        # Upstream forgets weights given here.
        disabled=tuple(Plugin(name=name) for name in merged[key].disabled),
    )


def args_with_defaults(given: object, gates: FeatureGates) -> object:
    """A plugin's arguments with what their type's own defaults do not fill in."""
    match given:
        case args.DynamicResourcesArgs():
            return _dynamic_resources(given, gates)
        case args.NodeResourcesFitArgs(scoring_strategy=strategy):
            return replace(
                given,
                scoring_strategy=replace(strategy, resources=_weighted(strategy.resources)),
            )
        case args.NodeResourcesBalancedAllocationArgs(resources=resources):
            return replace(given, resources=_weighted(resources))
        case args.PodTopologySpreadArgs():
            return _not_zero(given, ("defaulting_type",))
        case args.VolumeBindingArgs(shape=shape) if not shape:
            return _volume_binding(given, gates)
        case _:
            return given


def _weighted(resources: tuple[args.ResourceSpec, ...]) -> tuple[args.ResourceSpec, ...]:
    return tuple(
        replace(resource, weight=resource.weight or 1)
        for resource in resources or args.DEFAULT_RESOURCES
    )


def _dynamic_resources(
    given: args.DynamicResourcesArgs, gates: FeatureGates
) -> args.DynamicResourcesArgs:
    filter_timeout, binding_timeout = given.filter_timeout, given.binding_timeout
    if filter_timeout is None and gates.enabled("DRASchedulerFilterTimeout"):
        filter_timeout = _FILTER_TIMEOUT
    if binding_timeout is None and binding_timeout_is_known(gates):
        binding_timeout = _BINDING_TIMEOUT
    return replace(given, filter_timeout=filter_timeout, binding_timeout=binding_timeout)


def binding_timeout_is_known(gates: FeatureGates) -> bool:
    """True if devices can ask to wait for them: two features together make that possible."""
    return gates.enabled("DRADeviceBindingConditions") and gates.enabled(
        "DRAResourceClaimDeviceStatus"
    )


def _volume_binding(given: args.VolumeBindingArgs, gates: FeatureGates) -> args.VolumeBindingArgs:
    if not gates.enabled("StorageCapacityScoring"):
        return given
    falling = (
        args.UtilizationShapePoint(utilization=0, score=args.MAX_SHAPE_SCORE),
        args.UtilizationShapePoint(utilization=100, score=0),
    )
    return replace(given, shape=falling)
