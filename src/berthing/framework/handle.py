"""What the scheduler offers to its plugins: a plugin gets a Handle when it is made.

Upstream: Handle in staging kube-scheduler/framework/interface.go (v1.36.4).
Differs:  asynchronous where upstream blocks; objects come from typed listers, which stand for
          the informer factory and the CSI manager; the client is a small port rather than a
          generated client set; no parallelizer, for columns take its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from berthing.api.pod import Pod, PodCondition
from berthing.api.pod_info import PodInfo
from berthing.api.resource import ResourceClaim
from berthing.framework.columns import Int64Column
from berthing.framework.cycle_state import CycleState
from berthing.framework.nodes import NodeInfo, Nodes
from berthing.framework.status import Status
from berthing.framework.verdicts import Verdicts

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Lister(Protocol[T_co]):
    """The objects of one kind as the API server last showed them."""

    def get(self, name: str, namespace: str = "") -> T_co | None:
        """One object, or None if there is none of that name."""
        ...

    def list(self, namespace: str | None = None) -> Iterable[T_co]:
        """All objects, or those of one namespace."""
        ...


class Snapshot(Protocol):
    """The cluster as it is now: during a cycle it stays so, across an await it may change.

    A hint sees it with the change that it is asked about, but for a node that is about to go.
    """

    @property
    def nodes(self) -> Nodes:
        """All nodes."""
        ...

    def node(self, name: str) -> NodeInfo | None:
        """One node, or None if there is none of that name."""
        ...

    def pods_with_affinity(self) -> Iterator[tuple[PodInfo, NodeInfo]]:
        """Running pods that carry affinity or anti-affinity terms, each with its node."""
        ...

    def is_pvc_used_by_pods(self, key: str) -> bool:
        """Whether a running pod mounts the claim namespace/name."""
        ...

    def pod_group_state(self, namespace: str, name: str) -> PodGroupState | None:
        """The members of a pod group as this cycle sees them; None for an unknown group."""
        ...


class PodGroupState(Protocol):
    """Where the members of a pod group are."""

    @property
    def all_pods(self) -> Collection[str]:
        """The uids of all members that were seen."""
        ...

    @property
    def unscheduled_pods(self) -> Mapping[str, Pod]:
        """Members that wait for a node, by key namespace/name."""
        ...

    @property
    def assumed_pods(self) -> Collection[str]:
        """The uids of members that have a node and are not bound yet."""
        ...

    @property
    def assigned_pods(self) -> Collection[str]:
        """The uids of members that are bound."""
        ...


class WaitingPod(Protocol):
    """A pod that waits for Permit plugins to let it go."""

    @property
    def pod(self) -> Pod:
        """The pod."""
        ...

    @property
    def pending_plugins(self) -> Sequence[str]:
        """Plugins whose word is still missing."""
        ...

    def allow(self, plugin: str) -> None:
        """Say yes in the name of a plugin; the last yes lets the pod go."""
        ...

    def reject(self, plugin: str, message: str) -> bool:
        """Turn the pod back; False if something else was decided before."""
        ...

    def preempt(self, plugin: str, message: str) -> bool:
        """Turn the pod back to be tried again at once; False if decided before."""
        ...


class PodInPreBind(Protocol):
    """A pod between Permit and Bind."""

    def cancel(self, reason: str) -> bool:
        """Stop its binding; False if it is too late for that."""
        ...

    def mark_prebound(self) -> bool:
        """From here on nothing stops the binding; False if it was cancelled before."""
        ...


class EventRecorder(Protocol):
    """Writes the events that `kubectl describe` shows; never fails, may be late."""

    def event(self, regarding: object, *, type_: str, reason: str, action: str, note: str) -> None:
        """Record an event about an object: type Normal or Warning, a CamelCase reason, a text."""
        ...


class ApiClient(Protocol):
    """Requests to the API server, under the scheduler's own rights and limits."""

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        content_type: str = "application/json",
        type_: type[T],
    ) -> T:
        """Send one request and decode the answer; raises ApiError for an error answer."""
        ...


class ClientConfig(Protocol):
    """How the API server is reached, for plugins that bring a client of their own."""

    @property
    def server(self) -> str:
        """The API server's URL."""
        ...

    @property
    def kubeconfig(self) -> str:
        """The kubeconfig file in use; empty inside a cluster."""
        ...


class PodWriter(Protocol):
    """Writes about pods that the scheduler's own columns must agree with.

    Upstream: APICacher.  Both return once the API server has answered.
    """

    async def bind_pod(self, pod: Pod, node_name: str) -> None:
        """Bind the pod; raises ApiError if the API server refuses."""
        ...

    async def patch_pod_status(
        self,
        pod: Pod,
        *,
        condition: PodCondition | None = None,
        nominated_node_name: str | None = None,
    ) -> None:
        """Set a condition, a nomination (the empty text takes it back), or both."""
        ...


class ResourceClaimTracker(Protocol):
    """Resource claims with allocations that are decided but not written yet."""

    def get(self, name: str, namespace: str) -> ResourceClaim | None:
        """A claim, with what was assumed about it."""
        ...

    def list(self) -> Iterable[ResourceClaim]:
        """All claims, with what was assumed about them."""
        ...

    def signal_pending_allocation(self, uid: str, allocated: ResourceClaim) -> None:
        """From here on the claim counts as allocated, though nothing was written."""
        ...

    def pending_allocation(self, uid: str) -> ResourceClaim | None:
        """The claim as it is about to be written, if it is."""
        ...

    def remove_pending_allocation(self, uid: str, *, force: bool = False) -> bool:
        """One pod less shares the pending allocation; True if none was left or `force` is set."""
        ...

    def assume_after_api_call(self, claim: ResourceClaim) -> None:
        """The API server answered with this claim; the informer will follow."""
        ...

    def restore(self, name: str, namespace: str) -> None:
        """Forget what was assumed about a claim."""
        ...


class PodNominator(Protocol):
    """Pods that preemption made room for, and where."""

    def add_nominated_pod(self, pod: PodInfo, node_name: str) -> None:
        """Nominate `pod` to a node, in place of an earlier nomination."""
        ...

    def update_nominated_pod(self, old: Pod, new: PodInfo) -> None:
        """The pod changed; its nomination stays unless the change says otherwise."""
        ...

    def delete_nominated_pod_if_exists(self, pod: Pod) -> None:
        """The pod needs its room no more."""
        ...

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]:
        """Pods nominated to a node."""
        ...


class PluginsRunner(Protocol):
    """Runs the profile's plugins, for plugins that ask what would be if."""

    def run_pre_filter_extension_add_pod(
        self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo
    ) -> Status | None:
        """AddPod of all PreFilter plugins; the first that objects ends it."""
        ...

    def run_pre_filter_extension_remove_pod(
        self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo
    ) -> Status | None:
        """RemovePod of all PreFilter plugins; the first that objects ends it."""
        ...

    def run_filter_plugins(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """All Filter plugins in order on these rows."""
        ...

    def run_filter_plugins_with_nominated_pods(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> Verdicts:
        """As `run_filter_plugins`, with and without the pods nominated to these nodes."""
        ...

    def run_pre_score_plugins(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """All PreScore plugins."""
        ...

    def run_score_plugins(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> Mapping[str, Int64Column]:
        """Weighted, normalised scores by plugin."""
        ...


class Extender(Protocol):
    """A webhook that takes part in decisions; see the extender protocol."""

    @property
    def name(self) -> str:
        """Its URL prefix."""
        ...

    @property
    def is_ignorable(self) -> bool:
        """True if an attempt goes on without it when it fails."""
        ...

    def is_interested(self, pod: PodInfo) -> bool:
        """Whether it manages a resource that the pod asks for, or all pods."""
        ...


class Handle(PluginsRunner, PodNominator, Protocol):
    """A profile's view of the scheduler, for its plugins."""

    @property
    def profile_name(self) -> str:
        """The schedulerName of the profile."""
        ...

    @property
    def snapshot(self) -> Snapshot:
        """The cluster as this cycle sees it."""
        ...

    @property
    def client(self) -> ApiClient:
        """The API server."""
        ...

    @property
    def client_config(self) -> ClientConfig:
        """How the API server is reached."""
        ...

    @property
    def pod_writer(self) -> PodWriter:
        """Writes about pods, in step with the scheduler's own columns."""
        ...

    @property
    def resource_claims(self) -> ResourceClaimTracker:
        """Resource claims, with allocations under way."""
        ...

    @property
    def event_recorder(self) -> EventRecorder:
        """Where events are written."""
        ...

    @property
    def extenders(self) -> Sequence[Extender]:
        """The configured extenders, in calling order."""
        ...

    def lister(self, kind: type[T]) -> Lister[T]:
        """The objects of a kind: `handle.lister(PersistentVolumeClaim)`."""
        ...

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        """The labels of a namespace; none for one that is not there."""
        ...

    def pod_group_state(self, namespace: str, name: str) -> PodGroupState | None:
        """The members of a pod group as they are now, outside cycles too; None if unknown."""
        ...

    def is_feature_enabled(self, gate: str) -> bool:
        """Whether a feature gate is on."""
        ...

    def now(self) -> float:
        """Seconds of the scheduler's clock, virtual in simulations."""
        ...

    def activate(self, pods: Mapping[str, Pod]) -> None:
        """Move waiting pods, by key namespace/name, to the active queue."""
        ...

    def iterate_waiting_pods(self, callback: Callable[[WaitingPod], None]) -> None:
        """Call back for every pod that waits on Permit."""
        ...

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        """A pod that waits on Permit."""
        ...

    def reject_waiting_pod(self, uid: str) -> bool:
        """Turn back a pod that waits on Permit; False if it does not."""
        ...

    def add_pod_in_pre_bind(self, uid: str, cancel: Callable[[str], None]) -> None:
        """A pod enters PreBind; `cancel(reason)` would stop it."""
        ...

    def pod_in_pre_bind(self, uid: str) -> PodInPreBind | None:
        """A pod between Permit and Bind."""
        ...

    def remove_pod_in_pre_bind(self, uid: str) -> None:
        """The pod is through, or stopped."""
        ...

    def sign_pod(self, pod: PodInfo) -> bytes | None:
        """What the plugins say of a pod, equal for pods they treat alike; None if one refuses."""
        ...
