"""Warnings about the plugins of a profile and their arguments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from berthing.config.advice_args import advise_args
from berthing.config.default_plugins import (
    FEATURES_OF_PLUGINS,
    IN_TREE,
    INVALID_PLUGINS,
    REPLACEMENTS,
)
from berthing.config.features import FeatureGates
from berthing.config.findings import Findings, Path
from berthing.config.profile import Catalogue, Merged, RunningPlugin, enabled_names, similar_name
from berthing.config.v1 import (
    ALL_PLUGINS,
    MULTI_POINT,
    WEIGHTED_POINTS,
    KubeSchedulerProfile,
    Plugin,
    Plugins,
    PluginSet,
)

Running = Mapping[str, Collection[RunningPlugin]]

# What these plugins learn at the first point, they cannot do without at the others.
_PREPARATIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "preFilter": {
        "NodePorts": ("filter",),
        "NodeResourcesFit": ("filter",),
        "VolumeRestrictions": ("filter",),
        "VolumeBinding": ("filter", "score", "reserve", "preBind"),
        "PodTopologySpread": ("filter",),
        "InterPodAffinity": ("filter",),
        "DynamicResources": ("filter", "postFilter", "score", "reserve", "preBind"),
        "NodeDeclaredFeatures": ("filter",),
    },
    "preScore": {
        "TaintToleration": ("score",),
        "PodTopologySpread": ("score",),
        "InterPodAffinity": ("score",),
    },
}


def advise_plugins(
    plugins: Plugins,
    merged: Merged,
    running: Running,
    catalogue: Catalogue,
    gates: FeatureGates,
    findings: Findings,
) -> None:
    """Warn about what is odd under `plugins`, of which `findings` is the view."""
    for key, plugin_set in plugins.sets():
        for index, plugin in enumerate(plugin_set.enabled):
            here = findings.under(key, "enabled", index)
            _weight(key, plugin, catalogue, here.under("weight"))
            _feature(plugin.name, gates, here)
        _disabled(key, plugin_set.disabled, merged, catalogue, findings.under(key, "disabled"))
    _weights_lost(plugins, merged, findings)
    _unprepared(plugins, running, findings)


def _weight(key: str, plugin: Plugin, catalogue: Catalogue, findings: Findings) -> None:
    points = catalogue.get(plugin.name, ()) if key == MULTI_POINT else (key,)
    scores = not points or bool(set(points) & set(WEIGHTED_POINTS))
    if plugin.weight and not scores:
        findings.warning(
            f"has no effect: {plugin.name} gives no scores"
            if key == MULTI_POINT
            else f"has no effect: there are no scores at {key}"
        )
    # Where nobody gave a weight, kube-scheduler itself writes 0.
    elif plugin.weight == 0 and scores and (key, plugin.name) not in _WRITTEN_WITH_ZERO:
        findings.warning("0 means 1 here", suggestion="to leave a plugin out, disable it")


# The only default that gives scores and has no weight.
_WRITTEN_WITH_ZERO = ((MULTI_POINT, "VolumeBinding"),)


def _feature(name: str, gates: FeatureGates, findings: Findings) -> None:
    gate = FEATURES_OF_PLUGINS.get(name)
    if gate is not None and not gates.enabled(gate):
        findings.warning(
            f"{name} has nothing to do while the feature {gate} is off",
            suggestion=f"set --feature-gates={gate}=true",
        )


def _disabled(
    key: str,
    disabled: Iterable[Plugin],
    merged: Merged,
    catalogue: Catalogue,
    findings: Findings,
) -> None:
    """Entries that change nothing may well have been meant to."""
    everything = ALL_PLUGINS in merged[key].disabled
    seen: set[str] = set()
    spread_out = {entry.name for entry in merged[MULTI_POINT].enabled}
    for index, plugin in enumerate(disabled):
        name, here = plugin.name, findings.under(index)
        if plugin.weight:
            here.warning("has no effect: this plugin is disabled", "weight")
        if name in seen:
            here.warning(f"{name} is disabled twice")
        elif name == ALL_PLUGINS:
            pass
        elif name not in catalogue:
            gone = "leave it out" if name in REPLACEMENTS else ""
            here.warning(
                f"there is no plugin {name} to disable",
                suggestion=gone or similar_name(name, catalogue, findings),
            )
        elif everything:
            here.warning(f'"{ALL_PLUGINS}" disables {name} already')
        elif key != MULTI_POINT and key not in catalogue[name]:
            here.warning(f"changes nothing: {name} does not take part in {key}")
        elif key != MULTI_POINT and name not in spread_out:
            here.warning(f"changes nothing: {name} is not enabled under {MULTI_POINT}")
        seen.add(name)


def _weights_lost(plugins: Plugins, merged: Merged, findings: Findings) -> None:
    """Who names a plugin under `score` to bring it forward also resets its weight to 1."""
    usual = {entry.name: entry.weight or 1 for entry in merged[MULTI_POINT].enabled}
    for key, plugin_set in plugins.sets():
        disabled = {plugin.name for plugin in plugin_set.disabled}
        for index, plugin in enumerate(plugin_set.enabled):
            weight = usual.get(plugin.name, 1)
            if key not in WEIGHTED_POINTS or plugin.weight is not None or weight == 1:
                continue
            if not disabled & {plugin.name, ALL_PLUGINS}:
                findings.warning(
                    f"the weight of {plugin.name} is 1 now, not {weight} any more",
                    *(key, "enabled", index),
                    suggestion=f"add weight: {weight} to keep it",
                )


def _unprepared(plugins: Plugins, running: Running, findings: Findings) -> None:
    """Plugins of which only a part is left, and not one that can work."""
    names = {point: {plugin.name for plugin in runs} for point, runs in running.items()}
    sets = dict(plugins.sets())
    for first, preparations in _PREPARATIONS.items():
        for name, points in preparations.items():
            affected = [point for point in points if name in names[point]]
            if affected and name not in names[first]:
                findings.warning(
                    f"{name} runs at {' and '.join(affected)} but not at {first}, where it gets "
                    "ready for that: it will fail every pod",
                    *_reason(name, first, affected, sets),
                    suggestion=f"disable it at {affected[0]}, too, or enable it at {first}",
                )


def _reason(name: str, first: str, affected: Iterable[str], sets: Mapping[str, PluginSet]) -> Path:
    """Which entry leaves a plugin at a part of its points only."""
    for index, plugin in enumerate(sets[first].disabled):
        if plugin.name in {name, ALL_PLUGINS}:
            return (first, "disabled", index)
    for point in affected:
        for index, plugin in enumerate(sets[point].enabled):
            if plugin.name == name:
                return (point, "enabled", index)
    return (first,)


def advise_plugin_config(
    profile: KubeSchedulerProfile, merged: Merged, catalogue: Catalogue, findings: Findings
) -> None:
    """Warn about what is odd under `pluginConfig`, of which `findings` is the view."""
    enabled = enabled_names(merged)
    for index, config in enumerate(profile.plugin_config):
        name = config.name
        if not name:
            findings.warning("the name of the plugin is missing: nothing gets these", index)
        elif name in INVALID_PLUGINS:
            continue
        elif name not in catalogue:
            findings.warning(
                f"there is no plugin {name} that could get these",
                index,
                suggestion=REPLACEMENTS.get(name) or similar_name(name, catalogue, findings),
            )
        elif name not in enabled:
            findings.warning(f"{name} is not enabled in this profile", index)
        elif config.args is not None and name in IN_TREE and IN_TREE[name].args is None:
            findings.warning(f"{name} has no arguments", index, "args")
        advise_args(config.args, findings.under(index, "args"))
