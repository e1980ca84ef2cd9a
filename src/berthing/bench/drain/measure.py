"""One scheduler after another empties the same queue, and a watcher looks on.

    nodes, running pods                                          made once
    for each round, for each scheduler (every other round the other way about):
        pods that wait ---> scheduler starts ---> ... all bound ---> at rest, stopped ---> pods deleted

What is measured is told in `figures.py`.  All pods are there before the scheduler starts, so the
time from its first binding to its last has neither its start in it nor ours.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

import msgspec

from berthing.api.pod import Pod
from berthing.bench.drain.bindings import Bindings, watched
from berthing.bench.drain.cluster import DrainCluster, pods_path
from berthing.bench.drain.contenders import Contender
from berthing.bench.drain.errors import DrainError
from berthing.bench.drain.figures import Figure, Round
from berthing.bench.drain.usage import Usage
from berthing.bench.drain.workloads import (
    WAITING_NAMESPACE,
    check_room,
    empty_nodes,
    running_pods,
    waiting_pods,
)
from berthing.client.transport import Transport

# Without a binding for so long, there will be none.
PATIENCE_SECONDS: Final = 120.0
# For the API server and etcd to be done with what was created.
SETTLE_SECONDS: Final = 3.0

# Is told what goes on.
Tell = Callable[[str], None]


class Scheduler(Protocol):
    """A scheduler at work: `contenders.Running`."""

    def usage(self) -> Usage:
        """What it has taken so far."""
        ...

    async def rest(self) -> Usage:
        """What it has taken once it has done what was left."""
        ...

    async def wait_exit(self) -> None:
        """Wait until it ends, which it should not."""
        ...

    def failure(self, why: str) -> DrainError:
        """The error that says why it could not be measured."""
        ...


# Runs a scheduler as long as the block lasts.
Start = Callable[[Contender], AbstractAsyncContextManager[Scheduler]]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be measured."""

    nodes: int
    pods: int
    running: int
    rounds: int
    workloads: tuple[str, ...]


class Drain:
    """Measures on one cluster."""

    def __init__(
        self, cluster: DrainCluster, transport: Transport, *, start: Start, tell: Tell
    ) -> None:
        self._cluster = cluster
        self._transport = transport
        self._start = start
        self._tell = tell

    async def furnish(self, plan: Plan) -> None:
        """Make the cluster that all schedulers find; raises DrainError where that cannot be."""
        for workload in plan.workloads:
            check_room(workload, plan.pods, running=plan.running, nodes=plan.nodes)
        await self._cluster.prepare()
        self._tell(f"making {plan.nodes:,} nodes")
        await self._cluster.add_nodes(empty_nodes(plan.nodes))
        if plan.running:
            self._tell(f"making {plan.running:,} running pods")
            await self._cluster.add_pods(running_pods(plan.running, nodes=plan.nodes))

    async def rounds(
        self, plan: Plan, workload: str, contenders: Sequence[Contender]
    ) -> AsyncIterator[Round]:
        """Measure a workload, round after round."""
        for number in range(1, plan.rounds + 1):
            # Who comes first finds a server that has less behind it.
            turns = sorted(range(len(contenders)), reverse=number % 2 == 0)
            figures: dict[int, Figure] = {}
            for turn in turns:
                pods = waiting_pods(workload, plan.pods)
                figures[turn] = await self._drain(contenders[turn], pods, plan.pods)
            yield Round(number, tuple(figures[turn] for turn in range(len(contenders))))

    async def _drain(self, contender: Contender, pods: Iterable[Pod], count: int) -> Figure:
        self._tell(f"making {count:,} pods for {contender.name}")
        await self._cluster.add_pods(pods)
        await asyncio.sleep(SETTLE_SECONDS)
        since = await self._cluster.resource_version()
        async with watched(self._transport, pods_path(WAITING_NAMESPACE), since=since) as bindings:
            figure = await self._watch(contender, bindings, count)
        if waiting := await self._cluster.unbound():
            raise DrainError(f"{contender.name} bound fewer pods than were counted: {waiting[:3]}")
        await self._cluster.remove_pods(WAITING_NAMESPACE)
        return figure

    async def _watch(self, contender: Contender, bindings: Bindings, pods: int) -> Figure:
        self._tell(f"{contender.name} begins")
        own = time.process_time()
        started = time.perf_counter()
        async with self._start(contender) as scheduler:
            await self._wait(scheduler, bindings, 1, of=pods)
            at_first = scheduler.usage()
            await self._wait(scheduler, bindings, pods, of=pods)
            own = time.process_time() - own
            at_rest = await scheduler.rest()
        return Figure(
            scheduler=contender.name,
            pods=pods,
            start_seconds=bindings.first_at - started,
            start_cpu_seconds=at_first.cpu_seconds,
            seconds=bindings.last_at - bindings.first_at,
            cpu_seconds=at_rest.cpu_seconds - at_first.cpu_seconds,
            peak_bytes=at_rest.peak_bytes,
            own_cpu_seconds=own,
        )

    async def _wait(self, scheduler: Scheduler, bindings: Bindings, count: int, *, of: int) -> None:
        """Wait for bindings; whatever keeps them from coming is an error that says so."""
        bound = asyncio.create_task(bindings.wait(count, patience_seconds=PATIENCE_SECONDS))
        gone = asyncio.create_task(scheduler.wait_exit())
        try:
            await asyncio.wait([bound, gone], return_when=asyncio.FIRST_COMPLETED)
            if not bound.done():
                raise scheduler.failure(f"it ended after {bindings.count:,} of {of:,} pods")
            await bound
        except TimeoutError as error:
            raise scheduler.failure(
                f"{bindings.count:,} of {of:,} pods are bound, and no other in {PATIENCE_SECONDS:.0f} s"
            ) from error
        finally:
            bound.cancel()
            gone.cancel()
