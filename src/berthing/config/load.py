"""A configuration file, read: from text to what runs in every profile, with every mistake in it.

    text ---> document ---> types ---> defaults ---> validation ---> profiles ---> Loaded
              syntax        fields,    what was      values          what runs
                            args       left out                      where

Each step tells all that it finds, and the next works on whatever is sound, so that one reading
brings up everything.  Upstream stops after the first step that finds anything.

Upstream: cmd/kube-scheduler/app/options/configfile.go, kube-scheduler/config/v1/types.go
          DecodeNestedObjects, pkg/scheduler/scheduler.go New.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from berthing.config import legacy
from berthing.config.advice import advise
from berthing.config.decode import decode
from berthing.config.default_plugins import IN_TREE_ARGS, IN_TREE_CATALOGUE, default_plugins
from berthing.config.defaults import (
    args_with_defaults,
    profile_with_defaults,
    with_defaults,
    with_profiles,
)
from berthing.config.document import Document, parse_document, read_document
from berthing.config.extenders import check_certificates, with_ignored_resources
from berthing.config.features import FeatureGates
from berthing.config.findings import Finding, Findings, Path
from berthing.config.header import (
    HEADER,
    args_by_themselves,
    check_args_header,
    check_header,
)
from berthing.config.legacy.versions import is_legacy
from berthing.config.paths import as_written
from berthing.config.profile import (
    Catalogue,
    Merged,
    RunningPlugin,
    enabled_names,
    expand,
    merge,
)
from berthing.config.v1 import KubeSchedulerConfiguration, KubeSchedulerProfile, PluginConfig
from berthing.config.validation import check_queue_sorts, validate

ArgsTypes = Mapping[str, type[msgspec.Struct]]


class EffectiveProfile(msgspec.Struct, frozen=True):
    """What runs in one profile."""

    scheduler_name: str
    # By extension point, in running order.
    plugins: Mapping[str, tuple[RunningPlugin, ...]]
    # Of the plugins that are enabled, sorted by name; those without arguments are left out.
    args: Mapping[str, object]
    # Where plugins look at one node at a time, the share of nodes that is enough.
    percentage_of_nodes_to_score: int = 0

    @property
    def queue_sort(self) -> tuple[str, object]:
        """What sorts the queue, with its arguments."""
        name = self.plugins["queueSort"][0].name if self.plugins["queueSort"] else ""
        return name, self.args.get(name)


class Loaded(msgspec.Struct, frozen=True):
    """What came of reading one file: a complete configuration, unless there are errors."""

    file: str
    findings: tuple[Finding, ...] = ()
    config: KubeSchedulerConfiguration | None = None
    profiles: tuple[EffectiveProfile, ...] = ()

    @property
    def ok(self) -> bool:
        """True if the configuration can be used."""
        return self.config is not None


class _Installation(msgspec.Struct, frozen=True):
    """What a configuration is read against."""

    gates: FeatureGates
    catalogue: Catalogue
    args_types: ArgsTypes


# Working out what runs in a profile takes a millisecond, and nobody needs more than a few.
_MAX_PROFILES = 1000

_DEFAULT_GATES = FeatureGates()
_NO_TYPES: ArgsTypes = {}


def load(
    path: str | os.PathLike[str],
    *,
    gates: FeatureGates = _DEFAULT_GATES,
    catalogue: Catalogue = IN_TREE_CATALOGUE,
    args_types: ArgsTypes = _NO_TYPES,
    convert: bool = False,
) -> Loaded:
    """Read a configuration file; whatever is wrong with it is among the findings.

    `catalogue` has all plugins there are, with the points they take part in; `args_types` the
    types of arguments of those that are not built in.  With `convert`, older versions and
    Policy files are read, too; without, they are refused as kube-scheduler refuses them.
    """
    return load_document(
        read_document(path),
        gates=gates,
        catalogue=catalogue,
        args_types=args_types,
        convert=convert,
    )


def load_text(
    text: str | bytes,
    *,
    file: str = "",
    gates: FeatureGates = _DEFAULT_GATES,
    catalogue: Catalogue = IN_TREE_CATALOGUE,
    args_types: ArgsTypes = _NO_TYPES,
    convert: bool = False,
) -> Loaded:
    """Read the text of a configuration, as `load` does; `file` is what to call it."""
    return load_document(
        parse_document(text, file=file),
        gates=gates,
        catalogue=catalogue,
        args_types=args_types,
        convert=convert,
    )


def load_document(
    document: Document,
    *,
    gates: FeatureGates = _DEFAULT_GATES,
    catalogue: Catalogue = IN_TREE_CATALOGUE,
    args_types: ArgsTypes = _NO_TYPES,
    convert: bool = False,
) -> Loaded:
    """Go on from what was read of a file already, as `load` does."""
    installation = _Installation(gates, catalogue, {**IN_TREE_ARGS, **args_types})
    return _read(document, installation, convert=convert)


def default(
    *,
    gates: FeatureGates = _DEFAULT_GATES,
    catalogue: Catalogue = IN_TREE_CATALOGUE,
    args_types: ArgsTypes = _NO_TYPES,
) -> Loaded:
    """What holds without a file."""
    installation = _Installation(gates, catalogue, {**IN_TREE_ARGS, **args_types})
    findings = Findings()
    config, profiles = _complete(KubeSchedulerConfiguration(), installation, findings)
    return _loaded("", findings, config, profiles)


def _loaded(
    file: str,
    findings: Iterable[Finding],
    config: KubeSchedulerConfiguration | None,
    profiles: tuple[EffectiveProfile, ...],
) -> Loaded:
    found = tuple(findings)
    if config is None or any(finding.is_error for finding in found):
        return Loaded(file, found)
    return Loaded(file, found, config, profiles)


def _read(document: Document, installation: _Installation, *, convert: bool) -> Loaded:
    if convert and is_legacy(document.value):
        return _read_legacy(document, installation)
    findings = Findings()
    config, profiles = _interpret(document.value, installation, findings)
    found = [*document.findings, *(_placed(finding, document) for finding in findings)]
    # Two steps may come upon the same mistake.
    return _loaded(document.file, document.located(dict.fromkeys(found)), config, profiles)


def _placed(finding: Finding, document: Document) -> Finding:
    line, column = document.position(as_written(finding.path, document.value))
    return replace(finding, line=line, column=column)


def _read_legacy(document: Document, installation: _Installation) -> Loaded:
    findings = Findings()
    too_many = _has_too_many_profiles(document.value, findings)
    converted = None if too_many else legacy.convert(document, findings)
    found = [*document.findings, *findings]
    if converted is None:
        return Loaded(document.file, tuple(document.located(found)))
    in_v1 = Findings()
    config, profiles = _interpret(converted.value, installation, in_v1)
    # What is merely odd is not the user's doing here, but the converter's.
    found += [
        replace(finding, path=converted.source_path(as_written(finding.path, converted.value)))
        for finding in in_v1.errors
    ]
    found = [*dict.fromkeys(found), *converted.notes]
    return _loaded(document.file, document.located(found), config, profiles)


def _interpret(
    tree: object, installation: _Installation, findings: Findings
) -> tuple[KubeSchedulerConfiguration | None, tuple[EffectiveProfile, ...]]:
    """What a plain tree of v1 comes to."""
    if not isinstance(tree, dict):
        if tree is not None:
            findings.error(f"must be a mapping with apiVersion and kind, got {_kind_of(tree)}")
        return None, ()
    if not check_header(tree, findings):
        if misplaced := args_by_themselves(tree):
            decode(_without_header(tree), IN_TREE_ARGS[misplaced], findings)
        return None, ()
    if _has_too_many_profiles(tree, findings):
        return None, ()
    written = decode(tree, KubeSchedulerConfiguration, findings)
    if written is None:
        return None, ()
    written = _with_typed_args(written, installation.args_types, findings)
    checked = Findings()
    config, profiles = _complete(written, installation, checked)
    for finding in _about_sound_parts(checked, findings.errors):
        findings.add(finding)
    return config, profiles


def _has_too_many_profiles(tree: object, findings: Findings) -> bool:
    """Tell of more profiles than are worth reading: each may have any number of mistakes."""
    profiles = tree.get("profiles") if isinstance(tree, dict) else None
    if not isinstance(profiles, list) or len(profiles) <= _MAX_PROFILES:
        return False
    findings.error(
        f"there are {len(profiles)} profiles, more than the {_MAX_PROFILES} that are read",
        "profiles",
    )
    return True


def _kind_of(value: object) -> str:
    return "a list" if isinstance(value, list) else "a single value"


def _about_sound_parts(
    findings: Iterable[Finding], mistakes: Iterable[Finding]
) -> Iterator[Finding]:
    """Without what may only have come up because a part with a mistake was left out."""
    broken = {mistake.path for mistake in mistakes}
    above_broken = {start for path in broken for start in _starts(path)}
    for finding in findings:
        if finding.path not in above_broken and broken.isdisjoint(_starts(finding.path)):
            yield finding


def _starts(path: Path) -> Iterator[Path]:
    """The path and all above it, but for the whole file."""
    return (path[:length] for length in range(1, len(path) + 1))


def _with_typed_args(
    config: KubeSchedulerConfiguration, types: ArgsTypes, findings: Findings
) -> KubeSchedulerConfiguration:
    """Plugins' arguments as values of their types, where these are known."""
    return replace(
        config,
        profiles=tuple(
            _profile_with_typed_args(
                profile, types, findings.under("profiles", index, "pluginConfig")
            )
            for index, profile in enumerate(config.profiles)
        ),
    )


def _profile_with_typed_args(
    profile: KubeSchedulerProfile, types: ArgsTypes, findings: Findings
) -> KubeSchedulerProfile:
    return replace(
        profile,
        plugin_config=tuple(
            replace(given, args=_read_args(given, types[given.name], findings.under(index, "args")))
            if given.name in types
            else given
            for index, given in enumerate(profile.plugin_config)
        ),
    )


def _read_args(given: PluginConfig, type_: type[msgspec.Struct], findings: Findings) -> object:
    """The arguments of one plugin; None if they cannot be read."""
    tree = {} if given.args is None else given.args
    if not isinstance(tree, dict):
        findings.error(f"must be a mapping with arguments of {given.name}, got {_kind_of(tree)}")
        return None
    if not check_args_header(given.name, tree, findings):
        return None
    return decode(_without_header(tree), type_, findings)


def _without_header(tree: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in tree.items() if name not in HEADER}


def _complete(
    written: KubeSchedulerConfiguration, installation: _Installation, findings: Findings
) -> tuple[KubeSchedulerConfiguration, tuple[EffectiveProfile, ...]]:
    """Fill in the defaults, then check all that follows from them."""
    gates, catalogue = installation.gates, installation.catalogue
    written = with_profiles(written)
    config = with_defaults(written)
    merged = [merge(profile.plugins, default_plugins(gates)) for profile in config.profiles]
    config = replace(
        config,
        profiles=tuple(
            _complete_profile(profile, sets, installation, findings.under("profiles", index))
            for index, (profile, sets) in enumerate(zip(config.profiles, merged, strict=True))
        ),
    )
    # Before validation: arguments of NodeResourcesFit count as they are when it is built.
    config = with_ignored_resources(config, findings)
    validate(config, gates, findings)
    running = [
        expand(sets, catalogue, findings.under("profiles", index, "plugins"))
        for index, sets in enumerate(merged)
    ]
    advise(written, merged, running, catalogue, gates, findings)
    check_certificates(config.extenders, findings)
    profiles = tuple(
        _effective(config, *each) for each in zip(config.profiles, merged, running, strict=True)
    )
    check_queue_sorts([profile.queue_sort for profile in profiles], findings)
    return config, profiles


def _complete_profile(
    profile: KubeSchedulerProfile, merged: Merged, installation: _Installation, findings: Findings
) -> KubeSchedulerProfile:
    types, gates = installation.args_types, installation.gates
    unmentioned = enabled_names(merged) - {config.name for config in profile.plugin_config}
    default_args = {
        name: _default_args(name, types[name], findings)
        for name in sorted(unmentioned & types.keys())
    }
    complete = profile_with_defaults(profile, merged, default_args)
    return replace(
        complete,
        plugin_config=tuple(
            replace(config, args=args_with_defaults(config.args, gates))
            for config in complete.plugin_config
        ),
    )


def _default_args(name: str, type_: type[msgspec.Struct], findings: Findings) -> object:
    missing = Findings()
    args = decode({}, type_, missing)
    for finding in missing.errors:
        findings.error(
            f"plugin {name} needs arguments: {finding.message}",
            "pluginConfig",
            suggestion=f"add {{name: {name}, args: ...}} here",
        )
    return args


def _effective(
    config: KubeSchedulerConfiguration,
    profile: KubeSchedulerProfile,
    merged: Merged,
    running: Mapping[str, tuple[RunningPlugin, ...]],
) -> EffectiveProfile:
    enabled = enabled_names(merged)
    args = {config.name: config.args for config in profile.plugin_config if config.name in enabled}
    return EffectiveProfile(
        profile.scheduler_name or "",
        running,
        {name: args[name] for name in sorted(args) if args[name] is not None},
        config.percentage_of_nodes_to_score
        if profile.percentage_of_nodes_to_score is None
        else profile.percentage_of_nodes_to_score,
    )
