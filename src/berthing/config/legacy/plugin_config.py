"""`pluginConfig` of the older versions: checked by the types of its version, told in v1's words.

Upstream: kube-scheduler/config/{v1beta1,v1beta2,v1beta3}/types_pluginargs.go and defaults.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from berthing.config.decode import decode
from berthing.config.default_plugins import IN_TREE_ARGS
from berthing.config.findings import Findings, Path
from berthing.config.legacy.conversion import Notes
from berthing.config.legacy.draft import Args, Draft, LabelRule
from berthing.config.legacy.replacements import STRATEGY_TYPES
from berthing.config.legacy.shapes import V1BETA1_ARGS, AllocatedArgs
from berthing.config.legacy.strategies import strategy_from
from berthing.config.legacy.tree import as_list, as_object
from berthing.config.legacy.versions import OLD_DEFAULTS, OLD_VERSIONS, V1BETA1
from berthing.config.v1 import API_VERSION

# Args may say what they are.
_TYPE_FIELDS = ("apiVersion", "kind")


def check_args(old: Mapping[str, object], version: str, findings: Findings) -> None:
    """Read the args of plugins that are known strictly, as far as there is a way to them."""
    types = {**IN_TREE_ARGS, **(V1BETA1_ARGS if version == V1BETA1 else {})}
    for i, profile in enumerate(as_list(old.get("profiles"))):
        for j, config in enumerate(as_list(as_object(profile).get("pluginConfig"))):
            name, args = as_object(config).get("name"), as_object(config).get("args")
            if isinstance(name, str) and name in types and args is not None:
                here = findings.under("profiles", i, "pluginConfig", j, "args")
                _check_type(as_object(args), f"{name}Args", here)
                decoded = decode(_untyped(args), types[name], here)
                if isinstance(decoded, AllocatedArgs):
                    _check_weights(decoded, here)


def _check_type(args: Mapping[str, object], kind: str, findings: Findings) -> None:
    if args.get("kind") not in {None, "", kind}:
        findings.error(
            f"these are args of another plugin, need {kind}", "kind", suggestion=f"write {kind}"
        )
    if args.get("apiVersion") not in {None, "", API_VERSION, *OLD_VERSIONS}:
        findings.error(
            f"there is no version {args['apiVersion']} of a configuration",
            "apiVersion",
            suggestion="leave it out",
        )


def _untyped(args: object) -> object:
    if not isinstance(args, dict):
        return args
    return {key: value for key, value in args.items() if key not in _TYPE_FIELDS}


def _check_weights(args: AllocatedArgs, findings: Findings) -> None:
    """Find what v1 would not: there, no weight means 1, and RequestedToCapacityRatio had no limit."""
    for index, resource in enumerate(args.resources):
        if not 0 < resource.weight <= 100:
            findings.error(
                f"the weight of {resource.name} must be 1 to 100, got {resource.weight}",
                "resources",
                index,
                "weight",
                suggestion="" if resource.weight else "write weight: 1",
            )


def add_args(draft: Draft, name: str, args: object, path: Path, notes: Notes) -> None:
    """Add to a draft what the file says of one plugin."""
    is_v1beta1 = draft.defaults is OLD_DEFAULTS[V1BETA1]
    if name not in V1BETA1_ARGS:
        carried = _carried(name, args)
        if name == "PodTopologySpread" and is_v1beta1:
            carried = _with_defaulting_type(carried)
        draft.args.append(Args(name, carried, path))
    elif not is_v1beta1:
        notes.add(f"{name} is gone, and its args had no effect: they are left out", path)
    elif name in STRATEGY_TYPES:
        draft.strategies[name] = strategy_from(as_object(args), path, notes)
    elif name == "NodeLabel":
        draft.required_labels = [
            *_rules(args, "presentLabels", path, present=True),
            *_rules(args, "absentLabels", path, present=False),
        ]
        draft.preferred_labels = [
            *_rules(args, "presentLabelsPreference", path, present=True),
            *_rules(args, "absentLabelsPreference", path, present=False),
        ]
    else:
        draft.args.append(Args(name, args, path))


def _carried(name: str, args: object) -> object:
    """Args as they are, but for the version they say they have."""
    if name in IN_TREE_ARGS:
        return _untyped(args)
    if isinstance(args, dict) and args.get("apiVersion") in OLD_VERSIONS:
        return {**args, "apiVersion": API_VERSION}
    return args


def _with_defaulting_type(args: object) -> object:
    """Say that constraints are to be used: after v1beta1 that no longer goes without saying."""
    fields = as_object(args)
    if fields.get("defaultConstraints") and not fields.get("defaultingType"):
        return {**fields, "defaultingType": "List"}
    return args


def _rules(args: object, field: str, path: Path, *, present: bool) -> list[LabelRule]:
    return [
        LabelRule(str(label), present, (*path, field, index))
        for index, label in enumerate(as_list(as_object(args).get(field)))
    ]
