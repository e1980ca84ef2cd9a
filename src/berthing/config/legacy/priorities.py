"""The priorities of a Policy as score plugins.

Upstream: framework/plugins/legacy_registry.go ProcessPriorityPolicy, AppendPriorityConfigs,
          apis/config/validation validateCustomPriorities (v1.22).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from berthing.config.findings import Findings, Path, did_you_mean
from berthing.config.legacy.conversion import Notes
from berthing.config.legacy.draft import Draft, Entry, LabelRule
from berthing.config.legacy.replacements import SERVICE_AFFINITY_INSTEAD, SERVICE_AFFINITY_IS_GONE
from berthing.config.legacy.shapes import PriorityArgument, PriorityPolicy
from berthing.config.legacy.strategies import strategy_from
from berthing.config.v1 import ALL_PLUGINS

PRIORITIES: Mapping[str, str] = {
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "EvenPodsSpreadPriority": "PodTopologySpread",
    "ImageLocalityPriority": "ImageLocality",
    "InterPodAffinityPriority": "InterPodAffinity",
    "LeastRequestedPriority": "NodeResourcesLeastAllocated",
    "MostRequestedPriority": "NodeResourcesMostAllocated",
    "NodeAffinityPriority": "NodeAffinity",
    "NodePreferAvoidPodsPriority": "NodePreferAvoidPods",
    "SelectorSpreadPriority": "PodTopologySpread",
    "TaintTolerationPriority": "TaintToleration",
}
_ALIASES = {"ServiceSpreadingPriority": "SelectorSpreadPriority"}
# It gave every node the same score.
_NO_PRIORITY = "EqualPriority"

# What a priority with an argument becomes, whatever it is called: anything but these names.
_NODE_LABEL = "NodeLabel"
_RATIO = "RequestedToCapacityRatio"
_SERVICE_AFFINITY = "ServiceAffinity"
_OWN = (_NODE_LABEL, _RATIO, _SERVICE_AFFINITY)

_MAX_WEIGHT = 2**31 - 1

_LIST: Path = ("priorities",)


def add_priorities(
    draft: Draft, priorities: Sequence[PriorityPolicy], findings: Findings, notes: Notes
) -> None:
    """Make a draft score by what the list asks for."""
    chosen: dict[str, Entry] = {}
    for index, priority in enumerate(priorities):
        path, here = (*_LIST, index), findings.under(index)
        if not 0 < priority.weight <= _MAX_WEIGHT:
            here.error(f"must be 1 to {_MAX_WEIGHT}, got {priority.weight}", "weight")
        name = None if priority.name == _NO_PRIORITY else _named(priority, path, here, notes)
        if name is None:
            continue
        _check_again(name, priority, chosen, here)
        chosen[name] = Entry(PRIORITIES.get(name, name), priority.weight, path)
        if name in _OWN and priority.argument:
            _add_argument(draft, priority.argument, path, notes)
    if _NODE_LABEL in chosen:
        # The plugin took the average of what had been priorities of their own.
        each = chosen[_NODE_LABEL]
        weight = (each.weight or 0) * len(draft.preferred_labels)
        chosen[_NODE_LABEL] = Entry(each.name, weight, each.origin)
    _settle_spreading(draft, chosen, notes)
    for point in ("preScore", "score"):
        draft.at(point).disabled = [Entry(ALL_PLUGINS, origin=_LIST)]
    draft.at("score").enabled = [
        entry for name, entry in chosen.items() if name != _SERVICE_AFFINITY
    ]


def _named(priority: PriorityPolicy, path: Path, findings: Findings, notes: Notes) -> str | None:
    """The priority that is meant, or the plugin for a priority of one's own; None if neither."""
    name, argument = _ALIASES.get(priority.name, priority.name), priority.argument
    kinds = _kinds(argument) if argument else []
    if argument and len(kinds) != 1:
        findings.error(
            "give one of serviceAntiAffinity, labelPreference and "
            "requestedToCapacityRatioArguments",
            "argument",
        )
        return None
    if name in _OWN:
        findings.error(
            f"{name} does not read its argument", "name", suggestion="give it any other name"
        )
        return None
    if name in PRIORITIES:
        if argument:
            notes.add(f"{name} takes no argument: it is left out", (*path, "argument"))
        return name
    if not kinds:
        findings.error(
            f"there is no priority {priority.name!r}",
            "name",
            suggestion=did_you_mean(priority.name, [*PRIORITIES, *_ALIASES, _NO_PRIORITY]),
        )
        return None
    return kinds[0]


def _kinds(argument: PriorityArgument) -> list[str]:
    arguments = {
        _NODE_LABEL: argument.label_preference,
        _RATIO: argument.requested_to_capacity_ratio_arguments,
        _SERVICE_AFFINITY: argument.service_anti_affinity,
    }
    return [kind for kind, given in arguments.items() if given is not None]


def _check_again(
    name: str, priority: PriorityPolicy, chosen: Mapping[str, Entry], findings: Findings
) -> None:
    """Some priorities of one's own may come again, others not."""
    earlier = chosen.get(name)
    if earlier is None or name not in _OWN:
        return
    if name == _RATIO:
        findings.error("only one priority can have requestedToCapacityRatioArguments", "argument")
    elif earlier.weight != priority.weight:
        findings.error(
            f"priorities of this kind must have one weight, got {earlier.weight} before and "
            f"{priority.weight} here",
            "weight",
        )


def _add_argument(draft: Draft, argument: PriorityArgument, path: Path, notes: Notes) -> None:
    here = (*path, "argument")
    if argument.service_anti_affinity:
        notes.add(SERVICE_AFFINITY_IS_GONE, path, suggestion=SERVICE_AFFINITY_INSTEAD)
    if preference := argument.label_preference:
        origin = (*here, "labelPreference", "label")
        draft.preferred_labels.append(LabelRule(preference.label, preference.presence, origin))
    if ratio := argument.requested_to_capacity_ratio_arguments:
        draft.strategies[_RATIO] = strategy_from(
            msgspec.to_builtins(ratio), (*here, "requestedToCapacityRatioArguments"), notes
        )


def _settle_spreading(draft: Draft, chosen: dict[str, Entry], notes: Notes) -> None:
    """Two priorities share a plugin: one for the pods' own constraints, one for the default ones."""
    own, default = chosen.get("EvenPodsSpreadPriority"), chosen.get("SelectorSpreadPriority")
    if own is not None and default is not None:
        del chosen["SelectorSpreadPriority"]
        if own.weight != default.weight:
            notes.add(
                f"EvenPodsSpreadPriority goes before: both count with its weight {own.weight}",
                default.origin,
            )
    elif own is not None:
        args = draft.make_args("PodTopologySpread", own.origin)
        args.value = {"defaultingType": "List"}
