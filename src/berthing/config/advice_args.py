"""Warnings about plugins' arguments; mistakes that upstream would find are in `validation_args`."""

from __future__ import annotations

from collections.abc import Sequence

from berthing.api.names import qualified_name_errors
from berthing.api.node_selector import NodeSelectorTerm
from berthing.config import args
from berthing.config.findings import Findings, did_you_mean

_NODE_POLICIES = ("Honor", "Ignore")


def advise_args(given: object, findings: Findings) -> None:
    """Warn about what is odd in `args` of one plugin, of which `findings` is the view."""
    match given:
        case args.NodeAffinityArgs(added_affinity=args.AddedAffinity() as added):
            _added_affinity(added, findings.under("addedAffinity"))
        case args.NodeResourcesFitArgs(scoring_strategy=strategy):
            _resources(strategy.resources, findings.under("scoringStrategy", "resources"))
        case args.NodeResourcesBalancedAllocationArgs(resources=resources):
            _resource_names(resources, findings.under("resources"))
        case args.PodTopologySpreadArgs(default_constraints=constraints):
            for index, constraint in enumerate(constraints):
                _constraint(constraint, findings.under("defaultConstraints", index))


def _added_affinity(added: args.AddedAffinity, findings: Findings) -> None:
    required = added.required_during_scheduling_ignored_during_execution
    if required is not None:
        here = findings.under("requiredDuringSchedulingIgnoredDuringExecution")
        terms = required.node_selector_terms or ()
        if all(term.is_empty for term in terms):
            here.warning("no node matches this, so no pod can be scheduled", "nodeSelectorTerms")
        else:
            for index, term in enumerate(terms):
                _term(term, here.under("nodeSelectorTerms", index))
    here = findings.under("preferredDuringSchedulingIgnoredDuringExecution")
    for index, preferred in enumerate(added.preferred_during_scheduling_ignored_during_execution):
        if preferred.weight == 0:
            here.warning("0 means that this term is not even read", index, "weight")
        elif not 0 < preferred.weight <= 100:
            here.warning(f"should be from 1 to 100, got {preferred.weight}", index, "weight")
        _term(preferred.preference, here.under(index))


def _term(term: NodeSelectorTerm, findings: Findings) -> None:
    if term.is_empty:
        findings.warning("a term without conditions matches no node")


def _resources(resources: Sequence[args.ResourceSpec], findings: Findings) -> None:
    _resource_names(resources, findings)
    seen: set[str] = set()
    for index, resource in enumerate(resources):
        if resource.name in seen:
            findings.warning(f"{resource.name} is listed twice", index, "name")
        seen.add(resource.name)


def _resource_names(resources: Sequence[args.ResourceSpec], findings: Findings) -> None:
    for index, resource in enumerate(resources):
        if qualified_name_errors(resource.name):
            findings.warning(f'no resource can be called "{resource.name}"', index, "name")


def _constraint(constraint: args.TopologySpreadConstraint, findings: Findings) -> None:
    if constraint.min_domains is not None:
        if constraint.min_domains <= 0:
            findings.warning(
                f"should be greater than 0, got {constraint.min_domains}", "minDomains"
            )
        elif constraint.when_unsatisfiable == "ScheduleAnyway":
            findings.warning("has no effect with ScheduleAnyway", "minDomains")
    for name, policy in (
        ("nodeAffinityPolicy", constraint.node_affinity_policy),
        ("nodeTaintsPolicy", constraint.node_taints_policy),
    ):
        if policy is not None and policy not in _NODE_POLICIES:
            findings.warning(
                f'should be {" or ".join(_NODE_POLICIES)}, got "{policy}"',
                name,
                suggestion=did_you_mean(policy, _NODE_POLICIES),
            )
