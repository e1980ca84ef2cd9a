"""Sets a draft against what runs by default today, so that the file means what it meant.

Three things have changed since: some default weights, some plugins that are new, and one
plugin that has come to need its PreFilter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from berthing.config.default_plugins import IN_TREE, default_plugins
from berthing.config.features import FeatureGates
from berthing.config.legacy.conversion import Notes
from berthing.config.legacy.draft import Draft, Entry
from berthing.config.v1 import ALL_PLUGINS, MULTI_POINT

_TODAY: Mapping[str, int] = {
    plugin.name: plugin.weight or 0 for plugin in default_plugins(FeatureGates())
}

# Newer plugins that do harm where only some of these points have them: what one point
# prepares, the next takes for granted.
_ALL_OR_NOTHING: Mapping[str, tuple[str, ...]] = {
    "DynamicResources": ("preFilter", "filter", "reserve", "preBind"),
    "NodeDeclaredFeatures": ("preFilter", "filter"),
}

# Since ReadWriteOncePod volumes its Filter fails unless its PreFilter has run.
_NEEDS_PRE_FILTER = "VolumeRestrictions"


def settle(draft: Draft, version: str, notes: Notes) -> None:
    """Add what keeps the draft's meaning under today's defaults, and drop what says nothing."""
    _keep_weights(draft, version, notes)
    _hold_back_newcomers(draft, version, notes)
    _complete(draft, notes)
    if MULTI_POINT not in draft.defaults:
        _drop_repetitions(draft)
        _spell_out_queue_sort(draft)
        _gather_disabled(draft)


def _keep_weights(draft: Draft, version: str, notes: Notes) -> None:
    """Write down the old weights of scorers that run by default, where today's differ."""
    if MULTI_POINT in draft.defaults:
        return  # As of v1beta3 the weights are today's.
    old = {entry.name: entry.weight for entry in draft.running("score") if entry.by_default}
    kept = [name for name in _TODAY if name in old and old[name] != _TODAY[name]]
    if not kept:
        return
    draft.at(MULTI_POINT).enabled += [Entry(name, old[name]) for name in kept]
    changes = ", ".join(f"{name} from {old[name]} to {_TODAY[name]}" for name in kept)
    notes.add(
        f"default weights have changed since {version} ({changes}): the old ones are written "
        "out under multiPoint",
        draft.path,
        suggestion="remove them there to score as kube-scheduler does by default today",
    )


def _hold_back_newcomers(draft: Draft, version: str, notes: Notes) -> None:
    """Let plugins that are newer than the file run by default, where it leaves them room."""
    known = {name for weights in draft.defaults.values() for name in weights}
    newcomers = [name for name in _TODAY if name not in known and not draft.mentions([name])]
    if draft.stands_alone(MULTI_POINT):
        if newcomers:
            notes.add(
                f"newer than {version} and kept off, since multiPoint disables {ALL_PLUGINS}: "
                f"{', '.join(newcomers)}",
                draft.path,
                suggestion="enable them under multiPoint to have them",
            )
        return
    held_back = [
        name
        for name in newcomers
        if any(draft.stands_alone(point) for point in _ALL_OR_NOTHING.get(name, ()))
    ]
    lists = draft.at(MULTI_POINT)
    lists.disabled += [Entry(name) for name in held_back if not lists.disables(name)]
    if held_back:
        notes.add(
            f"newer than {version} and kept off, since the file itself lists what runs at "
            f"their points: {', '.join(held_back)}",
            draft.path,
            suggestion="enable them at each of their points to have them",
        )
    joining = [name for name in newcomers if name not in held_back and not lists.disables(name)]
    if joining:
        notes.add(
            f"newer than {version} and on by default: {', '.join(joining)}",
            draft.path,
            suggestion="disable them under multiPoint to do without",
        )


def _complete(draft: Draft, notes: Notes) -> None:
    runs = draft.find("filter", _NEEDS_PRE_FILTER)
    if runs is None or draft.find("preFilter", _NEEDS_PRE_FILTER):
        return
    lists = draft.at("preFilter")
    lists.forget(_NEEDS_PRE_FILTER)
    if draft.stands_alone("preFilter"):
        lists.enabled.append(Entry(_NEEDS_PRE_FILTER, origin=runs.origin))
    notes.add(
        f"{_NEEDS_PRE_FILTER} needs to run at preFilter too, or its filter fails: it is added",
        runs.origin or (*draft.path, "plugins", "preFilter"),
    )


def _drop_repetitions(draft: Draft) -> None:
    """Drop entries for what runs there anyway: in v1 they would change the order."""
    for point, lists in draft.points.items():
        if not lists.enabled or point == "score" or draft.stands_alone(point):
            continue
        runs_anyway = draft.defaults.get(point, {}).keys() - lists.disabled_names()
        times = Counter(entry.name for entry in lists.enabled)
        lists.enabled = [
            entry
            for entry in lists.enabled
            if entry.name not in runs_anyway or times[entry.name] > 1
        ]


def _spell_out_queue_sort(draft: Draft) -> None:
    """Give profiles that sort alike the same lists: v1 compares them as they are written."""
    lists, running = draft.at("queueSort"), draft.running("queueSort")
    if [entry.name for entry in running] == list(draft.defaults["queueSort"]):
        lists.disabled, lists.enabled = [], []
    elif lists.disabled:
        lists.enabled = running
        lists.disabled = [Entry(ALL_PLUGINS, origin=lists.disabled[0].origin)]


def _gather_disabled(draft: Draft) -> None:
    """Disable a plugin as a whole that ran nowhere: it has gained points since."""
    named: dict[str, Entry] = {}
    for lists in draft.points.values():
        for entry in lists.disabled:
            if entry.name in IN_TREE:
                named.setdefault(entry.name, entry)
    for name, entry in named.items():
        places = [point for point, lists in draft.points.items() if lists.disables(name)]
        if (
            MULTI_POINT not in places
            and (len(places) > 1 or set(IN_TREE[name].points) - set(places))
            and not draft.mentions([name])
            and not any(draft.find(point, name) for point in draft.defaults)
        ):
            draft.forget(name)
            draft.at(MULTI_POINT).disabled.append(entry)
