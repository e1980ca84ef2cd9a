"""NodeResourcesFit as a filter: which nodes have room, and what the others lack."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.config.args import NodeResourcesFitArgs
from berthing.framework import CycleState, Status
from berthing.plugins.node_resources_fit import NodeResourcesFit
from berthing.testing import make_container, make_node, make_pod
from plugins.harness import cluster_of, fake_handle, filter_all

GPU = "example.com/gpu"
FPGA = "example.com/fpga"
DISK = "ephemeral-storage"
PAGES = "hugepages-2Mi"


def plugin(
    *, ignored_resources: Iterable[str] = (), ignored_groups: Iterable[str] = ()
) -> NodeResourcesFit:
    args = NodeResourcesFitArgs(
        ignored_resources=tuple(ignored_resources), ignored_resource_groups=tuple(ignored_groups)
    )
    return NodeResourcesFit(args, fake_handle())


def status_of(
    fit: NodeResourcesFit, pod: Pod, node: Node, there: Iterable[Pod] = ()
) -> Status | None:
    return filter_all(fit, pod, cluster_of([node, *there]))[node.name]


def running(*, cpu: str = "", memory: str = "", gpu: str = "0") -> Pod:
    return make_pod("running", cpu=cpu, memory=memory, requests={GPU: gpu}, node_name="node")


@pytest.mark.parametrize(
    ("pod", "node", "there", "expected"),
    [
        pytest.param(
            make_pod(cpu="1", memory="1Gi"), make_node(), [], None, id="an empty node has room"
        ),
        pytest.param(
            make_pod(cpu="3"),
            make_node(cpu="4"),
            [running(cpu="1")],
            None,
            id="the last bit of a resource may be taken",
        ),
        pytest.param(
            make_pod(cpu="3001m"),
            make_node(cpu="4"),
            [running(cpu="1")],
            Status.unschedulable("Insufficient cpu"),
            id="a thousandth of a cpu too much, which preemption could free",
        ),
        pytest.param(
            make_pod(cpu="4001m"),
            make_node(cpu="4"),
            [],
            Status.unresolvable("Insufficient cpu"),
            id="more than the node has even when empty",
        ),
        pytest.param(
            make_pod(memory="2Gi"),
            make_node(memory="4Gi"),
            [running(memory="3Gi")],
            Status.unschedulable("Insufficient memory"),
            id="memory is taken",
        ),
        pytest.param(
            make_pod(requests={DISK: "2Gi"}),
            make_node(resources={DISK: "1Gi"}),
            [],
            Status.unresolvable("Insufficient ephemeral-storage"),
            id="too little ephemeral storage",
        ),
        pytest.param(
            make_pod(requests={GPU: "2"}),
            make_node(resources={GPU: "2"}),
            [running(gpu="1")],
            Status.unschedulable("Insufficient example.com/gpu"),
            id="extended resources are taken",
        ),
        pytest.param(
            make_pod(requests={GPU: "1"}),
            make_node(),
            [],
            Status.unresolvable("Insufficient example.com/gpu"),
            id="the node does not offer an extended resource at all",
        ),
        pytest.param(
            make_pod(requests={PAGES: "4Mi"}),
            make_node(resources={PAGES: "2Mi"}),
            [],
            Status.unresolvable("Insufficient hugepages-2Mi"),
            id="too few huge pages",
        ),
        pytest.param(
            make_pod(cpu="9", memory="99Gi", requests={DISK: "9Gi", GPU: "1", FPGA: "1"}),
            make_node(pods="0"),
            [],
            Status.unresolvable(
                "Too many pods",
                "Insufficient cpu",
                "Insufficient memory",
                "Insufficient ephemeral-storage",
                "Insufficient example.com/fpga",
                "Insufficient example.com/gpu",
            ),
            id="all that is lacking is named in order",
        ),
        pytest.param(
            make_pod(cpu="3", memory="17Gi"),
            make_node(cpu="4", memory="16Gi"),
            [running(cpu="2")],
            Status.unresolvable("Insufficient cpu", "Insufficient memory"),
            id="one hopeless resource makes the node hopeless",
        ),
        pytest.param(
            make_pod(),
            make_node(cpu="1"),
            [running(cpu="2")],
            None,
            id="a pod that requests nothing fits on an overfull node",
        ),
        pytest.param(
            make_pod(cpu="0", memory="1Gi", requests={GPU: "0"}),
            make_node(cpu="1"),
            [running(cpu="2")],
            None,
            id="requests of zero are no requests",
        ),
        pytest.param(
            make_pod(),
            make_node(pods="1"),
            [running()],
            Status.unschedulable("Too many pods"),
            id="the count of pods is reached, which preemption could change",
        ),
        pytest.param(
            make_pod(),
            make_node(pods="0"),
            [],
            Status.unschedulable("Too many pods"),
            id="a node for no pods at all is not called hopeless",
        ),
        pytest.param(
            make_pod(
                cpu="",
                containers=[make_container(cpu="1")],
                init_containers=[make_container(cpu="3")],
            ),
            make_node(cpu="2"),
            [],
            Status.unresolvable("Insufficient cpu"),
            id="init containers count",
        ),
        pytest.param(
            make_pod(cpu="1", pod_level_requests={"cpu": "3"}),
            make_node(cpu="2"),
            [],
            Status.unresolvable("Insufficient cpu"),
            id="requests for the pod as a whole count",
        ),
    ],
)
def test_room(pod: Pod, node: Node, there: list[Pod], expected: Status | None) -> None:
    assert status_of(plugin(), pod, node, there) == expected


@pytest.mark.parametrize(
    ("fit", "resource", "expected"),
    [
        pytest.param(plugin(ignored_resources=[GPU]), GPU, None, id="ignored by name"),
        pytest.param(plugin(ignored_groups=["example.com"]), GPU, None, id="ignored by group"),
        pytest.param(
            plugin(ignored_resources=[FPGA], ignored_groups=["example.org"]),
            GPU,
            Status.unresolvable("Insufficient example.com/gpu"),
            id="others are ignored",
        ),
        pytest.param(
            plugin(ignored_resources=[PAGES], ignored_groups=[PAGES]),
            PAGES,
            Status.unresolvable("Insufficient hugepages-2Mi"),
            id="only extended resources can be ignored",
        ),
    ],
)
def test_ignored_resources(fit: NodeResourcesFit, resource: str, expected: Status | None) -> None:
    assert status_of(fit, make_pod(requests={resource: "2Mi"}), make_node()) == expected


def test_nodes_that_lack_the_same_share_a_status() -> None:
    cluster = cluster_of(
        [
            make_node("small", cpu="1"),
            make_node("fits"),
            make_node("smaller", cpu="500m"),
            make_node("no-gpu", cpu="1", memory="1Gi"),
        ]
    )
    pod = PodInfo.of(make_pod(cpu="2", memory="2Gi"))

    verdicts = plugin().filter_nodes(CycleState(), pod, cluster.rows())

    assert verdicts.codes.tolist() == [1, 0, 1, 2]
    assert verdicts.statuses == (
        Status.unresolvable("Insufficient cpu"),
        Status.unresolvable("Insufficient cpu", "Insufficient memory"),
    )


@pytest.mark.parametrize("count", [20, 70], ids=lambda count: f"{count} resources")
def test_a_pod_may_ask_for_any_number_of_resources(count: int) -> None:
    names = [f"example.com/r{number:02}" for number in range(count)]
    pod = make_pod(requests=dict.fromkeys(names, "1"))
    cluster = cluster_of(
        [
            make_node("all", resources=dict.fromkeys(names, "1")),
            make_node("but-last", resources=dict.fromkeys(names[:-1], "1")),
            make_node("none"),
        ]
    )

    assert filter_all(plugin(), pod, cluster) == {
        "all": None,
        "but-last": Status.unresolvable(f"Insufficient {names[-1]}"),
        "none": Status.unresolvable(*(f"Insufficient {name}" for name in names)),
    }


def test_room_is_looked_up_anew_each_time() -> None:
    cluster = cluster_of([make_node(cpu="2")])
    fit, pod = plugin(), make_pod(cpu="2")
    assert filter_all(fit, pod, cluster) == {"node": None}

    cluster.assume(PodInfo.of(make_pod("other", cpu="1")), "node")
    assert filter_all(fit, pod, cluster) == {"node": Status.unschedulable("Insufficient cpu")}

    cluster.forget("uid-of-default/other")
    assert filter_all(fit, pod, cluster) == {"node": None}
