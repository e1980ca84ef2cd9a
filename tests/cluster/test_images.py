"""Images on nodes: who has them, and whose word counts for their size."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from berthing.cluster.cluster import Cluster
from berthing.cluster.images import Image
from berthing.testing import make_node


def cluster_of(images_by_node: Mapping[str, Mapping[str, int]]) -> Cluster:
    cluster = Cluster()
    for name, images in images_by_node.items():
        set_images(cluster, name, images)
    return cluster


def set_images(cluster: Cluster, node_name: str, images: Mapping[str, int]) -> None:
    cluster.set_node(make_node(node_name, images=images))


def image(cluster: Cluster, name: str) -> Image:
    found = cluster.images.find(name)
    assert found is not None
    return found


def nodes_with(cluster: Cluster, name: str) -> set[str]:
    return {cluster.nodes.names[row] for row in np.flatnonzero(image(cluster, name).on)}


def test_an_image_is_on_the_nodes_that_have_it() -> None:
    cluster = cluster_of({"a": {"web:1": 10, "db:1": 20}, "b": {"web:1": 10}})
    assert nodes_with(cluster, "web:1") == {"a", "b"}
    assert nodes_with(cluster, "db:1") == {"a"}
    assert image(cluster, "web:1").node_count == 2


def test_an_image_is_gone_with_the_last_node_that_had_it() -> None:
    cluster = cluster_of({"a": {"web:1": 10}, "b": {"web:1": 10}})
    cluster.remove_node("a")
    assert nodes_with(cluster, "web:1") == {"b"}
    set_images(cluster, "b", {})
    assert cluster.images.find("web:1") is None


def test_the_next_node_on_a_row_has_none_of_the_images() -> None:
    cluster = cluster_of({"a": {"web:1": 10}, "b": {"web:1": 10}})
    cluster.remove_node("a")
    set_images(cluster, "c", {"db:1": 20})
    assert nodes_with(cluster, "web:1") == {"b"}
    assert nodes_with(cluster, "db:1") == {"c"}


def test_images_know_rows_that_came_after_them() -> None:
    cluster = cluster_of({"first": {"web:1": 10}})
    for number in range(cluster.nodes.capacity):
        set_images(cluster, f"node-{number}", {})
    set_images(cluster, "last", {"web:1": 10})
    assert nodes_with(cluster, "web:1") == {"first", "last"}


# Sizes.


def test_of_several_sizes_the_one_that_was_told_first_counts() -> None:
    assert image(cluster_of({"a": {"web:1": 10}, "b": {"web:1": 99}}), "web:1").size_bytes == 10


def test_a_node_that_shares_an_image_cannot_change_its_size() -> None:
    cluster = cluster_of({"a": {"web:1": 10}, "b": {"web:1": 10}})
    set_images(cluster, "a", {"web:1": 99})
    assert image(cluster, "web:1").size_bytes == 10


def test_a_node_that_has_an_image_alone_can_change_its_size() -> None:
    cluster = cluster_of({"a": {"web:1": 10}, "b": {}})
    set_images(cluster, "a", {"web:1": 99})
    assert image(cluster, "web:1").size_bytes == 99


def test_the_word_of_a_node_that_is_gone_counts_until_the_next_heartbeat() -> None:
    cluster = cluster_of({"a": {"web:1": 10}, "b": {"web:1": 99}})
    cluster.remove_node("a")
    assert image(cluster, "web:1").size_bytes == 10
    set_images(cluster, "b", {"web:1": 99})
    assert image(cluster, "web:1").size_bytes == 99


# What scores are remembered by.


@pytest.mark.parametrize(
    ("images", "changes"),
    [
        pytest.param({"web:1": 10}, False, id="the same images"),
        pytest.param({"web:1": 99}, True, id="another size"),
        pytest.param({"web:1": 10, "db:1": 20}, True, id="one more image"),
        pytest.param({}, True, id="one image less"),
    ],
)
def test_the_version_tells_of_changes(images: Mapping[str, int], *, changes: bool) -> None:
    cluster = cluster_of({"a": {"web:1": 10}})
    before = cluster.images.version
    set_images(cluster, "a", images)
    assert (cluster.images.version > before) is changes
