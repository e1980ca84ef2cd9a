"""What runs at each extension point of a profile, in order, and why.

    defaults ---+
                +--- merge ---> what `plugins` says ---> expand ---> what runs
    user -------+               (the defaults are          ^
                                 all under multiPoint)     |
                                                 who implements what

Upstream: config/v1/default_plugins.go mergePluginSet, framework/runtime/framework.go
          updatePluginList, expandMultiPointPlugins, getValidScoreWeights, NewFramework.
Differs:  every mistake is found, not only the first.

At one point, what is listed there itself and under `multiPoint` comes first, as ordered there;
then what comes from `multiPoint` alone; then the rest of what is listed at the point.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum

import msgspec

from berthing.config.default_plugins import INVALID_PLUGINS, REPLACEMENTS
from berthing.config.findings import Findings, Path, did_you_mean
from berthing.config.v1 import (
    ALL_PLUGINS,
    EXTENSION_POINTS,
    MULTI_POINT,
    WEIGHTED_POINTS,
    Plugin,
    Plugins,
    PluginSet,
)

# Plugin name -> the points it implements.
Catalogue = Mapping[str, Collection[str]]

# Validation does not look for removed plugins here; they are unknown ones like any other.
UNSCANNED_POINTS = (MULTI_POINT, "placementGenerate", "placementScore")

_MAX_SCORE = 100
_MAX_INT64 = 2**63 - 1


class Origin(StrEnum):
    """Why a plugin runs at a point."""

    DEFAULT = "default"
    MULTI_POINT = "multiPoint"
    EXPLICIT = "explicit"


class RunningPlugin(msgspec.Struct, frozen=True):
    """A plugin at one extension point; `weight` only where there are scores.

    `path` leads from `plugins` of the profile to the entry that brought it here; it is empty
    for a default.
    """

    name: str
    weight: int | None = None
    origin: Origin = Origin.DEFAULT
    path: Path = ()


class Entry(msgspec.Struct, frozen=True):
    """A plugin under `enabled`, and at which index the user has it there, if he does."""

    name: str
    weight: int | None = None
    index: int | None = None


class MergedSet(msgspec.Struct, frozen=True):
    """One key of `plugins`, with the defaults in it."""

    enabled: tuple[Entry, ...] = ()
    disabled: tuple[str, ...] = ()


# By key of `plugins`: the extension points and multiPoint.
Merged = Mapping[str, MergedSet]


def merge(user: Plugins, defaults: Iterable[Plugin]) -> Merged:
    """Put the defaults where the user left room for them."""
    return {
        key: _merge_set(user_set, defaults if key == MULTI_POINT else ())
        for key, user_set in user.sets()
    }


def _merge_set(user: PluginSet, defaults: Iterable[Plugin]) -> MergedSet:
    disabled = {plugin.name for plugin in user.disabled}
    entries = tuple(Entry(plugin.name, plugin.weight, i) for i, plugin in enumerate(user.enabled))
    # Of several entries for one plugin the last counts; the others stay, to be found out later.
    by_name = {entry.name: entry for entry in entries}
    kept = [
        by_name.get(default.name, Entry(default.name, default.weight))
        for default in defaults
        if disabled.isdisjoint({ALL_PLUGINS, default.name})
    ]
    replaced = {entry.index for entry in kept}
    added = [entry for entry in entries if entry.index not in replaced]
    return MergedSet((*kept, *added), tuple(plugin.name for plugin in user.disabled))


def enabled_names(merged: Merged) -> set[str]:
    """Every plugin that is enabled anywhere, whether or not it gets to run."""
    return {entry.name for merged_set in merged.values() for entry in merged_set.enabled}


def expand(
    merged: Merged, catalogue: Catalogue, findings: Findings
) -> dict[str, tuple[RunningPlugin, ...]]:
    """What runs at every extension point; `findings` is the view of the profile's `plugins`."""
    usable = _usable(merged, catalogue, findings)
    weights = {point: _weights(point, usable, catalogue) for point in WEIGHTED_POINTS}
    running = {
        point: tuple(
            RunningPlugin(
                entry.name,
                weights[point][entry.name].value if point in weights else None,
                _origin(key, entry),
                () if entry.index is None else (key, "enabled", entry.index),
            )
            for key, entry in _in_order(point, usable, catalogue)
        )
        for point in EXTENSION_POINTS
    }
    _check_twice_in_multi_point(usable, catalogue, findings)
    for by_name in weights.values():
        _check_weights(by_name.values(), findings)
    _check_numbers(running, merged, findings)
    return running


def _origin(key: str, entry: Entry) -> Origin:
    if entry.index is None:
        return Origin.DEFAULT
    return Origin.MULTI_POINT if key == MULTI_POINT else Origin.EXPLICIT


def _usable(merged: Merged, catalogue: Catalogue, findings: Findings) -> Merged:
    """Without the entries that cannot be, each of which is reported."""
    return {
        key: MergedSet(
            tuple(
                entry
                for entry, repeated in _with_repetitions(merged_set.enabled)
                if _is_usable(key, entry, catalogue, findings, repeated=repeated)
            ),
            merged_set.disabled,
        )
        for key, merged_set in merged.items()
    }


def _with_repetitions(entries: Iterable[Entry]) -> Iterator[tuple[Entry, bool]]:
    """Each entry, and whether there was one for the same plugin before."""
    names: set[str] = set()
    for entry in entries:
        yield entry, entry.name in names
        names.add(entry.name)


def _is_usable(
    key: str, entry: Entry, catalogue: Catalogue, findings: Findings, *, repeated: bool
) -> bool:
    if entry.index is None:
        return entry.name in catalogue
    here = findings.under(key, "enabled", entry.index)
    if entry.name not in catalogue:
        if entry.name not in INVALID_PLUGINS or key in UNSCANNED_POINTS:
            _report_unknown(entry.name, catalogue, here)
        return False
    if key == MULTI_POINT:
        return True
    if key not in catalogue[entry.name]:
        here.error(
            f"plugin {entry.name} does not take part in {key}",
            suggestion=f"it takes part in {', '.join(catalogue[entry.name]) or 'nothing'}",
        )
        return False
    if repeated:
        here.error(f"plugin {entry.name} is enabled twice")
        return False
    return True


def _report_unknown(name: str, catalogue: Catalogue, findings: Findings) -> None:
    if not name:
        findings.error("the name of the plugin is missing")
        return
    findings.error(
        f"plugin {name} does not exist",
        suggestion=REPLACEMENTS.get(name) or similar_name(name, catalogue, findings),
    )


def similar_name(name: str, catalogue: Catalogue, findings: Findings) -> str:
    """The plugin that was probably meant, unless there is too much wrong to say so each time."""
    return did_you_mean(name, catalogue) if len(findings) < _MANY_FINDINGS else ""


# Looking for similar names takes a millisecond; nobody reads on that far.
_MANY_FINDINGS = 100


def _in_order(point: str, usable: Merged, catalogue: Catalogue) -> list[tuple[str, Entry]]:
    """What runs at a point, and the key of `plugins` each comes from."""
    explicit = {entry.name: entry for entry in usable[point].enabled}
    spread = {entry.name: entry for entry in _spread_out(point, usable, catalogue)}
    return [
        *((point, entry) for name, entry in explicit.items() if name in spread),
        *((MULTI_POINT, entry) for name, entry in spread.items() if name not in explicit),
        *((point, entry) for name, entry in explicit.items() if name not in spread),
    ]


def _spread_out(point: str, usable: Merged, catalogue: Catalogue) -> list[Entry]:
    """What `multiPoint` has for this point, if the point does not refuse it."""
    disabled = set(usable[point].disabled)
    if ALL_PLUGINS in disabled:
        return []
    return [
        entry
        for entry in usable[MULTI_POINT].enabled
        if point in catalogue[entry.name] and entry.name not in disabled
    ]


def _check_twice_in_multi_point(usable: Merged, catalogue: Catalogue, findings: Findings) -> None:
    """Two entries are one too many where both come to run, and odd elsewhere."""
    entries = usable[MULTI_POINT].enabled
    # What stands last in the file is the superfluous one, whatever its place in the order.
    last = dict.fromkeys(catalogue, 0)
    for entry in entries:
        last[entry.name] = max(last[entry.name], entry.index or 0)
    spread_out = {
        point: {entry.name for entry in _spread_out(point, usable, catalogue)}
        - {entry.name for entry in usable[point].enabled}
        for point in EXTENSION_POINTS
    }
    for entry, repeated in _with_repetitions(entries):
        if repeated:
            runs = any(entry.name in names for names in spread_out.values())
            report = findings.error if runs else findings.warning
            here = (MULTI_POINT, "enabled", last[entry.name])
            report(f"plugin {entry.name} is enabled twice", *here)


class _Weight(msgspec.Struct, frozen=True):
    value: int
    path: Path


def _weights(point: str, usable: Merged, catalogue: Catalogue) -> dict[str, _Weight]:
    """What each plugin's scores count for; what the point itself says goes first."""
    weights: dict[str, _Weight] = {}
    for key in (point, MULTI_POINT):
        for entry in usable[key].enabled:
            if point in catalogue[entry.name]:
                path: Path = () if entry.index is None else (key, "enabled", entry.index, "weight")
                weights.setdefault(entry.name, _Weight(entry.weight or 1, path))
    return weights


def _check_weights(weights: Iterable[_Weight], findings: Findings) -> None:
    """Find what upstream calls an overflow: by its own arithmetic, a negative weight at most places.

    Upstream adds up in int64 whether all scores together fit int64.  Its check itself wraps
    around once the sum is negative, so that whatever comes next looks too big; a negative
    weight that leaves the sum positive, or comes last, goes through.
    """
    total = 0
    negative: list[_Weight] = []
    too_large = False
    for weight in weights:
        if weight.value < 0:
            negative.append(weight)
        too_large |= weight.value * _MAX_SCORE > _wrapped(_MAX_INT64 - total)
        total += weight.value * _MAX_SCORE
    report = findings.error if too_large else findings.warning
    for weight in negative:
        report(
            f"a weight should not be negative, got {weight.value}",
            *weight.path,
            suggestion="to leave a plugin out, disable it",
        )


def _wrapped(value: int) -> int:
    """What Go's int64 makes of a result that is too big for it."""
    return (value + 2**63) % 2**64 - 2**63


def _check_numbers(
    running: Mapping[str, Collection[RunningPlugin]], merged: Merged, findings: Findings
) -> None:
    """Some points need a plugin, and some bear only one."""
    sorts = [plugin.name for plugin in running["queueSort"]]
    # Where something is listed but unusable, that has been said already.
    if not sorts and not merged["queueSort"].enabled:
        findings.error(
            "no plugin sorts the queue, need exactly one",
            "queueSort",
            suggestion="enable PrioritySort",
        )
    elif len(sorts) > 1:
        findings.error(
            f"only one plugin can sort the queue, got {', '.join(sorts)}",
            "queueSort",
            suggestion=f"disable {' or '.join(sorts)} here",
        )
    if not running["bind"] and not merged["bind"].enabled:
        findings.error(
            "no plugin binds pods, need at least one", "bind", suggestion="enable DefaultBinder"
        )
    placers = [plugin.name for plugin in running["placementGenerate"]]
    if len(placers) > 1:
        findings.error(
            f"only one plugin can generate placements, got {', '.join(placers)}",
            "placementGenerate",
            suggestion=f"disable {' or '.join(placers)} here",
        )
