"""The pod with one thing less, or one thing more: what a what-if decides about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from berthing.api.frozen import FrozenDict
from berthing.api.node_selector import NodeSelector, NodeSelectorTerm
from berthing.api.pod import (
    Affinity,
    Container,
    Pod,
    PodAffinityTerm,
    PodSpec,
    ResourceRequirements,
)
from berthing.api.pod_info import PodInfo
from berthing.api.quantity import Quantity
from berthing.api.resource_list import CPU, ResourceList
from berthing.api.taints import Taint, Toleration

T = TypeVar("T")


def asking_at_most(pod: Pod, resource: str, amount: int) -> Pod:
    """The pod with its requests for a resource cut in proportion, to so much in all."""
    asked = _asked(pod, resource)
    overhead = _amount(pod.spec.overhead, resource)
    if overhead > amount:
        # Not even without its containers.
        return _cut(pod, resource, lambda _: 0, overhead=amount)
    share = (amount - overhead, max(asked - overhead, 1))
    cut = _cut(pod, resource, lambda each: each * share[0] // share[1], overhead=overhead)
    left = amount - _asked(cut, resource)
    return _first_asking_more(cut, resource, left) if left > 0 else cut


def _asked(pod: Pod, resource: str) -> int:
    return PodInfo.of(pod).facts.asked.requests.get(resource, 0)


def _cut(pod: Pod, resource: str, cut: Callable[[int], int], *, overhead: int) -> Pod:
    def of_container(container: Container) -> Container:
        return replace(container, resources=of(container.resources))

    def of(resources: ResourceRequirements) -> ResourceRequirements:
        if resource not in resources.requests:
            return resources
        amount = cut(_amount(resources.requests, resource))
        return replace(resources, requests=_setting(resources.requests, resource, amount))

    spec = pod.spec
    return _respecified(
        pod,
        containers=tuple(map(of_container, spec.containers)),
        init_containers=tuple(map(of_container, spec.init_containers)),
        resources=spec.resources and of(spec.resources),
        overhead=_setting(spec.overhead, resource, overhead)
        if resource in spec.overhead
        else spec.overhead,
    )


def _first_asking_more(pod: Pod, resource: str, more: int) -> Pod:
    """What rounding left over goes to the first container that asks at all."""
    for index, container in enumerate(pod.spec.containers):
        requests = container.resources.requests
        if resource in requests:
            amount = _amount(requests, resource) + more
            resources = replace(container.resources, requests=_setting(requests, resource, amount))
            changed = replace(container, resources=resources)
            return _respecified(pod, containers=_replaced(pod.spec.containers, index, (changed,)))
    return pod


def _amount(amounts: ResourceList, resource: str) -> int:
    quantity = amounts.get(resource)
    if quantity is None:
        return 0
    return quantity.milli_value() if resource == CPU else quantity.value()


def _setting(amounts: ResourceList, resource: str, amount: int) -> ResourceList:
    quantity = Quantity(amount, -3) if resource == CPU else Quantity(amount)
    return ResourceList({**amounts, resource: quantity})


def tolerating(pod: Pod, taint: Taint) -> Pod:
    """The pod with a toleration for just this taint."""
    toleration = Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)
    return _respecified(pod, tolerations=(*pod.spec.tolerations, toleration))


def without_node_name(pod: Pod) -> Pod:
    """The pod, free to go to other nodes than the one it names."""
    return _respecified(pod, node_name="")


def without_node_selector(pod: Pod, key: str) -> Pod:
    """The pod without one label in its nodeSelector."""
    return _respecified(pod, node_selector=_without_key(pod.spec.node_selector, key))


def without_label(pod: Pod, key: str) -> Pod:
    """The pod without one of its own labels."""
    labels = _without_key(pod.metadata.labels, key)
    return replace(pod, metadata=replace(pod.metadata, labels=labels))


def requiring_node(pod: Pod, terms: tuple[NodeSelectorTerm, ...]) -> Pod:
    """The pod with other required node affinity; without any, if there are no terms."""
    affinity = _affinity(pod)
    assert affinity.node_affinity is not None, "asked only of pods that have it"
    required = NodeSelector(terms) if terms else None
    node = replace(affinity.node_affinity, required=required)
    return _respecified(pod, affinity=replace(affinity, node_affinity=node))


def requiring_pods(pod: Pod, terms: tuple[PodAffinityTerm, ...]) -> Pod:
    """The pod with other required pod affinity."""
    affinity = _affinity(pod)
    assert affinity.pod_affinity is not None, "asked only of pods that have it"
    near = replace(affinity.pod_affinity, required=terms)
    return _respecified(pod, affinity=replace(affinity, pod_affinity=near))


def avoiding_pods(pod: Pod, terms: tuple[PodAffinityTerm, ...]) -> Pod:
    """The pod with other required pod anti-affinity."""
    affinity = _affinity(pod)
    assert affinity.pod_anti_affinity is not None, "asked only of pods that have it"
    away = replace(affinity.pod_anti_affinity, required=terms)
    return _respecified(pod, affinity=replace(affinity, pod_anti_affinity=away))


def without_constraint(pod: Pod, index: int) -> Pod:
    """The pod without one of its spread constraints."""
    constraints = pod.spec.topology_spread_constraints
    return _respecified(pod, topology_spread_constraints=_replaced(constraints, index, ()))


def with_max_skew(pod: Pod, index: int, max_skew: int) -> Pod:
    """The pod with a spread constraint that allows more."""
    constraints = pod.spec.topology_spread_constraints
    changed = replace(constraints[index], max_skew=max_skew)
    return _respecified(pod, topology_spread_constraints=_replaced(constraints, index, (changed,)))


def without_host_port(pod: Pod, protocol: str, port: int) -> Pod:
    """The pod without one of the node's own ports, wherever its containers ask for it."""

    def of(container: Container) -> Container:
        ports = tuple(
            each
            for each in container.ports
            if (each.protocol or "TCP", each.host_port) != (protocol, port)
        )
        return replace(container, ports=ports)

    spec = pod.spec
    return _respecified(
        pod,
        containers=tuple(map(of, spec.containers)),
        init_containers=tuple(map(of, spec.init_containers)),
    )


def _affinity(pod: Pod) -> Affinity:
    return pod.spec.affinity or Affinity()


def _without_key(labels: Mapping[str, str], key: str) -> FrozenDict[str, str]:
    return FrozenDict({name: value for name, value in labels.items() if name != key})


def _replaced(items: tuple[T, ...], index: int, by: tuple[T, ...]) -> tuple[T, ...]:
    return (*items[:index], *by, *items[index + 1 :])


def _respecified(pod: Pod, **changes: object) -> Pod:
    spec: PodSpec = replace(pod.spec, **changes)
    return replace(pod, spec=spec)
