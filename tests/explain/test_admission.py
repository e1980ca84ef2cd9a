from __future__ import annotations

import pytest
from msgspec.structs import replace

from berthing.api.meta import ObjectMeta
from berthing.api.node import Node, NodeStatus
from berthing.api.pod import Container, ContainerPort, Pod, PodSpec, ResourceRequirements
from berthing.api.pod_info import PodInfo
from berthing.api.resource_list import ResourceList
from berthing.api.scheduling import PriorityClass
from berthing.explain.admission import Admission
from berthing.testing import make_affinity_term, make_pod, make_toleration


def manifest(spec: PodSpec) -> Pod:
    """A pod as somebody wrote it."""
    return Pod(metadata=ObjectMeta(name="p", namespace="shop"), spec=spec)


def limited(**limits: str) -> Container:
    return Container(resources=ResourceRequirements(limits=ResourceList.of(limits)))


def test_a_pod_that_was_in_a_cluster_stays_as_it_is() -> None:
    pod = make_pod(cpu="1", labels={"app": "web"})
    assert Admission().filled_in(pod) is pod


def test_limits_are_requested() -> None:
    filled_in = Admission().pod(manifest(PodSpec(containers=(limited(cpu="2", memory="1Gi"),))))
    assert PodInfo.of(filled_in).requests == {"cpu": 2000, "memory": 2**30}


def test_what_is_requested_is_not_raised_to_its_limit() -> None:
    resources = ResourceRequirements(
        requests=ResourceList.of({"cpu": "1"}), limits=ResourceList.of({"cpu": "2"})
    )
    filled_in = Admission().pod(manifest(PodSpec(containers=(Container(resources=resources),))))
    assert PodInfo.of(filled_in).requests == {"cpu": 1000}


@pytest.mark.parametrize(
    ("container", "cpu"),
    [
        pytest.param(Container(), 3000, id="its limit, where no container asks"),
        pytest.param(limited(cpu="1"), 1000, id="the sum, where containers ask"),
    ],
)
def test_a_limit_for_the_whole_pod(container: Container, cpu: int) -> None:
    whole = ResourceRequirements(limits=ResourceList.of({"cpu": "3"}))
    filled_in = Admission().pod(manifest(PodSpec(containers=(container,), resources=whole)))
    assert PodInfo.of(filled_in).requests["cpu"] == cpu


def test_names_that_a_manifest_leaves_out() -> None:
    filled_in = Admission().filled_in(Pod(metadata=ObjectMeta(name="p")))
    assert isinstance(filled_in, Pod)
    assert filled_in.key == "default/p"
    assert filled_in.metadata.uid
    assert filled_in.spec.scheduler_name == "default-scheduler"


def test_a_while_on_nodes_in_trouble() -> None:
    own = make_toleration("node.kubernetes.io/not-ready", effect="NoExecute")
    filled_in = Admission().pod(manifest(PodSpec(tolerations=(own,))))
    assert [(each.key, each.toleration_seconds) for each in filled_in.spec.tolerations] == [
        ("node.kubernetes.io/not-ready", None),
        ("node.kubernetes.io/unreachable", 300),
    ]


@pytest.mark.parametrize(
    ("class_name", "priority"),
    [
        pytest.param("urgent", 1000, id="by its class"),
        pytest.param("system-node-critical", 2_000_001_000, id="of a class that always exists"),
        pytest.param("", 5, id="the default"),
    ],
)
def test_priority(class_name: str, priority: int) -> None:
    classes = (
        PriorityClass(metadata=ObjectMeta(name="urgent"), value=1000),
        PriorityClass(metadata=ObjectMeta(name="usual"), value=5, global_default=True),
    )
    assert (
        Admission(classes).pod(manifest(PodSpec(priority_class_name=class_name))).priority
        == priority
    )


def test_ports_on_the_hosts_network() -> None:
    container = Container(ports=(ContainerPort(container_port=8080),))
    filled_in = Admission().pod(manifest(PodSpec(containers=(container,), host_network=True)))
    assert [port.port for port in PodInfo.of(filled_in).host_ports] == [8080]


def test_label_keys_are_merged_into_selectors() -> None:
    pod = make_pod(
        labels={"app": "web", "rev": "7"}, pod_anti_affinity=[make_affinity_term({"app": "web"})]
    )
    assert pod.spec.affinity is not None
    assert pod.spec.affinity.pod_anti_affinity is not None
    (term,) = pod.spec.affinity.pod_anti_affinity.required
    keyed = replace(
        pod.spec.affinity.pod_anti_affinity, required=(replace(term, match_label_keys=("rev",)),)
    )
    written = replace(
        pod,
        metadata=replace(pod.metadata, uid=""),
        spec=replace(pod.spec, affinity=replace(pod.spec.affinity, pod_anti_affinity=keyed)),
    )
    (compiled,) = PodInfo.of(Admission().pod(written)).terms.required_anti
    assert str(compiled.selector) == "app=web,rev in (7)"


def test_a_node_offers_its_capacity_unless_it_says_otherwise() -> None:
    capacity = ResourceList.of({"cpu": "4"})
    node = Node(metadata=ObjectMeta(name="n"), status=NodeStatus(capacity=capacity))
    filled_in = Admission().filled_in(node)
    assert isinstance(filled_in, Node)
    assert filled_in.status.allocatable == capacity
