"""What a live scheduler offers to the plugins of one profile.

Upstream: frameworkImpl in framework/runtime/framework.go (v1.36.4), as far as plugins see it.
Differs:  extenders, resource claims and pod groups are still to come, and say so when asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TypeVar

from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.config.features import FeatureGates
from berthing.framework import (
    ApiClient,
    ClientConfig,
    CycleState,
    EventRecorder,
    Extender,
    Int64Column,
    Lister,
    NodeInfo,
    Nodes,
    PodGroupState,
    PodInPreBind,
    PodWriter,
    Status,
    Verdicts,
    WaitingPod,
)
from berthing.queue.scheduling_queue import SchedulingQueue
from berthing.scheduler.outside import Outside
from berthing.scheduler.profile import Profile
from berthing.scheduler.snapshot import ClusterSnapshot, ObjectLister
from berthing.scheduler.waiting_pods import PodsInPreBind, WaitingPods
from berthing.scheduler.what_if import WhatIf

T = TypeVar("T")


class LiveHandle:
    """One profile's view of the scheduler."""

    def __init__(
        self,
        profile_name: str,
        *,
        cluster: Cluster,
        gates: FeatureGates,
        outside: Outside,
        waiting: WaitingPods,
        pre_binding: PodsInPreBind,
        now: Callable[[], float],
    ) -> None:
        self.profile_name = profile_name
        self.snapshot = ClusterSnapshot(cluster)
        self.client: ApiClient = outside.client
        self.client_config: ClientConfig = outside.client_config
        self.pod_writer: PodWriter = outside.pod_writer
        self.event_recorder: EventRecorder = outside.event_recorder(profile_name)
        self.extenders: Sequence[Extender] = ()
        self.now = now
        self._cluster = cluster
        self._gates = gates
        self._waiting = waiting
        self._pre_binding = pre_binding

    def complete(self, queue: SchedulingQueue, profile: Profile) -> None:
        """Add what is made of the plugins, and so comes after them."""
        self._queue = queue
        self._what_if = WhatIf(self._cluster, profile)

    # What there is.

    def lister(self, kind: type[T]) -> Lister[T]:
        """The objects of a kind."""
        return ObjectLister(self._cluster, kind)

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        """The labels of a namespace; none for one that is not there."""
        return self._cluster.namespace_labels(namespace)

    def is_feature_enabled(self, gate: str) -> bool:
        """Whether a feature gate is on."""
        return self._gates.enabled(gate)

    @property
    def resource_claims(self) -> NoReturn:
        """Not yet."""
        raise NotImplementedError("this version does not allocate devices yet")

    def pod_group_state(self, namespace: str, name: str) -> PodGroupState | None:
        """The members of a pod group: this version knows of no groups."""
        return None

    # Pods on their way.

    def activate(self, pods: Mapping[str, Pod]) -> None:
        """Move waiting pods, by key namespace/name, to the active queue."""
        self._queue.activate(list(pods.values()), now=self.now())

    def iterate_waiting_pods(self, callback: Callable[[WaitingPod], None]) -> None:
        """Call back for every pod that waits on Permit."""
        for waiting in self._waiting:
            callback(waiting)

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        """A pod that waits on Permit."""
        return self._waiting.get(uid)

    def reject_waiting_pod(self, uid: str) -> bool:
        """Turn back a pod that waits on Permit; False if it does not."""
        waiting = self._waiting.get(uid)
        return waiting is not None and waiting.reject("", "removed")

    def add_pod_in_pre_bind(self, uid: str, cancel: Callable[[str], None]) -> None:
        """A pod enters PreBind; `cancel(reason)` would stop it."""
        self._pre_binding.add(uid, cancel)

    def pod_in_pre_bind(self, uid: str) -> PodInPreBind | None:
        """A pod between Permit and Bind."""
        return self._pre_binding.get(uid)

    def remove_pod_in_pre_bind(self, uid: str) -> None:
        """The pod is through, or stopped."""
        self._pre_binding.remove(uid)

    # Nominations.

    def add_nominated_pod(self, pod: PodInfo, node_name: str) -> None:
        """Nominate `pod` to a node, in place of an earlier nomination."""
        self._queue.nominator.add(pod, node_name)

    def update_nominated_pod(self, old: Pod, new: PodInfo) -> None:
        """The pod changed; its nomination stays unless the change says otherwise."""
        self._queue.nominator.update(old, new)

    def delete_nominated_pod_if_exists(self, pod: Pod) -> None:
        """The pod needs its room no more."""
        self._queue.nominator.delete(pod.metadata.uid)

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]:
        """Pods nominated to a node."""
        return self._queue.nominator.by_node.get(node_name, ())

    # What the profile's plugins would say.

    def run_pre_filter_extension_add_pod(
        self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo
    ) -> Status | None:
        """AddPod of all PreFilter plugins; the first that objects ends it."""
        return self._what_if.add_pod(state, pod, added, node)

    def run_pre_filter_extension_remove_pod(
        self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo
    ) -> Status | None:
        """RemovePod of all PreFilter plugins; the first that objects ends it."""
        return self._what_if.remove_pod(state, pod, removed, node)

    def run_filter_plugins(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """All Filter plugins in order on these rows."""
        return self._what_if.filter(state, pod, nodes)

    def run_filter_plugins_with_nominated_pods(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> Verdicts:
        """As `run_filter_plugins`, with and without the pods nominated to these nodes."""
        return self._what_if.filter_with_nominated(state, pod, nodes, self._queue.nominator.by_node)

    def run_pre_score_plugins(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """All PreScore plugins."""
        return self._what_if.pre_score(state, pod, nodes)

    def run_score_plugins(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> Mapping[str, Int64Column]:
        """Weighted, normalised scores by plugin."""
        return self._what_if.score(state, pod, nodes)

    def sign_pod(self, pod: PodInfo) -> bytes | None:
        """Not yet: no two pods are taken for alike by what plugins sign."""
        return None
