"""NodeResourcesFit's hints: which changes are worth another attempt for a pod without room."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from berthing.api.meta import ObjectMeta
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.resource import DeviceClass, DeviceClassSpec
from berthing.config.args import NodeResourcesFitArgs
from berthing.framework import ActionType, ClusterEvent, EventResource, QueueingHint
from berthing.plugins.node_resources_fit import NodeResourcesFit
from berthing.testing import make_node, make_pod
from plugins.harness import cluster_of, fake_handle

GPU = "example.com/gpu"
QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
WAITING = make_pod("waiting", cpu="2", requests={GPU: "1"})


def plugin(
    *,
    ignored: Iterable[str] = (),
    gates: Iterable[str] = (),
    classes: Iterable[DeviceClass] = (),
) -> NodeResourcesFit:
    args = NodeResourcesFitArgs(ignored_resources=tuple(ignored))
    return NodeResourcesFit(args, fake_handle(cluster_of(classes), gates=gates))


def gpu_node(cpu: str = "4", gpus: str = "1", pods: str = "110", memory: str = "16Gi") -> Node:
    return make_node(cpu=cpu, memory=memory, pods=pods, resources={GPU: gpus})


def device_class(name: str = "class", resource: str | None = None) -> DeviceClass:
    return DeviceClass(
        metadata=ObjectMeta(name=name), spec=DeviceClassSpec(extended_resource_name=resource)
    )


def test_it_listens_to_pods_and_nodes() -> None:
    assert [item.event for item in plugin().events_to_register()] == [
        ClusterEvent(EventResource.POD, ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN),
        ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE),
    ]


def test_it_listens_to_device_classes_where_they_may_offer_resources() -> None:
    events = [item.event for item in plugin(gates=["DRAExtendedResource"]).events_to_register()]

    assert events[2:] == [
        ClusterEvent(EventResource.DEVICE_CLASS, ActionType.ADD | ActionType.UPDATE)
    ]


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param(make_pod(node_name="node"), QUEUE, id="a running pod"),
        pytest.param(make_pod(nominated_node_name="node"), QUEUE, id="a nominated pod"),
        pytest.param(make_pod(), SKIP, id="a pod that took no room"),
    ],
)
def test_a_pod_is_gone(gone: Pod, expected: QueueingHint) -> None:
    assert plugin().after_pod(PodInfo.of(WAITING), gone, None) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            make_pod(cpu="2", node_name="node"),
            make_pod(cpu="1", node_name="node"),
            QUEUE,
            id="a running pod needs less of what is wanted",
        ),
        pytest.param(
            make_pod(cpu="1", memory="2Gi", node_name="node"),
            make_pod(cpu="1", memory="1Gi", node_name="node"),
            SKIP,
            id="a running pod needs less of something else",
        ),
        pytest.param(
            make_pod(requests={GPU: "1"}, node_name="node"),
            make_pod(node_name="node"),
            QUEUE,
            id="a running pod gives up an extended resource",
        ),
        pytest.param(
            make_pod(cpu="1", node_name="node"),
            make_pod(cpu="2", node_name="node"),
            SKIP,
            id="a running pod needs more",
        ),
        pytest.param(make_pod(cpu="2"), make_pod(cpu="1"), SKIP, id="a pod that waits needs less"),
        pytest.param(WAITING, make_pod("waiting", cpu="1"), QUEUE, id="the pod itself needs less"),
    ],
)
def test_a_pod_shrank(old: Pod, new: Pod, expected: QueueingHint) -> None:
    assert plugin().after_pod(PodInfo.of(WAITING), old, new) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, gpu_node(), QUEUE, id="a new node on which the pod fits"),
        pytest.param(None, gpu_node(cpu="1"), SKIP, id="a new node that is too small"),
        pytest.param(None, make_node(), SKIP, id="a new node without an extended resource"),
        pytest.param(None, gpu_node(pods="0"), SKIP, id="a new node for no pods"),
        pytest.param(gpu_node(cpu="1"), gpu_node(cpu="2"), QUEUE, id="grown big enough"),
        pytest.param(gpu_node(cpu="2"), gpu_node(cpu="4"), QUEUE, id="grown, and was big enough"),
        pytest.param(gpu_node(cpu="500m"), gpu_node(cpu="1"), SKIP, id="grown, but too little"),
        pytest.param(gpu_node(gpus="1"), gpu_node(gpus="2"), QUEUE, id="grown by another device"),
        pytest.param(gpu_node(pods="10"), gpu_node(pods="11"), QUEUE, id="takes another pod"),
        pytest.param(
            gpu_node(memory="1Gi"), gpu_node(memory="2Gi"), SKIP, id="grown in what is not wanted"
        ),
        pytest.param(gpu_node(cpu="8"), gpu_node(cpu="4"), SKIP, id="shrunk"),
    ],
)
def test_a_node_came_or_changed(old: Node | None, new: Node, expected: QueueingHint) -> None:
    assert plugin().after_node(PodInfo.of(WAITING), old, new) is expected


def test_a_node_need_not_offer_what_is_ignored() -> None:
    assert plugin(ignored=[GPU]).after_node(PodInfo.of(WAITING), None, make_node()) is QUEUE


def test_a_node_that_offers_more_of_what_is_ignored_has_grown_all_the_same() -> None:
    fit = plugin(ignored=[GPU])
    assert fit.after_node(PodInfo.of(WAITING), gpu_node(), gpu_node(gpus="2")) is QUEUE


@pytest.mark.parametrize(
    ("class_", "new", "expected"),
    [
        pytest.param(device_class(resource=GPU), make_node(), QUEUE, id="devices stand in"),
        pytest.param(device_class(resource="example.com/x"), make_node(), SKIP, id="other devices"),
        pytest.param(
            device_class(resource=GPU), make_node(cpu="1"), SKIP, id="devices, but too little cpu"
        ),
    ],
)
def test_what_a_node_does_not_offer_may_come_from_devices(
    class_: DeviceClass, new: Node, expected: QueueingHint
) -> None:
    fit = plugin(gates=["DRAExtendedResource"], classes=[class_])
    assert fit.after_node(PodInfo.of(WAITING), None, new) is expected
    # What comes from devices may have come with them, however the node changes.
    assert fit.after_node(PodInfo.of(WAITING), new, new) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, device_class(resource=GPU), QUEUE, id="a class for the resource comes"),
        pytest.param(None, device_class(resource="example.com/tpu"), SKIP, id="for another one"),
        pytest.param(None, device_class(), SKIP, id="for none"),
        pytest.param(
            device_class(), device_class(resource=GPU), QUEUE, id="a class takes over the resource"
        ),
        pytest.param(
            device_class(resource=GPU),
            device_class(resource=GPU),
            SKIP,
            id="a class for the resource changes otherwise",
        ),
        pytest.param(device_class(resource=GPU), device_class(), SKIP, id="a class gives it up"),
    ],
)
def test_a_device_class_came_or_changed(
    old: DeviceClass | None, new: DeviceClass, expected: QueueingHint
) -> None:
    assert plugin().after_device_class(PodInfo.of(WAITING), old, new) is expected


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        pytest.param(None, QUEUE, id="the class is new"),
        pytest.param(device_class("gpu"), SKIP, id="the class was there, under its one name"),
    ],
)
def test_a_resource_may_be_named_after_a_class(
    old: DeviceClass | None, expected: QueueingHint
) -> None:
    pod = make_pod(requests={"deviceclass.resource.kubernetes.io/gpu": "1"})

    assert plugin().after_device_class(PodInfo.of(pod), old, device_class("gpu")) is expected
