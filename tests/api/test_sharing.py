"""Replicas share what they have in common; what they do not stays their own."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from berthing.api.decode import decode_as
from berthing.api.node import Node
from berthing.api.pod import Pod


def replica(index: int, **spec: object) -> Pod:
    pod = {
        "metadata": {
            "name": f"web-{index}",
            "namespace": "shop",
            "labels": {"app": "web"},
            "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "controller": True}],
        },
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "image": "registry/web:v1",
                    "ports": [{"containerPort": 80}],
                    "resources": {"requests": {"cpu": "100m"}},
                }
            ],
            "tolerations": [{"key": "a", "operator": "Exists"}],
            "nodeSelector": {"disk": "ssd"},
            "affinity": {
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "host"}
                    ]
                }
            },
            "topologySpreadConstraints": [{"maxSkew": 1, "labelSelector": {}}],
            **spec,
        },
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True", "message": str(index)}],
        },
    }
    return decode_as(json.dumps(pod), Pod)


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(lambda pod: pod.metadata.labels, id="labels"),
        pytest.param(lambda pod: pod.metadata.owner_references, id="owners"),
        pytest.param(lambda pod: pod.metadata.namespace, id="namespace"),
        pytest.param(lambda pod: pod.spec.tolerations, id="tolerations"),
        pytest.param(lambda pod: pod.spec.node_selector, id="node selector"),
        pytest.param(lambda pod: pod.spec.affinity, id="affinity"),
        pytest.param(lambda pod: pod.spec.topology_spread_constraints, id="spread constraints"),
        pytest.param(lambda pod: pod.spec.containers[0].image, id="image"),
        pytest.param(lambda pod: pod.spec.containers[0].ports, id="ports"),
        pytest.param(lambda pod: pod.spec.containers[0].resources.requests, id="requests"),
        pytest.param(lambda pod: pod.status.phase, id="phase"),
        pytest.param(lambda pod: pod.status.conditions[0].type, id="condition type"),
    ],
)
def test_replicas_share(part: Callable[[Pod], object]) -> None:
    assert part(replica(1)) is part(replica(2))


def test_replicas_keep_what_is_their_own() -> None:
    one, other = replica(1), replica(2, tolerations=[{"key": "b", "operator": "Exists"}])
    assert (one.name, other.name) == ("web-1", "web-2")
    assert [pod.status.conditions[0].message for pod in (one, other)] == ["1", "2"]
    assert [pod.spec.tolerations[0].key for pod in (one, other)] == ["a", "b"]


def test_amounts_keep_the_spelling_they_came_with() -> None:
    def requested(cpu: str) -> str:
        container = {"resources": {"requests": {"cpu": cpu}}}
        pod = replica(1, containers=[container])
        return str(pod.spec.containers[0].resources.requests["cpu"])

    assert [requested("1"), requested("+1"), requested("1")] == ["1", "+1", "1"]


def test_nodes_share_images_and_taints() -> None:
    def node(name: str) -> Node:
        images = [{"names": ["a:1", "a@sha256:1"], "sizeBytes": 5}]
        taints = [{"key": "k", "effect": "NoSchedule"}]
        status = {"images": images, "allocatable": {"cpu": "4"}}
        value = {"metadata": {"name": name}, "spec": {"taints": taints}, "status": status}
        return decode_as(json.dumps(value), Node)

    one, other = node("n1"), node("n2")
    assert one.status.images[0] is other.status.images[0]
    assert one.spec.taints is other.spec.taints
    assert one.status.allocatable is other.status.allocatable
