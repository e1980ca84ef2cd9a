"""Pods and their containers, by keyword."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from berthing.api.frozen import EMPTY, FrozenDict
from berthing.api.meta import ObjectMeta, OwnerReference
from berthing.api.node_selector import NodeSelector, NodeSelectorTerm, PreferredSchedulingTerm
from berthing.api.pod import (
    Affinity,
    Container,
    ContainerPort,
    NodeAffinity,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodCondition,
    PodSchedulingGate,
    PodSchedulingGroup,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from berthing.api.resource_list import ResourceList
from berthing.api.taints import Toleration
from berthing.api.volumes import PersistentVolumeClaimVolumeSource, Volume

_NONE: Mapping[str, str] = EMPTY


def make_container(
    name: str = "main",
    *,
    image: str = "",
    cpu: str = "",
    memory: str = "",
    requests: Mapping[str, str] = _NONE,
    host_ports: Iterable[int | ContainerPort] = (),
    restart_policy: str = "",
) -> Container:
    """Make a container that requests nothing unless told to.

    `requests` takes what is neither cpu nor memory: `{"example.com/gpu": "1"}`.  Among init
    containers, one with the restart policy "Always" is a sidecar.
    """
    return Container(
        name=name,
        image=image,
        ports=tuple(map(_host_port, host_ports)),
        resources=ResourceRequirements(requests=_amounts(cpu, memory, requests)),
        restart_policy=restart_policy,
    )


def make_pod(
    name: str = "pod",
    *,
    namespace: str = "default",
    uid: str = "",
    labels: Mapping[str, str] = _NONE,
    annotations: Mapping[str, str] = _NONE,
    owner: OwnerReference | None = None,
    created: datetime | None = None,
    deleted: datetime | None = None,
    # Its one container, or its containers:
    cpu: str = "",
    memory: str = "",
    requests: Mapping[str, str] = _NONE,
    image: str = "",
    host_ports: Iterable[int | ContainerPort] = (),
    containers: Iterable[Container] = (),
    init_containers: Iterable[Container] = (),
    overhead: Mapping[str, str] = _NONE,
    pod_level_requests: Mapping[str, str] = _NONE,
    # Where it may run, and would rather:
    node_name: str = "",
    node_selector: Mapping[str, str] = _NONE,
    node_affinity: Iterable[NodeSelectorTerm] = (),
    preferred_node_affinity: Iterable[tuple[int, NodeSelectorTerm]] = (),
    pod_affinity: Iterable[PodAffinityTerm] = (),
    preferred_pod_affinity: Iterable[tuple[int, PodAffinityTerm]] = (),
    pod_anti_affinity: Iterable[PodAffinityTerm] = (),
    preferred_pod_anti_affinity: Iterable[tuple[int, PodAffinityTerm]] = (),
    spread: Iterable[TopologySpreadConstraint] = (),
    tolerations: Iterable[Toleration] = (),
    claims: Iterable[str] = (),
    volumes: Iterable[Volume] = (),
    # How it is treated:
    scheduler_name: str = "default-scheduler",
    priority: int = 0,
    preemption_policy: str = "PreemptLowerPriority",
    scheduling_gates: Iterable[str] = (),
    pod_group: str = "",
    # How it is doing:
    phase: str = "",
    conditions: Iterable[PodCondition] = (),
    nominated_node_name: str = "",
    start_time: datetime | None = None,
) -> Pod:
    """Make a pod of one container that requests nothing, fits anywhere and waits to be placed.

    Terms that are only preferred come with their weight: `(10, make_affinity_term(...))`.
    `claims` names persistent volume claims to mount.  With a `node_name`, the phase is Running.
    """
    metadata = ObjectMeta(
        name=name,
        namespace=namespace,
        uid=uid or f"uid-of-{namespace}/{name}",
        creation_timestamp=created,
        deletion_timestamp=deleted,
        labels=FrozenDict(labels),
        annotations=FrozenDict(annotations),
        owner_references=(owner,) if owner else (),
    )
    own_container = make_container(
        image=image, cpu=cpu, memory=memory, requests=requests, host_ports=host_ports
    )
    group = PodSchedulingGroup(pod_group_name=pod_group) if pod_group else None
    spec = PodSpec(
        volumes=(*map(_claim_volume, claims), *volumes),
        init_containers=tuple(init_containers),
        containers=_containers(own_container, tuple(containers)),
        node_selector=FrozenDict(node_selector),
        node_name=node_name,
        affinity=_affinity(
            _node_affinity(node_affinity, preferred_node_affinity),
            _pod_affinity(pod_affinity, preferred_pod_affinity),
            _pod_affinity(pod_anti_affinity, preferred_pod_anti_affinity),
        ),
        scheduler_name=scheduler_name,
        tolerations=tuple(tolerations),
        priority=priority,
        preemption_policy=preemption_policy,
        overhead=ResourceList.of(overhead),
        topology_spread_constraints=tuple(spread),
        scheduling_gates=tuple(PodSchedulingGate(name=gate) for gate in scheduling_gates),
        resources=_pod_level(pod_level_requests),
        scheduling_group=group,
    )
    status = PodStatus(
        phase=phase or ("Running" if node_name else "Pending"),
        conditions=tuple(conditions),
        nominated_node_name=nominated_node_name,
        start_time=start_time,
    )
    return Pod(metadata=metadata, spec=spec, status=status)


def make_owner(
    name: str = "owner",
    *,
    kind: str = "ReplicaSet",
    api_version: str = "apps/v1",
    uid: str = "",
    controller: bool = True,
) -> OwnerReference:
    """Make the reference by which a pod says what manages it."""
    return OwnerReference(
        api_version=api_version,
        kind=kind,
        name=name,
        uid=uid or f"uid-of-{name}",
        controller=controller,
    )


def _containers(own: Container, given: tuple[Container, ...]) -> tuple[Container, ...]:
    if given and own != make_container():
        raise ValueError(
            "need either containers or the cpu, memory, requests, image and host_ports of one"
        )
    return given or (own,)


def _amounts(cpu: str, memory: str, others: Mapping[str, str]) -> ResourceList:
    named = {name: amount for name, amount in {"cpu": cpu, "memory": memory}.items() if amount}
    return ResourceList.of({**named, **others})


def _host_port(port: int | ContainerPort) -> ContainerPort:
    if isinstance(port, ContainerPort):
        return port
    return ContainerPort(container_port=port, host_port=port, protocol="TCP")


def _claim_volume(claim: str) -> Volume:
    source = PersistentVolumeClaimVolumeSource(claim_name=claim)
    return Volume(name=claim, persistent_volume_claim=source)


def _pod_level(requests: Mapping[str, str]) -> ResourceRequirements | None:
    return ResourceRequirements(requests=ResourceList.of(requests)) if requests else None


def _affinity(
    node: NodeAffinity | None, pod: PodAffinity | None, anti: PodAffinity | None
) -> Affinity | None:
    if node is None and pod is None and anti is None:
        return None
    return Affinity(node_affinity=node, pod_affinity=pod, pod_anti_affinity=anti)


def _node_affinity(
    required: Iterable[NodeSelectorTerm], preferred: Iterable[tuple[int, NodeSelectorTerm]]
) -> NodeAffinity | None:
    terms = tuple(required)
    weighted = tuple(PreferredSchedulingTerm(weight, term) for weight, term in preferred)
    if not terms and not weighted:
        return None
    return NodeAffinity(required=NodeSelector(terms) if terms else None, preferred=weighted)


def _pod_affinity(
    required: Iterable[PodAffinityTerm], preferred: Iterable[tuple[int, PodAffinityTerm]]
) -> PodAffinity | None:
    terms = tuple(required)
    weighted = tuple(
        WeightedPodAffinityTerm(weight=weight, pod_affinity_term=term) for weight, term in preferred
    )
    return PodAffinity(required=terms, preferred=weighted) if terms or weighted else None
