"""What is wrong with plugins' arguments: every mistake, at the path where upstream sees it.

Upstream: pkg/scheduler/apis/config/validation/validation_pluginargs.go.
Differs:  wording.

`findings` is the view of `args` throughout.  A plugin from elsewhere can bring the check of its
own arguments: a method `validate(problems)` of their type, which gets that view.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from berthing.api.field_errors import FieldError, Place
from berthing.api.names import qualified_name_errors
from berthing.api.node_selector import (
    NodeSelector,
    PreferredSchedulingTerm,
    compile_node_selector,
    compile_preferred_terms,
)
from berthing.config import args
from berthing.config.defaults import binding_timeout_is_known
from berthing.config.durations import Duration
from berthing.config.features import FeatureGates
from berthing.config.findings import Findings, did_you_mean
from berthing.config.paths import parse_path

SCORING_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
DEFAULTING_TYPES = ("System", "List")
UNSATISFIABLE_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")


@runtime_checkable
class ChecksItself(Protocol):
    """Arguments that bring their own check."""

    def validate(self, problems: Findings) -> None:
        """Add what is wrong, at paths within the arguments."""


def validate_args(given: object, gates: FeatureGates, findings: Findings) -> None:
    """Check the arguments of one plugin, defaults included; unknown types pass."""
    match given:
        case args.DefaultPreemptionArgs():
            _default_preemption(given, findings)
        case args.DynamicResourcesArgs():
            _dynamic_resources(given, gates, findings)
        case args.InterPodAffinityArgs():
            _in_range(given.hard_pod_affinity_weight, 0, 100, findings, "hardPodAffinityWeight")
        case args.NodeAffinityArgs():
            _node_affinity(given, findings.under("addedAffinity"))
        case args.NodeResourcesFitArgs():
            _node_resources_fit(given, findings)
        case args.NodeResourcesBalancedAllocationArgs():
            _balanced_allocation(given.resources, findings.under("resources"))
        case args.PodTopologySpreadArgs():
            _pod_topology_spread(given, findings)
        case args.VolumeBindingArgs():
            _volume_binding(given, gates, findings)
        case ChecksItself():
            _own_check(given, findings)


def _own_check(given: ChecksItself, findings: Findings) -> None:
    try:
        given.validate(findings)
    except Exception as error:  # noqa: BLE001  foreign code: whatever it raises, say so and go on
        name = type(given).__name__
        findings.error(f"{name}.validate failed with {type(error).__name__}: {error}")


def _default_preemption(given: args.DefaultPreemptionArgs, findings: Findings) -> None:
    percentage, absolute = given.min_candidate_nodes_percentage, given.min_candidate_nodes_absolute
    _in_range(percentage, 0, 100, findings, "minCandidateNodesPercentage")
    if absolute < 0:
        findings.error(f"must not be negative, got {absolute}", "minCandidateNodesAbsolute")
    if percentage == absolute == 0:
        findings.error(
            "must not be 0 while minCandidateNodesAbsolute is, too", "minCandidateNodesPercentage"
        )
        findings.error(
            "must not be 0 while minCandidateNodesPercentage is, too", "minCandidateNodesAbsolute"
        )


def _dynamic_resources(
    given: args.DynamicResourcesArgs, gates: FeatureGates, findings: Findings
) -> None:
    timeout, binding = given.filter_timeout, given.binding_timeout
    if timeout is not None:
        if not gates.enabled("DRASchedulerFilterTimeout"):
            _needs_gates(findings.under("filterTimeout"), "DRASchedulerFilterTimeout")
        elif timeout < Duration(0):
            findings.error(f"must not be negative, got {timeout}", "filterTimeout")
    if binding is not None:
        if not binding_timeout_is_known(gates):
            _needs_gates(
                findings.under("bindingTimeout"),
                "DRADeviceBindingConditions",
                "DRAResourceClaimDeviceStatus",
            )
        elif binding < Duration.seconds(1):
            findings.error(f"must be at least 1s, got {binding}", "bindingTimeout")


def _needs_gates(findings: Findings, *gates: str) -> None:
    setting = ",".join(f"{gate}=true" for gate in gates)
    findings.error(
        f"must not be set without {' and '.join(gates)}",
        suggestion=f"remove it, or set --feature-gates={setting}",
    )


def _node_affinity(given: args.NodeAffinityArgs, findings: Findings) -> None:
    if given.added_affinity is None:
        return
    required = given.added_affinity.required_during_scheduling_ignored_during_execution
    preferred = given.added_affinity.preferred_during_scheduling_ignored_during_execution
    if required is not None:
        selector = NodeSelector(required.node_selector_terms or ())
        place = Place.at("requiredDuringSchedulingIgnoredDuringExecution")
        _report(compile_node_selector(selector, place).errors, findings)
    terms = tuple(PreferredSchedulingTerm(term.weight, term.preference) for term in preferred)
    place = Place.at("preferredDuringSchedulingIgnoredDuringExecution")
    _report(compile_preferred_terms(terms, place).errors, findings)


def _report(errors: Iterable[FieldError], findings: Findings) -> None:
    for error in errors:
        findings.error(error.message, *parse_path(error.field))


def _node_resources_fit(given: args.NodeResourcesFitArgs, findings: Findings) -> None:
    for index, name in enumerate(given.ignored_resources):
        _label_name(name, findings.under("ignoredResources", index))
    for index, group in enumerate(given.ignored_resource_groups):
        here = findings.under("ignoredResourceGroups", index)
        if "/" in group:
            here.error(
                f'"{group}" is a resource, need only the part before the "/"',
                suggestion=f"write {group.partition('/')[0]}",
            )
        _label_name(group, here)
    _scoring_strategy(given.scoring_strategy, findings.under("scoringStrategy"))


def _scoring_strategy(strategy: args.ScoringStrategy, findings: Findings) -> None:
    _one_of(strategy.type, SCORING_STRATEGIES, findings, "type")
    for index, resource in enumerate(strategy.resources):
        if not 0 < resource.weight <= 100:
            findings.error(
                f"weight of {resource.name} must be from 1 to 100, got {resource.weight}",
                "resources",
                index,
                "weight",
            )
    ratio = strategy.requested_to_capacity_ratio
    if strategy.type != "RequestedToCapacityRatio":
        if ratio is not None:
            findings.error(
                "must not be set unless type is RequestedToCapacityRatio",
                "requestedToCapacityRatio",
            )
    elif ratio is None:
        findings.error(
            "must be set for type RequestedToCapacityRatio",
            "requestedToCapacityRatio",
            suggestion="give it a shape: a list of {utilization: 0 to 100, score: 0 to 10}",
        )
    else:
        _shape(ratio.shape, findings.under("requestedToCapacityRatio", "shape"))


def _shape(shape: Sequence[args.UtilizationShapePoint], findings: Findings) -> None:
    if not shape:
        findings.error("need at least one point, as {utilization: 0, score: 10}")
    for index in range(1, len(shape)):
        before, here = shape[index - 1].utilization, shape[index].utilization
        if before >= here:
            findings.error(
                f"utilization must grow from point to point, got {here} after {before}",
                index,
                "utilization",
            )
            break
    for index, point in enumerate(shape):
        _in_range(point.utilization, 0, 100, findings.under(index), "utilization")
        _in_range(point.score, 0, args.MAX_SHAPE_SCORE, findings.under(index), "score")


def _balanced_allocation(resources: Sequence[args.ResourceSpec], findings: Findings) -> None:
    seen: set[str] = set()
    for index, resource in enumerate(resources):
        if resource.name in seen:
            findings.error(f"{resource.name or 'no name'} is listed twice", index, "name")
        seen.add(resource.name)
        if resource.weight != 1:
            findings.error(
                f"must be 1, got {resource.weight}: all resources count the same here",
                index,
                "weight",
            )


def _pod_topology_spread(given: args.PodTopologySpreadArgs, findings: Findings) -> None:
    if given.defaulting_type == "System" and given.default_constraints:
        findings.error(
            'must not be "System" where there are defaultConstraints',
            "defaultingType",
            suggestion="write defaultingType: List",
        )
    _one_of(given.defaulting_type, DEFAULTING_TYPES, findings, "defaultingType")
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(given.default_constraints):
        here = findings.under("defaultConstraints", index)
        _spread_constraint(constraint, here)
        key = constraint.topology_key, constraint.when_unsatisfiable
        if key in seen:
            here.error(f"there is a constraint for {key[0]} with {key[1]} already")
        seen.add(key)


def _spread_constraint(constraint: args.TopologySpreadConstraint, findings: Findings) -> None:
    if constraint.max_skew <= 0:
        findings.error(f"must be greater than 0, got {constraint.max_skew}", "maxSkew")
    if constraint.topology_key:
        _label_name(constraint.topology_key, findings.under("topologyKey"))
    else:
        findings.error(
            "must not be empty", "topologyKey", suggestion="such as topology.kubernetes.io/zone"
        )
    _one_of(constraint.when_unsatisfiable, UNSATISFIABLE_ACTIONS, findings, "whenUnsatisfiable")
    if constraint.label_selector is not None:
        findings.error(
            "must not be set: the selector comes from the services and controllers of each pod",
            "labelSelector",
        )


def _volume_binding(given: args.VolumeBindingArgs, gates: FeatureGates, findings: Findings) -> None:
    if given.bind_timeout_seconds < 0:
        findings.error(
            f"must not be negative, got {given.bind_timeout_seconds}", "bindTimeoutSeconds"
        )
    if gates.enabled("StorageCapacityScoring"):
        _shape(given.shape or (), findings.under("shape"))
    elif given.shape is not None:
        _needs_gates(findings.under("shape"), "StorageCapacityScoring")


def _label_name(name: str, findings: Findings) -> None:
    for error in qualified_name_errors(name):
        findings.error(f'"{name}" is no valid name: {error}')


def _in_range(value: int, low: int, high: int, findings: Findings, name: str) -> None:
    if not low <= value <= high:
        findings.error(f"must be from {low} to {high}, got {value}", name)


def _one_of(value: str, known: Sequence[str], findings: Findings, name: str) -> None:
    either = f"{', '.join(known[:-1])} or {known[-1]}"
    if not value:
        findings.error(f"must be set to {either}", name)
    elif value not in known:
        findings.error(
            f'must be {either}, got "{value}"', name, suggestion=did_you_mean(value, known)
        )
