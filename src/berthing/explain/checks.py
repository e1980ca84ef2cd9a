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
from berthing.api.node import Node
from berthing.api.node_selector import compile_node_selector, compile_preferred_terms
from berthing.api.pod import (
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    ResourceRequirements,
    TopologySpreadConstraint,
)
from berthing.api.policy import PodDisruptionBudget
from berthing.api.resource_list import ResourceList
from berthing.api.taints import toleration_errors

_SPEC = ROOT.child("spec")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NOT_POSITIVE = "must be greater than zero"
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")


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
        case Node():
            for name in ("capacity", "allocatable"):
                yield from _about_amounts(getattr(obj.status, name), ROOT.child("status", name))
        case ReplicaSet() | StatefulSet() | PodDisruptionBudget():
            yield from _about_selector(obj.spec.selector, _SPEC.child("selector"))


def _about_pod(pod: Pod) -> Iterator[str]:
    spec = pod.spec
    yield from _about_resources(spec)
    yield from _about_node_selector(pod)
    yield from (str(each) for each in _node_affinity_errors(pod) if not _is_let_through(each))
    yield from map(
        str,
        toleration_errors(spec.tolerations, _SPEC.child("tolerations"), comparison_operators=True),
    )
    for index, constraint in enumerate(spec.topology_spread_constraints):
        yield from _about_spread(constraint, _SPEC.child("topologySpreadConstraints", index))
    affinity = spec.affinity
    if affinity is None:
        return
    place = _SPEC.child("affinity")
    yield from _about_pod_affinity(affinity.pod_affinity, place.child("podAffinity"))
    yield from _about_pod_affinity(affinity.pod_anti_affinity, place.child("podAntiAffinity"))


def _about_resources(spec: PodSpec) -> Iterator[str]:
    for field, containers in (
        ("containers", spec.containers),
        ("initContainers", spec.init_containers),
    ):
        for index, container in enumerate(containers):
            yield from _about_requirements(
                container.resources, _SPEC.child(field, index, "resources")
            )
    if spec.resources is not None:
        yield from _about_requirements(spec.resources, _SPEC.child("resources"))
    yield from _about_amounts(spec.overhead, _SPEC.child("overhead"))


def _about_requirements(resources: ResourceRequirements, place: Place) -> Iterator[str]:
    yield from _about_amounts(resources.limits, place.child("limits"))
    yield from _about_amounts(resources.requests, place.child("requests"))


def _about_amounts(amounts: ResourceList, place: Place) -> Iterator[str]:
    for name, amount in amounts.items():
        if amount.sign() < 0:
            shown = quoted(str(amount))
            yield str(place.noting(name).invalid(shown, "must be greater than or equal to 0"))


def _about_spread(constraint: TopologySpreadConstraint, place: Place) -> Iterator[str]:
    wrong = list(_about_selector(constraint.label_selector, place.child("labelSelector")))
    # One line for a constraint that says little else: who mistypes a selector looks for that.
    yield from wrong or _about_spreading(constraint, place)


def _about_spreading(constraint: TopologySpreadConstraint, place: Place) -> Iterator[str]:
    action = constraint.when_unsatisfiable
    if constraint.max_skew <= 0:
        yield str(place.child("maxSkew").invalid(str(constraint.max_skew), _NOT_POSITIVE))
    yield from _about_topology_key(constraint.topology_key, place)
    if action not in _ACTIONS:
        yield str(place.child("whenUnsatisfiable").not_supported(action, _ACTIONS))
    elif constraint.min_domains is not None:
        least, at = constraint.min_domains, place.child("minDomains")
        if least <= 0:
            yield str(at.invalid(str(least), _NOT_POSITIVE))
        if action != _ACTIONS[0]:
            only = f"can only use minDomains if whenUnsatisfiable={_ACTIONS[0]}, not {action}"
            yield str(at.invalid(str(least), only))


def _about_topology_key(key: str, place: Place) -> Iterator[str]:
    at = place.child("topologyKey")
    if not key:
        yield f"{at.field}: Required value: can not be empty"
    else:
        yield from map(str, key_errors(key, at))


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
        at = place.child(_PREFERRED, index)
        if not 1 <= weighted.weight <= 100:
            shown = str(weighted.weight)
            yield str(at.child("weight").invalid(shown, "must be in the range 1-100"))
        yield from _about_term(weighted.pod_affinity_term, at.child("podAffinityTerm"))


def _about_term(term: PodAffinityTerm, place: Place) -> Iterator[str]:
    wrong = [
        *_about_selector(term.label_selector, place.child("labelSelector")),
        *_about_selector(term.namespace_selector, place.child("namespaceSelector")),
    ]
    yield from wrong or _about_topology_key(term.topology_key, place)


def _about_selector(selector: LabelSelector | None, place: Place) -> Iterator[str]:
    try:
        as_selector(selector)
    except SelectorError as error:
        yield f"{place.field}: {error}"
