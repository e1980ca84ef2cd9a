"""What a change of a pod or a node comes to."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from berthing.api.node import Node, NodeCondition
from berthing.api.pod import Pod, PodResourceClaimStatus, PodStatus
from berthing.queue.derived_events import node_events, pod_events
from berthing.testing import make_node, make_pod, make_taint, make_toleration


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        pytest.param(make_pod(), make_pod(annotations={"a": "b"}), ["Update"], id="nothing finer"),
        pytest.param(
            make_pod(), make_pod(labels={"a": "b"}), ["UpdatePodLabel"], id="other labels"
        ),
        pytest.param(
            make_pod(cpu="2"), make_pod(cpu="1"), ["UpdatePodScaleDown"], id="asks for less"
        ),
        pytest.param(
            make_pod(cpu="0"), make_pod(), ["UpdatePodScaleDown"], id="asks for it no more"
        ),
        pytest.param(make_pod(cpu="1"), make_pod(cpu="2"), ["Update"], id="asks for more"),
        pytest.param(
            make_pod(scheduling_gates=["a", "b"]),
            make_pod(scheduling_gates=["b"]),
            ["Update"],
            id="one gate less",
        ),
        pytest.param(
            make_pod(scheduling_gates=["a"], labels={"a": "b"}),
            make_pod(tolerations=[make_toleration("x")]),
            ["UpdatePodLabel", "UpdatePodSchedulingGatesEliminated", "UpdatePodToleration"],
            id="several at once",
        ),
        pytest.param(
            make_pod(),
            replace(
                make_pod(),
                status=PodStatus(resource_claim_statuses=(PodResourceClaimStatus(name="gpu"),)),
            ),
            ["UpdatePodGeneratedResourceClaim"],
            id="a claim was made",
        ),
    ],
)
def test_pods(old: Pod, new: Pod, actions: list[str]) -> None:
    assert [event.label for event in pod_events(old, new)] == [
        f"UnschedulablePod{action}" for action in actions
    ]


def test_a_pod_with_a_node_is_an_assigned_one() -> None:
    pod = make_pod(node_name="n")
    assert [event.label for event in pod_events(pod, pod)] == ["AssignedPodUpdate"]


READY = NodeCondition(type="Ready", status="True", reason="a")


def node_with(*conditions: NodeCondition) -> Node:
    node = make_node()
    return replace(node, status=replace(node.status, conditions=conditions))


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        pytest.param(make_node(), make_node(), [], id="nothing"),
        pytest.param(make_node(), make_node(cordoned=True), [], id="cordoned"),
        pytest.param(
            make_node(cordoned=True, taints=[make_taint("x")]),
            make_node(),
            ["NodeTaint", "NodeTaint"],
            id="uncordoned, and a taint is gone",
        ),
        pytest.param(
            make_node(cpu="1", labels={"a": "b"}),
            make_node(cpu="2"),
            ["NodeAllocatable", "NodeLabel"],
            id="grew, and lost a label",
        ),
        pytest.param(make_node(cpu="1"), make_node(cpu="1000m"), [], id="the same, said otherwise"),
        pytest.param(
            node_with(READY), node_with(replace(READY, reason="b")), [], id="another reason"
        ),
        pytest.param(
            node_with(READY),
            node_with(replace(READY, status="False")),
            ["NodeCondition"],
            id="not ready any more",
        ),
        pytest.param(
            make_node(), make_node(declared_features=["x"]), ["NodeDeclaredFeature"], id="feature"
        ),
    ],
)
def test_nodes(old: Node, new: Node, actions: list[str]) -> None:
    assert [event.label for event in node_events(old, new)] == [
        f"NodeUpdate{action}" for action in actions
    ]
