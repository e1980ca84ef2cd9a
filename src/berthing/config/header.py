"""What a file or the arguments of a plugin say they are: `apiVersion` and `kind`.

Upstream: apimachinery/pkg/runtime/serializer/json, kube-scheduler/config/v1/types.go
          PluginConfig.decodeNestedObjects.
"""

from __future__ import annotations

from collections.abc import Mapping

from berthing.config.default_plugins import IN_TREE_ARGS
from berthing.config.findings import Findings, did_you_mean
from berthing.config.legacy.versions import OLD_VERSIONS
from berthing.config.v1 import API_VERSION, GROUP, KIND

HEADER = ("apiVersion", "kind")

_INTERNAL_VERSION = f"{GROUP}/__internal"
# What upstream misses first in a configuration for which there are no defaults.
_NEEDED_INTERNALLY = ("parallelism", "profiles", "podInitialBackoffSeconds")

_POLICY = "Policy"
_MIGRATE = "run: berthing config migrate FILE"


def check_header(tree: Mapping[str, object], findings: Findings) -> bool:
    """True if this is to be read as v1, be it with mistakes; if not, it says what it is instead."""
    kind, version = _text(tree, "kind", findings), _text(tree, "apiVersion", findings)
    for name, text, right in (("kind", kind, KIND), ("apiVersion", version, API_VERSION)):
        if text == "":
            findings.error(f"{name} is missing", name, suggestion=f"write {name}: {right}")
    if not kind and not version:
        return False
    return _is_kind(kind, tree, findings) & _is_version(version, kind, tree, findings)


def args_by_themselves(tree: Mapping[str, object]) -> str | None:
    """The plugin whose arguments stand where a configuration should."""
    kind, version = _value(tree, "kind"), _value(tree, "apiVersion")
    plugin = kind.removesuffix("Args") if isinstance(kind, str) and kind.endswith("Args") else None
    return plugin if version == API_VERSION and plugin in IN_TREE_ARGS else None


def _text(tree: Mapping[str, object], name: str, findings: Findings) -> str | None:
    """What is written there, "" for nothing; None for what is no text."""
    value = _value(tree, name)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    findings.error("must be a text", name)
    return None


def _value(tree: Mapping[str, object], name: str) -> object:
    """What is written there; upstream finds a misspelt Kind, and is surprised by it afterwards."""
    value = tree.get(name)
    if value is None:
        value = next((tree[key] for key in tree if key.casefold() == name.casefold()), None)
    return value


def _is_kind(kind: str | None, tree: Mapping[str, object], findings: Findings) -> bool:
    if not kind or kind == KIND:
        return True
    if kind == _POLICY:
        findings.error(
            "a Policy was the configuration of schedulers before 1.23", "kind", suggestion=_MIGRATE
        )
        return False
    if args_by_themselves(tree):
        findings.error(
            f"{kind} is no configuration by itself",
            "kind",
            suggestion=f"put it into a {KIND}, under profiles[0].pluginConfig[0].args",
        )
        return False
    findings.error(f'must be {KIND}, got "{kind}"', "kind", suggestion=did_you_mean(kind, [KIND]))
    return kind.casefold() == KIND.casefold()


def _is_version(
    version: str | None, kind: str | None, tree: Mapping[str, object], findings: Findings
) -> bool:
    if not version or version == API_VERSION:
        return True
    if version == _INTERNAL_VERSION:
        _refuse_internal(tree, findings)
    elif version in OLD_VERSIONS:
        findings.error(
            f"{version} is not read by Kubernetes 1.36, only {API_VERSION}",
            "apiVersion",
            suggestion=_MIGRATE,
        )
    elif kind != _POLICY:
        findings.error(
            f'must be {API_VERSION}, got "{version}"',
            "apiVersion",
            suggestion=did_you_mean(version, [API_VERSION]),
        )
    return False


def _refuse_internal(tree: Mapping[str, object], findings: Findings) -> None:
    """Upstream reads this, but with none of the names and defaults that are documented."""
    findings.error(
        "this is the form that kube-scheduler uses inside",
        "apiVersion",
        suggestion=f"write apiVersion: {API_VERSION}",
    )
    for name in tree:
        if name not in HEADER:
            findings.error(f"unknown field {name} in the internal form", name)
    for name in _NEEDED_INTERNALLY:
        if name not in tree:
            findings.error(f"{name} has no default in the internal form", name)


def check_args_header(plugin: str, tree: Mapping[str, object], findings: Findings) -> bool:
    """True if these can be the arguments of `plugin`; both texts may be left out."""
    kind, version = _text(tree, "kind", findings), _text(tree, "apiVersion", findings)
    if version and version != API_VERSION:
        findings.error(f'must be {API_VERSION}, got "{version}"', "apiVersion")
    if kind and kind != f"{plugin}Args":
        findings.error(
            f'must be {plugin}Args for the plugin {plugin}, got "{kind}"',
            "kind",
            suggestion="leave it out",
        )
    return kind in {"", f"{plugin}Args"} and version in {"", API_VERSION}
