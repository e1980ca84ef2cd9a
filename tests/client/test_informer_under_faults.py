"""An informer against a server with a history, when everything goes wrong that can.

The server changes while the informer lists, and between any two of its answers.  Lists expire
between pages, watches are cut anywhere (in the middle of a line too), fall silent, repeat what they
said before, end with 410 or another error, and history is forgotten.  Whatever happened, what was
told adds up (`Heard` checks that), nothing is told that never was, and once faults stop the
informer knows what the server has.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import pytest

from berthing.api.errors import NoAnswerError, NotSentError
from berthing.api.frozen import EMPTY
from berthing.api.meta import ObjectMeta
from berthing.api.pod import Pod
from berthing.client.api_client import ApiClient
from berthing.client.informer import Informer
from berthing.client.transport import Request, Response
from berthing.simulate.virtual_time import run
from client.fake_server import error_line, line, now, page, status_answer
from client.objects import Heard, pod

NAMES = ("a", "b", "c", "d", "e")


class World:
    """A server that remembers all that happened, and sometimes misbehaves."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.version = 900
        self.pods: dict[str, Pod] = {}
        # Version, type, and the object as it was then.
        self.history: list[tuple[int, str, Pod]] = []
        self.forgotten = 0
        self.misbehaves = True
        self.changed = asyncio.Event()
        # What lists go on with: their version and what is left of them.
        self.unfinished: dict[str, tuple[int, list[Pod]]] = {}

    def change(self) -> None:
        name = self.random.choice(NAMES)
        self.version += self.random.randint(1, 3)
        known = self.pods.get(name)
        if known is None:
            self.pods[name] = pod(name, self.version, uid=f"{name}{self.version}")
            self._happened("ADDED", self.pods[name])
        elif self.random.random() < 0.4:
            gone = pod(name, self.version, uid=known.metadata.uid)
            del self.pods[name]
            self._happened("DELETED", gone)
        else:
            self.pods[name] = pod(name, self.version, uid=known.metadata.uid)
            self._happened("MODIFIED", self.pods[name])

    def _happened(self, type_: str, obj: Pod) -> None:
        self.history.append((self.version, type_, obj))
        self.changed.set()
        self.changed = asyncio.Event()

    def forget(self) -> None:
        self.forgotten = self.version
        self.unfinished.clear()

    def chance(self, share: float) -> bool:
        return self.misbehaves and self.random.random() < share

    async def send(self, request: Request) -> Response:
        await asyncio.sleep(self.random.random() * 0.1)
        if self.chance(0.1):
            raise self.random.choice([NotSentError("refused"), NoAnswerError("reset")])
        if self.chance(0.1):
            return _response(status_answer(self.random.choice([500, 503, 429])))
        query = _query(request)
        if token := query.get("continue"):
            if token not in self.unfinished:
                return _response(status_answer(410, "Expired"))
            version, left = self.unfinished.pop(token)
        else:
            version, left = self.version, list(self.pods.values())
        size = int(query.get("limit", len(left)))
        items, rest = left[:size], left[size:]
        token = f"{version}-{len(rest)}-{self.random.random()}" if rest else ""
        if rest:
            self.unfinished[token] = version, rest
        return _response(page(*items, version=version, more=token))

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[_Watch]:
        if self.chance(0.1):
            raise NotSentError("refused")
        since = int(_query(request)["resourceVersion"])
        yield _Watch(self, since)

    async def close(self) -> None:
        pass


class _Watch:
    headers = EMPTY

    def __init__(self, world: World, since: int) -> None:
        self._world = world
        self._since = since
        self.status = 200 if since >= world.forgotten else 410

    async def __aiter__(self) -> AsyncIterator[bytes]:
        world = self._world
        if self.status != 200:
            yield status_answer(410, "Expired").body  # type: ignore[misc]
            return
        said = [event for event in world.history if event[0] <= self._since]
        while True:
            news = [event for event in world.history if event[0] > self._since]
            for event in news:
                text = line(*event[1:])
                cut = world.random.randrange(len(text))
                yield text[:cut]
                await asyncio.sleep(0)
                yield text[cut:]
                said.append(event)
                self._since = event[0]
                if world.chance(0.2):
                    yield b"".join(line(*each[1:]) for each in said[-3:])
            if not news and world.random.random() < 0.2:
                # The server's version counts all kinds: it may be ahead of these objects.
                mark = Pod(metadata=ObjectMeta(resource_version=str(world.version)))
                self._since = world.version
                yield line("BOOKMARK", mark)
            match world.random.randrange(40) if world.misbehaves else None:
                case 0:
                    return
                case 1:
                    raise NoAnswerError("reset")
                case 2:
                    yield line("ADDED", pod("never", 9_999_999))[:-1]
                    return
                case 3:
                    yield error_line(410, "Expired")
                    return
                case 4:
                    yield error_line(500, "InternalError")
                    return
                case 5:
                    await asyncio.sleep(10_000)
                case _:
                    pass
            await world.changed.wait()
            await asyncio.sleep(world.random.random() * 0.1)


def _query(request: Request) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}


def _response(answer: object) -> Response:
    return Response(status=answer.status, headers=answer.headers, body=answer.body)  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_lost_and_nothing_invented(seed: int) -> None:
    async def story() -> None:
        world, heard = World(seed), Heard()
        chance = random.Random(seed)
        informer = Informer(
            Pod, client=ApiClient(world, random=chance), sink=heard, random=chance, page_size=2
        )
        task = asyncio.create_task(informer.run())
        for _ in range(150):
            world.change()
            if world.chance(0.03):
                world.forget()
            await asyncio.sleep(chance.expovariate(2))
        world.misbehaves = False
        # The longest silence, and the longest delay after it.
        await asyncio.sleep(180 + 60 + 60)
        world.change()
        await asyncio.sleep(10)
        assert not task.done(), task.exception()
        task.cancel()
        assert dict(informer.objects) == {each.key: each for each in world.pods.values()}
        assert heard.objects == dict(informer.objects)
        check(heard.news, world)
        assert now() < 1000

    run(story())


def check(news: list[str], world: World) -> None:
    """Everything told was so at its time, is told once, and in the order in which it was so."""
    real = {f"{obj.name}@{version}" for version, type_, obj in world.history if type_ != "DELETED"}
    told: dict[str, int] = {}
    for each in news:
        if each.startswith("-"):
            continue
        name, _, versions = each.removeprefix("+").partition("@")
        version = versions.rpartition(">")[2]
        assert f"{name}@{version}" in real, f"{each} never was"
        assert int(version) > told.get(name, 0), f"{each} is old news"
        told[name] = int(version)
