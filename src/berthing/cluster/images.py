"""Which images the nodes have already, and how large they are.

Upstream: backend/cache/cache.go addNodeImageStates (v1.36.4).  Of an image that nodes give
different sizes, the size that was seen first counts for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from berthing.api.node import Node
from berthing.cluster.arrays import wider
from berthing.cluster.node_table import NodeTable
from berthing.framework.columns import BoolColumn


class Image:
    """One image under one name.

    on  (capacity,)  true for the nodes that have it
    """

    __slots__ = ("node_count", "on", "size_bytes")

    def __init__(self, size_bytes: int, capacity: int) -> None:
        self.size_bytes = size_bytes
        self.node_count = 0
        self.on: BoolColumn = np.zeros(capacity, np.bool_)

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self.on = wider(self.on, capacity)


class Images:
    """All images of all nodes, by name."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._images: dict[str, Image] = {}
        # Grows by one whenever an image comes, goes, or changes its spread: how much an image is
        # worth depends on all the nodes that have it.
        self.version = 0

    def find(self, name: str) -> Image | None:
        """An image that some node has, by its normalized name."""
        return self._images.get(name)

    def all(self) -> Mapping[str, Image]:
        """Every image that some node has, by name."""
        return self._images

    def change(self, row: int, before: Node | None, after: Node | None) -> None:
        """A node came, changed or left."""
        old = _names(before)
        new = _names(after)
        changed = old.keys() != new.keys()
        for name in old.keys() - new.keys():
            image = self._images[name]
            image.on[row] = False
            image.node_count -= 1
            if not image.node_count:
                self._table.leave(image)
                del self._images[name]
        for name, size in new.items():
            if name not in old:
                self._add(name, size, row)
            elif self._images[name].node_count == 1 and self._images[name].size_bytes != size:
                # Nobody else has it, so from now on it is as large as this node says; so far a
                # node that is gone may have had its say.
                self._images[name].size_bytes = size
                changed = True
        self.version += changed

    def _add(self, name: str, size: int, row: int) -> None:
        image = self._images.get(name)
        if image is None:
            image = self._images[name] = Image(size, self._table.capacity)
            self._table.join(image)
        image.on[row] = True
        image.node_count += 1


def _names(node: Node | None) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for image in node.status.images if node else ():
        for name in image.names:
            sizes.setdefault(name, image.size_bytes)
    return sizes
