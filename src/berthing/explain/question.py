"""What is asked: where a pod goes in a described cluster; and what everybody who explains needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.config.args import PodTopologySpreadArgs
from berthing.config.features import FeatureGates
from berthing.config.load import EffectiveProfile
from berthing.explain.problems import InputError
from berthing.explain.spreading import Standing, standings
from berthing.framework import Status
from berthing.plugins.taint_toleration import COMPARISON_GATE
from berthing.scheduler.decision import Decision
from berthing.scheduler.offline import Offline
from berthing.scheduler.profile import ProfileError
from berthing.scheduler.registry import Registry


def ask(
    pod: Pod,
    objects: Iterable[ApiObject],
    profiles: Sequence[EffectiveProfile],
    *,
    registry: Registry,
    gates: FeatureGates,
) -> Question:
    """Describe a cluster to the engine and ask it about a pod, which is left out of the cluster.

    InputError says why that cannot be asked.
    """
    by_name = {profile.scheduler_name: profile for profile in profiles}
    profile = by_name.get(pod.spec.scheduler_name)
    if profile is None:
        names = ", ".join(by_name)
        raise InputError(
            f"{pod.key} wants the scheduler {pod.spec.scheduler_name}, "
            f"and no profile of the configuration has that name; there are: {names}"
        )
    try:
        offline = Offline(profiles, registry=registry, gates=gates)
    except ProfileError as error:
        raise InputError(*str(error).splitlines()) from error
    for obj in objects:
        if not (isinstance(obj, Pod) and obj.key == pod.key):
            offline.add(obj)
    if not len(offline.cluster.nodes):
        raise InputError("there is no Node in the cluster files; add what `kubectl get nodes` has")
    return Question(pod, offline, profile, comparison_operators=gates.enabled(COMPARISON_GATE))


class Question:
    """One pod, one cluster, one profile."""

    def __init__(
        self,
        pod: Pod,
        offline: Offline,
        profile: EffectiveProfile,
        *,
        comparison_operators: bool = False,
    ) -> None:
        self.offline = offline
        self.pod = PodInfo.of(pod)
        self.profile = profile
        # Whether tolerations may compare numbers, under a feature gate.
        self.comparison_operators = comparison_operators

    @property
    def cluster(self) -> Cluster:
        """The cluster that is described."""
        return self.offline.cluster

    def node(self, row: int) -> Node:
        """The node of a row."""
        node = self.cluster.nodes.objects[row]
        assert node is not None, "only rows with a node are explained"
        return node

    @cached_property
    def decision(self) -> Decision:
        """The answer."""
        return self.decision_about(self.pod)

    def decision_about(self, pod: PodInfo) -> Decision:
        """The answer if the pod were another one."""
        return self.offline.decide(pod, rank_all=True)

    @cached_property
    def statuses(self) -> Mapping[str, Status | None]:
        """Why each node was turned down; None if it passed."""
        return dict(self.decision.statuses())

    @cached_property
    def spread(self) -> tuple[Standing, ...]:
        """How each hard spread constraint stands, those of the profile included."""
        args = self.profile.args.get("PodTopologySpread")
        return standings(
            self.pod,
            self.cluster,
            defaults=args if isinstance(args, PodTopologySpreadArgs) else None,
            comparison_operators=self.comparison_operators,
        )
