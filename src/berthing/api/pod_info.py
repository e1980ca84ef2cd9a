"""PodInfo: a pod with all that the scheduler derives from it, once.

    Pod ----> PodFacts     what the scheduler can see of a pod that is to be placed
      |          |         replicas have equal facts, and share
      v          v
    PodInfo -> PodShape    what follows from the facts alone

A PodInfo knows its pod, the shape that it shares with its replicas, and what it takes where it
runs.  Its signature tells two pods apart exactly if the scheduler can: there are no names in it,
no times and no status, and order counts only where it counts for the scheduler.  Annotations are
left out as well, for no built-in plugin reads them.

Upstream: PodInfo in scheduler/framework/types.go, GetHostPorts in scheduler/util/utils.go,
          signers.go in kube-scheduler/framework (v1.36.4).
Differs:  upstream has no signature for pods with affinity terms, spread constraints or resource
          claims, and sees only the numbers of host ports; ours covers all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from berthing.api.frozen import FrozenDict
from berthing.api.meta import OwnerReference
from berthing.api.node_selector import (
    PreferredTerms,
    RequiredNodeAffinity,
    compile_preferred_terms,
    required_node_affinity,
)
from berthing.api.pod import NodeAffinity, Pod, PodSpec
from berthing.api.pod_requests import (
    DEFAULT_GATES,
    Amounts,
    Asked,
    RequestGates,
    Spent,
    asked,
    spent,
)
from berthing.api.pod_terms import (
    AffinityTerms,
    SpreadConstraints,
    affinity_terms,
    spread_constraints,
)
from berthing.api.taints import Toleration
from berthing.api.volumes import CSIVolumeSource, Volume

# A port on this address is taken on every address of the node.
EVERY_ADDRESS: Final = "0.0.0.0"  # noqa: S104  # nothing is bound to it here


class HostPort(NamedTuple):
    """A port of the node itself that a pod takes."""

    protocol: str
    ip: str
    port: int

    def conflicts_with(self, other: HostPort) -> bool:
        """True if no node can give out both."""
        return (
            self.port == other.port
            and self.protocol == other.protocol
            and (self.ip == other.ip or EVERY_ADDRESS in (self.ip, other.ip))
        )


class Controller(NamedTuple):
    """What manages the pod: pods without constraints of their own are spread by it."""

    api_version: str
    kind: str
    name: str


class PodClaim(NamedTuple):
    """A resource claim of the pod; `claim` is None until it is made from its template."""

    name: str
    claim: str | None


class PodFacts(msgspec.Struct, frozen=True, cache_hash=True, kw_only=True):
    """All that the scheduler can see of a pod that is to be placed, but `spec.nodeName`."""

    namespace: str
    labels: FrozenDict[str, str]
    controller: Controller | None
    scheduler_name: str
    priority: int
    may_preempt: bool
    gates: frozenset[str]
    pod_group: str
    asked: Asked
    host_ports: tuple[HostPort, ...]
    # Sorted, but with repetitions: every container that uses an image counts.
    images: tuple[str, ...]
    container_count: int
    tolerations: frozenset[Toleration]
    node_selector: FrozenDict[str, str]
    node_affinity: NodeAffinity | None
    terms: AffinityTerms
    spread: SpreadConstraints
    # Only sources that a plugin looks at, and of those only what it looks at.
    volumes: tuple[Volume, ...]
    ephemeral_claims: tuple[str, ...]
    resource_claims: tuple[PodClaim, ...]
    extended_resource_claim: str
    # What nodes have to declare that they can do.
    user_namespace_on_host_network: bool
    restarts_all_containers: bool


class Signature(msgspec.Struct, frozen=True):
    """Equal for two pods exactly if the scheduler cannot tell them apart."""

    facts: PodFacts
    node_name: str


class PodShape:
    """What all pods with the same facts share; worked out when it is first asked for."""

    def __init__(self, facts: PodFacts) -> None:
        self.facts = facts

    @cached_property
    def required_node_affinity(self) -> RequiredNodeAffinity:
        """What nodes must be like: nodeSelector and required node affinity."""
        affinity = self.facts.node_affinity
        return required_node_affinity(
            self.facts.node_selector, affinity.required if affinity else None
        )

    @cached_property
    def preferred_node_terms(self) -> PreferredTerms:
        """What nodes had better be like."""
        affinity = self.facts.node_affinity
        return compile_preferred_terms(affinity.preferred if affinity else ())

    @cached_property
    def claim_names(self) -> tuple[str, ...]:
        """The persistent volume claims that the pod names, one per volume."""
        sources = (volume.persistent_volume_claim for volume in self.facts.volumes)
        return tuple(source.claim_name for source in sources if source)


class PodInfo(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A pod with what follows from it; equal only to itself."""

    pod: Pod
    # namespace/name
    key: str
    shape: PodShape
    spent: Spent

    @classmethod
    def of(cls, pod: Pod, gates: RequestGates = DEFAULT_GATES) -> PodInfo:
        """Derive all that the scheduler needs of a pod."""
        return cls(pod, pod.key, _shape(_facts(pod, gates)), spent(pod, gates))

    @property
    def facts(self) -> PodFacts:
        """What the scheduler can see of the pod before it is placed."""
        return self.shape.facts

    @property
    def signature(self) -> Signature:
        """Equal for two pods exactly if the scheduler cannot tell them apart."""
        return Signature(self.shape.facts, self.pod.spec.node_name)

    @property
    def uid(self) -> str:
        """What tells the pod from another one of the same name, before or after it."""
        return self.pod.metadata.uid

    @property
    def namespace(self) -> str:
        """The pod's namespace."""
        return self.shape.facts.namespace

    @property
    def labels(self) -> FrozenDict[str, str]:
        """The pod's labels."""
        return self.shape.facts.labels

    @property
    def scheduler_name(self) -> str:
        """The profile that the pod wants to be placed by."""
        return self.shape.facts.scheduler_name

    @property
    def priority(self) -> int:
        """How important the pod is; 0 if nobody said."""
        return self.shape.facts.priority

    @property
    def requests(self) -> Amounts:
        """What the pod takes on its node: cpu in thousandths, the rest in units."""
        return self.spent.requests

    @property
    def host_ports(self) -> tuple[HostPort, ...]:
        """The node's own ports that the pod takes."""
        return self.shape.facts.host_ports

    @property
    def terms(self) -> AffinityTerms:
        """What the pod says about pods that it wants near, or not."""
        return self.shape.facts.terms

    @property
    def spread(self) -> SpreadConstraints:
        """How evenly the pod and its like are to be spread."""
        return self.shape.facts.spread

    @property
    def tolerations(self) -> frozenset[Toleration]:
        """The taints that the pod puts up with, without saying for how long."""
        return self.shape.facts.tolerations

    @property
    def images(self) -> tuple[str, ...]:
        """The images that the pod runs or mounts, under the names that nodes report."""
        return self.shape.facts.images


@lru_cache(maxsize=32768)
def _shape(facts: PodFacts) -> PodShape:
    return PodShape(facts)


def _facts(pod: Pod, gates: RequestGates) -> PodFacts:
    metadata, spec = pod.metadata, pod.spec
    labels = _frozen(metadata.labels)
    affinity = spec.affinity
    return PodFacts(
        namespace=metadata.namespace,
        labels=labels,
        controller=_controller(metadata.owner_references),
        scheduler_name=spec.scheduler_name,
        priority=pod.priority,
        may_preempt=spec.preemption_policy != "Never",
        gates=frozenset(gate.name for gate in spec.scheduling_gates),
        pod_group=pod.pod_group_name,
        asked=asked(pod, gates),
        host_ports=tuple(host_ports_of(spec)),
        images=tuple(sorted(map(normalized_image_name, _images(spec)))),
        container_count=len(spec.containers) + len(spec.init_containers),
        tolerations=_without_times(spec.tolerations),
        node_selector=_frozen(spec.node_selector),
        node_affinity=affinity.node_affinity if affinity else None,
        terms=affinity_terms(affinity, metadata.namespace),
        spread=spread_constraints(spec.topology_spread_constraints, labels),
        volumes=tuple(_volumes(spec.volumes)),
        ephemeral_claims=tuple(_ephemeral_claims(pod)),
        resource_claims=_resource_claims(pod),
        extended_resource_claim=_extended_resource_claim(pod),
        user_namespace_on_host_network=spec.host_network and spec.host_users is False,
        restarts_all_containers=_restarts_all_containers(spec),
    )


def _frozen(mapping: Mapping[str, str]) -> FrozenDict[str, str]:
    return mapping if isinstance(mapping, FrozenDict) else FrozenDict(mapping)


@lru_cache(maxsize=16384)
def _controller(owners: tuple[OwnerReference, ...]) -> Controller | None:
    for owner in owners:
        if owner.controller:
            return Controller(owner.api_version, owner.kind, owner.name)
    return None


def host_ports_of(spec: PodSpec) -> Iterator[HostPort]:
    """The node's own ports that a pod of this spec takes, in the order of its containers."""
    # Of init containers only sidecars hold on to their ports.
    sidecars = (each for each in spec.init_containers if each.restarts_always)
    for container in (*sidecars, *spec.containers):
        for port in container.ports:
            if port.host_port > 0:
                yield HostPort(
                    port.protocol or "TCP", port.host_ip or EVERY_ADDRESS, port.host_port
                )


def _images(spec: PodSpec) -> Iterator[str]:
    for container in (*spec.init_containers, *spec.containers):
        yield container.image
    for volume in spec.volumes:
        if volume.image is not None:
            yield volume.image.reference


@lru_cache(maxsize=8192)
def normalized_image_name(name: str) -> str:
    """The name under which nodes report an image: with a tag, `latest` if there is none."""
    # A colon before the last slash belongs to the registry's port.
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


@lru_cache(maxsize=8192)
def _without_times(tolerations: tuple[Toleration, ...]) -> frozenset[Toleration]:
    return frozenset(replace(each, toleration_seconds=None) for each in tolerations)


_NO_SOURCE: Final = Volume()


def _volumes(volumes: Iterable[Volume]) -> Iterator[Volume]:
    """Volumes that a plugin looks at, reduced to what it looks at."""
    for volume in volumes:
        # An ephemeral volume and an image count as a claim and as an image.
        source = replace(volume, name="", ephemeral=None, image=None)
        if source.csi is not None:
            source = replace(source, csi=CSIVolumeSource(driver=source.csi.driver))
        if source != _NO_SOURCE:
            yield source


def _ephemeral_claims(pod: Pod) -> Iterator[str]:
    for volume in pod.spec.volumes:
        if volume.ephemeral is not None:
            yield ephemeral_claim_name(pod, volume)


def ephemeral_claim_name(pod: Pod, volume: Volume) -> str:
    """The claim that is made for an ephemeral volume of the pod."""
    return f"{pod.name}-{volume.name}"


def _resource_claims(pod: Pod) -> tuple[PodClaim, ...]:
    made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    return tuple(
        PodClaim(each.name, each.resource_claim_name or made.get(each.name))
        for each in pod.spec.resource_claims
    )


def _extended_resource_claim(pod: Pod) -> str:
    status = pod.status.extended_resource_claim_status
    return status.resource_claim_name if status else ""


def _restarts_all_containers(spec: PodSpec) -> bool:
    return any(
        rule.action == "RestartAllContainers"
        for container in (*spec.containers, *spec.init_containers)
        for rule in container.restart_policy_rules
    )
