"""Amounts by resource name: `{"cpu": "500m", "memory": "1Gi"}`.

A cluster writes few distinct lists, many times each: replicas bring the same ones again and
again.  Lists that read alike are one object, parsed once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from berthing.api.frozen import FrozenDict
from berthing.api.quantity import Quantity

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"


class ResourceList(FrozenDict[str, Quantity]):
    """Amounts by resource name; never changed."""

    __slots__ = ()

    @classmethod
    def of(cls, amounts: Mapping[str, str | float | Quantity]) -> ResourceList:
        """Make a list of quantities or what reads as such: `{"cpu": "500m", "pods": 110}`.

        Of nothing it makes EMPTY_LIST, which is not written: `overhead: {}` is an overhead to an API server.
        """
        if not amounts:
            return EMPTY_LIST
        return cls({name: _quantity(amount) for name, amount in amounts.items()})

    @classmethod
    def from_json(cls, value: object) -> ResourceList:
        """Read what JSON or YAML decoded to; the same text gives the same object, null an empty one.

        Raises ValueError, which names the resource, or TypeError if this is no mapping.
        """
        if value is None:
            return EMPTY_LIST
        if not isinstance(value, dict):
            raise TypeError(f"Expected `object`, got `{type(value).__name__}`")
        try:
            return _read(tuple(value.items()))
        except TypeError:
            return _read_each(value)


EMPTY_LIST: Final = ResourceList()


def _quantity(amount: str | float | Quantity) -> Quantity:
    return amount if isinstance(amount, Quantity) else Quantity.from_json(amount)


@lru_cache(maxsize=16384)
def _read(items: tuple[tuple[str, object], ...]) -> ResourceList:
    for _, text in items:
        if not isinstance(text, str):
            # Numbers stay out of the cache: to it, `1` and `true` would be the same.
            raise TypeError
    return _read_each(dict(items))


def _read_each(values: Mapping[str, object]) -> ResourceList:
    amounts = {}
    for name, value in values.items():
        try:
            amounts[name] = Quantity.from_json(value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return ResourceList(amounts)
