"""Arrays with room for more."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

A = TypeVar("A", bound=np.generic)


def wider(
    column: np.ndarray[tuple[int, ...], np.dtype[A]], length: int
) -> np.ndarray[tuple[int, ...], np.dtype[A]]:
    """A copy of which the last axis is longer; the new places are zero."""
    copy = np.zeros((*column.shape[:-1], length), column.dtype)
    copy[..., : column.shape[-1]] = column
    return copy
