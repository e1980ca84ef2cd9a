"""NodePrice puts pods on cheaper nodes first, and on none above a limit.

A node's price is read from a label; a node without one is taken for free.
"""

from __future__ import annotations

from typing import Annotated, Protocol

import msgspec

from berthing.framework import (
    MAX_SCORE,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    CycleState,
    EnqueueExtensions,
    EventResource,
    FilterPlugin,
    Handle,
    NodeInfo,
    PodInfo,
    ScorePlugin,
    Status,
)


class Problems(Protocol):
    """Where args say what is wrong with them."""

    def error(self, message: str, *path: str | int, suggestion: str = "") -> None:
        """Add a mistake at a path within the args."""
        ...


class NodePriceArgs(msgspec.Struct, frozen=True, rename="camel"):
    """What users write under pluginConfig."""

    label: str = "example.com/cents-per-hour"
    limit: Annotated[int, msgspec.Meta(ge=1)] = 1000

    def validate(self, problems: Problems) -> None:
        """Say what types cannot."""
        if not self.label:
            problems.error("must name a node label", "label")


class NodePrice(FilterPlugin, ScorePlugin, EnqueueExtensions):
    """One node at a time: the form to begin with."""

    name = "NodePrice"
    args_type = NodePriceArgs
    row_local = True

    def __init__(self, args: NodePriceArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._label = args.label
        self._limit = args.limit

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """No node above the limit."""
        if self._price(node) > self._limit:
            return Status.unresolvable(f"node(s) cost more than {self._limit}")
        return None

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """MAX_SCORE for a free node, 0 for one at the limit."""
        return MAX_SCORE * (self._limit - self._price(node)) // self._limit

    def events_to_register(self) -> list[ClusterEventWithHint]:
        """A new node, or a new price, may help."""
        changes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL
        return [ClusterEventWithHint(ClusterEvent(EventResource.NODE, changes))]

    def _price(self, node: NodeInfo) -> int:
        return int(node.node.metadata.labels.get(self._label, "0"))
