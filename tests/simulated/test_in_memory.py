"""Requests that reach an API server in the same process."""

from __future__ import annotations

import asyncio
from random import Random

import msgspec
import pytest

from berthing.api.errors import ConflictError, NotFoundError
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.client.api_client import ApiClient
from berthing.client.informer import Informer
from berthing.client.lists import list_all
from berthing.client.pod_writer import PodWriter
from berthing.client.transport import Request
from berthing.embedded.server import ApiServer
from berthing.simulate.in_memory import InMemoryTransport
from berthing.simulate.virtual_time import now, run
from berthing.testing import make_node, make_pod


class Heard:
    def __init__(self) -> None:
        self.news: list[str] = []

    def changed(self, kind: type, old: object, new: object) -> None:
        sign = "+" if old is None else "-" if new is None else "~"
        self.news.append(f"{sign}{getattr(new or old, 'name')}")  # noqa: B009  # object to mypy


def server() -> ApiServer:
    return ApiServer(now=now, random=Random(1))


def client(api: ApiServer) -> ApiClient:
    return ApiClient(InMemoryTransport(api), random=Random(1))


async def create(api: ApiServer, *objects: Node | Pod) -> None:
    for obj in objects:
        path = "/api/v1/nodes" if isinstance(obj, Node) else "/api/v1/namespaces/default/pods"
        await client(api).request("POST", path, body=obj, type_=bytes)


def test_what_is_written_can_be_read() -> None:
    async def story() -> None:
        api = server()
        await create(api, make_node("n"), make_pod("p"))
        (pod,) = await list_all(client(api), Pod)
        await PodWriter(client(api), now=now, random=Random(1)).bind_pod(pod, "n")
        (bound,) = await list_all(client(api), Pod)
        assert bound.spec.node_name == "n"

    run(story())


def test_a_refusal_is_an_error_of_the_client() -> None:
    async def story() -> None:
        api = server()
        await create(api, make_pod("p"))
        with pytest.raises(NotFoundError):
            await client(api).request("GET", "/api/v1/nodes/none", type_=Node)
        (pod,) = await list_all(client(api), Pod)
        writer = PodWriter(client(api), now=now, random=Random(1))
        await writer.bind_pod(pod, "a")
        with pytest.raises(ConflictError, match='already assigned to node "a"'):
            await writer.bind_pod(pod, "b")

    run(story())


def test_informers_hear_of_what_happens() -> None:
    async def story() -> None:
        api, heard = server(), Heard()
        await create(api, make_node("a"))
        informer = Informer(Node, client=client(api), sink=heard, random=Random(1))
        running = asyncio.create_task(informer.run())
        await informer.wait_synced()
        await create(api, make_node("b"))
        await client(api).request("DELETE", "/api/v1/nodes/a", type_=bytes)
        await asyncio.sleep(0.1)
        assert heard.news == ["+a", "+b", "-a"]
        running.cancel()

    run(story())


def test_closing_ends_the_watches_of_this_client_alone() -> None:
    async def story() -> tuple[bytes, bytes]:
        api = server()
        ours, others = InMemoryTransport(api), InMemoryTransport(api)
        watch = Request(method="GET", path="/api/v1/nodes?watch=true&timeoutSeconds=60")
        first, second = (asyncio.create_task(each.send(watch)) for each in (ours, others))
        await asyncio.sleep(1)
        await ours.close()
        await create(api, make_node("n"))
        return (await first).body, (await second).body

    first, second = run(story())
    assert first == b""
    assert msgspec.json.decode(second)["object"]["metadata"]["name"] == "n"


def test_what_is_cancelled_before_others_had_their_turn_is_not_carried_out() -> None:
    async def story() -> None:
        api = server()
        request = asyncio.create_task(create(api, make_node("n")))
        # It starts, and waits for its turn.
        await asyncio.sleep(0)
        request.cancel()
        await asyncio.sleep(0.1)
        assert await list_all(client(api), Node) == []

    run(story())
