"""What a pod asks of its node, resource by resource.

    init 1      |--|                       at most this much at a time, beside the sidecars
    init 2         |----|                  started so far
    sidecar 1           |~~~~~~~~~~~~~~~   an init container with restartPolicy Always
    init 3                |------|
    containers                   |------   these add up, sidecars included

1. A pod needs the larger of the two phases, per resource.
2. Requests for the pod as a whole take the place of the sum, for cpu, memory and huge pages.
3. Overhead comes on top.
4. While a pod is resized, a container counts with the largest of what it should have, was
   allocated and has; if the kubelet called the resize infeasible, what it should have is left out.

Upstream: component-helpers/resource/helpers.go, CalculateResource in scheduler/framework/types.go,
          computePodResourceRequest in plugins/noderesources/fit.go (v1.36.4).

Upstream computes the same rules with four sets of options; here each has a name:

    spent             running pods on a node, for all plugins; heeds a resize
    spent, non-zero   the same with a minimum per container, for scores only
    asked             what NodeResourcesFit looks for room for; the resize of a pod that runs
                      nowhere yet does not exist
    scored            what NodeResourcesFit adds to a node to score it: minimum per container, and
                      requests for the pod as a whole do not count
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import msgspec

from berthing.api.frozen import FrozenDict
from berthing.api.names import (
    is_extended_resource_name,
    is_huge_page_resource_name,
    is_scalar_resource_name,
)
from berthing.api.pod import Container, ContainerStatus, Pod
from berthing.api.quantity import Quantity
from berthing.api.resource_list import CPU, EMPTY_LIST, EPHEMERAL_STORAGE, MEMORY, ResourceList

# Amounts as the scheduler counts them: cpu in thousandths, anything else in whole units.
Amounts = FrozenDict[str, int]

# What a container that says nothing counts with in scores, so that many of them do not all end
# up on one node.
DEFAULT_CPU_MILLIS: Final = 100
DEFAULT_MEMORY_BYTES: Final = 200 * 1024 * 1024

_DEFAULTS: Final = ResourceList(
    {CPU: Quantity(DEFAULT_CPU_MILLIS, -3), MEMORY: Quantity(DEFAULT_MEMORY_BYTES)}
)
_ZERO: Final = Quantity()


class RequestGates(msgspec.Struct, frozen=True, kw_only=True):
    """The feature gates that have a say in what a pod asks for, at upstream's defaults."""

    pod_level_resources: bool = True
    in_place_pod_level_resources_vertical_scaling: bool = True
    dra_node_allocatable_resources: bool = False


DEFAULT_GATES: Final = RequestGates()


class ContainerDemand(msgspec.Struct, frozen=True, gc=False):
    """What one container asks for and, if its status counts, what it has."""

    requests: ResourceList
    restarts_always: bool
    # None as long as no kubelet has reported what the container has.
    actuated: ResourceList | None = None
    allocated: ResourceList = EMPTY_LIST


class PodDemand(msgspec.Struct, frozen=True, gc=False):
    """All of a pod that decides what it asks for: the same for replicas, so the key to caches."""

    containers: tuple[ContainerDemand, ...]
    init_containers: tuple[ContainerDemand, ...]
    overhead: ResourceList
    pod_level: ResourceList
    pod_level_actuated: ResourceList | None = None
    pod_level_allocated: ResourceList = EMPTY_LIST
    resize_infeasible: bool = False
    claimed: tuple[ResourceList, ...] = ()


class Spent(msgspec.Struct, frozen=True, cache_hash=True):
    """What a pod takes from its node."""

    requests: Amounts
    non_zero_cpu_millis: int
    non_zero_memory_bytes: int


class Asked(msgspec.Struct, frozen=True, cache_hash=True):
    """What a pod asks for before it runs."""

    requests: Amounts
    scored: Amounts
    # What it takes once it is placed, as long as no status says otherwise.
    to_spend: Spent
    # Per container, those with none left out: devices may be behind them.
    extended: tuple[Amounts, ...]


def asked(pod: Pod, gates: RequestGates = DEFAULT_GATES) -> Asked:
    """What the pod asks for, going by its spec."""
    return _asked(_spec_demand(pod), gates)


def spent(pod: Pod, gates: RequestGates = DEFAULT_GATES) -> Spent:
    """What the pod takes from the node it is on, or will be; heeds what its status says."""
    return _spent(_status_demand(pod), gates)


def asks_for_less(old: Pod, new: Pod, gates: RequestGates = DEFAULT_GATES) -> bool:
    """Whether the pod takes less of some resource than before, or nothing at all.

    Compared to the thousandth, as upstream does.
    """
    before, after = _status_demand(old), _status_demand(new)
    if before == after:
        return False
    left = pod_requests(after, gates)
    return any(
        name not in left or amount.milli_value() > left[name].milli_value()
        for name, amount in pod_requests(before, gates).items()
    )


def pod_requests(
    demand: PodDemand, gates: RequestGates = DEFAULT_GATES, missing: ResourceList = EMPTY_LIST
) -> dict[str, Quantity]:
    """The exact sums; `missing` counts for containers that do not name such a resource."""
    totals = _container_requests(demand, missing)
    for amounts in demand.claimed if gates.dra_node_allocatable_resources else ():
        _add(totals, amounts)
    if gates.pod_level_resources:
        totals |= _pod_level_requests(demand, gates)
    _add(totals, demand.overhead)
    return totals


@lru_cache(maxsize=16384)
def _asked(demand: PodDemand, gates: RequestGates) -> Asked:
    without_pod_level = msgspec.structs.replace(gates, pod_level_resources=False)
    everyone = (*demand.containers, *demand.init_containers)
    extended = (_extended(container.requests) for container in everyone)
    return Asked(
        requests=_counted(pod_requests(demand, gates)),
        scored=whole_amounts(pod_requests(demand, without_pod_level, _DEFAULTS)),
        to_spend=_spent(demand, gates),
        extended=tuple(each for each in extended if each),
    )


@lru_cache(maxsize=16384)
def _spent(demand: PodDemand, gates: RequestGates) -> Spent:
    requests = pod_requests(demand, gates)
    non_zero = requests
    if missing := _missing(demand, requests, gates):
        non_zero = pod_requests(demand, gates, missing)
    return Spent(
        requests=_counted(requests),
        non_zero_cpu_millis=non_zero.get(CPU, _ZERO).milli_value(),
        non_zero_memory_bytes=non_zero.get(MEMORY, _ZERO).value(),
    )


def _missing(
    demand: PodDemand, requests: Mapping[str, Quantity], gates: RequestGates
) -> ResourceList:
    """The minima that apply: with requests for the whole pod, only to what nobody asked for."""
    if not (gates.pod_level_resources and any(map(_is_for_pods, demand.pod_level))):
        return _DEFAULTS
    return ResourceList({name: least for name, least in _DEFAULTS.items() if name not in requests})


def _container_requests(demand: PodDemand, missing: ResourceList) -> dict[str, Quantity]:
    totals: dict[str, Quantity] = {}
    sidecars: dict[str, Quantity] = {}
    highest_start: dict[str, Quantity] = {}
    for container in demand.containers:
        _add(totals, _effective(container, demand, missing))
    for container in demand.init_containers:
        amounts = _effective(container, demand, missing)
        if container.restarts_always:
            _add(totals, amounts)
            _add(sidecars, amounts)
            _raise_to(highest_start, sidecars)
        else:
            beside_sidecars = dict(sidecars)
            _add(beside_sidecars, amounts)
            _raise_to(highest_start, beside_sidecars)
    _raise_to(totals, highest_start)
    return totals


def _effective(
    container: ContainerDemand, demand: PodDemand, missing: ResourceList
) -> Mapping[str, Quantity]:
    amounts: Mapping[str, Quantity] = container.requests
    if container.actuated is not None:
        amounts = _during_resize(
            container.requests,
            container.actuated,
            container.allocated,
            infeasible=demand.resize_infeasible,
        )
    return {**missing, **amounts} if missing else amounts


def _pod_level_requests(demand: PodDemand, gates: RequestGates) -> dict[str, Quantity]:
    amounts: Mapping[str, Quantity] = demand.pod_level
    heeds_status = gates.in_place_pod_level_resources_vertical_scaling
    if heeds_status and demand.pod_level_actuated is not None:
        amounts = _during_resize(
            demand.pod_level,
            demand.pod_level_actuated,
            demand.pod_level_allocated,
            infeasible=demand.resize_infeasible,
        )
    return {name: amounts.get(name, _ZERO) for name in demand.pod_level if _is_for_pods(name)}


def _is_for_pods(resource: str) -> bool:
    """Whether a pod as a whole can ask for the resource."""
    return resource in (CPU, MEMORY) or is_huge_page_resource_name(resource)


def _during_resize(
    desired: ResourceList, actuated: ResourceList, allocated: ResourceList, *, infeasible: bool
) -> dict[str, Quantity]:
    amounts = {} if infeasible else dict(desired)
    _raise_to(amounts, actuated)
    _raise_to(amounts, allocated)
    return amounts


def _add(totals: dict[str, Quantity], amounts: Mapping[str, Quantity]) -> None:
    for name, amount in amounts.items():
        totals[name] = totals[name] + amount if name in totals else amount


def _raise_to(totals: dict[str, Quantity], amounts: Mapping[str, Quantity]) -> None:
    for name, amount in amounts.items():
        if name not in totals or totals[name] < amount:
            totals[name] = amount


def whole_amounts(quantities: Mapping[str, Quantity]) -> Amounts:
    """Quantities as whole numbers, rounded up: cpu in thousandths, anything else in units."""
    return FrozenDict(
        {
            name: quantity.milli_value() if name == CPU else quantity.value()
            for name, quantity in quantities.items()
        }
    )


def _counted(quantities: Mapping[str, Quantity]) -> Amounts:
    """Only the resources that nodes are short of; the number of pods is counted elsewhere."""
    return whole_amounts({name: each for name, each in quantities.items() if is_counted(name)})


def is_counted(resource: str) -> bool:
    """Whether the scheduler adds up requests for the resource."""
    return resource in (CPU, MEMORY, EPHEMERAL_STORAGE) or is_scalar_resource_name(resource)


def _extended(quantities: Mapping[str, Quantity]) -> Amounts:
    return whole_amounts(
        {name: each for name, each in quantities.items() if is_extended_resource_name(name)}
    )


def _spec_demand(pod: Pod) -> PodDemand:
    spec = pod.spec
    return PodDemand(
        containers=tuple(map(_as_specified, spec.containers)),
        init_containers=tuple(map(_as_specified, spec.init_containers)),
        overhead=spec.overhead,
        pod_level=spec.resources.requests if spec.resources else EMPTY_LIST,
    )


def _status_demand(pod: Pod) -> PodDemand:
    spec, status = pod.spec, pod.status
    statuses = {
        each.name: each for each in (*status.container_statuses, *status.init_container_statuses)
    }
    resize = pod.condition("PodResizePending")
    return PodDemand(
        containers=tuple(_as_reported(each, statuses) for each in spec.containers),
        init_containers=tuple(
            # Only sidecars are resized: other init containers have come and gone.
            _as_reported(each, statuses) if each.restarts_always else _as_specified(each)
            for each in spec.init_containers
        ),
        overhead=spec.overhead,
        pod_level=spec.resources.requests if spec.resources else EMPTY_LIST,
        pod_level_actuated=status.resources.requests if status.resources else None,
        pod_level_allocated=status.allocated_resources,
        resize_infeasible=resize is not None and resize.reason == "Infeasible",
        claimed=tuple(each.resources for each in status.node_allocatable_resource_claim_statuses),
    )


def _as_specified(container: Container) -> ContainerDemand:
    return ContainerDemand(container.resources.requests, container.restarts_always)


def _as_reported(container: Container, statuses: Mapping[str, ContainerStatus]) -> ContainerDemand:
    status = statuses.get(container.name)
    if status is None or status.resources is None:
        return _as_specified(container)
    return ContainerDemand(
        container.resources.requests,
        container.restarts_always,
        status.resources.requests,
        status.allocated_resources,
    )
