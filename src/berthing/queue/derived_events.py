"""What a change of a pod or a node comes to: cluster events as narrow as the change allows.

Upstream: pkg/scheduler/framework/events.go (v1.36.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_requests import DEFAULT_GATES, RequestGates, asks_for_less
from berthing.framework import ActionType, ClusterEvent, EventResource

ASSIGNED_POD_ADD: Final = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
ASSIGNED_POD_UPDATE: Final = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.UPDATE)
ASSIGNED_POD_DELETE: Final = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
UNSCHEDULABLE_POD_ADD: Final = ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.ADD)
UNSCHEDULABLE_POD_UPDATE: Final = ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE)
UNSCHEDULABLE_POD_DELETE: Final = ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.DELETE)
NODE_ADD: Final = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_DELETE: Final = ClusterEvent(EventResource.NODE, ActionType.DELETE)

# Nothing happened to any object; these stand for every event there is.
UNSCHEDULABLE_TIMEOUT: Final = ClusterEvent(
    EventResource.WILDCARD, ActionType.ALL, "UnschedulableTimeout"
)
FORCE_ACTIVATE: Final = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ForceActivate")


def pod_events(old: Pod, new: Pod, gates: RequestGates = DEFAULT_GATES) -> Sequence[ClusterEvent]:
    """What a pod's update comes to: at least the general event, if nothing finer."""
    actions = [*_pod_actions(old, new, gates)] or [ActionType.UPDATE]
    is_assigned = bool(new.spec.node_name)
    return [(_ASSIGNED if is_assigned else _UNSCHEDULABLE)[action] for action in actions]


def node_events(old: Node, new: Node) -> Sequence[ClusterEvent]:
    """What a node's update comes to: often nothing, sometimes the same event twice."""
    return [_OF_NODE[action] for action in _node_actions(old, new)]


def _pod_actions(old: Pod, new: Pod, gates: RequestGates) -> Iterator[ActionType]:
    if old.metadata.labels != new.metadata.labels:
        yield ActionType.UPDATE_POD_LABEL
    if asks_for_less(old, new, gates):
        yield ActionType.UPDATE_POD_SCALE_DOWN
    if old.spec.scheduling_gates and not new.spec.scheduling_gates:
        yield ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
    # Tolerations of a pod can only be added.
    if len(old.spec.tolerations) != len(new.spec.tolerations):
        yield ActionType.UPDATE_POD_TOLERATION
    before, after = old.status, new.status
    if (
        before.resource_claim_statuses != after.resource_claim_statuses
        or before.extended_resource_claim_status != after.extended_resource_claim_status
    ):
        yield ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM


def _node_actions(old: Node, new: Node) -> Iterator[ActionType]:
    if old.spec.unschedulable and not new.spec.unschedulable:
        yield ActionType.UPDATE_NODE_TAINT
    if old.status.allocatable != new.status.allocatable:
        yield ActionType.UPDATE_NODE_ALLOCATABLE
    if old.metadata.labels != new.metadata.labels:
        yield ActionType.UPDATE_NODE_LABEL
    if old.spec.taints != new.spec.taints:
        yield ActionType.UPDATE_NODE_TAINT
    if _conditions(old) != _conditions(new):
        yield ActionType.UPDATE_NODE_CONDITION
    if old.metadata.annotations != new.metadata.annotations:
        yield ActionType.UPDATE_NODE_ANNOTATION
    if old.status.declared_features != new.status.declared_features:
        yield ActionType.UPDATE_NODE_DECLARED_FEATURE


def _conditions(node: Node) -> dict[str, str]:
    """How each condition stands; heartbeats and reasons are no change."""
    return {each.type: each.status for each in node.status.conditions}


def _events(resource: EventResource) -> dict[ActionType, ClusterEvent]:
    actions = (*ActionType, ActionType.UPDATE)
    return {action: ClusterEvent(resource, action) for action in actions}


# Made once: the queue looks them up by themselves.
_ASSIGNED: Final = _events(EventResource.ASSIGNED_POD)
_UNSCHEDULABLE: Final = _events(EventResource.UNSCHEDULABLE_POD)
_OF_NODE: Final = _events(EventResource.NODE)
