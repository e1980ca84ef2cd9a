"""NodeResourcesBalancedAllocation: what a pod does to the balance between a node's resources."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.config.args import NodeResourcesBalancedAllocationArgs, ResourceSpec
from berthing.framework import CycleState
from berthing.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from berthing.plugins.resource_scores import balanced, column_of
from berthing.testing import make_node, make_pod
from plugins.harness import cluster_of, fake_handle, score_all

GPU = "example.com/gpu"
DISK = "ephemeral-storage"


def plugin(*resources: str) -> NodeResourcesBalancedAllocation:
    specs = (ResourceSpec(name=name, weight=1) for name in resources or ("cpu", "memory"))
    args = NodeResourcesBalancedAllocationArgs(resources=tuple(specs))
    return NodeResourcesBalancedAllocation(args, fake_handle())


def there(*, cpu: str) -> Pod:
    return make_pod("there", cpu=cpu, node_name="node")


@pytest.mark.parametrize(
    ("pod", "running", "expected"),
    [
        pytest.param(make_pod(cpu="2", memory="8Gi"), [], 75, id="an even pod changes nothing"),
        pytest.param(make_pod(cpu="4"), [], 50, id="all of one and none of the other"),
        pytest.param(make_pod(cpu="2"), [], 62, id="half of one tilts half as much"),
        pytest.param(make_pod(memory="16Gi"), [there(cpu="4")], 100, id="the tilt is mended"),
        pytest.param(make_pod(cpu="1"), [there(cpu="1")], 69, id="tilted further"),
        pytest.param(
            make_pod(cpu="8", memory="16Gi"), [], 75, id="more than all counts as all of it"
        ),
        pytest.param(
            make_pod(cpu="2"),
            [make_pod("silent", node_name="node")],
            62,
            id="pods that request nothing take nothing",
        ),
        pytest.param(
            make_pod(cpu="1", pod_level_requests={"cpu": "4"}),
            [],
            50,
            id="requests for the pod as a whole count",
        ),
    ],
)
def test_two_resources(pod: Pod, running: Iterable[Pod], expected: int) -> None:
    cluster = cluster_of([make_node(cpu="4", memory="16Gi"), *running])

    assert score_all(plugin(), pod, cluster) == {"node": expected}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        # Fractions 1/2, 1/4 and 0: a deviation of 0.204 against none.
        pytest.param(
            make_pod(cpu="2", memory="4Gi"), {"disk": 64, "none": 68}, id="fractions are uneven"
        ),
        pytest.param(
            make_pod(cpu="2", memory="8Gi", requests={DISK: "2Gi"}),
            {"disk": 75, "none": 75},
            id="fractions are even",
        ),
    ],
)
def test_three_resources_where_a_node_may_lack_one(pod: Pod, expected: dict[str, int]) -> None:
    cluster = cluster_of([make_node("disk", resources={DISK: "4Gi"}), make_node("none")])

    assert score_all(plugin("cpu", "memory", DISK), pod, cluster) == expected


def test_an_extended_resource_only_counts_for_pods_that_want_it() -> None:
    cluster = cluster_of([make_node(resources={GPU: "2"})])
    of_three = plugin("cpu", "memory", GPU)

    assert score_all(of_three, make_pod(cpu="2", memory="8Gi"), cluster) == {"node": 75}
    wants = make_pod(cpu="2", memory="8Gi", requests={GPU: "2"})
    assert score_all(of_three, wants, cluster) == {"node": 63}


@pytest.mark.parametrize(
    "resources",
    [pytest.param(["cpu"], id="one is listed"), pytest.param(["cpu", GPU], id="one is offered")],
)
def test_one_resource_is_always_in_balance(resources: list[str]) -> None:
    pod = make_pod(cpu="3", requests={GPU: "1"})

    assert score_all(plugin(*resources), pod, cluster_of([make_node()])) == {"node": 75}


def test_of_two_that_are_offered_half_the_difference_counts() -> None:
    # By the formula for more than two, 0.8 and 0.1 would round to a deviation just below 0.35.
    used, added = column_of([1, 0, 0]), column_of([79, 10, 0])

    assert balanced(used, added, offered=column_of([100, 100, 0])).tolist() == [57]


def test_shares_are_added_one_after_the_other() -> None:
    # In any other order, the last bit of the deviation makes the old balance 65 rather than 64.
    used, added = column_of([10, 2, 9, 9, 8, 5, 9, 0]), column_of([10] * 8)

    assert balanced(used, added, offered=column_of([10] * 8)).tolist() == [93]


@pytest.mark.parametrize(
    ("pod", "sits_out"),
    [
        pytest.param(make_pod(), True, id="no requests"),
        pytest.param(make_pod(cpu="0"), True, id="requests of zero"),
        pytest.param(make_pod(requests={GPU: "1"}), True, id="requests of what is not listed"),
        pytest.param(make_pod(memory="1"), False, id="requests of one that is listed"),
    ],
)
def test_it_sits_out_for_pods_without_requests(pod: Pod, sits_out: bool) -> None:
    assert (score_all(plugin(), pod, cluster_of([make_node()])) is None) is sits_out


def test_without_pre_score_such_pods_score_nothing() -> None:
    cluster = cluster_of([make_node("a"), make_node("b")])

    scores = plugin().score_nodes(CycleState(), PodInfo.of(make_pod()), cluster.rows())

    assert np.array_equal(scores, [0, 0])
