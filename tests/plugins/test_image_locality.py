from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from berthing.api.node import ContainerImage, Node
from berthing.api.pod import Pod
from berthing.api.volumes import ImageVolumeSource, Volume
from berthing.framework import ScoreExtensions
from berthing.plugins.image_locality import ImageLocality
from berthing.testing import make_container, make_node, make_pod
from plugins.harness import cluster_of, fake_handle, score_all

MIB = 1024 * 1024
# Scores of one container go from 23 to 1000 MiB.
SPAN = 977


def scores(pod: Pod, images: Mapping[str, Mapping[str, int]]) -> Mapping[str, int] | None:
    nodes = [make_node(name, images=of_node) for name, of_node in images.items()]
    return score_all(ImageLocality(None, fake_handle()), pod, cluster_of(nodes))


@pytest.mark.parametrize(
    ("mebibytes", "expected"),
    [
        pytest.param(0, 0, id="an image of no size"),
        pytest.param(23, 0, id="too small to matter"),
        pytest.param(123, 100 * 100 // SPAN, id="a small one"),
        pytest.param(523, 100 * 500 // SPAN, id="half the scale"),
        pytest.param(1000, 100, id="the largest that counts"),
        pytest.param(5000, 100, id="larger ones count the same"),
    ],
)
def test_size(mebibytes: int, expected: int) -> None:
    assert scores(make_pod(image="app:v1"), {"n": {"app:v1": mebibytes * MIB}}) == {"n": expected}


def test_an_image_on_few_nodes_counts_for_less() -> None:
    image = {"app:v1": 800 * MIB}
    assert scores(make_pod(image="app:v1"), {"a": image, "b": {}, "c": {}, "d": image}) == {
        "a": 100 * (400 - 23) // SPAN,
        "b": 0,
        "c": 0,
        "d": 100 * (400 - 23) // SPAN,
    }


@pytest.mark.parametrize(
    ("name", "present"),
    [
        pytest.param("app", "app:latest", id="latest where there is no tag"),
        pytest.param("host:5000/app", "host:5000/app:latest", id="a port is not a tag"),
        pytest.param("app@sha256:0", "app@sha256:0", id="a digest is kept"),
    ],
)
def test_names(name: str, present: str) -> None:
    assert scores(make_pod(image=name), {"n": {present: 1000 * MIB}}) == {"n": 100}


def test_more_containers_raise_the_bar() -> None:
    pod = make_pod(
        containers=[make_container(image="a:1"), make_container(image="b:1")],
        init_containers=[make_container(image="a:1")],
    )
    expected = 100 * (500 + 500 + 300 - 23) // (3000 - 23)
    assert scores(pod, {"n": {"a:1": 500 * MIB, "b:1": 300 * MIB}}) == {"n": expected}


def test_image_volumes_count_but_do_not_raise_the_bar() -> None:
    volume = Volume(name="data", image=ImageVolumeSource(reference="data:1"))
    pod = make_pod(image="app:1", volumes=[volume])
    assert scores(pod, {"n": {"data:1": 523 * MIB}}) == {"n": 100 * 500 // SPAN}


def test_scores_follow_the_nodes() -> None:
    plugin, pod = ImageLocality(None, fake_handle()), make_pod(image="app:1")
    cluster = cluster_of([make_node("a", images={"app:1": 1000 * MIB}), make_node("b")])
    half = 100 * (500 - 23) // SPAN
    assert score_all(plugin, pod, cluster) == {"a": half, "b": 0}
    cluster.set_node(make_node("b", images={"app:1": 1000 * MIB}))
    assert score_all(plugin, pod, cluster) == {"a": 100, "b": 100}
    cluster.set_node(make_node("c"))
    third = 100 * (int(1000 * MIB * (2 / 3)) - 23 * MIB) // (SPAN * MIB)
    assert score_all(plugin, pod, cluster) == {"a": third, "b": third, "c": 0}
    cluster.remove_node("c")
    assert score_all(plugin, pod, cluster) == {"a": 100, "b": 100}


def test_one_plugin_may_look_at_several_clusters() -> None:
    plugin, pod = ImageLocality(None, fake_handle()), make_pod(image="app:1")
    with_image = cluster_of([make_node(images={"app:1": 1000 * MIB})])
    with_other = cluster_of([make_node(images={"other:1": 1000 * MIB})])
    assert score_all(plugin, pod, with_image) == {"node": 100}
    assert score_all(plugin, pod, with_other) == {"node": 0}


def with_images(node: Node, *images: ContainerImage) -> Node:
    return replace(node, status=replace(node.status, images=images))


def sized(mebibytes: int) -> ContainerImage:
    return ContainerImage(names=("app:1",), size_bytes=mebibytes * MIB)


def test_the_size_that_was_seen_first_counts() -> None:
    nodes = [
        with_images(make_node("a"), sized(523), sized(1000)),
        with_images(make_node("b"), sized(1000)),
    ]
    expected = 100 * 500 // SPAN
    plugin = ImageLocality(None, fake_handle())
    cluster = cluster_of(nodes)
    assert score_all(plugin, make_pod(image="app:1"), cluster) == {"a": expected, "b": expected}


def test_the_only_node_with_an_image_may_change_its_size() -> None:
    plugin, pod = ImageLocality(None, fake_handle()), make_pod(image="app:1")
    cluster = cluster_of([with_images(make_node(), sized(523))])
    assert score_all(plugin, pod, cluster) == {"node": 100 * 500 // SPAN}
    cluster.set_node(with_images(make_node(), sized(1000)))
    assert score_all(plugin, pod, cluster) == {"node": 100}


def test_scores_are_final() -> None:
    assert not issubclass(ImageLocality, ScoreExtensions)
