"""DynamicResources allocates devices for resource claims.

Upstream: plugins/dynamicresources/dynamicresources.go (v1.36.4).
Differs:  pods with claims are refused until this is done, unless a claim is missing; what gates a
          pod and the hints are complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from berthing.api.pod import Pod
from berthing.api.pod_info import PodClaim, PodInfo
from berthing.api.resource import DeviceClass, ResourceClaim
from berthing.cluster.rows import as_rows
from berthing.config import args
from berthing.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    CycleState,
    EnqueueExtensions,
    EventResource,
    FilterPlugin,
    Handle,
    Int64Column,
    Nodes,
    NodeToStatus,
    PostFilterPlugin,
    PostFilterResult,
    PreEnqueuePlugin,
    PreFilterPlugin,
    QueueingHint,
    ScorePlugin,
    StateKey,
    Status,
    Verdicts,
)
from berthing.plugins.changed_objects import changed_from, changed_to
from berthing.plugins.unsupported import UnsupportedError

# Without this feature gate the plugin has no opinion.
GATE = "DynamicResourceAllocation"

# The claims of the pod, once PreFilter has looked for them.
_CLAIMS = StateKey[tuple[PodClaim, ...]]("DynamicResources")


class DynamicResources(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    ScorePlugin,
    EnqueueExtensions,
):
    """Holds back pods whose claims are not there yet."""

    name = "DynamicResources"
    args_type = args.DynamicResourcesArgs
    row_local = True
    reads_pods = False

    def __init__(self, args: args.DynamicResourcesArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._enabled = handle.is_feature_enabled(GATE)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Claims, whatever devices come from, and nodes, whose labels say who reaches them."""
        if not self._enabled:
            return ()
        changed = ActionType.ADD | ActionType.UPDATE
        made = ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
        node = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, node)),
            ClusterEventWithHint(
                ClusterEvent(EventResource.RESOURCE_CLAIM, changed), self.after_claim
            ),
            ClusterEventWithHint(ClusterEvent(EventResource.POD, made), self.after_pod_change),
            ClusterEventWithHint(ClusterEvent(EventResource.DEVICE_CLASS, changed)),
            ClusterEventWithHint(ClusterEvent(EventResource.RESOURCE_SLICE, changed)),
        )

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Hold back a pod as long as a claim of it is missing, or on its way out."""
        if not self._enabled or not pod.facts.resource_claims:
            return None
        try:
            self._claims(pod.pod)
        except _ClaimError as error:
            return Status.unresolvable(str(error))
        return None

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status:
        """Sit out, or refuse."""
        facts = pod.facts
        state.write(_CLAIMS, facts.resource_claims)
        if facts.resource_claims or facts.extended_resource_claim:
            raise UnsupportedError("this version does not place pods with resource claims yet")
        asked = {name for amounts in facts.asked.extended for name in amounts}
        if asked and asked & self._backed_by_devices(nodes):
            raise UnsupportedError(
                "this version does not place pods with devices behind extended resources yet"
            )
        return Status.skip()

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Nobody asks: PreFilter skips or refuses."""
        return Verdicts.all_pass(len(nodes))

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        """Without claims all nodes are alike."""
        return np.zeros(len(nodes), np.int64)

    async def post_filter(
        self, state: CycleState, pod: PodInfo, filtered: NodeToStatus
    ) -> PostFilterResult:
        """There is no claim that the pod could do without."""
        if state.get(_CLAIMS) is None:
            # PreFilter ended before our turn came; these are upstream's words for it.
            raise LookupError("not found")
        return PostFilterResult(Status.unschedulable("no new claims to deallocate"))

    def _backed_by_devices(self, nodes: Nodes) -> set[str]:
        classes = as_rows(nodes).cluster.objects.list(DeviceClass)
        return {each.spec.extended_resource_name or "" for each in classes}

    # Hints.

    def after_claim(self, pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
        """All claims must be there, and this one be free again, or be the pod's with some news."""
        before, after = changed_from(ResourceClaim, old), changed_to(ResourceClaim, new)
        try:
            uids = {claim.metadata.uid for claim in self._claims(pod.pod)}
        except _ClaimError:
            return QueueingHint.SKIP
        if before is not None and before.status.allocation and not after.status.allocation:
            return QueueingHint.QUEUE
        # Most changes that are no news are finalizers.
        is_news = before is None or before.status != after.status
        helps = is_news and after.metadata.uid in uids
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def after_pod_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """The pod itself must have got the last of its claims."""
        after = changed_to(Pod, new)
        if after.metadata.uid != pod.uid:
            return QueueingHint.SKIP
        try:
            self._claims(after)
        except _ClaimError:
            return QueueingHint.SKIP
        return QueueingHint.QUEUE

    def _claims(self, pod: Pod) -> list[ResourceClaim]:
        """The pod's claims; _ClaimError if one is missing or of no use."""
        lister = self.handle.lister(ResourceClaim)
        claims = []
        for name, is_made in _claim_names(pod):
            claim = lister.get(name, pod.namespace)
            if claim is None:
                raise _ClaimError(f'could not find ResourceClaim "{pod.namespace}/{name}"')
            if claim.metadata.deletion_timestamp is not None:
                raise _ClaimError(f'resourceclaim "{name}" is being deleted')
            owner = claim.metadata.controller
            if is_made and (owner is None or owner.uid != pod.metadata.uid):
                raise _ClaimError(
                    f"ResourceClaim {claim.key} was not created for Pod {pod.key} (Pod is not owner)"
                )
            claims.append(claim)
        return claims


class _ClaimError(Exception):
    """Why a pod cannot have all its claims yet."""


def _claim_names(pod: Pod) -> Iterator[tuple[str, bool]]:
    """The pod's claims by name, and whether each is made for it; some need not be made at all."""
    made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    for each in pod.spec.resource_claims:
        if each.resource_claim_name is not None:
            yield each.resource_claim_name, False
        elif each.resource_claim_template_name is None:
            raise _ClaimError(
                f'pod "{pod.key}", spec.resourceClaim "{each.name}": '
                "none of the supported fields are set"
            )
        elif each.name not in made:
            raise _ClaimError(f'pod "{pod.key}": ResourceClaim not created yet')
        elif (name := made[each.name]) is not None:
            yield name, True
