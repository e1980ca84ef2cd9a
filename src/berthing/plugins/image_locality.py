"""ImageLocality favours nodes that have the pod's images already, large ones above all.

An image counts for less on a node the fewer nodes have it, so that pods do not crowd on the one
node that happens to have their image.

Upstream: plugins/imagelocality/image_locality.go (v1.36.4).
Differs:  nowhere a user can see.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from berthing.api.pod_info import PodFacts, PodInfo
from berthing.cluster.images import Image
from berthing.cluster.rows import Rows, as_rows
from berthing.framework import MAX_SCORE, CycleState, Int64Column, Nodes, ScorePlugin

_MIB: Final = 1024 * 1024
# Below this a download does not matter; above so much per container, more makes no difference.
MIN_BYTES: Final = 23 * _MIB
MAX_BYTES_PER_CONTAINER: Final = 1000 * _MIB


class ImageLocality(ScorePlugin):
    """Scores the bytes that need not be downloaded."""

    name = "ImageLocality"
    row_local = True
    reads_pods = False

    def score_basis(self, nodes: Nodes) -> object:
        """What an image is worth depends on all nodes that have it."""
        cluster = as_rows(nodes).cluster
        return cluster.images.version, len(cluster.nodes)

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        """(n_rows,) 0 to 100 by the images that are there."""
        return image_scores(as_rows(nodes), pod.facts)


def image_scores(rows: Rows, facts: PodFacts) -> Int64Column:
    """(n_rows,) 0 to 100 by the bytes of the pod's images that are there."""
    cluster = rows.cluster
    present = np.zeros(len(rows), np.int64)
    for name in facts.images:
        image = cluster.images.find(name)
        if image is not None:
            present += image.on[rows.index] * np.int64(_worth(image, len(cluster.nodes)))
    if not facts.container_count:
        # No API server lets such a pod in; upstream's bounds then change places.
        return np.where(present < MIN_BYTES, 0, MAX_SCORE)
    highest = MAX_BYTES_PER_CONTAINER * facts.container_count
    counted = np.clip(present, MIN_BYTES, highest)
    return (counted - MIN_BYTES) * MAX_SCORE // (highest - MIN_BYTES)


def _worth(image: Image, node_count: int) -> int:
    # In floating point and then cut off, as upstream does it: integers would now and then come to
    # another byte, and a byte can make a point.
    return int(image.size_bytes * (image.node_count / node_count))
