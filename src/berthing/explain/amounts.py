"""Amounts of resources as people write them: 1500m of cpu, 3Gi of memory."""

from __future__ import annotations

from berthing.api.names import is_huge_page_resource_name
from berthing.api.quantity import Quantity
from berthing.api.resource_list import CPU, EPHEMERAL_STORAGE, MEMORY

_UNITS = ((2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))
# So many of a unit are easier to read than a fraction of the next.
_READABLE = 10_000
# Amounts are rounded to a unit of which there are at least so many: at most one per cent is lost.
_FINE = 100


def shown(resource: str, amount: int) -> str:
    """An amount, exact as long as that is readable; cpu is counted in thousandths."""
    if resource == CPU:
        return str(Quantity(amount, -3))
    if not _is_bytes(resource):
        return str(amount)
    for size, unit in _UNITS:
        if amount % size == 0 and 0 < abs(amount) // size < _READABLE:
            return f"{amount // size}{unit}"
    for size, unit in _UNITS:
        if abs(amount) >= size:
            return f"{amount / size:.1f}{unit}"
    return str(amount)


def rounded_down(resource: str, amount: int) -> int:
    """A little less, so that it is short to write."""
    if _is_bytes(resource):
        for size, _ in _UNITS:
            if amount >= _FINE * size:
                return amount - amount % size
    return amount


def _is_bytes(resource: str) -> bool:
    return resource in (MEMORY, EPHEMERAL_STORAGE) or is_huge_page_resource_name(resource)
