"""The extenders of a Policy: today's, but for the case of keys and the unit of httpTimeout.

Upstream: LegacyExtender in kube-scheduler/config/v1/types.go (v1.22), which Go's own JSON reads.
Differs:  a key that means nothing is warned of; upstream said nothing and went on, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from berthing.config.decode import decode
from berthing.config.durations import Duration
from berthing.config.findings import Findings, Path, did_you_mean
from berthing.config.legacy.conversion import Origin, source_path
from berthing.config.v1 import ConfigStruct, Extender, ExtenderManagedResource, ExtenderTLSConfig

_TYPES_WITHIN: Mapping[str, type[ConfigStruct]] = {
    "tlsConfig": ExtenderTLSConfig,
    "managedResources": ExtenderManagedResource,
}
_TIMEOUT = "httpTimeout"
_INT64_END = 2**63


def convert_extenders(
    extenders: Sequence[object], findings: Findings, origins: dict[Path, Origin]
) -> list[object]:
    """The extenders as v1 has them, each checked for its types."""
    converted = []
    origins["extenders",] = Origin(("extenders",))
    for index, written in enumerate(extenders):
        path: Path = ("extenders", index)
        extender = _Speller(findings, origins).respelt(written, Extender, path, path)
        if isinstance(extender, dict):
            _retime(extender, findings, source_path(origins, (*path, _TIMEOUT)))
        converted.append({} if extender is None else extender)
        mistakes = Findings()
        decode(extender, Extender, mistakes.under(*path))
        for mistake in mistakes:
            place = source_path(origins, mistake.path)
            findings.add(msgspec.structs.replace(mistake, path=place))
    return converted


class _Speller:
    """Spells keys as v1 does; `origins` remember how they were spelt."""

    def __init__(self, findings: Findings, origins: dict[Path, Origin]) -> None:
        self._findings = findings
        self._origins = origins

    def respelt(self, value: object, type_: type[ConfigStruct], path: Path, origin: Path) -> object:
        """A `value` at `origin` of the file, to stand at `path` of the new tree."""
        self._origins[path] = Origin(origin)
        if isinstance(value, list):
            return [
                self.respelt(item, type_, (*path, index), (*origin, index))
                for index, item in enumerate(value)
            ]
        if not isinstance(value, dict):
            return value
        known = {name.casefold(): name for name in type_.__struct_encode_fields__}
        respelt: dict[str, object] = {}
        for key, inner in value.items():
            name = known.get(key.casefold())
            if name is None:
                self._warn(
                    f"{key} means nothing here", (*origin, key), did_you_mean(key, known.values())
                )
                continue
            if name in respelt:
                self._warn(f"{key} is {name} again, and replaces it", (*origin, key))
            respelt[name] = self.respelt(
                inner, _TYPES_WITHIN.get(name, type_), (*path, name), (*origin, key)
            )
        return respelt

    def _warn(self, message: str, path: Path, suggestion: str = "") -> None:
        self._findings.warning(message, *path, suggestion=suggestion)


def _retime(extender: dict[str, object], findings: Findings, path: Path) -> None:
    """Write nanoseconds as a duration; 0, which means the default, is not written."""
    timeout = extender.get(_TIMEOUT)
    if isinstance(timeout, int) and 0 < abs(timeout) < _INT64_END:
        extender[_TIMEOUT] = str(Duration(timeout))
        return
    extender.pop(_TIMEOUT, None)
    if timeout is not None and timeout != 0:
        findings.error(
            f"must be a number of nanoseconds, got {timeout}",
            *path,
            suggestion=_in_nanoseconds(timeout),
        )


def _in_nanoseconds(timeout: object) -> str:
    try:
        return f"write {Duration.parse(str(timeout)).nanoseconds}"
    except ValueError:
        return ""
