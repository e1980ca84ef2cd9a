from __future__ import annotations

import pytest
from msgspec.structs import replace

from berthing.api.meta import ObjectMeta
from berthing.api.pod import (
    ContainerPort,
    Pod,
    PodExtendedResourceClaimStatus,
    PodResourceClaim,
    PodResourceClaimStatus,
)
from berthing.api.pod_info import HostPort, PodClaim, PodInfo, normalized_image_name
from berthing.api.volumes import (
    CSIVolumeSource,
    EphemeralVolumeSource,
    GCEPersistentDiskVolumeSource,
    ImageVolumeSource,
    Volume,
)
from berthing.testing import (
    make_container,
    make_node_term,
    make_owner,
    make_pod,
    make_taint,
    tolerate,
)


def test_who_the_pod_is() -> None:
    info = PodInfo.of(make_pod("web", namespace="shop", uid="u", labels={"app": "web"}, priority=7))
    assert (info.key, info.uid, info.namespace, info.priority) == ("shop/web", "u", "shop", 7)
    assert info.labels == {"app": "web"}
    assert info.scheduler_name == "default-scheduler"
    assert info.pod.name == "web"


def test_a_pod_without_anything_can_be_told_apart_from_nothing() -> None:
    info = PodInfo.of(Pod())
    assert (info.key, info.requests, info.host_ports, info.terms.required) == ("", {}, (), ())


@pytest.mark.parametrize(
    ("pod", "ports"),
    [
        pytest.param(make_pod(), (), id="none"),
        pytest.param(make_pod(host_ports=[80]), (HostPort("TCP", "0.0.0.0", 80),), id="one"),
        pytest.param(
            make_pod(host_ports=[ContainerPort(host_port=53, protocol="UDP", host_ip="10.0.0.1")]),
            (HostPort("UDP", "10.0.0.1", 53),),
            id="with protocol and address",
        ),
        pytest.param(
            make_pod(host_ports=[ContainerPort(container_port=80)]),
            (),
            id="a port of the container only",
        ),
        pytest.param(
            make_pod(
                containers=[make_container(host_ports=[1]), make_container("b", host_ports=[2])],
                init_containers=[
                    make_container("s", host_ports=[3], restart_policy="Always"),
                    make_container("i", host_ports=[4]),
                ],
            ),
            (
                HostPort("TCP", "0.0.0.0", 3),
                HostPort("TCP", "0.0.0.0", 1),
                HostPort("TCP", "0.0.0.0", 2),
            ),
            id="sidecars hold ports, other init containers give them back",
        ),
    ],
)
def test_host_ports(pod: Pod, ports: tuple[HostPort, ...]) -> None:
    assert PodInfo.of(pod).host_ports == ports


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        pytest.param(("TCP", "10.0.0.1", 80), ("TCP", "10.0.0.1", 80), True, id="the same"),
        pytest.param(("TCP", "10.0.0.1", 80), ("TCP", "10.0.0.2", 80), False, id="other address"),
        pytest.param(("TCP", "0.0.0.0", 80), ("TCP", "10.0.0.2", 80), True, id="every address"),
        pytest.param(("TCP", "0.0.0.0", 80), ("UDP", "0.0.0.0", 80), False, id="other protocol"),
        pytest.param(("TCP", "0.0.0.0", 80), ("TCP", "0.0.0.0", 81), False, id="other port"),
    ],
)
def test_ports_that_exclude_each_other(
    one: tuple[str, str, int], other: tuple[str, str, int], conflict: bool
) -> None:
    assert HostPort(*one).conflicts_with(HostPort(*other)) is conflict
    assert HostPort(*other).conflicts_with(HostPort(*one)) is conflict


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("nginx", "nginx:latest"),
        ("nginx:1.27", "nginx:1.27"),
        ("registry:5000/nginx", "registry:5000/nginx:latest"),
        ("registry:5000/nginx:1", "registry:5000/nginx:1"),
        ("nginx@sha256:abc", "nginx@sha256:abc"),
        ("", ":latest"),
    ],
)
def test_names_of_images(name: str, normal: str) -> None:
    assert normalized_image_name(name) == normal


def test_every_use_of_an_image_counts() -> None:
    pod = make_pod(
        containers=[make_container(image="b"), make_container("c", image="a:1")],
        init_containers=[make_container("i", image="b")],
        volumes=[Volume(name="files", image=ImageVolumeSource(reference="files"))],
    )
    info = PodInfo.of(pod)
    assert info.images == ("a:1", "b:latest", "b:latest", "files:latest")
    assert info.facts.container_count == 3


def test_claims_and_volumes() -> None:
    pod = make_pod(
        "web",
        claims=["data"],
        volumes=[
            Volume(name="scratch", ephemeral=EphemeralVolumeSource()),
            Volume(name="token"),
            Volume(name="disk", gce_persistent_disk=GCEPersistentDiskVolumeSource(pd_name="d")),
            Volume(name="s", csi=CSIVolumeSource(driver="x", volume_attributes={"a": "b"})),
        ],
    )
    info = PodInfo.of(pod)
    assert info.shape.claim_names == ("data",)
    assert info.facts.ephemeral_claims == ("web-scratch",)
    assert [volume.name for volume in info.facts.volumes] == ["", "", ""]
    assert [volume.csi for volume in info.facts.volumes][-1] == CSIVolumeSource(driver="x")


def test_resource_claims_are_known_once_they_are_made() -> None:
    pod = make_pod()
    claims = (
        PodResourceClaim(name="a", resource_claim_name="shared"),
        PodResourceClaim(name="b", resource_claim_template_name="t"),
        PodResourceClaim(name="c", resource_claim_template_name="t"),
    )
    status = replace(
        pod.status,
        resource_claim_statuses=(PodResourceClaimStatus(name="b", resource_claim_name="made"),),
        extended_resource_claim_status=PodExtendedResourceClaimStatus(resource_claim_name="e"),
    )
    pod = replace(pod, spec=replace(pod.spec, resource_claims=claims), status=status)
    facts = PodInfo.of(pod).facts
    assert facts.resource_claims == (
        PodClaim("a", "shared"),
        PodClaim("b", "made"),
        PodClaim("c", None),
    )
    assert facts.extended_resource_claim == "e"


def test_what_nodes_must_be_like() -> None:
    pod = make_pod(
        node_selector={"disk": "ssd"},
        node_affinity=[make_node_term({"zone": ("a", "b")}), make_node_term(node_name="n9")],
        preferred_node_affinity=[(5, make_node_term({"zone": "a"}))],
    )
    shape = PodInfo.of(pod).shape
    required = shape.required_node_affinity
    assert required.matches("n1", {"disk": "ssd", "zone": "b"})
    assert required.matches("n9", {"disk": "ssd"})
    assert not required.matches("n1", {"disk": "ssd", "zone": "c"})
    assert not required.matches("n1", {"zone": "b"})
    assert shape.preferred_node_terms.score("n1", {"zone": "a"}) == 5
    assert shape.required_node_affinity is required


def test_a_pod_that_asks_nothing_of_its_node_goes_anywhere() -> None:
    shape = PodInfo.of(make_pod()).shape
    assert shape.required_node_affinity.matches("n1", {})
    assert shape.preferred_node_terms.score("n1", {}) == 0


def test_tolerations_are_a_set_that_knows_no_times() -> None:
    taint = make_taint("a")
    lasting, fleeting = tolerate(taint), replace(tolerate(taint), toleration_seconds=300)
    assert PodInfo.of(make_pod(tolerations=[fleeting, lasting])).tolerations == {lasting}


def test_the_controller_is_among_the_facts() -> None:
    controller = PodInfo.of(make_pod(owner=make_owner("web"))).facts.controller
    assert controller == ("apps/v1", "ReplicaSet", "web")
    admirer = make_owner("web", controller=False)
    assert PodInfo.of(make_pod(owner=admirer)).facts.controller is None


def test_infos_are_equal_to_themselves_only() -> None:
    pod = Pod(metadata=ObjectMeta(name="web"))
    one, other = PodInfo.of(pod), PodInfo.of(pod)
    assert one != other
    assert len({one, other}) == 2
    assert one.shape is other.shape
