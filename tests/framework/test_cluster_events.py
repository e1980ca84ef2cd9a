from __future__ import annotations

import pytest

from berthing.framework import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from berthing.framework.cluster_events import completed

ADD_NODE = ClusterEvent(EventResource.NODE, ActionType.ADD)
WILDCARD = ClusterEvent(EventResource.WILDCARD, ActionType.ALL)


@pytest.mark.parametrize(
    ("event", "label"),
    [
        (ADD_NODE, "NodeAdd"),
        (
            ClusterEvent(EventResource.ASSIGNED_POD, ActionType.UPDATE_POD_SCALE_DOWN),
            "AssignedPodUpdatePodScaleDown",
        ),
        (ClusterEvent(EventResource.CSI_NODE, ActionType.UPDATE), "storage.k8s.io/CSINodeUpdate"),
        (
            ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "UnschedulableTimeout"),
            "UnschedulableTimeout",
        ),
    ],
)
def test_label(event: ClusterEvent, label: str) -> None:
    assert event.label == label


def test_action_bits_are_upstreams() -> None:
    actions = (
        ActionType.ALL,
        ActionType.UPDATE,
        ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM,
    )
    assert [action.value for action in actions] == [8191, 8188, 4096]


POD_LABEL = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_LABEL)
POD_UPDATE = ClusterEvent(EventResource.POD, ActionType.UPDATE)


@pytest.mark.parametrize(
    ("registered", "incoming", "matches"),
    [
        pytest.param(ADD_NODE, ADD_NODE, True, id="the same"),
        pytest.param(WILDCARD, ADD_NODE, True, id="wildcard matches all"),
        pytest.param(ADD_NODE, WILDCARD, False, id="an incoming wildcard matches only a wildcard"),
        pytest.param(
            ClusterEvent(EventResource.WILDCARD, ActionType.ADD),
            ADD_NODE,
            True,
            id="any resource, one action",
        ),
        pytest.param(
            POD_LABEL,
            ClusterEvent(EventResource.ASSIGNED_POD, ActionType.UPDATE_POD_LABEL),
            True,
            id="Pod covers assigned pods",
        ),
        pytest.param(
            POD_LABEL,
            ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_LABEL),
            True,
            id="Pod covers waiting pods",
        ),
        pytest.param(POD_UPDATE, POD_LABEL, True, id="narrower than what was registered"),
        pytest.param(POD_LABEL, POD_UPDATE, False, id="wider than what was registered"),
        pytest.param(
            ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
            ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL),
            True,
            id="one of several actions",
        ),
        pytest.param(
            ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT),
            ADD_NODE,
            False,
            id="another action",
        ),
        pytest.param(ADD_NODE, ClusterEvent("Pod", ActionType.ADD), False, id="another resource"),
        pytest.param(
            ClusterEvent("foos.v1.example.com", ActionType.ADD),
            ClusterEvent("foos.v1.example.com", ActionType.ADD),
            True,
            id="a custom resource",
        ),
    ],
)
def test_matches(registered: ClusterEvent, incoming: ClusterEvent, matches: bool) -> None:
    assert registered.matches(incoming) is matches


def test_who_hears_of_new_nodes_hears_of_taints_without_a_hint() -> None:
    registered = (ClusterEventWithHint(ADD_NODE),)
    assert completed(registered)[1:] == (
        ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)),
    )


def test_who_registered_taints_gets_nothing_added() -> None:
    registered = (
        ClusterEventWithHint(
            ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        ),
    )
    assert completed(registered) == registered
