"""Arrays with room for more, and the integers that fit into them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

A = TypeVar("A", bound=np.generic)


def int64(number: int) -> int:
    """The number as 64 bits hold it: beyond either end it starts over at the other."""
    if -(2**63) <= number < 2**63:
        return number
    return (number + 2**63) % 2**64 - 2**63


def wider(
    column: np.ndarray[tuple[int, ...], np.dtype[A]], length: int
) -> np.ndarray[tuple[int, ...], np.dtype[A]]:
    """A copy of which the last axis is longer; the new places are zero."""
    copy = np.zeros((*column.shape[:-1], length), column.dtype)
    copy[..., : column.shape[-1]] = column
    return copy
