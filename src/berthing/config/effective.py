"""The complete configuration, as kube-scheduler writes it with `--write-config-to`.

Upstream: cmd/kube-scheduler/app/options/configfile.go LogOrWriteConfig, the json tags of
          config/v1/types*.go, framework/runtime/framework.go (which plugins' arguments it keeps).
Differs:  arguments of plugins from elsewhere are written in full, upstream's as they were given.

Some fields are left out when empty and some are not.  Which is which is upstream's history.
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Collection
from decimal import Decimal
from typing import TypeAlias

import msgspec
import yaml

from berthing.api.node_selector import NodeSelectorRequirement, NodeSelectorTerm
from berthing.config import args
from berthing.config.durations import Duration
from berthing.config.scalars import resolve
from berthing.config.v1 import (
    API_VERSION,
    KIND,
    ClientConnectionConfiguration,
    Extender,
    ExtenderManagedResource,
    ExtenderTLSConfig,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionConfiguration,
    Plugin,
    PluginSet,
)

Json: TypeAlias = dict[str, object]


def effective_object(config: KubeSchedulerConfiguration, plugins: Collection[str]) -> Json:
    """A JSON object of a complete configuration; `plugins` are all that exist."""
    return {
        "kind": KIND,
        "apiVersion": API_VERSION,
        "parallelism": config.parallelism,
        "leaderElection": _leader_election(config.leader_election),
        "clientConnection": _client_connection(config.client_connection),
        "enableProfiling": config.enable_profiling,
        "enableContentionProfiling": config.enable_contention_profiling,
        "percentageOfNodesToScore": config.percentage_of_nodes_to_score,
        "podInitialBackoffSeconds": config.pod_initial_backoff_seconds,
        "podMaxBackoffSeconds": config.pod_max_backoff_seconds,
        "profiles": [_profile(profile, plugins) for profile in config.profiles],
        **_unless_empty(
            extenders=[_extender(extender) for extender in config.extenders],
            delayCacheUntilActive=config.delay_cache_until_active,
        ),
    }


def effective_yaml(config: KubeSchedulerConfiguration, plugins: Collection[str]) -> str:
    """The same as YAML: keys sorted and texts quoted as upstream does it."""
    return yaml_text(effective_object(config, plugins), sort_keys=True)


def yaml_text(tree: Json, *, sort_keys: bool = False) -> str:
    """A tree as YAML that upstream's reader, and ours, reads back as the same tree."""
    text: str = yaml.dump(tree, Dumper=_Dumper, allow_unicode=True, sort_keys=sort_keys)
    return text


class _Dumper(yaml.SafeDumper):
    """Writes YAML as Go's library does."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """As it is, or in double quotes if it would be no text then; YAML itself may need others."""
    style = None
    if "\n" in text:
        style = "|"
    elif not isinstance(resolve(text, ""), str) or _LOOKS_LIKE_TIME.match(text):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _represent_float(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    _, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    power = len(digits) - 1 + exponent if isinstance(exponent, int) else 0
    if -4 <= power < 6:
        return dumper.represent_float(value)
    mantissa = f"{digits[0]}.{''.join(map(str, digits[1:]))}".rstrip(".")
    sign = "-" if value < 0 else ""
    return dumper.represent_scalar(
        "tag:yaml.org,2002:float", f"{sign}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02}"
    )


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(float, _represent_float)
# Python's library wants a point in every float.
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?[0-9](?:\.[0-9]+)?e[-+][0-9]+$"),
    list("-+0123456789"),
)

# Dates, and what old YAML takes for minutes and seconds: 1:30 is ninety.
_LOOKS_LIKE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?$|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$"
)


def _unless_empty(**fields: object) -> Json:
    """Go's omitempty."""
    return {name: value for name, value in fields.items() if value not in (None, False, 0, "", [])}


def _leader_election(election: LeaderElectionConfiguration) -> Json:
    return {
        "leaderElect": election.leader_elect,
        "leaseDuration": str(election.lease_duration),
        "renewDeadline": str(election.renew_deadline),
        "retryPeriod": str(election.retry_period),
        "resourceLock": election.resource_lock,
        "resourceName": election.resource_name,
        "resourceNamespace": election.resource_namespace,
    }


def _client_connection(client: ClientConnectionConfiguration) -> Json:
    return {
        "kubeconfig": client.kubeconfig,
        "acceptContentTypes": client.accept_content_types,
        "contentType": client.content_type,
        "qps": _float32(client.qps),
        "burst": client.burst,
    }


def _float32(value: float) -> float:
    """The shortest number that is the same one in 32 bits; a whole one as an integer."""
    bits = struct.pack("f", value)
    rounded: float = struct.unpack("f", bits)[0]
    if rounded.is_integer() and abs(rounded) < 1e21:
        return int(_shortest(rounded, bits))
    return _shortest(rounded, bits)


def _shortest(value: float, bits: bytes) -> float:
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next(number for text in texts if struct.pack("f", number := float(text)) == bits)


def _profile(profile: KubeSchedulerProfile, plugins: Collection[str]) -> Json:
    enabled = {plugin.name for _, each in profile.plugins.sets() for plugin in each.enabled}
    kept = [
        {"name": config.name, "args": args_object(config.name, config.args)}
        for config in sorted(profile.plugin_config, key=lambda config: config.name)
        if config.name in enabled and config.name in plugins and config.args is not None
    ]
    percentage = profile.percentage_of_nodes_to_score
    return {
        "schedulerName": profile.scheduler_name,
        **({} if percentage is None else {"percentageOfNodesToScore": percentage}),
        "plugins": {key: _plugin_set(each) for key, each in profile.plugins.sets()},
        **_unless_empty(pluginConfig=kept),
    }


def _plugin_set(plugins: PluginSet) -> Json:
    return _unless_empty(
        enabled=[_plugin(plugin) for plugin in plugins.enabled],
        disabled=[_plugin(plugin) for plugin in plugins.disabled],
    )


def _plugin(plugin: Plugin) -> Json:
    return {"name": plugin.name, "weight": plugin.weight or 0}


def args_object(name: str, given: object) -> object:
    """The arguments of one plugin as JSON; what has no type is as it was written."""
    own = _in_tree_args(given)
    return (
        _plain(given) if own is None else {"apiVersion": API_VERSION, "kind": f"{name}Args"} | own
    )


def _plain(value: object) -> object:
    """Any value that arguments may hold, as JSON."""
    match value:
        case Duration():
            return str(value)
        case bytes():
            return base64.b64encode(value).decode()
        case msgspec.Struct():
            names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
            fields = ((encoded, getattr(value, field)) for field, encoded in names)
            return {name: _plain(item) for name, item in fields if item is not msgspec.UNSET}
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(each) for each in value]
        case _:
            return msgspec.to_builtins(value)


def _in_tree_args(given: object) -> Json | None:
    match given:
        case args.DefaultPreemptionArgs():
            return {
                "minCandidateNodesPercentage": given.min_candidate_nodes_percentage,
                "minCandidateNodesAbsolute": given.min_candidate_nodes_absolute,
            }
        case args.DynamicResourcesArgs(filter_timeout=filter_, binding_timeout=binding):
            return {
                "filterTimeout": None if filter_ is None else str(filter_),
                **({} if binding is None else {"bindingTimeout": str(binding)}),
            }
        case args.InterPodAffinityArgs():
            return {
                "hardPodAffinityWeight": given.hard_pod_affinity_weight,
                "ignorePreferredTermsOfExistingPods": given.ignore_preferred_terms_of_existing_pods,
            }
        case args.NodeAffinityArgs(added_affinity=added):
            return {} if added is None else {"addedAffinity": _added_affinity(added)}
        case args.NodeResourcesFitArgs():
            return {
                **_unless_empty(
                    ignoredResources=list(given.ignored_resources),
                    ignoredResourceGroups=list(given.ignored_resource_groups),
                ),
                "scoringStrategy": _scoring_strategy(given.scoring_strategy),
            }
        case args.NodeResourcesBalancedAllocationArgs():
            return _unless_empty(resources=[_resource(each) for each in given.resources])
        case args.PodTopologySpreadArgs():
            return _unless_empty(
                defaultConstraints=[_constraint(each) for each in given.default_constraints],
                defaultingType=given.defaulting_type,
            )
        case args.VolumeBindingArgs(shape=shape):
            return {
                "bindTimeoutSeconds": given.bind_timeout_seconds,
                **_unless_empty(shape=[_point(each) for each in shape or ()]),
            }
        case _:
            return None


def _added_affinity(added: args.AddedAffinity) -> Json:
    required = added.required_during_scheduling_ignored_during_execution
    preferred = added.preferred_during_scheduling_ignored_during_execution
    affinity: Json = {}
    if required is not None:
        terms = required.node_selector_terms
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": None if terms is None else [_term(term) for term in terms]
        }
    return affinity | _unless_empty(
        preferredDuringSchedulingIgnoredDuringExecution=[
            {"weight": each.weight, "preference": _term(each.preference)} for each in preferred
        ]
    )


def _term(term: NodeSelectorTerm) -> Json:
    return _unless_empty(
        matchExpressions=[_requirement(each) for each in term.match_expressions],
        matchFields=[_requirement(each) for each in term.match_fields],
    )


def _requirement(requirement: NodeSelectorRequirement) -> Json:
    return {
        "key": requirement.key,
        "operator": requirement.operator,
        **_unless_empty(values=list(requirement.values or ())),
    }


def _scoring_strategy(strategy: args.ScoringStrategy) -> Json:
    ratio = strategy.requested_to_capacity_ratio
    return {
        **_unless_empty(
            type=strategy.type, resources=[_resource(each) for each in strategy.resources]
        ),
        **({} if ratio is None else {"requestedToCapacityRatio": _ratio(ratio)}),
    }


def _ratio(ratio: args.RequestedToCapacityRatioParam) -> Json:
    return _unless_empty(shape=[_point(each) for each in ratio.shape])


def _point(point: args.UtilizationShapePoint) -> Json:
    return {"utilization": point.utilization, "score": point.score}


def _resource(resource: args.ResourceSpec) -> Json:
    return {"name": resource.name, **_unless_empty(weight=resource.weight)}


def _constraint(constraint: args.TopologySpreadConstraint) -> Json:
    pointers = {
        "minDomains": constraint.min_domains,
        "nodeAffinityPolicy": constraint.node_affinity_policy,
        "nodeTaintsPolicy": constraint.node_taints_policy,
    }
    return {
        "maxSkew": constraint.max_skew,
        "topologyKey": constraint.topology_key,
        "whenUnsatisfiable": constraint.when_unsatisfiable,
        **{name: value for name, value in pointers.items() if value is not None},
        **_unless_empty(matchLabelKeys=list(constraint.match_label_keys)),
    }


def _extender(extender: Extender) -> Json:
    tls = extender.tls_config
    return {
        "urlPrefix": extender.url_prefix,
        **_unless_empty(
            filterVerb=extender.filter_verb,
            preemptVerb=extender.preempt_verb,
            prioritizeVerb=extender.prioritize_verb,
            weight=extender.weight,
            bindVerb=extender.bind_verb,
            enableHTTPS=extender.enable_https,
        ),
        **({} if tls is None else {"tlsConfig": _tls_config(tls)}),
        "httpTimeout": str(extender.http_timeout),
        **_unless_empty(
            nodeCacheCapable=extender.node_cache_capable,
            managedResources=[_managed_resource(each) for each in extender.managed_resources],
            ignorable=extender.ignorable,
        ),
    }


def _tls_config(tls: ExtenderTLSConfig) -> Json:
    return _unless_empty(
        insecure=tls.insecure,
        serverName=tls.server_name,
        certFile=tls.cert_file,
        keyFile=tls.key_file,
        caFile=tls.ca_file,
        certData=base64.b64encode(tls.cert_data).decode(),
        keyData=base64.b64encode(tls.key_data).decode(),
        caData=base64.b64encode(tls.ca_data).decode(),
    )


def _managed_resource(resource: ExtenderManagedResource) -> Json:
    return {
        "name": resource.name,
        **_unless_empty(ignoredByScheduler=resource.ignored_by_scheduler),
    }
