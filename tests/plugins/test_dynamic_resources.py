"""DynamicResources holds back pods whose claims are missing, and wakes them by claims."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from berthing.api.meta import ObjectMeta, OwnerReference
from berthing.api.pod import Pod, PodResourceClaim, PodResourceClaimStatus
from berthing.api.pod_info import PodInfo
from berthing.api.resource import (
    AllocationResult,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
)
from berthing.config.args import DynamicResourcesArgs
from berthing.framework import QueueingHint
from berthing.plugins.dynamic_resources import GATE, DynamicResources
from berthing.testing import make_pod
from plugins.harness import cluster_of, fake_handle

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP

BY_NAME = PodResourceClaim(name="gpu", resource_claim_name="gpus")
BY_TEMPLATE = PodResourceClaim(name="gpu", resource_claim_template_name="template")


def pod(*claims: PodResourceClaim, made: str | None = "") -> Pod:
    """A pod with claims; `made` is the claim that was made from the template, None for none."""
    waiting = make_pod("waiting", uid="me")
    statuses = () if made == "" else (PodResourceClaimStatus(name="gpu", resource_claim_name=made),)
    return replace(
        waiting,
        spec=replace(waiting.spec, resource_claims=claims),
        status=replace(waiting.status, resource_claim_statuses=statuses),
    )


def claim(
    name: str = "gpus",
    *,
    owner: str = "",
    allocated: bool = False,
    reserved_for: str = "",
    deleted: bool = False,
) -> ResourceClaim:
    owners = (OwnerReference(uid=owner, controller=True),) if owner else ()
    return ResourceClaim(
        metadata=ObjectMeta(
            name=name,
            namespace="default",
            uid=f"uid-of-{name}",
            owner_references=owners,
            deletion_timestamp=datetime(2026, 1, 1, tzinfo=UTC) if deleted else None,
        ),
        status=ResourceClaimStatus(
            allocation=AllocationResult() if allocated else None,
            reserved_for=(ResourceClaimConsumerReference(uid=reserved_for),)
            if reserved_for
            else (),
        ),
    )


def plugin(*claims: ResourceClaim, gates: tuple[str, ...] = (GATE,)) -> DynamicResources:
    return DynamicResources(DynamicResourcesArgs(), fake_handle(cluster_of(claims), gates=gates))


@pytest.mark.parametrize(
    ("waiting", "claims", "reason"),
    [
        pytest.param(pod(), (), None, id="no claims"),
        pytest.param(pod(BY_NAME), (claim(),), None, id="the claim is there"),
        pytest.param(
            pod(BY_NAME), (), 'could not find ResourceClaim "default/gpus"', id="it is not"
        ),
        pytest.param(
            pod(BY_NAME),
            (claim(deleted=True),),
            'resourceclaim "gpus" is being deleted',
            id="it is on its way out",
        ),
        pytest.param(
            pod(BY_TEMPLATE),
            (),
            'pod "default/waiting": ResourceClaim not created yet',
            id="it is not made yet",
        ),
        pytest.param(pod(BY_TEMPLATE, made=None), (), None, id="it need not be made"),
        pytest.param(
            pod(BY_TEMPLATE, made="m"),
            (claim("m", owner="me"),),
            None,
            id="it was made for the pod",
        ),
        pytest.param(
            pod(BY_TEMPLATE, made="m"),
            (claim("m", owner="you"),),
            "ResourceClaim default/m was not created for Pod default/waiting (Pod is not owner)",
            id="it was made for another pod",
        ),
        pytest.param(
            pod(PodResourceClaim(name="gpu")),
            (),
            'pod "default/waiting", spec.resourceClaim "gpu": none of the supported fields are set',
            id="it is neither named nor made",
        ),
    ],
)
def test_a_pod_is_held_back_as_long_as_a_claim_is_missing(
    waiting: Pod, claims: tuple[ResourceClaim, ...], reason: str | None
) -> None:
    status = plugin(*claims).pre_enqueue(PodInfo.of(waiting))
    assert (status and status.message) == reason


def test_without_the_feature_gate_it_has_no_opinion() -> None:
    off = plugin(gates=())
    assert off.events_to_register() == ()
    assert off.pre_enqueue(PodInfo.of(pod(BY_NAME))) is None


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, claim(), QUEUE, id="the pod's claim comes"),
        pytest.param(None, claim("other"), SKIP, id="another claim comes"),
        pytest.param(claim(), claim(reserved_for="x"), QUEUE, id="some news of it"),
        pytest.param(claim(), claim(owner="x"), SKIP, id="nothing new about it"),
        pytest.param(claim("other", allocated=True), claim("other"), QUEUE, id="another is freed"),
        pytest.param(claim("other"), claim("other", allocated=True), SKIP, id="another is taken"),
    ],
)
def test_a_claim_changed(
    old: ResourceClaim | None, new: ResourceClaim, expected: QueueingHint
) -> None:
    assert plugin(claim(), new).after_claim(PodInfo.of(pod(BY_NAME)), old, new) is expected


def test_no_claim_helps_as_long_as_another_is_missing() -> None:
    waiting = PodInfo.of(pod(BY_NAME, PodResourceClaim(name="x", resource_claim_name="missing")))
    assert plugin(claim()).after_claim(waiting, None, claim()) is SKIP


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param(pod(BY_TEMPLATE, made="m"), QUEUE, id="the pod has its claims"),
        pytest.param(pod(BY_TEMPLATE), SKIP, id="not yet"),
        pytest.param(make_pod("other"), SKIP, id="another pod"),
    ],
)
def test_the_pod_got_a_claim(changed: Pod, expected: QueueingHint) -> None:
    waiting = PodInfo.of(pod(BY_TEMPLATE))
    made = claim("m", owner="me")
    assert plugin(made).after_pod_change(waiting, None, changed) is expected
