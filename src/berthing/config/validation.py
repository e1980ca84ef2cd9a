"""What is wrong with a complete configuration: every mistake, at the path where upstream sees it.

Upstream: pkg/scheduler/apis/config/validation/validation.go, component-base/config/validation.
Differs:  wording; NodeResourcesFit's arguments are checked here, too, which upstream does only
          when it builds the plugin: they are errors only in profiles that enable it.
"""

from __future__ import annotations

from collections.abc import Sequence

from berthing.api.names import is_extended_resource_name, qualified_name_errors
from berthing.config.default_plugins import INVALID_PLUGINS, REPLACEMENTS
from berthing.config.durations import Duration
from berthing.config.features import FeatureGates
from berthing.config.findings import Findings
from berthing.config.profile import UNSCANNED_POINTS
from berthing.config.v1 import (
    ClientConnectionConfiguration,
    Extender,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionConfiguration,
    PluginConfig,
    PluginSet,
)
from berthing.config.validation_args import validate_args


def validate(config: KubeSchedulerConfiguration, gates: FeatureGates, findings: Findings) -> None:
    """Check a configuration that has its defaults."""
    _client_connection(config.client_connection, findings.under("clientConnection"))
    _leader_election(config.leader_election, findings.under("leaderElection"))
    if config.parallelism <= 0:
        findings.error(f"must be greater than 0, got {config.parallelism}", "parallelism")
    _profiles(config.profiles, gates, findings)
    _percentage(config.percentage_of_nodes_to_score, findings)
    _backoff(config, findings)
    _extenders(config.extenders, findings)


def _client_connection(client: ClientConnectionConfiguration, findings: Findings) -> None:
    if client.burst < 0:
        findings.error(f"must not be negative, got {client.burst}", "burst")


def _leader_election(election: LeaderElectionConfiguration, findings: Findings) -> None:
    """Leases, unless nobody is to be elected: then all of it is left unread."""
    if not election.leader_elect:
        return
    lease, deadline = election.lease_duration, election.renew_deadline
    for name, duration in (
        ("leaseDuration", lease),
        ("renewDeadline", deadline),
        ("retryPeriod", election.retry_period),
    ):
        if duration <= Duration(0):
            findings.error(f"must be longer than 0s, got {duration}", name)
    if lease <= deadline:
        findings.error(
            f"must be longer than renewDeadline, got leaseDuration {lease} and "
            f"renewDeadline {deadline}",
            "leaseDuration",
        )
    if election.resource_lock != "leases":
        findings.error(
            f'must be "leases", got "{election.resource_lock}"',
            "resourceLock",
            suggestion="leave it out: there are no other locks any more",
        )
    for name, text in (
        ("resourceName", election.resource_name),
        ("resourceNamespace", election.resource_namespace),
    ):
        if not text:
            findings.error("must not be empty", name)


def _percentage(percentage: int | None, findings: Findings) -> None:
    if percentage is not None and not 0 <= percentage <= 100:
        findings.error(f"must be from 0 to 100, got {percentage}", "percentageOfNodesToScore")


def _backoff(config: KubeSchedulerConfiguration, findings: Findings) -> None:
    initial, maximum = config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds
    if initial <= 0:
        findings.error(f"must be greater than 0, got {initial}", "podInitialBackoffSeconds")
    if maximum < initial:
        findings.error(
            f"must not be less than podInitialBackoffSeconds ({initial}), got {maximum}",
            "podMaxBackoffSeconds",
        )


def _profiles(
    profiles: Sequence[KubeSchedulerProfile], gates: FeatureGates, findings: Findings
) -> None:
    if not profiles:
        findings.error("need at least one profile", "profiles")
        return
    named: dict[str, int] = {}
    for index, profile in enumerate(profiles):
        here = findings.under("profiles", index)
        name = profile.scheduler_name or ""
        if not name:
            here.error(
                "every profile needs a name, unless it is the only one"
                if profile.scheduler_name is None
                else "a name must not be empty",
                "schedulerName",
            )
        elif name in named:
            here.error(f'"{name}" is the name of profiles[{named[name]}] already', "schedulerName")
        named[name] = index
        _percentage(profile.percentage_of_nodes_to_score, here)
        _invalid_plugins(profile, here.under("plugins"))
        _plugin_config(profile, gates, here.under("pluginConfig"))
    _common_queue_sort(profiles, findings.under("profiles"))


def _invalid_plugins(profile: KubeSchedulerProfile, findings: Findings) -> None:
    for key, plugins in profile.plugins.sets():
        if key in UNSCANNED_POINTS:
            continue
        for index, plugin in enumerate(plugins.enabled):
            if plugin.name in INVALID_PLUGINS:
                _invalid_plugin(plugin.name, findings.under(key, "enabled", index))


def _invalid_plugin(name: str, findings: Findings) -> None:
    findings.error(f"there is no plugin {name} any more", suggestion=REPLACEMENTS[name])


def _plugin_config(profile: KubeSchedulerProfile, gates: FeatureGates, findings: Findings) -> None:
    enabled = {plugin.name for _, each in profile.plugins.sets() for plugin in each.enabled}
    seen: dict[str, int] = {}
    for index, config in enumerate(profile.plugin_config):
        if config.name in seen:
            findings.error(
                f"arguments for {config.name or 'a plugin without a name'} are given at "
                f"pluginConfig[{seen[config.name]}] already",
                index,
            )
        seen.setdefault(config.name, index)
        if config.name in INVALID_PLUGINS:
            _invalid_plugin(config.name, findings.under(index))
        else:
            used = config.name in enabled
            _args(config, gates, findings.under(index, "args"), used=used)


def _args(config: PluginConfig, gates: FeatureGates, findings: Findings, *, used: bool) -> None:
    if used or config.name != "NodeResourcesFit":
        validate_args(config.args, gates, findings)
        return
    # Nobody will look at these arguments, so they stop nothing.
    unused = Findings()
    validate_args(config.args, gates, unused)
    for finding in unused:
        findings.warning(finding.message, *finding.path, suggestion=finding.suggestion)


def _common_queue_sort(profiles: Sequence[KubeSchedulerProfile], findings: Findings) -> None:
    """All profiles share one queue, so they must agree on what is said about sorting it."""
    first = profiles[0].plugins.queue_sort
    if len(first.enabled) > 1:
        findings.error(
            f"only one plugin can sort the queue, got {len(first.enabled)}",
            *(0, "plugins", "queueSort", "Enabled"),  # spelt as upstream does
        )
    name = first.enabled[0].name if first.enabled else ""
    first_args = _args_of(name, profiles[0]) if name else None
    for index, profile in enumerate(profiles):
        if _comparable(profile.plugins.queue_sort) != _comparable(first):
            _queue_sort_differs(findings.under(index))
        given = [config.args for config in profile.plugin_config if config.name == name]
        if index and any(each != first_args for each in given):
            _queue_sort_args_differ(name, findings.under(index))


def check_queue_sorts(sorts: Sequence[tuple[str, object]], findings: Findings) -> None:
    """Check what really sorts the queue in each profile, and its arguments; "" for nothing.

    Validation proper sees only what is listed under `queueSort` itself.
    """
    name, args = sorts[0]
    for index, (other, other_args) in enumerate(sorts):
        here = findings.under("profiles", index)
        if name and other and other != name:
            _queue_sort_differs(here)
        elif other == name and other_args != args:
            _queue_sort_args_differ(name, here)


def _queue_sort_differs(findings: Findings) -> None:
    findings.error(
        "must be the same in all profiles: they share one queue",
        *("plugins", "queueSort"),
        suggestion="copy what profiles[0] has here",
    )


def _queue_sort_args_differ(name: str, findings: Findings) -> None:
    findings.error(
        f"arguments of {name} must be the same in all profiles: they share one queue",
        *("pluginConfig", "args"),
        suggestion="copy what profiles[0] has for it",
    )


def _comparable(plugins: PluginSet) -> object:
    """What upstream compares: no weight is a weight of 0."""
    return [[(plugin.name, plugin.weight or 0) for plugin in plugins.enabled], plugins.disabled]


def _args_of(name: str, profile: KubeSchedulerProfile) -> object:
    """The arguments for a plugin: the last ones, if there are several."""
    given = [config.args for config in profile.plugin_config if config.name == name]
    return given[-1] if given else None


def _extenders(extenders: Sequence[Extender], findings: Findings) -> None:
    binders = [index for index, extender in enumerate(extenders) if extender.bind_verb]
    managed: dict[str, str] = {}
    for index, extender in enumerate(extenders):
        here = findings.under("extenders", index)
        if extender.prioritize_verb and extender.weight <= 0:
            here.error(
                f"must be greater than 0 for an extender with prioritizeVerb, "
                f"got {extender.weight}",
                "weight",
            )
        for position, resource in enumerate(extender.managed_resources):
            place = here.under("managedResources", position, "name")
            _extended_resource(resource.name, place)
            if resource.name in managed:
                place.error(f"{resource.name} is managed by {managed[resource.name]} already")
            managed.setdefault(resource.name, f"extenders[{index}]")
    if len(binders) > 1:
        findings.error(
            f"only one extender can bind, but {len(binders)} have a bindVerb: "
            f"extenders[{binders[0]}], extenders[{binders[1]}]"
            + (", ..." if len(binders) > 2 else ""),
            "extenders",
        )


def _extended_resource(name: str, findings: Findings) -> None:
    errors = qualified_name_errors(name)
    for error in errors:
        findings.error(f'"{name}" is no name for a resource: {error}')
    if not errors and not is_extended_resource_name(name):
        findings.error(
            f"{name} is not an extended resource",
            suggestion="extenders manage resources such as example.com/gpu: with a domain that is "
            'not kubernetes.io, and without "requests." before it',
        )
