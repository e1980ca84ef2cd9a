"""The nodes of the demo: three zones, four pools, three sizes.

One node for anything in each zone is cordoned for good, and one for batch jobs until the story has
it repaired.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Final

import msgspec

Manifest = Mapping[str, object]

ZONES: Final = ("zone-a", "zone-b", "zone-c")
ZONE: Final = "topology.kubernetes.io/zone"
HOSTNAME: Final = "kubernetes.io/hostname"
POOL: Final = "pool"
GPU: Final = "nvidia.com/gpu"

# With fewer there is no room for all that happens in a zone.
FEWEST: Final = 30

# CPUs and GiB.
_SIZES: Final = ((8, 32), (16, 64), (32, 128))
_TAINTS: Final[Mapping[str, Manifest]] = {
    "gpu": {"key": GPU, "value": "present", "effect": "NoSchedule"},
    "payments": {"key": "dedicated", "value": "payments", "effect": "NoSchedule"},
    "batch": {"key": "dedicated", "value": "batch", "effect": "NoSchedule"},
}


class Machine(msgspec.Struct, frozen=True):
    """A node to be."""

    name: str
    zone: str
    pool: str
    cpus: int
    gib: int
    gpus: int = 0
    is_cordoned: bool = False

    @property
    def manifest(self) -> Manifest:
        """The node as its kubelet would register it."""
        labels = {ZONE: self.zone, HOSTNAME: self.name, POOL: self.pool}
        taints = [_TAINTS[self.pool]] if self.pool in _TAINTS else []
        has: dict[str, str] = {"cpu": str(self.cpus), "memory": f"{self.gib}Gi", "pods": "110"}
        if self.gpus:
            has[GPU] = str(self.gpus)
        return {
            "metadata": {"name": self.name, "labels": labels},
            "spec": {"taints": taints, "unschedulable": self.is_cordoned},
            "status": {"capacity": has, "allocatable": has},
        }


def machines(count: int) -> Iterator[Machine]:
    """So many nodes, as even over the zones as may be."""
    repaired = False
    digits = max(len(str(-(-count // len(ZONES)))), 2)
    for index, zone in enumerate(ZONES):
        sizes = cycle(_SIZES)
        in_zone = count // len(ZONES) + (index < count % len(ZONES))
        for number, pool in enumerate(_pools(in_zone), start=1):
            name = f"{zone}-{number:0{digits}}"
            if pool == "gpu":
                # The last zone has the larger ones.
                gpus = 8 if zone == ZONES[-1] else 4
                yield Machine(name, zone, pool, cpus=32, gib=256, gpus=gpus)
            elif pool == "batch" and zone == ZONES[0] and not repaired:
                repaired = True
                yield Machine(
                    name, zone, pool, cpus=_repaired_cpus(count), gib=256, is_cordoned=True
                )
            elif pool == "batch":
                yield Machine(name, zone, pool, cpus=8, gib=32)
            else:
                cpus, gib = next(sizes)
                # The first of all is under repair.
                yield Machine(name, zone, pool, cpus=cpus, gib=gib, is_cordoned=number == 1)


def _repaired_cpus(count: int) -> int:
    """So many pods find room at once when it comes back; no node takes more than 110."""
    return min(max(round(count * 0.24), 3), 100)


def _pools(count: int) -> Iterator[str]:
    """The pools of a zone's nodes: what is left over is for anything."""
    special = {
        "payments": max(count // 16, 1),
        "batch": max(count // 8, 1),
        "gpu": max(count // 16, 1),
    }
    yield from ["general"] * (count - sum(special.values()))
    for pool, number in special.items():
        yield from [pool] * number
