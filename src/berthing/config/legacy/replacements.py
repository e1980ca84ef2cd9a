"""Plugins that are gone, said with the plugins of today as far as that goes.

    EBSLimits, GCEPDLimits, AzureDiskLimits, CinderLimits     NodeVolumeLimits
    NodeResourcesLeastAllocated, NodeResourcesMostAllocated,
    RequestedToCapacityRatio                                  NodeResourcesFit: scoringStrategy
    SelectorSpread                                            PodTopologySpread: defaultingType System
    NodeLabel                                                 NodeAffinity: addedAffinity
    NodePreferAvoidPods, ServiceAffinity                      nothing

One function for each line of the table.  Whatever does not come out the same is noted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from berthing.config.findings import Path
from berthing.config.legacy.conversion import Notes, Origin
from berthing.config.legacy.draft import Args, Draft, Entry, LabelRule, Strategy
from berthing.config.legacy.tree import as_list, as_object
from berthing.config.legacy.versions import OLD_DEFAULTS, V1BETA1, V1BETA2
from berthing.config.v1 import MULTI_POINT

VOLUME_LIMITS = ("EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")

STRATEGY_TYPES: Mapping[str, str] = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}

AVOID_PODS_IS_GONE = (
    "NodePreferAvoidPods is gone: the annotation scheduler.alpha.kubernetes.io/preferAvoidPods "
    "of a node has no effect any more"
)
AVOID_PODS_INSTEAD = "taint such nodes with the effect PreferNoSchedule"
SERVICE_AFFINITY_IS_GONE = "ServiceAffinity is gone and nothing does the same: it is left out"
SERVICE_AFFINITY_INSTEAD = (
    "give the pods of a service pod affinity, or a topology spread constraint, over these labels"
)

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

# The most that v1 lets a preferred term weigh.
_MAX_TERM_WEIGHT = 100


def replace_removed(draft: Draft, notes: Notes) -> None:
    """Rewrite a draft so that it names plugins of today only."""
    _replace_resource_scorers(draft, notes)
    _replace_volume_limits(draft, notes)
    _replace_selector_spread(draft, notes)
    _replace_node_label(draft, notes)
    _leave_out(draft, notes)
    if draft.defaults is OLD_DEFAULTS[V1BETA1]:
        # With NodeResourcesFit as a scorer and the rest gone, what is left is v1beta2's.
        draft.defaults = OLD_DEFAULTS[V1BETA2]


def _replace_resource_scorers(draft: Draft, notes: Notes) -> None:
    scorers = [entry for entry in draft.running("score") if entry.name in STRATEGY_TYPES]
    if scorers:
        chosen = max(scorers, key=lambda entry: (entry.weight or 1, not entry.by_default))
        _score_by(chosen, draft, notes)
        _note_other_scorers(chosen, scorers, notes)
    elif draft.defaults is OLD_DEFAULTS[V1BETA1]:
        _score_by_none(draft)
    running = {entry.name for entry in scorers}
    for name, strategy in draft.strategies.items():
        if name not in running:
            notes.add(f"{name} does not run, so its args are left out", strategy.origin)
    draft.forget(*STRATEGY_TYPES)


def _score_by(chosen: Entry, draft: Draft, notes: Notes) -> None:
    """Let NodeResourcesFit score as `chosen` did."""
    lists = draft.at("score")
    if chosen.by_default:
        # NodeResourcesFit did not score then, so that disabling it meant nothing.
        lists.forget("NodeResourcesFit")
    else:
        lists.replace(chosen, "NodeResourcesFit")
    _drop_idle_strategy(draft, chosen, notes)
    strategy = draft.strategies.get(chosen.name, Strategy(chosen.origin))
    type_ = STRATEGY_TYPES[chosen.name]
    if type_ == "LeastAllocated" and not strategy.fields:
        return  # As NodeResourcesFit scores if told nothing.
    args = draft.make_args("NodeResourcesFit", strategy.origin)
    args.value = {**args.fields(), "scoringStrategy": {"type": type_, **strategy.fields}}
    args.parts["scoringStrategy",] = Origin(strategy.origin, same_below=False)
    for path, origin in strategy.parts.items():
        args.parts["scoringStrategy", *path] = origin


def _drop_idle_strategy(draft: Draft, chosen: Entry, notes: Notes) -> None:
    args = draft.args_of("NodeResourcesFit")
    if args is not None and "scoringStrategy" in args.fields():
        notes.add(
            f"scoringStrategy had no effect, since {chosen.name} did the scoring: it is left out",
            (*args.origin, "scoringStrategy"),
        )
        args.value = {
            name: value for name, value in args.fields().items() if name != "scoringStrategy"
        }


def _score_by_none(draft: Draft) -> None:
    """Keep NodeResourcesFit from scoring, unless the file wants that."""
    lists = draft.at("score")
    off = next((entry for entry in lists.disabled if entry.name in STRATEGY_TYPES), None)
    if off is not None and not draft.find("score", "NodeResourcesFit"):
        lists.disabled = [
            off.renamed("NodeResourcesFit") if entry is off else entry
            for entry in lists.disabled
            if entry.name != "NodeResourcesFit"
        ]


def _note_other_scorers(chosen: Entry, scorers: Sequence[Entry], notes: Notes) -> None:
    for entry in scorers:
        if entry is not chosen:
            notes.add(
                "NodeResourcesFit can score by one strategy only: "
                f"{STRATEGY_TYPES[chosen.name]} (weight {chosen.weight or 1}) is kept, "
                f"{STRATEGY_TYPES[entry.name]} (weight {entry.weight or 1}"
                f"{', by default' if entry.by_default else ''}) is left out",
                entry.origin or chosen.origin,
            )


def _replace_volume_limits(draft: Draft, notes: Notes) -> None:
    counted = draft.find("filter", "NodeVolumeLimits") is not None
    for point in (MULTI_POINT, "filter"):
        lists = draft.at(point)
        named = [entry for entry in lists.enabled if entry.name in VOLUME_LIMITS]
        if named and not counted and not lists.disables("NodeVolumeLimits"):
            lists.replace(named[0], "NodeVolumeLimits")
            counted = True
        for entry in (*named, *lists.disabled):
            if entry.name in VOLUME_LIMITS:
                notes.add(_volume_limits_note(entry.name, counted=counted), entry.origin)
        lists.forget(*VOLUME_LIMITS)


def _volume_limits_note(name: str, *, counted: bool) -> str:
    consequence = (
        "NodeVolumeLimits counts these volumes, up to the limits in each node's CSINode"
        if counted
        else "NodeVolumeLimits would count these volumes, but does not run"
    )
    return f"{name} is gone: {consequence}"


def _replace_selector_spread(draft: Draft, notes: Notes) -> None:
    spread = draft.find("score", "SelectorSpread")
    for lists in draft.points.values():
        for entry in lists.disabled:
            if entry.name == "SelectorSpread" and spread is None:
                notes.add(
                    "SelectorSpread is gone: PodTopologySpread spreads pods by default",
                    entry.origin,
                    suggestion="for no spreading by default, give PodTopologySpread the "
                    "defaultingType List and no constraints",
                )
    if spread is not None:
        _spread_by_topology(draft, spread, notes)
    draft.forget("SelectorSpread")


def _spread_by_topology(draft: Draft, spread: Entry, notes: Notes) -> None:
    message = "SelectorSpread is gone: PodTopologySpread spreads the pods of a service or set"
    running = draft.find("score", "PodTopologySpread")
    if running is not None:
        message += f", with its own weight {running.weight or 1} for {spread.weight or 1}"
    else:
        for point in ("preScore", "score"):
            _enable_instead(draft, point, spread, "PodTopologySpread")
    args = draft.args_of("PodTopologySpread")
    fields = args.fields() if args else {}
    if args is not None and fields.get("defaultingType") == "List":
        if fields.get("defaultConstraints"):
            message += ", but by the constraints of its args alone"
        else:
            args.value = {**fields, "defaultingType": "System"}
    notes.add(message, spread.origin)


def _enable_instead(draft: Draft, point: str, old: Entry, name: str) -> None:
    """Have a plugin run at a point where `old` runs, in whatever way that does."""
    if draft.find(point, name):
        return
    lists = draft.at(point)
    here = next((entry for entry in lists.enabled if entry.name == old.name), None)
    if here is None:
        here = old if point == "score" else old.unweighted()
        lists.enabled.append(here)
    lists.replace(here, name)


def _replace_node_label(draft: Draft, notes: Notes) -> None:
    filters, scores = draft.find("filter", "NodeLabel"), draft.find("score", "NodeLabel")
    if filters is not None and draft.required_labels:
        _require_labels(draft, filters, notes)
    if scores is not None and draft.preferred_labels:
        _prefer_labels(draft, scores, notes)
    for rules, runs, point in (
        (draft.required_labels, filters, "filter"),
        (draft.preferred_labels, scores, "score"),
    ):
        if rules and runs is None:
            notes.add(f"NodeLabel does not run at {point}: this is left out", rules[0].origin)
    draft.forget("NodeLabel")


def _require_labels(draft: Draft, filters: Entry, notes: Notes) -> None:
    """Add the labels to every term: a node must match any one of the terms."""
    args = draft.make_args("NodeAffinity", filters.origin)
    affinity = as_object(args.fields().get("addedAffinity"))
    required = as_object(affinity.get(_REQUIRED))
    terms = [as_object(term) for term in as_list(required.get("nodeSelectorTerms"))] or [{}]
    for t, term in enumerate(terms):
        expressions = as_list(term.get("matchExpressions"))
        place: Path = ("addedAffinity", _REQUIRED, "nodeSelectorTerms", t, "matchExpressions")
        _record(args, place, draft.required_labels, first=len(expressions))
        term["matchExpressions"] = [*expressions, *map(_expression, draft.required_labels)]
    affinity[_REQUIRED] = {**required, "nodeSelectorTerms": terms}
    args.value = {**args.fields(), "addedAffinity": affinity}
    message = "NodeLabel is gone: NodeAffinity requires the same of every node by its addedAffinity"
    if draft.find("filter", "NodeAffinity") is None:
        _enable_instead(draft, "filter", filters, "NodeAffinity")
        message += "; it runs for that, and so heeds the node selectors of pods too"
    notes.add(message, draft.required_labels[0].origin)


def _prefer_labels(draft: Draft, scores: Entry, notes: Notes) -> None:
    """Turn each label into a preferred term that weighs what the label did."""
    rules = draft.preferred_labels
    weight = min(max(round((scores.weight or 1) / len(rules)), 1), _MAX_TERM_WEIGHT)
    args = draft.make_args("NodeAffinity", scores.origin)
    affinity = as_object(args.fields().get("addedAffinity"))
    terms = as_list(affinity.get(_PREFERRED))
    _record(args, ("addedAffinity", _PREFERRED), rules, first=len(terms))
    affinity[_PREFERRED] = [
        *terms,
        *(
            {"weight": weight, "preference": {"matchExpressions": [_expression(rule)]}}
            for rule in rules
        ),
    ]
    args.value = {**args.fields(), "addedAffinity": affinity}
    _enable_instead(draft, "score", scores, "NodeAffinity")
    notes.add(
        "NodeLabel is gone: NodeAffinity prefers the same by its addedAffinity, but adds it to "
        "what pods prefer themselves, and all that counts with the weight of NodeAffinity, "
        f"not with NodeLabel's {scores.weight or 1}",
        rules[0].origin,
    )


def _expression(rule: LabelRule) -> dict[str, object]:
    return {"key": rule.label, "operator": "Exists" if rule.present else "DoesNotExist"}


def _record(args: Args, place: Path, rules: Sequence[LabelRule], *, first: int) -> None:
    """Remember which rule each item added to a list came from."""
    for index, rule in enumerate(rules, start=first):
        args.parts[*place, index] = Origin(rule.origin, same_below=False)


def _leave_out(draft: Draft, notes: Notes) -> None:
    """Drop what nothing does any more, and the args of plugins that are gone."""
    avoid = draft.find("score", "NodePreferAvoidPods")
    if avoid is not None:
        by_default = " (it ran by default)" if avoid.by_default else ""
        notes.add(
            AVOID_PODS_IS_GONE + by_default,
            avoid.origin or draft.path,
            suggestion=AVOID_PODS_INSTEAD,
        )
    named = draft.mentions(["ServiceAffinity"])
    given = draft.args_of("ServiceAffinity")
    if named:
        notes.add(
            SERVICE_AFFINITY_IS_GONE,
            given.origin if given else named[0].origin,
            suggestion=SERVICE_AFFINITY_INSTEAD,
        )
    gone = ("NodePreferAvoidPods", "ServiceAffinity")
    draft.forget(*gone)
    draft.args = [
        args
        for args in draft.args
        if args.name not in (*gone, *VOLUME_LIMITS, "SelectorSpread", "NodeLabel")
    ]
