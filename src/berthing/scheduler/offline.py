"""The engine without a cluster: decides about pods in a cluster that is only described.

`berthing explain` and `berthing verify` ask it.  It is the very same cycle on the very same columns
as a live scheduler's; only what a plugin could do to the outside world is missing, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import NoReturn, TypeVar, cast

import msgspec

from berthing.api.core import Namespace
from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.config.features import FeatureGates
from berthing.config.load import EffectiveProfile
from berthing.framework import CycleState, ExtensionPoint, Handle
from berthing.scheduler.cycle import Cycle, Nominations
from berthing.scheduler.decision import Decision
from berthing.scheduler.profile import Profile, assemble
from berthing.scheduler.registry import Registry
from berthing.scheduler.snapshot import ClusterSnapshot, ObjectLister

T = TypeVar("T")

# What a decision takes; the rest of a profile needs a cluster to act on.
DECIDING = (
    ExtensionPoint.PRE_FILTER,
    ExtensionPoint.FILTER,
    ExtensionPoint.PRE_SCORE,
    ExtensionPoint.SCORE,
)

# What the queue takes beside that: who holds pods back, orders them, or turns them back later.
QUEUEING = (
    ExtensionPoint.PRE_ENQUEUE,
    ExtensionPoint.QUEUE_SORT,
    ExtensionPoint.RESERVE,
    ExtensionPoint.PERMIT,
)


class Offline:
    """A described cluster and the profiles of a configuration."""

    def __init__(
        self,
        profiles: Iterable[EffectiveProfile],
        *,
        registry: Registry,
        gates: FeatureGates,
        points: Iterable[ExtensionPoint] = DECIDING,
        seed: int = 0,
    ) -> None:
        points = tuple(points)
        self.cluster = Cluster()
        self.profiles: dict[str, Profile] = {}
        self._nominated: dict[str, list[PodInfo]] = {}
        self._cycles: dict[str, Cycle] = {}
        for profile in profiles:
            handle = cast("Handle", _OfflineHandle(self.cluster, profile.scheduler_name, gates))
            assembled = assemble(
                profile.scheduler_name,
                {point: profile.plugins[point] for point in points},
                cast("Mapping[str, msgspec.Struct]", profile.args),
                registry=registry,
                handle=handle,
            )
            self.profiles[profile.scheduler_name] = assembled
            self._cycles[profile.scheduler_name] = Cycle(
                self.cluster,
                assembled,
                random=Random(seed),
                # Columns make it cheap to look at all nodes, unless the user says otherwise.
                percentage_of_nodes_to_score=profile.percentage_of_nodes_to_score or 100,
            )

    @property
    def profile_names(self) -> tuple[str, ...]:
        """The schedulerNames that pods can ask for."""
        return tuple(self._cycles)

    def add(self, obj: ApiObject) -> None:
        """Put an object into the cluster, as the scheduler would see it."""
        match obj:
            case Node():
                self.cluster.set_node(obj)
            case Namespace():
                self.cluster.set_namespace(obj)
            case Pod():
                self._add_pod(obj)
            case _:
                self.cluster.objects.set(obj)

    def _add_pod(self, pod: Pod) -> None:
        if pod.is_terminal:
            return
        info = PodInfo.of(pod)
        nominated = pod.status.nominated_node_name
        if pod.spec.node_name:
            self.cluster.set_pod(info)
        elif nominated and info.scheduler_name in self._cycles and not info.facts.gates:
            self._nominated.setdefault(nominated, []).append(info)

    def decide(
        self, pod: PodInfo, *, nominations: Nominations | None = None, rank_all: bool = False
    ) -> Decision:
        """What a scheduler with these profiles decides about the pod; KeyError if none is its.

        Without `nominations`, those count that pods came with.
        """
        cycle = self._cycles[pod.scheduler_name]
        nominated = self._nominated if nominations is None else nominations
        return cycle.schedule(pod, CycleState(), nominated, rank_all=rank_all)


class _OfflineHandle:
    """What plugins can ask of a cluster that is only described."""

    def __init__(self, cluster: Cluster, profile_name: str, gates: FeatureGates) -> None:
        self._cluster = cluster
        self._gates = gates
        self.profile_name = profile_name
        self.snapshot = ClusterSnapshot(cluster)
        self.extenders = ()

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        return self._cluster.namespace_labels(namespace)

    def is_feature_enabled(self, gate: str) -> bool:
        return self._gates.enabled(gate)

    def lister(self, kind: type[T]) -> ObjectLister[T]:
        return ObjectLister(self._cluster, kind)

    def now(self) -> float:
        return 0.0

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name} needs a running scheduler; this cluster is only described")
