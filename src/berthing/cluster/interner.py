"""Distinct values by small numbers: what a column of codes refers to."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Interner(Generic[T]):
    """Numbers values in the order in which they are first seen; a value keeps its number."""

    __slots__ = ("_codes", "values")

    def __init__(self, *first: T) -> None:
        self.values: list[T] = []
        self._codes: dict[T, int] = {}
        for value in first:
            self.code(value)

    def __len__(self) -> int:
        return len(self.values)

    def code(self, value: T) -> int:
        """The number of a value, new if need be."""
        code = self._codes.get(value)
        if code is None:
            code = self._codes[value] = len(self.values)
            self.values.append(value)
        return code

    def find(self, value: T) -> int | None:
        """The number of a value that was seen before."""
        return self._codes.get(value)
