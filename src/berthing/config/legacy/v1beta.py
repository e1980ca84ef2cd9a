"""v1beta1, v1beta2 and v1beta3 of KubeSchedulerConfiguration as v1.

What is outside of profiles has hardly changed and is taken over as it is written.  Of a
profile the lists of plugins are taken over entry by entry, so that the file stays recognisable.

Upstream: pkg/scheduler/apis/config/{v1beta1,v1beta2,v1beta3} (v1.22, v1.24, v1.28).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from berthing.config.decode import decode
from berthing.config.default_plugins import REPLACEMENTS
from berthing.config.defaults import DEFAULT_SCHEDULER_NAME
from berthing.config.document import Document
from berthing.config.findings import Finding, Findings, Path
from berthing.config.legacy.checks import check_labels
from berthing.config.legacy.conversion import Converted, Notes, Origin
from berthing.config.legacy.draft import Draft, Entry
from berthing.config.legacy.plugin_config import add_args, check_args
from berthing.config.legacy.profile import write_profile
from berthing.config.legacy.replacements import STRATEGY_TYPES, replace_removed
from berthing.config.legacy.shapes import (
    CONFIGURATIONS,
    MultiPointProfile,
    OldConfiguration,
    PointPlugins,
    PointProfile,
)
from berthing.config.legacy.today import settle
from berthing.config.legacy.tree import as_list, as_object
from berthing.config.legacy.versions import OLD_DEFAULTS, V1BETA1, short_name
from berthing.config.v1 import API_VERSION, KIND, MULTI_POINT, Plugin, PluginSet

# Last heard of in v1beta1.
_REMOVED_IN_V1BETA2 = frozenset(
    {*STRATEGY_TYPES, "NodeLabel", "NodePreferAvoidPods", "ServiceAffinity"}
)

_BIND_ADDRESSES = ("healthzBindAddress", "metricsBindAddress")
# What turned these servers off: no address, or port 0.
_SERVES_NOTHING = re.compile(r"|.*:0")

# Other kinds of lock that leader election once knew.
_FORMER_LOCKS = ("endpoints", "configmaps", "endpointsleases", "configmapsleases")

_UNCHANGED_PROFILE: dict[str, object] = {"schedulerName": DEFAULT_SCHEDULER_NAME}


def convert_configuration(document: Document, findings: Findings) -> Converted | None:
    """The v1 equivalent of an older KubeSchedulerConfiguration; None if there are mistakes in it."""
    old = as_object(document.value)
    version = str(old["apiVersion"])
    notes = Notes(document)
    mistakes_before = len(findings.errors)
    configuration = decode(old, CONFIGURATIONS[version], findings)
    check_args(old, version, findings)
    drafts = _drafts(configuration, version, notes)
    for draft in drafts:
        _check_lists(draft, version, findings)
        check_labels(draft, findings)
    if configuration is None or len(findings.errors) > mistakes_before:
        return None
    for draft in drafts:
        replace_removed(draft, notes)
        settle(draft, short_name(version), notes)
    origins: dict[Path, Origin] = {(): Origin(())}
    profiles = [
        write_profile(draft, written.get("schedulerName"), draft.path, origins)
        for draft, written in zip(drafts, _written_profiles(old), strict=True)
    ]
    value = _outside_profiles(old, notes)
    if old.get("profiles") or profiles != [_UNCHANGED_PROFILE]:
        value["profiles"] = profiles
    return Converted(value, notes.in_order(), origins)


def _drafts(configuration: OldConfiguration | None, version: str, notes: Notes) -> list[Draft]:
    if configuration is None:
        return []
    profiles: Sequence[PointProfile | MultiPointProfile] = configuration.profiles
    return [
        _draft(profile, ("profiles", i), version, notes)
        for i, profile in enumerate(profiles or [PointProfile()])
    ]


def _written_profiles(old: Mapping[str, object]) -> list[dict[str, object]]:
    return [as_object(profile) for profile in as_list(old.get("profiles"))] or [_UNCHANGED_PROFILE]


def _draft(
    profile: PointProfile | MultiPointProfile, path: Path, version: str, notes: Notes
) -> Draft:
    draft = Draft(OLD_DEFAULTS[version], path)
    for point, plugins in _sets(profile.plugins):
        here = (*path, "plugins", point)
        if point == "preEnqueue" or (point == MULTI_POINT and MULTI_POINT not in draft.defaults):
            # These had a place in the file, but upstream's defaulting forgot about them.
            if plugins.enabled or plugins.disabled:
                notes.add(f"{point} had no effect in {short_name(version)}: it is left out", here)
            continue
        draft.at(point).enabled = _entries(plugins.enabled, (*here, "enabled"))
        draft.at(point).disabled = _entries(plugins.disabled, (*here, "disabled"))
    for j, config in enumerate(profile.plugin_config):
        add_args(draft, config.name, config.args, (*path, "pluginConfig", j, "args"), notes)
    return draft


def _sets(plugins: PointPlugins) -> Iterator[tuple[str, PluginSet]]:
    return zip(plugins.__struct_encode_fields__, msgspec.structs.astuple(plugins), strict=True)


def _entries(plugins: Iterable[Plugin], path: Path) -> list[Entry]:
    return [
        Entry(plugin.name, plugin.weight, (*path, index)) for index, plugin in enumerate(plugins)
    ]


def _check_lists(draft: Draft, version: str, findings: Findings) -> None:
    """Refuse what that version refused, as far as v1 could not find it any more."""
    if version != V1BETA1:
        _check_removed(draft, findings)
        return
    for point in draft.points:
        _check_repeated_defaults(draft, point, findings)
    _check_scorers(draft, findings)


def _check_removed(draft: Draft, findings: Findings) -> None:
    for entry in draft.mentions(_REMOVED_IN_V1BETA2):
        suggestion = REPLACEMENTS.get(entry.name, "")
        findings.add(
            Finding(f"plugin {entry.name} was removed in v1beta2", entry.origin, suggestion)
        )


def _check_repeated_defaults(draft: Draft, point: str, findings: Findings) -> None:
    """In v1beta1 a default plugin could not be named again, only replaced."""
    lists = draft.at(point)
    runs_anyway = draft.defaults[point].keys() - lists.disabled_names()
    for entry in [] if draft.stands_alone(point) else lists.enabled:
        if entry.name in runs_anyway:
            findings.add(
                Finding(
                    f"plugin {entry.name} is enabled twice: it runs at {point} by default",
                    entry.origin,
                    f"disable {entry.name} there as well, to give it another weight or place",
                )
            )


def _check_scorers(draft: Draft, findings: Findings) -> None:
    fit = draft.find("score", "NodeResourcesFit")
    rivals = [entry.name for entry in draft.running("score") if entry.name in STRATEGY_TYPES]
    if fit is not None and rivals:
        names = " and ".join(rivals)
        findings.add(
            Finding(
                f"NodeResourcesFit cannot score beside {names} in v1beta1",
                fit.origin,
                f"disable {names}",
            )
        )


def _outside_profiles(old: Mapping[str, object], notes: Notes) -> dict[str, object]:
    """The new object in the order of the file, with the old profiles in their place."""
    value: dict[str, object] = {"apiVersion": API_VERSION, "kind": KIND}
    for key, written in old.items():
        if key in _BIND_ADDRESSES:
            if not _SERVES_NOTHING.fullmatch(str(written or "")):
                notes.add(
                    f"{key} is gone: health checks and metrics are served over HTTPS only",
                    (key,),
                    suggestion="set the address by the flags --bind-address and --secure-port",
                )
        elif key == "leaderElection":
            value[key] = _with_leases(written, notes)
        else:
            value.setdefault(key, written)
    return value


def _with_leases(written: object, notes: Notes) -> dict[str, object]:
    election = as_object(written)
    lock = election.get("resourceLock")
    if lock in _FORMER_LOCKS:
        election["resourceLock"] = "leases"
        notes.add(
            f"resourceLock {lock} is gone: leases takes its place, and does not see schedulers "
            "that hold the old lock",
            ("leaderElection", "resourceLock"),
            suggestion="stop all replicas that use the old lock first",
        )
    return election
