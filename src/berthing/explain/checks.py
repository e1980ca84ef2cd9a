"""What an API server would never have let through: objects that decode and still are wrong.

A scheduler leaves out what it cannot read in a running pod's selectors, as nothing else is to be
done.  Somebody who asks why a pod does not fit wants to hear of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from berthing.api.apps import ReplicaSet, StatefulSet
from berthing.api.field_errors import ROOT, FieldError, Place, quoted
from berthing.api.kinds import kind_of
from berthing.api.labels import LabelSelector, SelectorError, as_selector, key_errors
from berthing.api.meta import ApiObject
from berthing.api.names import label_value_errors
from berthing.api.node_selector import compile_node_selector, compile_preferred_terms
from berthing.api.pod import Pod, PodAffinity, PodAffinityTerm
from berthing.api.policy import PodDisruptionBudget
from berthing.api.taints import toleration_errors

_SPEC = ROOT.child("spec")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def described(obj: ApiObject) -> str:
    """The object by its kind and name: `Pod default/web`."""
    return f"{kind_of(type(obj)).kind} {obj.key}"


def mistakes(obj: ApiObject) -> Iterator[str]:
    """Whatever in an object keeps it from meaning anything, a line each."""
    if not obj.name:
        yield f"{described(obj).strip()}: metadata.name: it has no name"
        return
    for mistake in _about(obj):
        yield f"{described(obj)}: {mistake}"


def oddities(pod: Pod) -> Iterator[str]:
    """What is wrong with a pod that an API server lets through all the same."""
    return (str(each) for each in _node_affinity_errors(pod) if _is_let_through(each))


def _about(obj: ApiObject) -> Iterator[str]:
    match obj:
        case Pod():
            yield from _about_pod(obj)
        case ReplicaSet() | StatefulSet() | PodDisruptionBudget():
            yield from _about_selector(obj.spec.selector, _SPEC.child("selector"))


def _about_pod(pod: Pod) -> Iterator[str]:
    spec = pod.spec
    yield from _about_node_selector(pod)
    yield from (str(each) for each in _node_affinity_errors(pod) if not _is_let_through(each))
    yield from map(
        str,
        toleration_errors(spec.tolerations, _SPEC.child("tolerations"), comparison_operators=True),
    )
    for index, constraint in enumerate(spec.topology_spread_constraints):
        place = _SPEC.child("topologySpreadConstraints", index, "labelSelector")
        yield from _about_selector(constraint.label_selector, place)
    affinity = spec.affinity
    if affinity is None:
        return
    place = _SPEC.child("affinity")
    yield from _about_pod_affinity(affinity.pod_affinity, place.child("podAffinity"))
    yield from _about_pod_affinity(affinity.pod_anti_affinity, place.child("podAntiAffinity"))


def _node_affinity_errors(pod: Pod) -> Iterator[FieldError]:
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    if affinity:
        place = _SPEC.child("affinity", "nodeAffinity")
        if affinity.required:
            required = compile_node_selector(affinity.required, place.child(_REQUIRED))
            yield from required.errors
        yield from compile_preferred_terms(affinity.preferred, place.child(_PREFERRED)).errors


def _is_let_through(error: FieldError) -> bool:
    """Whether API servers do not look: a pod like this can be in a cluster."""
    return error.message.endswith("the value must be an integer")


def _about_node_selector(pod: Pod) -> Iterator[str]:
    place = _SPEC.child("nodeSelector")
    for key, value in pod.spec.node_selector.items():
        yield from map(str, key_errors(key, place))
        for complaint in label_value_errors(value):
            yield str(place.noting(key).invalid(quoted(value), complaint))


def _about_pod_affinity(affinity: PodAffinity | None, place: Place) -> Iterator[str]:
    if affinity is None:
        return
    for index, term in enumerate(affinity.required):
        yield from _about_term(term, place.child(_REQUIRED, index))
    for index, weighted in enumerate(affinity.preferred):
        at_term = place.child(_PREFERRED, index, "podAffinityTerm")
        yield from _about_term(weighted.pod_affinity_term, at_term)


def _about_term(term: PodAffinityTerm, place: Place) -> Iterator[str]:
    yield from _about_selector(term.label_selector, place.child("labelSelector"))
    yield from _about_selector(term.namespace_selector, place.child("namespaceSelector"))


def _about_selector(selector: LabelSelector | None, place: Place) -> Iterator[str]:
    try:
        as_selector(selector)
    except SelectorError as error:
        yield f"{place.field}: {error}"
