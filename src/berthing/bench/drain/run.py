"""The whole measurement: where, by whom, and what is told of it."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import msgspec

from berthing.bench.drain.cluster import DrainCluster
from berthing.bench.drain.contenders import Contender, running, write_config
from berthing.bench.drain.errors import DrainError
from berthing.bench.drain.figures import HEAD, lines_of, summary
from berthing.bench.drain.measure import Drain, Plan, Scheduler, Tell
from berthing.bench.drain.servers import real_servers
from berthing.client.api_client import ApiClient
from berthing.client.cluster_access import AccessError
from berthing.client.http_transport import HttpTransport
from berthing.client.kubeconfig import kubeconfig_access


class Place(msgspec.Struct, frozen=True):
    """Where it is measured: kubeconfigs for us and for the schedulers, and upstream's own."""

    kubeconfig: Path
    scheduler_kubeconfig: Path
    kube_scheduler: Path | None = None


async def run(
    plan: Plan,
    *,
    kubeconfig: Path | None,
    schedulers: Sequence[str],
    tell: Tell,
    show: Tell,
) -> None:
    """Measure on the cluster of a kubeconfig, or on real servers of our own.

    `tell` gets what goes on, `show` the figures, line by line.
    """
    async with _place(kubeconfig) as place, _connected(place.kubeconfig) as transport:
        contenders = [
            Contender.of(text, kube_scheduler=place.kube_scheduler) for text in schedulers
        ]
        cluster = DrainCluster(ApiClient(transport, random=random.Random()))
        with tempfile.TemporaryDirectory(prefix="berthing-drain-") as directory:
            start = _Starter(Path(directory), place.scheduler_kubeconfig)
            drain = Drain(cluster, transport, start=start, tell=tell)
            await drain.furnish(plan)
            for workload in plan.workloads:
                await _measure(drain, plan, workload, contenders, show)
        if kubeconfig is not None:
            tell("deleting what was made")
            await cluster.clear()


async def _measure(
    drain: Drain, plan: Plan, workload: str, contenders: Sequence[Contender], show: Tell
) -> None:
    show(
        f"{workload}: {plan.pods:,} pods onto {plan.nodes:,} nodes"
        f" that run {plan.running:,} pods already"
    )
    show(HEAD)
    rounds = []
    async for each in drain.rounds(plan, workload, contenders):
        rounds.append(each)
        for line in lines_of(each):
            show(line)
    for line in summary(rounds):
        show(line)
    show("")


class _Starter:
    """Starts schedulers, all with the same configuration."""

    def __init__(self, directory: Path, kubeconfig: Path) -> None:
        self._directory = directory
        self._kubeconfig = kubeconfig
        self._config = write_config(directory, kubeconfig)

    def __call__(self, contender: Contender) -> AbstractAsyncContextManager[Scheduler]:
        return running(
            contender,
            config=self._config,
            kubeconfig=self._kubeconfig,
            log=self._directory / "scheduler.log",
        )


@asynccontextmanager
async def _place(kubeconfig: Path | None) -> AsyncIterator[Place]:
    if kubeconfig is not None:
        yield Place(kubeconfig, kubeconfig)
        return
    async with real_servers() as servers:
        yield Place(servers.kubeconfig, servers.scheduler_kubeconfig, servers.kube_scheduler)


@asynccontextmanager
async def _connected(kubeconfig: Path) -> AsyncIterator[HttpTransport]:
    try:
        access = kubeconfig_access([kubeconfig], now=time.time)
    except AccessError as error:
        raise DrainError(str(error)) from error
    transport = HttpTransport(access.endpoint, access.credentials, user_agent="berthing-bench")
    try:
        yield transport
    finally:
        await transport.close()
