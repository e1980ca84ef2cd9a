"""The predicates of a Policy as filter plugins.

Upstream: framework/plugins/legacy_registry.go ProcessPredicatePolicy, AppendPredicateConfigs (v1.22).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from berthing.config.findings import Findings, Path, did_you_mean
from berthing.config.legacy.conversion import Notes
from berthing.config.legacy.draft import Draft, Entry, LabelRule
from berthing.config.legacy.replacements import SERVICE_AFFINITY_INSTEAD, SERVICE_AFFINITY_IS_GONE
from berthing.config.legacy.shapes import PredicatePolicy
from berthing.config.v1 import ALL_PLUGINS

# In the order in which they ran.
PREDICATES: Mapping[str, tuple[str, ...]] = {
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "GeneralPredicates": ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"),
    "HostName": ("NodeName",),
    "PodFitsHostPorts": ("NodePorts",),
    "MatchNodeSelector": ("NodeAffinity",),
    "PodFitsResources": ("NodeResourcesFit",),
    "NoDiskConflict": ("VolumeRestrictions",),
    "PodToleratesNodeTaints": ("TaintToleration",),
    "CheckNodeLabelPresence": ("NodeLabel",),
    "CheckServiceAffinity": ("ServiceAffinity",),
    "MaxEBSVolumeCount": ("EBSLimits",),
    "MaxGCEPDVolumeCount": ("GCEPDLimits",),
    "MaxCSIVolumeCountPred": ("NodeVolumeLimits",),
    "MaxAzureDiskVolumeCount": ("AzureDiskLimits",),
    "MaxCinderVolumeCount": ("CinderLimits",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "NoVolumeZoneConflict": ("VolumeZone",),
    "EvenPodsSpread": ("PodTopologySpread",),
    "MatchInterPodAffinity": ("InterPodAffinity",),
}
_ALIASES = {"PodFitsPorts": "PodFitsHostPorts"}
_MANDATORY = ("CheckNodeUnschedulable", "PodToleratesNodeTaints")

# What predicates with an argument become, whatever they are called.
_LABELS_PRESENCE = "CheckNodeLabelPresence"
_SERVICE_AFFINITY = "CheckServiceAffinity"

_LIST: Path = ("predicates",)


def add_predicates(
    draft: Draft, predicates: Sequence[PredicatePolicy], findings: Findings, notes: Notes
) -> None:
    """Make a draft run what the list asks for, and the predicates that always ran."""
    chosen: dict[str, Path] = dict.fromkeys(_MANDATORY, _LIST)
    for index, predicate in enumerate(predicates):
        path = (*_LIST, index)
        name = _named(predicate, path, findings.under(index), notes)
        if name is not None:
            chosen[name] = path
        if name == _LABELS_PRESENCE:
            draft.required_labels += _labels(predicate, path)
    filters: dict[str, Entry] = {}
    for name, plugins in PREDICATES.items():
        for plugin in plugins if name in chosen else ():
            filters.setdefault(plugin, Entry(plugin, origin=chosen[name]))
    for point in ("preFilter", "filter"):
        draft.at(point).disabled = [Entry(ALL_PLUGINS, origin=_LIST)]
    draft.at("filter").enabled = [*filters.values()]
    if "VolumeBinding" not in filters:
        for point in ("reserve", "preBind"):
            draft.at(point).disabled = [Entry("VolumeBinding", origin=_LIST)]


def _named(predicate: PredicatePolicy, path: Path, findings: Findings, notes: Notes) -> str | None:
    """The predicate that is meant; None if there is none such."""
    name, argument = _ALIASES.get(predicate.name, predicate.name), predicate.argument
    if argument and (argument.service_affinity is None) is (argument.labels_presence is None):
        findings.error("give either serviceAffinity or labelsPresence", "argument")
        return None
    if name in {_LABELS_PRESENCE, _SERVICE_AFFINITY}:
        findings.error(
            f"{name} does not read its argument", "name", suggestion="give it any other name"
        )
        return None
    if name in PREDICATES:
        if argument:
            notes.add(f"{name} takes no argument: it is left out", (*path, "argument"))
        return name
    if argument is None:
        findings.error(
            f"there is no predicate {predicate.name!r}",
            "name",
            suggestion=did_you_mean(predicate.name, [*PREDICATES, *_ALIASES]),
        )
        return None
    if argument.service_affinity:
        notes.add(SERVICE_AFFINITY_IS_GONE, path, suggestion=SERVICE_AFFINITY_INSTEAD)
        return None
    return _LABELS_PRESENCE


def _labels(predicate: PredicatePolicy, path: Path) -> list[LabelRule]:
    presence = predicate.argument and predicate.argument.labels_presence
    if not presence:
        return []
    return [
        LabelRule(label, presence.presence, (*path, "argument", "labelsPresence", "labels", index))
        for index, label in enumerate(presence.labels)
    ]
