"""How long one scheduling cycle takes, in memory and in one process, with what is assumed after it.

    PodInfo ---> cycle ---> decision ---> assume          this is timed, pod by pod
       ^
    derived beforehand, as a scheduler does when it first sees a pod

The cluster is warm: templates have been seen, columns and counters are there, and the garbage
collector is told that what exists is to stay, as any process with much data should tell it.
Times are those of the fastest of several rounds, for other work on the machine only ever adds.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from itertools import islice
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from berthing.api.pod_info import PodInfo
from berthing.bench.engine_workloads import WORKLOADS, Workload, make_nodes, make_others
from berthing.config.features import FeatureGates
from berthing.config.load import default
from berthing.scheduler.offline import Offline
from berthing.scheduler.registry import discover


class Case(msgspec.Struct, frozen=True):
    """A size at which all workloads are measured.

    allowance, plain_allowance  how many times its target a cycle may take here
    """

    name: str
    nodes: int
    pods: int
    templates: int = 1
    allowance: float = 1.0
    plain_allowance: float = 1.0


class Figure(msgspec.Struct, frozen=True):
    """What the cycles of one workload took in one case."""

    workload: str
    case: str
    cycles: int
    placed: int
    mean_micros: float
    p99_micros: float
    target_micros: float

    @property
    def ratio(self) -> float:
        """The share of the target that a cycle takes on average: 1 or less is as wished."""
        return self.mean_micros / self.target_micros


class EngineFigures(msgspec.Struct, frozen=True):
    """What the benchmark showed."""

    nodes: int
    pods: int
    figures: tuple[Figure, ...]

    def report(self) -> str:
        """The figures as a table for people."""
        lines = [
            f"{self.nodes:,} nodes, {self.pods:,} running pods; microseconds per cycle",
            "",
            "workload            case                    mean     p99  target   ratio   x first",
        ]
        first: dict[str, float] = {}
        for each in self.figures:
            base = first.setdefault(each.workload, each.mean_micros)
            lines.append(
                f"{each.workload:<20}{each.case:<20}{each.mean_micros:>8.1f}{each.p99_micros:>8.1f}"
                f"{each.target_micros:>8.0f}{each.ratio:>8.2f}{each.mean_micros / base:>10.2f}"
                + (
                    ""
                    if each.placed == each.cycles
                    else f"  {each.cycles - each.placed} not placed"
                )
            )
        lines += [
            "",
            "ratio: mean to target; x first: mean to that of the workload's first case.",
        ]
        return "\n".join(lines)


def cases(nodes: int, pods: int) -> tuple[Case, ...]:
    """The sizes that are measured: as given, many templates, many pods, many nodes."""
    return (
        Case("one template", nodes, pods),
        Case("100 templates", nodes, pods, templates=100, allowance=2, plain_allowance=2),
        Case(f"{5 * pods:,} pods", nodes, 5 * pods, allowance=1.2, plain_allowance=1.2),
        Case(f"{3 * nodes:,} nodes", 3 * nodes, pods, allowance=2.5, plain_allowance=1.5),
    )


def run(
    *,
    nodes: int = 5_000,
    pods: int = 10_000,
    cycles: int = 1_000,
    rounds: int = 3,
    workloads: Sequence[str] = (),
) -> EngineFigures:
    """Measure some workloads, or all, in every case."""
    chosen = [each for each in WORKLOADS if not workloads or each.name in workloads]
    # One cluster for the cases that share it: filling it takes longer than measuring.
    beds: dict[tuple[int, int], _Bed] = {}
    figures: list[Figure] = []
    for case in cases(nodes, pods):
        size = case.nodes, case.pods
        if size not in beds:
            beds.clear()
            beds[size] = _Bed(*size)
        figures += [beds[size].measure(each, case, cycles=cycles, rounds=rounds) for each in chosen]
    order = [each.name for each in chosen]
    figures.sort(key=lambda figure: order.index(figure.workload))
    return EngineFigures(nodes, pods, tuple(figures))


# Of the running pods so many are of the templates that are measured: one in ten.
_OWN_SHARE: Final = 10


class _Bed:
    """A cluster in which workloads are measured one after the other, each leaving it as it was."""

    def __init__(self, nodes: int, pods: int) -> None:
        # What is installed beside Berthing has no part in its figures.
        registry = discover([])
        self._offline = Offline(default().profiles, registry=registry, gates=FeatureGates())
        self._nodes = nodes
        self._own = min(pods // _OWN_SHARE, nodes // 5)
        for node in make_nodes(nodes):
            self._offline.add(node)
        for pod in make_others(pods - self._own, nodes):
            self._offline.add(pod)

    def measure(self, workload: Workload, case: Case, *, cycles: int, rounds: int) -> Figure:
        """Time a workload's cycles in its best round."""
        running = list(workload.running(self._own, case.templates, self._nodes))
        for pod in running:
            self._offline.add(pod)
        best = min(
            (self._round(workload, case, cycles) for _ in range(rounds)),
            key=lambda each: each.mean_micros,
        )
        for pod in running:
            self._offline.cluster.remove_pod(pod.metadata.uid)
        allowance = case.plain_allowance if workload.name == "plain" else case.allowance
        return Figure(
            workload=workload.name,
            case=case.name,
            cycles=cycles,
            placed=best.placed,
            mean_micros=best.mean_micros,
            p99_micros=float(np.percentile(best.micros, 99)),
            target_micros=workload.target_micros * allowance,
        )

    def _round(self, workload: Workload, case: Case, cycles: int) -> _Round:
        # Twice round all templates: what is kept about each is there, and is used.
        warm = 2 * case.templates
        infos = list(map(PodInfo.of, islice(workload.pods(case.templates), warm + cycles)))
        gc.collect()
        gc.freeze()
        for info in infos[:warm]:
            self._place(info)
        round_ = _Round(np.zeros(cycles), 0)
        for number, info in enumerate(infos[warm:]):
            started = time.perf_counter_ns()
            is_placed = self._place(info)
            round_.micros[number] = (time.perf_counter_ns() - started) / 1000
            round_.placed += is_placed
        gc.unfreeze()
        for info in infos:
            self._offline.cluster.forget(info.uid)
        return round_

    def _place(self, info: PodInfo) -> bool:
        """One cycle; whether a node was found."""
        chosen = self._offline.decide(info).chosen
        if chosen:
            self._offline.cluster.assume(info, chosen)
        return bool(chosen)


class _Round(msgspec.Struct):
    """The times of one round's cycles."""

    micros: npt.NDArray[np.float64]
    placed: int

    @property
    def mean_micros(self) -> float:
        return float(self.micros.mean())
