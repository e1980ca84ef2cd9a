"""What is read of a live cluster, and what is said where something may not be read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from random import Random

import msgspec
import pytest

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.client.api_client import ApiClient
from berthing.client.transport import Request, Response, Stream
from berthing.explain.live_cluster import LiveCluster, read_cluster
from berthing.explain.problems import InputError

NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"
CLAIMS = "/apis/resource.k8s.io/v1/resourceclaims"
VOLUMES = "/api/v1/persistentvolumes"


class Server:
    """Answers lists by path: with objects of these names, or with an error; else with none."""

    def __init__(self, lists: Mapping[str, list[str] | int]) -> None:
        self._lists = lists

    async def send(self, request: Request) -> Response:
        path, _, _ = request.path.partition("?")
        names = self._lists.get(path, [])
        if isinstance(names, int):
            body: object = {"kind": "Status", "code": names, "message": f"no {path}"}
            return Response(status=names, body=msgspec.json.encode(body))
        items = [{"metadata": {"name": name, "namespace": "default"}} for name in names]
        return Response(status=200, body=msgspec.json.encode({"metadata": {}, "items": items}))

    def open(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        raise AssertionError("nobody watches for an explanation")

    async def close(self) -> None:
        """Nothing is open."""


def read(lists: Mapping[str, list[str] | int]) -> LiveCluster:
    client = ApiClient(Server(lists), random=Random(0))
    return asyncio.run(read_cluster(client, "https://api.example"))


def test_all_objects_are_read() -> None:
    live = read({NODES: ["node-a", "node-b"], PODS: ["web"]})
    assert [type(obj) for obj in live.cluster.objects] == [Node, Node, Pod]
    assert live.notes == ()


def test_what_may_not_be_listed_is_told_and_left_out() -> None:
    live = read({NODES: ["node-a"], VOLUMES: 403})
    assert [obj.name for obj in live.cluster.objects] == ["node-a"]
    assert len(live.notes) == 1
    assert "decided without persistentvolumes" in live.notes[0]


def test_what_an_older_server_does_not_have_does_not_matter() -> None:
    assert read({NODES: ["node-a"], CLAIMS: 404}).notes == ()


@pytest.mark.parametrize("code", [403, 404, 418])
def test_without_nodes_there_is_nothing_to_decide(code: int) -> None:
    with pytest.raises(InputError) as caught:
        read({NODES: code})
    assert caught.value.problems == (f"https://api.example: cannot list nodes: no {NODES}",)
