"""Whole measurements: an API server in memory, and a scheduler that takes the first node."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.bench.drain import measure
from berthing.bench.drain.cluster import DrainCluster, pods_path
from berthing.bench.drain.contenders import Contender
from berthing.bench.drain.errors import DrainError
from berthing.bench.drain.figures import Round
from berthing.bench.drain.measure import Drain, Plan, Scheduler
from berthing.bench.drain.usage import Usage
from berthing.client.api_client import ApiClient
from berthing.client.lists import list_all
from berthing.client.transport import Request, Response, Stream
from berthing.embedded.server import ApiServer
from berthing.embedded.server import Response as EmbeddedResponse
from berthing.embedded.watching import Watch
from berthing.testing import make_node

A_MEGABYTE = 1_000_000


class WatchStream:
    status = 200

    def __init__(self, watch: Watch) -> None:
        self.headers = {"content-type": "application/json"}
        self._watch = watch

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._watch)


class InMemory:
    """Carries requests to an API server in this process, which knows of no accounts."""

    def __init__(self) -> None:
        self._api = ApiServer(now=lambda: 0.0, random=random.Random(1))

    async def send(self, request: Request) -> Response:
        if request.path.endswith("/serviceaccounts"):
            return Response(status=201)
        answer = self._api.answer(request)
        assert isinstance(answer, EmbeddedResponse)
        return Response(status=answer.status, headers=answer.headers, body=answer.body)

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Stream]:
        watch = self._api.answer(request)
        assert isinstance(watch, Watch)
        yield WatchStream(watch)

    async def close(self) -> None: ...


class FakeScheduler:
    """Binds pods as soon as it runs, all or some of them, and takes a second each time it is asked."""

    def __init__(self, client: ApiClient, name: str, *, binds: int, stays: bool) -> None:
        self._client = client
        self._name = name
        self._binds = binds
        self._stays = stays
        self._seconds = 0.0
        self._gone = asyncio.Event()

    async def schedule(self) -> None:
        pods = await list_all(self._client, Pod, field_selector="spec.nodeName=")
        nodes = await list_all(self._client, Node)
        for pod in pods[: self._binds]:
            await self._client.request(
                "POST",
                f"{pods_path(pod.namespace)}/{pod.name}/binding",
                body=json.dumps({"target": {"kind": "Node", "name": nodes[0].name}}).encode(),
                type_=type(None),
            )
        if not self._stays:
            self._gone.set()

    def usage(self) -> Usage:
        self._seconds += 1
        return Usage(self._seconds, A_MEGABYTE)

    async def rest(self) -> Usage:
        return self.usage()

    async def wait_exit(self) -> None:
        await self._gone.wait()

    def failure(self, why: str) -> DrainError:
        return DrainError(f"{self._name}: {why}")


class Bench:
    """A bench on an empty cluster; it remembers in which order schedulers were started."""

    def __init__(self, *, binds: int = 1000, stays: bool = True) -> None:
        self.transport = InMemory()
        self.client = ApiClient(self.transport, random=random.Random(1))
        self.cluster = DrainCluster(self.client)
        self.started: list[str] = []
        self._binds = binds
        self._stays = stays

    async def measure(self, *names: str, **sizes: int) -> list[Round]:
        plan = Plan(
            **{"nodes": 6, "pods": 20, "running": 0, "rounds": 1, **sizes}, workloads=("plain",)
        )
        drain = Drain(self.cluster, self.transport, start=self._start, tell=lambda _: None)
        await drain.furnish(plan)
        contenders = [Contender(name, ()) for name in names]
        return [each async for each in drain.rounds(plan, "plain", contenders)]

    @asynccontextmanager
    async def _start(self, contender: Contender) -> AsyncIterator[Scheduler]:
        self.started.append(contender.name)
        scheduler = FakeScheduler(self.client, contender.name, binds=self._binds, stays=self._stays)
        scheduling = asyncio.create_task(scheduler.schedule())
        try:
            yield scheduler
        finally:
            await scheduling


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "SETTLE_SECONDS", 0)


def test_each_scheduler_empties_the_queue_in_every_round() -> None:
    bench = Bench()
    rounds = asyncio.run(bench.measure("a", "b", rounds=3))
    assert [each.number for each in rounds] == [1, 2, 3]
    assert {tuple(figure.scheduler for figure in each.figures) for each in rounds} == {("a", "b")}
    for figure in (figure for each in rounds for figure in each.figures):
        assert (figure.pods, figure.peak_bytes) == (20, A_MEGABYTE)
        assert (figure.start_cpu_seconds, figure.cpu_seconds) == (1, 1)
        assert figure.start_seconds > 0
        assert figure.seconds >= 0


def test_they_take_turns_in_being_first() -> None:
    bench = Bench()
    asyncio.run(bench.measure("a", "b", rounds=3))
    assert bench.started == ["a", "b", "b", "a", "a", "b"]


def test_a_scheduler_may_be_compared_with_itself() -> None:
    [only] = asyncio.run(Bench().measure("a", "a"))
    assert [figure.scheduler for figure in only.figures] == ["a", "a"]


def test_running_pods_are_there_and_stay() -> None:
    bench = Bench()

    async def run() -> list[Pod]:
        await bench.measure("a", running=30)
        return await list_all(bench.client, Pod)

    pods = asyncio.run(run())
    assert [pod.namespace for pod in pods] == ["drain-running"] * 30
    assert {pod.spec.node_name for pod in pods} == {f"node-{number:05}" for number in range(6)}


def test_nothing_is_left_in_the_end() -> None:
    bench = Bench()

    async def run() -> tuple[list[Pod], list[Node]]:
        await bench.measure("a", running=30)
        await bench.cluster.clear()
        return await list_all(bench.client, Pod), await list_all(bench.client, Node)

    assert asyncio.run(run()) == ([], [])


def test_what_an_earlier_measurement_left_is_taken_away() -> None:
    bench = Bench(binds=5, stays=False)

    async def run() -> list[Node]:
        with pytest.raises(DrainError):
            await bench.measure("a", nodes=9, running=3)
        await bench.cluster.prepare()
        assert await list_all(bench.client, Pod) == []
        return await list_all(bench.client, Node)

    assert asyncio.run(run()) == []


def test_a_cluster_that_is_in_use_is_left_alone() -> None:
    bench = Bench()

    async def run() -> None:
        await bench.client.request("POST", "/api/v1/nodes", body=make_node("theirs"), type_=bytes)
        await bench.measure("a")

    with pytest.raises(DrainError, match=r"the cluster has nodes of its own \(theirs\)"):
        asyncio.run(run())


def test_a_scheduler_that_ends_early_is_an_error() -> None:
    with pytest.raises(DrainError, match="a: it ended after 5 of 20 pods"):
        asyncio.run(Bench(binds=5, stays=False).measure("a"))


def test_a_scheduler_that_stops_binding_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "PATIENCE_SECONDS", 0.01)
    with pytest.raises(DrainError, match="a: 5 of 20 pods are bound, and no other in"):
        asyncio.run(Bench(binds=5).measure("a"))


@pytest.mark.parametrize(
    ("sizes", "why"),
    [
        pytest.param({"nodes": 3, "pods": 331}, "room for 330 pods, and there are 331", id="pods"),
        pytest.param({"nodes": 3, "pods": 300, "running": 40}, "there are 340", id="running"),
    ],
)
def test_pods_that_cannot_all_fit(sizes: dict[str, int], why: str) -> None:
    with pytest.raises(DrainError, match=why):
        asyncio.run(Bench().measure("a", **sizes))
