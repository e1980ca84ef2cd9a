"""What plugin authors may rely on: additions are news for the changelog, removals break them."""

from __future__ import annotations

import berthing.framework

PROMISED = [
    "DEFAULT_EVENTS",
    "MAX_SCORE",
    "MIN_SCORE",
    "SUCCESS",
    "ActionType",
    "ApiClient",
    "BindPlugin",
    "BoolColumn",
    "ClientConfig",
    "ClusterEvent",
    "ClusterEventWithHint",
    "Code",
    "CodeColumn",
    "CycleState",
    "EnqueueExtensions",
    "EventRecorder",
    "EventResource",
    "Extender",
    "ExtensionPoint",
    "FilterPlugin",
    "Handle",
    "Int64Column",
    "InternedColumn",
    "Lister",
    "Node",
    "NodeInfo",
    "NodeToStatus",
    "Nodes",
    "PermitPlugin",
    "Plugin",
    "PluginsRunner",
    "Pod",
    "PodGroupState",
    "PodInPreBind",
    "PodInfo",
    "PodNominator",
    "PodWriter",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PostFilterResult",
    "PreBindPlugin",
    "PreBindPreFlightResult",
    "PreEnqueuePlugin",
    "PreFilterExtensions",
    "PreFilterPlugin",
    "PreFilterResult",
    "PreScorePlugin",
    "QueueSortPlugin",
    "QueuedPodInfo",
    "QueueingHint",
    "QueueingHintFn",
    "ReservePlugin",
    "ResourceClaimTracker",
    "ScoreExtensions",
    "ScorePlugin",
    "SignPlugin",
    "Snapshot",
    "StateData",
    "StateKey",
    "StateNotFoundError",
    "Status",
    "Verdicts",
    "Wait",
    "WaitingPod",
    "points_of",
]


def test_all_is_what_was_promised() -> None:
    assert sorted(berthing.framework.__all__) == sorted(PROMISED)


def test_every_promised_name_is_there() -> None:
    assert [name for name in PROMISED if not hasattr(berthing.framework, name)] == []
