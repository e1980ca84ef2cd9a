from __future__ import annotations

import json

import pytest

from berthing.api.decode import decode_list
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.bench.decode import DecodeFigures, ListFigures, run
from berthing.bench.samples import node_list, pod_list


@pytest.mark.parametrize("text", [pod_list(60, 7), node_list(60)], ids=["pods", "nodes"])
def test_no_two_objects_share_name_or_uid(text: bytes) -> None:
    items = [item["metadata"] for item in json.loads(text)["items"]]
    assert len({metadata["name"] for metadata in items}) == 60
    assert len({metadata["uid"] for metadata in items}) == 60


def test_pods_are_what_an_api_server_sends() -> None:
    text = pod_list(100, 7)
    assert 2_400 < len(text) / 100 < 2_900
    pods = decode_list(text, Pod).items
    assert {pod.spec.node_name for pod in pods} == {
        node.name for node in decode_list(node_list(7), Node).items
    }
    assert all("managedFields" in item["metadata"] for item in json.loads(text)["items"])
    assert all(pod.status.container_statuses and len(pod.spec.tolerations) == 2 for pod in pods)


def test_both_lists_are_measured() -> None:
    figures = run(nodes=5, pods=30, rounds=2)
    assert (figures.nodes.objects, figures.pods.objects) == (5, 30)
    assert figures.pods.objects_per_second > 0
    assert figures.pods.allocated_bytes > 0
    assert figures.pod_infos_per_second > 0


def test_the_report_reads_as_a_table() -> None:
    nodes = ListFigures(5_000, 30_000_000, 0.1, 10_000_000, 0)
    pods = ListFigures(50_000, 125_000_000, 0.5, 90_000_000, 100_000_000)
    assert DecodeFigures(nodes, pods, 123_456.0).report().splitlines()[:5] == [
        "          objects  JSON bytes      MB/s    objects/s    allocated    resident",
        "nodes     5,000       6,000       300       50,000        2,000           -",
        "pods     50,000       2,500       250      100,000        1,800       2,000",
        "",
        "PodInfo derived: 123,456 pods/s",
    ]
