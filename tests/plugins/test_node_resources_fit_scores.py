"""NodeResourcesFit as a scorer: the three strategies, what they count and how they round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from berthing.api.pod import Pod
from berthing.config.args import (
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from berthing.plugins.node_resources_fit import NodeResourcesFit
from berthing.plugins.resource_scores import curve
from berthing.testing import make_container, make_node, make_pod
from plugins.harness import cluster_of, fake_handle, score_all

GPU = "example.com/gpu"
CPU_ONLY = {"cpu": 1}
BOTH = {"cpu": 1, "memory": 1}
# Half a node of make_node(cpu="4", memory="16Gi").
HALF = make_pod(cpu="2", memory="8Gi")


def plugin(
    type_: str, resources: Mapping[str, int], shape: Sequence[tuple[int, int]] = ()
) -> NodeResourcesFit:
    ratio = RequestedToCapacityRatioParam(shape=points(shape)) if shape else None
    strategy = ScoringStrategy(
        type=type_,
        resources=tuple(ResourceSpec(name=name, weight=each) for name, each in resources.items()),
        requested_to_capacity_ratio=ratio,
    )
    return NodeResourcesFit(NodeResourcesFitArgs(scoring_strategy=strategy), fake_handle())


def points(shape: Sequence[tuple[int, int]]) -> tuple[UtilizationShapePoint, ...]:
    return tuple(UtilizationShapePoint(utilization=at, score=score) for at, score in shape)


def least(resources: Mapping[str, int] = BOTH) -> NodeResourcesFit:
    return plugin("LeastAllocated", resources)


def most(resources: Mapping[str, int] = BOTH) -> NodeResourcesFit:
    return plugin("MostAllocated", resources)


def ratio(
    shape: Sequence[tuple[int, int]], resources: Mapping[str, int] = BOTH
) -> NodeResourcesFit:
    return plugin("RequestedToCapacityRatio", resources, shape)


@pytest.mark.parametrize(
    ("fit", "pod", "expected"),
    [
        pytest.param(least(), HALF, 50, id="half the node stays free"),
        pytest.param(least(), make_pod(cpu="1", memory="8Gi"), 62, id="the mean is rounded down"),
        pytest.param(
            least({"cpu": 3, "memory": 1}),
            make_pod(cpu="1", memory="8Gi"),
            68,
            id="resources count by weight",
        ),
        pytest.param(least(CPU_ONLY), make_pod(cpu="1m"), 99, id="a share is rounded down"),
        pytest.param(least(CPU_ONLY), make_pod(cpu="4"), 0, id="nothing stays free"),
        pytest.param(least(CPU_ONLY), make_pod(cpu="5"), 0, id="more than all is no less than 0"),
        pytest.param(
            least(), make_pod(), 97, id="a container that says nothing takes 100m and 200Mi"
        ),
        pytest.param(
            least(CPU_ONLY),
            make_pod(containers=[make_container("a", cpu="1"), make_container("b")]),
            72,
            id="the least amount is for each container that says nothing",
        ),
        pytest.param(
            least(CPU_ONLY),
            make_pod(cpu="1", pod_level_requests={"cpu": "3"}),
            75,
            id="requests for the pod as a whole do not count",
        ),
        pytest.param(most(), HALF, 50, id="half the node is taken"),
        pytest.param(most(CPU_ONLY), make_pod(cpu="39m"), 0, id="a taken share is rounded down"),
        pytest.param(
            most(CPU_ONLY), make_pod(cpu="5"), 100, id="more than all is no more than 100"
        ),
        pytest.param(
            ratio([(0, 0), (100, 10)], CPU_ONLY), make_pod(cpu="1"), 25, id="a curve that rises"
        ),
        pytest.param(
            ratio([(0, 10), (100, 0)], CPU_ONLY), make_pod(cpu="1"), 75, id="a curve that falls"
        ),
        pytest.param(
            ratio([(0, 0), (100, 10)], CPU_ONLY),
            make_pod(cpu="5"),
            100,
            id="a curve ends at a full node",
        ),
        pytest.param(
            ratio([(0, 0), (25, 0), (50, 10)]),
            make_pod(cpu="1", memory="6Gi"),
            48,
            id="a resource without points does not count",
        ),
        pytest.param(
            ratio([(0, 0), (100, 10)]),
            make_pod(cpu="1", memory="4260Mi"),
            26,
            id="the mean of 25 and 26 is rounded up",
        ),
        pytest.param(ratio([(0, 0), (100, 0)]), HALF, 0, id="nothing has points"),
    ],
)
def test_an_empty_node(fit: NodeResourcesFit, pod: Pod, expected: int) -> None:
    assert score_all(fit, pod, cluster_of([make_node(cpu="4", memory="16Gi")])) == {
        "node": expected
    }


def test_running_pods_count_with_their_least_amounts() -> None:
    there = [make_pod("a", node_name="node"), make_pod("b", cpu="900m", node_name="node")]
    cluster = cluster_of([make_node(cpu="4"), *there])

    assert score_all(least(CPU_ONLY), make_pod(cpu="1"), cluster) == {"node": 50}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(
            make_pod(cpu="2"),
            {"gpus": 50, "other-gpus": 50, "none": 50},
            id="does not matter to a pod that wants none",
        ),
        pytest.param(
            make_pod(cpu="2", requests={GPU: "1"}),
            # (50 + 3 * 75) / 4, (50 + 3 * 50) / 4, and where there are none 50 / 1
            {"gpus": 68, "other-gpus": 50, "none": 50},
            id="counts where it is offered",
        ),
    ],
)
def test_an_extended_resource(pod: Pod, expected: Mapping[str, int]) -> None:
    cluster = cluster_of(
        [
            make_node("gpus", resources={GPU: "4"}),
            make_node("other-gpus", resources={GPU: "2"}),
            make_node("none"),
        ]
    )

    assert score_all(least({"cpu": 1, GPU: 3}), pod, cluster) == expected


@pytest.mark.parametrize(
    ("fit", "expected"),
    [
        pytest.param(least({GPU: 1}), 0, id="least allocated"),
        pytest.param(most({GPU: 1}), 0, id="most allocated"),
        pytest.param(ratio([(0, 10), (100, 5)], {GPU: 1}), 0, id="a ratio"),
    ],
)
def test_a_node_that_offers_none_of_the_resources_scores_nothing(
    fit: NodeResourcesFit, expected: int
) -> None:
    cluster = cluster_of([make_node()])

    assert score_all(fit, make_pod(requests={GPU: "1"}), cluster) == {"node": expected}


def test_ephemeral_storage_counts_also_for_pods_that_want_none() -> None:
    disk = "ephemeral-storage"
    there = make_pod("there", requests={disk: "3Gi"}, node_name="node")
    cluster = cluster_of([make_node(resources={disk: "4Gi"}), there])

    assert score_all(least({disk: 1}), make_pod(), cluster) == {"node": 25}


def test_pods_are_no_resource_to_score_by() -> None:
    cluster = cluster_of([make_node(pods="2"), make_pod("there", node_name="node")])

    assert score_all(least({"cpu": 1, "pods": 9}), make_pod(cpu="1"), cluster) == {"node": 72}


@pytest.mark.parametrize(
    ("shape", "at", "expected"),
    [
        pytest.param([(20, 3), (80, 9)], 0, 30, id="level before the first point"),
        pytest.param([(20, 3), (80, 9)], 100, 90, id="level after the last point"),
        pytest.param([(20, 3), (80, 9)], 50, 60, id="on a line between two points"),
        pytest.param([(0, 0), (7, 1), (100, 1)], 3, 4, id="rounded down where it rises"),
        pytest.param([(0, 1), (7, 0), (100, 0)], 3, 6, id="rounded up where it falls"),
        pytest.param([(40, 7)], 90, 70, id="a single point is a level"),
    ],
)
def test_curve(shape: Sequence[tuple[int, int]], at: int, expected: int) -> None:
    assert curve(points(shape))[at] == expected


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(ValueError, match="scoring strategy Random is not supported"):
        plugin("Random", BOTH)
