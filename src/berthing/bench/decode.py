"""How fast the lists of a large cluster are decoded, and what they take in memory.

Times are the best of several rounds, each with the garbage collector on.  Memory is measured
apart from them, in a new process that decodes the list once: how much the process grows by
(where /proc tells), and what the decoded objects themselves were given (by tracemalloc).
"""

from __future__ import annotations

import gc
import os
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import msgspec

from berthing.api.decode import decode_list
from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.bench.samples import node_list, pod_list

T = TypeVar("T")


class ListFigures(msgspec.Struct, frozen=True):
    """What one list showed; rates are per second, bytes per object."""

    objects: int
    json_bytes: int
    seconds: float
    allocated_bytes: int
    # 0 where the platform does not tell.
    resident_bytes: int

    @property
    def objects_per_second(self) -> float:
        """How many objects are decoded in a second."""
        return self.objects / self.seconds

    def line(self, name: str) -> str:
        """One row of the report."""
        return (
            f"{name:<6}{self.objects:>9,}{self.json_bytes / self.objects:>12,.0f}"
            f"{self.json_bytes / self.seconds / 1e6:>10,.0f}{self.objects_per_second:>13,.0f}"
            f"{self.allocated_bytes / self.objects:>13,.0f}"
            f"{f'{self.resident_bytes / self.objects:,.0f}' if self.resident_bytes else '-':>12}"
        )


class DecodeFigures(msgspec.Struct, frozen=True):
    """What the benchmark showed."""

    nodes: ListFigures
    pods: ListFigures
    pod_infos_per_second: float

    def report(self) -> str:
        """The figures as a table for people."""
        return "\n".join(
            (
                "          objects  JSON bytes      MB/s    objects/s    allocated    resident",
                self.nodes.line("nodes"),
                self.pods.line("pods"),
                "",
                f"PodInfo derived: {self.pod_infos_per_second:,.0f} pods/s",
                "JSON bytes, allocated and resident are bytes per object: as sent, as given to the",
                "decoded objects (tracemalloc), and as a new process grew by that decoded the list.",
            )
        )


def run(*, nodes: int = 5_000, pods: int = 50_000, rounds: int = 3) -> DecodeFigures:
    """Make up both lists, decode each several times, and measure memory in other processes."""
    node_text, pod_text = node_list(nodes), pod_list(pods, nodes)
    _, node_seconds = _best(lambda: decode_list(node_text, Node), rounds)
    decoded, pod_seconds = _best(lambda: decode_list(pod_text, Pod), rounds)
    _, info_seconds = _best(lambda: [PodInfo.of(pod) for pod in decoded.items], rounds)
    return DecodeFigures(
        nodes=_figures(nodes, node_text, node_seconds, Node),
        pods=_figures(pods, pod_text, pod_seconds, Pod),
        pod_infos_per_second=pods / info_seconds,
    )


def _best(work: Callable[[], T], rounds: int) -> tuple[T, float]:
    """The last result, and the time of the fastest round."""
    result, seconds = _timed(work)
    for _ in range(rounds - 1):
        del result
        result, again = _timed(work)
        seconds = min(seconds, again)
    return result, seconds


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    gc.collect()
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def _figures(objects: int, text: bytes, seconds: float, type_: type[ApiObject]) -> ListFigures:
    return ListFigures(
        objects=objects,
        json_bytes=len(text),
        seconds=seconds,
        allocated_bytes=_elsewhere(_allocated_bytes, text, type_),
        resident_bytes=_elsewhere(_resident_bytes, text, type_),
    )


def _elsewhere(
    measure: Callable[[bytes, type[ApiObject]], int], text: bytes, type_: type[ApiObject]
) -> int:
    """Measure in a process that has decoded nothing yet, so that nothing is shared already."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
        return process.submit(measure, text, type_).result()


def _allocated_bytes(text: bytes, type_: type[ApiObject]) -> int:
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    decoded = decode_list(text, type_)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    del decoded
    return after - before


def _resident_bytes(text: bytes, type_: type[ApiObject]) -> int:
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return 0
    gc.collect()
    before = _resident_pages(statm)
    decoded = decode_list(text, type_)
    grown = _resident_pages(statm) - before
    del decoded
    return grown * os.sysconf("SC_PAGE_SIZE")


def _resident_pages(statm: Path) -> int:
    return int(statm.read_text().split()[1])
