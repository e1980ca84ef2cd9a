"""How pods without spread constraints of their own are spread: by what the profile says of them.

A profile's constraints have no selector.  Which pods belong together is deduced from the Services
that select the pod and from the controller that made it; a pod that belongs to nothing is not
spread.

Upstream: plugins/helper/spread.go, plugins/podtopologyspread/plugin.go (v1.36.4).
Differs:  nowhere a user can see.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol, TypeVar

from msgspec.structs import replace

from berthing.api.apps import ReplicaSet, StatefulSet
from berthing.api.core import ReplicationController, Service
from berthing.api.labels import (
    NOTHING,
    LabelSelector,
    Selector,
    SelectorError,
    as_selector,
    from_labels,
)
from berthing.api.meta import ApiObject
from berthing.api.pod_info import PodFacts
from berthing.api.pod_terms import SpreadConstraint
from berthing.config.args import PodTopologySpreadArgs, TopologySpreadConstraint

T = TypeVar("T", bound=ApiObject)

HOSTNAME: Final = "kubernetes.io/hostname"
_ZONE: Final = "topology.kubernetes.io/zone"
HARD: Final = "DoNotSchedule"
SOFT: Final = "ScheduleAnyway"

# What a cluster gets that says nothing: spread a little, over nodes first.
_SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(topology_key=HOSTNAME, when_unsatisfiable=SOFT, max_skew=3),
    TopologySpreadConstraint(topology_key=_ZONE, when_unsatisfiable=SOFT, max_skew=5),
)


class Lookup(Protocol):
    """Where objects are looked up: the cluster's, or what the API server last showed."""

    def get(self, kind: type[T], name: str, namespace: str = "") -> T | None:
        """One object, or None if there is none of that name."""
        ...

    def list(self, kind: type[T], namespace: str | None = None) -> Iterable[T]:
        """The objects of a kind in a namespace."""
        ...


class DefaultConstraints:
    """The constraints of a profile for pods that have none."""

    def __init__(self, args: PodTopologySpreadArgs) -> None:
        self.are_system = args.defaulting_type == "System"
        constraints = _SYSTEM_DEFAULTS if self.are_system else args.default_constraints
        self._hard = _of(constraints, HARD)
        self._soft = _of(constraints, SOFT)

    def __bool__(self) -> bool:
        return bool(self._hard or self._soft)

    def hard(self, selector: Selector) -> tuple[SpreadConstraint, ...]:
        """Constraints that rule nodes out, for pods that belong together by this selector."""
        return _selecting(self._hard, selector)

    def soft(self, selector: Selector) -> tuple[SpreadConstraint, ...]:
        """Constraints that only score."""
        return _selecting(self._soft, selector)


def _of(
    constraints: Iterable[TopologySpreadConstraint], action: str
) -> tuple[SpreadConstraint, ...]:
    return tuple(
        SpreadConstraint(
            max_skew=each.max_skew,
            topology_key=each.topology_key,
            selector=NOTHING,
            min_domains=1 if each.min_domains is None else each.min_domains,
            honors_node_affinity=each.node_affinity_policy in (None, "Honor"),
            honors_node_taints=each.node_taints_policy == "Honor",
        )
        for each in constraints
        if each.when_unsatisfiable == action
    )


def _selecting(
    constraints: tuple[SpreadConstraint, ...], selector: Selector
) -> tuple[SpreadConstraint, ...]:
    if selector.is_everything:
        return ()
    return tuple(replace(each, selector=selector) for each in constraints)


def deduced_selector(pod: PodFacts, objects: Lookup) -> Selector:
    """The pods that belong together with this one; everything if it belongs to nothing."""
    return narrowed_by_owner(selected_by_services(pod, objects), owner_of(pod, objects))


def selected_by_services(pod: PodFacts, objects: Lookup) -> dict[str, str]:
    """What all Services that select the pod ask for, which cannot contradict one another."""
    wanted: dict[str, str] = {}
    for service in objects.list(Service, pod.namespace):
        selector = service.spec.selector
        if selector and selector.items() <= pod.labels.items():
            wanted.update(selector)
    return wanted


Owner = ReplicationController | ReplicaSet | StatefulSet

_OWNERS: dict[tuple[str, str], type[Owner]] = {
    ("v1", "ReplicationController"): ReplicationController,
    ("apps/v1", "ReplicaSet"): ReplicaSet,
    ("apps/v1", "StatefulSet"): StatefulSet,
}


def owner_of(pod: PodFacts, objects: Lookup) -> Owner | None:
    """The controller that made the pod, if it is of a kind that knows its pods by a selector."""
    controller = pod.controller
    if controller is None:
        return None
    kind = _OWNERS.get((controller.api_version, controller.kind))
    return None if kind is None else objects.get(kind, controller.name, pod.namespace)


def narrowed_by_owner(wanted: dict[str, str], owner: Owner | None) -> Selector:
    """Select pods with these labels that the controller selects as well."""
    if isinstance(owner, ReplicationController):
        return from_labels({**wanted, **owner.spec.selector})
    selector = from_labels(wanted)
    if owner is None:
        return selector
    of_owner = _compiled(owner.spec.selector)
    return selector if of_owner is None else selector.adding(*of_owner.written)


def _compiled(selector: LabelSelector | None) -> Selector | None:
    """None for what selects nothing, which does not narrow either."""
    try:
        return None if selector is None else as_selector(selector)
    except SelectorError:
        return None
