"""Two pods have one signature exactly if the scheduler cannot tell them apart."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from berthing.api.pod import (
    ContainerRestartRule,
    Pod,
    PodResourceClaim,
    PodResourceClaimStatus,
)
from berthing.api.pod_info import PodInfo, Signature
from berthing.api.volumes import (
    CSIVolumeSource,
    EphemeralVolumeSource,
    ImageVolumeSource,
    RBDVolumeSource,
    Volume,
)
from berthing.testing import (
    make_affinity_term,
    make_container,
    make_node_term,
    make_owner,
    make_pod,
    make_spread_constraint,
    make_taint,
    tolerate,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def signature(pod: Pod) -> Signature:
    return PodInfo.of(pod).signature


def replica(name: str = "web-1", **other: Any) -> Pod:
    """A pod of a replica set that uses a bit of everything."""
    common: dict[str, Any] = {
        "labels": {"app": "web", "hash": "1"},
        "owner": make_owner("web"),
        "cpu": "1",
        "memory": "1Gi",
        "image": "web:v1",
        "host_ports": [80],
        "node_selector": {"disk": "ssd", "arch": "arm64"},
        "node_affinity": [make_node_term({"zone": "a"})],
        "pod_anti_affinity": [make_affinity_term({"app": "web"})],
        "spread": [make_spread_constraint({"app": "web"}, match_label_keys=["hash"])],
        "tolerations": [tolerate(make_taint("a")), tolerate(make_taint("b"))],
        "claims": ["shared"],
    }
    return make_pod(name, **{**common, **other})


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replica("web-2"), id="another name"),
        pytest.param(replica(uid="other"), id="another uid"),
        pytest.param(replica(annotations={"note": "x"}), id="annotations"),
        pytest.param(replica(created=NOW), id="another age"),
        pytest.param(replica(phase="Running", start_time=NOW), id="another status"),
        pytest.param(replica(nominated_node_name="n1"), id="a nomination"),
        pytest.param(replica(labels={"hash": "1", "app": "web"}), id="labels in another order"),
        pytest.param(
            replica(node_selector={"arch": "arm64", "disk": "ssd"}),
            id="node selector in another order",
        ),
        pytest.param(
            replica(tolerations=[tolerate(make_taint("b")), tolerate(make_taint("a"))]),
            id="tolerations in another order",
        ),
        pytest.param(
            replica(
                tolerations=[
                    replace(tolerate(make_taint("a")), toleration_seconds=5),
                    tolerate(make_taint("b")),
                ]
            ),
            id="tolerations for another time",
        ),
        pytest.param(replica(cpu="1000m", memory="1024Mi"), id="amounts in other words"),
        pytest.param(replica(owner=make_owner("web", uid="other")), id="a controller made anew"),
        pytest.param(
            replica(pod_anti_affinity=[make_affinity_term({"app": ("web",)})]),
            id="a selector in other words",
        ),
        pytest.param(replica(volumes=[Volume(name="token")]), id="a volume nobody looks at"),
    ],
)
def test_what_the_scheduler_cannot_tell(other: Pod) -> None:
    assert signature(other) == signature(replica())
    assert hash(signature(other)) == hash(signature(replica()))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replica(namespace="other"), id="namespace"),
        pytest.param(replica(labels={"app": "web"}), id="labels"),
        pytest.param(replica(owner=make_owner("api")), id="controller"),
        pytest.param(replica(owner=None), id="no controller"),
        pytest.param(replica(cpu="2"), id="cpu"),
        pytest.param(replica(memory=""), id="memory"),
        pytest.param(replica(requests={"example.com/gpu": "1"}), id="another resource"),
        pytest.param(replica(overhead={"cpu": "1m"}), id="overhead"),
        pytest.param(replica(pod_level_requests={"cpu": "2"}), id="requests for the whole pod"),
        pytest.param(
            replica(init_containers=[make_container("i", cpu="4")]), id="an init container"
        ),
        pytest.param(replica(image="web:v2"), id="image"),
        pytest.param(replica(host_ports=[81]), id="host port"),
        pytest.param(replica(node_selector={}), id="node selector"),
        pytest.param(replica(node_affinity=[make_node_term({"zone": "b"})]), id="node affinity"),
        pytest.param(
            replica(preferred_node_affinity=[(1, make_node_term({"zone": "b"}))]),
            id="preferred node affinity",
        ),
        pytest.param(replica(pod_anti_affinity=[]), id="anti-affinity"),
        pytest.param(
            replica(preferred_pod_affinity=[(1, make_affinity_term({"app": "db"}))]),
            id="preferred affinity",
        ),
        pytest.param(replica(spread=[]), id="spread constraints"),
        pytest.param(replica(tolerations=[tolerate(make_taint("a"))]), id="tolerations"),
        pytest.param(replica(claims=["own"]), id="claim"),
        pytest.param(
            replica(volumes=[Volume(name="d", rbd=RBDVolumeSource(image="i"))]), id="inline disk"
        ),
        pytest.param(
            replica(volumes=[Volume(name="d", csi=CSIVolumeSource(driver="x"))]), id="CSI driver"
        ),
        pytest.param(
            replica(volumes=[Volume(name="i", image=ImageVolumeSource(reference="x"))]),
            id="image volume",
        ),
        pytest.param(replica(scheduler_name="other"), id="scheduler"),
        pytest.param(replica(priority=1), id="priority"),
        pytest.param(replica(preemption_policy="Never"), id="preemption policy"),
        pytest.param(replica(scheduling_gates=["wait"]), id="gates"),
        pytest.param(replica(pod_group="gang"), id="group"),
        pytest.param(replica(node_name="n1"), id="node"),
    ],
)
def test_what_the_scheduler_can_tell(other: Pod) -> None:
    assert signature(other) != signature(replica())


def test_what_counts_once_the_pod_is_placed_counts() -> None:
    containers = [make_container(cpu="1", memory="1Gi"), make_container("idle")]
    one = make_pod(containers=containers)
    other = make_pod(containers=containers, pod_level_requests={"cpu": "1"})
    assert PodInfo.of(one).requests == PodInfo.of(other).requests
    assert signature(one) != signature(other)


def test_pods_with_ephemeral_volumes_have_claims_of_their_own() -> None:
    scratch = Volume(name="scratch", ephemeral=EphemeralVolumeSource())
    one, other = replica("web-1", volumes=[scratch]), replica("web-2", volumes=[scratch])
    assert signature(one) != signature(other)


def test_pods_with_claims_made_for_them_are_told_apart_by_these() -> None:
    def claiming(claim: str) -> Pod:
        pod = replica()
        spec = replace(
            pod.spec,
            resource_claims=(PodResourceClaim(name="gpu", resource_claim_template_name="t"),),
        )
        made = PodResourceClaimStatus(name="gpu", resource_claim_name=claim)
        status = replace(pod.status, resource_claim_statuses=(made,))
        return replace(pod, spec=spec, status=status)

    assert signature(claiming("a")) == signature(claiming("a"))
    assert signature(claiming("a")) != signature(claiming("b"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"host_network": True}, {"host_users": False}, id="one without the other"),
        pytest.param(
            {"host_network": True}, {"host_network": True, "host_users": True}, id="told not to"
        ),
    ],
)
def test_user_namespaces_count_on_the_network_of_the_host(
    one: dict[str, bool], other: dict[str, bool]
) -> None:
    pod = replica()

    def changed(**spec: bool) -> Signature:
        return signature(replace(pod, spec=replace(pod.spec, **spec)))

    assert changed(**one) == changed(**other) == signature(pod)
    assert changed(host_network=True, host_users=False) != signature(pod)


def test_rules_that_restart_all_containers_count() -> None:
    def ruled(action: str) -> Pod:
        container = replace(
            make_container(), restart_policy_rules=(ContainerRestartRule(action=action),)
        )
        return make_pod(containers=[container])

    assert signature(ruled("Restart")) == signature(make_pod())
    assert signature(ruled("RestartAllContainers")) != signature(make_pod())


def test_bound_replicas_share_their_facts_if_not_their_signature() -> None:
    one, other = PodInfo.of(replica(node_name="n1")), PodInfo.of(replica(node_name="n2"))
    assert one.signature != other.signature
    assert one.shape is other.shape
