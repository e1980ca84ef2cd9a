"""Feature gates: which features of Kubernetes v1.36 are on, as `--feature-gates` sets them.

Upstream: component-base/featuregate/feature_gate.go, component-base/compatibility/registry.go.
Differs:  all mistakes are told at once; no version but v1.36 can be emulated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from berthing.config.findings import Findings, did_you_mean
from berthing.config.known_features import DEPENDENCIES, KNOWN_GATES, Stage

# What may stand before the colon, as in kube:SomeGate=true: a scheduler has no other component.
_COMPONENT = "kube"

# Each stands for all gates of its stage that are not named themselves.
_STAGE_GATES = {"AllAlpha": Stage.ALPHA, "AllBeta": Stage.BETA}

# The words of Go's strconv.ParseBool.
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


class FeatureGates(msgspec.Struct, frozen=True):
    """Which features are on; without arguments, as they are by default."""

    # Only what differs from the defaults, so that gates that act alike are equal.
    changed: frozenset[str] = frozenset()

    def enabled(self, name: str) -> bool:
        """True if this feature is on; KeyError for a gate that v1.36 does not know."""
        return KNOWN_GATES[name].default is not (name in self.changed)

    def setting(self, gates: Mapping[str, bool]) -> FeatureGates:
        """The same with some gates set, whether or not they are locked or need others."""
        settings = {name: self.enabled(name) for name in self.changed} | dict(gates)
        return FeatureGates(
            frozenset(name for name, on in settings.items() if on is not KNOWN_GATES[name].default)
        )


def parse_feature_gates(texts: Iterable[str], findings: Findings) -> FeatureGates | None:
    """Read what `--feature-gates` was given, once or several times; None if anything is wrong.

    Later settings win over earlier ones.  A finding's path is the name of its gate.
    """
    mistakes = Findings()
    settings = _settings(texts, mistakes)
    _check_settings(settings, mistakes)
    gates = None
    if not mistakes.errors:
        gates = FeatureGates().setting(_with_stages_spread_out(settings))
        _check_dependencies(gates, mistakes)
    for finding in mistakes:
        findings.add(finding)
    return None if mistakes.errors else gates


def _settings(texts: Iterable[str], findings: Findings) -> dict[str, bool]:
    """What is asked for, gates that do not exist included."""
    settings: dict[str, bool] = {}
    prefixes = set()
    for pair in (pair for text in texts for pair in text.split(",") if pair):
        prefix, setting = _split_prefix(pair)
        prefixes.add(prefix)
        if not setting:
            continue
        name, equals, value = (part.strip() for part in setting.partition("="))
        if prefix not in {"", _COMPONENT}:
            findings.error(
                f"no component is called {prefix!r} here",
                name,
                suggestion=f"write {setting} without a prefix",
            )
        elif not equals:
            findings.error("it says neither true nor false", name, suggestion=f"{name}=true?")
        elif value not in _BOOLEANS:
            findings.error(f"{value!r} is neither true nor false", name, suggestion=f"{name}=true?")
        else:
            settings[name] = _BOOLEANS[value]
    if prefixes >= {"", _COMPONENT}:
        findings.error(
            f"some gates have the prefix {_COMPONENT}: and some have none",
            suggestion="leave it out everywhere",
        )
    return settings


def _split_prefix(pair: str) -> tuple[str, str]:
    before, colon, after = pair.partition(":")
    return (before.strip(), after.strip()) if colon else ("", pair.strip())


def _check_settings(settings: Mapping[str, bool], findings: Findings) -> None:
    for name, on in settings.items():
        gate = KNOWN_GATES.get(name)
        if name in _STAGE_GATES:
            continue
        if gate is None:
            findings.error(
                f"there is no feature gate {name!r} in v1.36",
                name,
                suggestion=did_you_mean(name, (*KNOWN_GATES, *_STAGE_GATES)),
            )
        elif gate.locked and on is not gate.default:
            state = "on" if gate.default else "off"
            findings.error(
                f"it is locked: always {state} in v1.36", name, suggestion="leave it out"
            )
        elif gate.stage in {Stage.GA, Stage.DEPRECATED}:
            findings.warning(f"it is {gate.stage} and will be gone in a later version", name)


def _with_stages_spread_out(settings: Mapping[str, bool]) -> dict[str, bool]:
    stages = {_STAGE_GATES[name]: on for name, on in settings.items() if name in _STAGE_GATES}
    spread = {
        name: stages[gate.stage] for name, gate in KNOWN_GATES.items() if gate.stage in stages
    }
    named = {name: on for name, on in settings.items() if name not in _STAGE_GATES}
    return spread | named


def _check_dependencies(gates: FeatureGates, findings: Findings) -> None:
    for name, needed in DEPENDENCIES.items():
        missing = [other for other in needed if not gates.enabled(other)]
        if gates.enabled(name) and missing:
            findings.error(
                f"it is on, but needs what is off: {', '.join(missing)}",
                name,
                suggestion=f"set {','.join(f'{other}=true' for other in missing)} or {name}=false",
            )
