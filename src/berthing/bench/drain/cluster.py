"""The cluster that is measured on: nodes and pods made for it, and taken away again.

It must be a control plane and nothing else.  Nodes with kubelets would run the pods, and a
controller manager would miss the kubelets of ours and taint them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Final, TypeVar
from urllib.parse import urlencode

import msgspec

from berthing.api.core import Namespace
from berthing.api.errors import AlreadyExistsError, NotFoundError
from berthing.api.kinds import kind_of
from berthing.api.meta import ApiObject, ListMeta, ObjectMeta, Value
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.bench.drain.errors import DrainError
from berthing.bench.drain.workloads import OURS, RUNNING_NAMESPACE, WAITING_NAMESPACE
from berthing.client.api_client import ApiClient
from berthing.client.lists import list_all

T = TypeVar("T")

_AT_ONCE: Final = 32
_MERGE: Final = "application/merge-patch+json"
_NODES: Final = kind_of(Node).path


class DrainCluster:
    """Makes and removes what a measurement needs."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def prepare(self) -> None:
        """Make an empty cluster with namespaces for pods; raises DrainError if it is in use."""
        await self._refuse_foreign_nodes()
        # What a measurement left that was cut off.
        await self.clear()
        for name in (WAITING_NAMESPACE, RUNNING_NAMESPACE):
            with suppress(AlreadyExistsError):
                await self._create(Namespace(metadata=ObjectMeta(name=name)))
            # Pods run as it, and there may be no controller that would make it.
            accounts = f"/api/v1/namespaces/{name}/serviceaccounts"
            with suppress(AlreadyExistsError):
                await self._client.request(
                    "POST", accounts, body=_DEFAULT_ACCOUNT, type_=type(None)
                )

    async def add_nodes(self, nodes: Iterable[Node]) -> None:
        """Make nodes without taints; new ones get one, until somebody calls them ready."""

        async def add(node: Node) -> None:
            await self._create(node)
            await self._client.request(
                "PATCH",
                f"{_NODES}/{node.name}",
                body=b'{"spec":{"taints":null}}',
                content_type=_MERGE,
                type_=type(None),
            )

        await _for_each(nodes, add)

    async def add_pods(self, pods: Iterable[Pod]) -> None:
        """Make pods; those with a node are bound as of now."""
        await _for_each(pods, self._create)

    async def resource_version(self) -> str:
        """The state of the cluster at this moment, for a watch to go on from."""
        page = await self._page(WAITING_NAMESPACE, limit=1)
        return page.metadata.resource_version

    async def unbound(self) -> list[str]:
        """Names of some pods that wait for a node."""
        page = await self._page(WAITING_NAMESPACE, limit=5, field_selector="spec.nodeName=")
        return [item.metadata.name for item in page.items]

    async def remove_pods(self, namespace: str) -> None:
        """Delete all pods of a namespace, at once."""
        # A first page again and again: nothing of it will be there the next time.
        while items := (await self._page(namespace, limit=1000)).items:
            await _for_each(
                (f"{pods_path(namespace)}/{item.metadata.name}" for item in items), self._delete
            )

    async def clear(self) -> None:
        """Delete everything that was made, but for namespaces, which take long to end."""
        await self.remove_pods(WAITING_NAMESPACE)
        await self.remove_pods(RUNNING_NAMESPACE)
        nodes = await list_all(self._client, Node)
        await _for_each((f"{_NODES}/{node.name}" for node in nodes), self._delete)

    async def _refuse_foreign_nodes(self) -> None:
        foreign = [node.name for node in await list_all(self._client, Node) if not _is_ours(node)]
        if foreign:
            raise DrainError(
                f"the cluster has nodes of its own ({', '.join(sorted(foreign)[:3])}), where pods would"
                " be placed: measure on a control plane without nodes, as --real starts one"
            )

    async def _create(self, obj: ApiObject) -> None:
        path = pods_path(obj.namespace) if isinstance(obj, Pod) else kind_of(type(obj)).path
        await self._client.request("POST", path, body=obj, type_=type(None))

    async def _delete(self, path: str) -> None:
        with suppress(NotFoundError):
            await self._client.request("DELETE", path, body=_NO_GRACE, type_=type(None))

    async def _page(self, namespace: str, *, limit: int, field_selector: str = "") -> _PodPage:
        query = urlencode({"limit": limit, "fieldSelector": field_selector})
        return await self._client.request("GET", f"{pods_path(namespace)}?{query}", type_=_PodPage)


def pods_path(namespace: str) -> str:
    """Where the pods of a namespace are."""
    return f"/api/v1/namespaces/{namespace}/pods"


def _is_ours(node: Node) -> bool:
    return OURS.items() <= node.metadata.labels.items()


async def _for_each(items: Iterable[T], act: Callable[[T], Awaitable[None]]) -> None:
    """Do something with every item, with some of them at a time."""
    waiting = iter(items)

    async def work() -> None:
        for item in waiting:
            await act(item)

    tasks = [asyncio.create_task(work()) for _ in range(_AT_ONCE)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


# There is no kubelet that pods could wait for.
_NO_GRACE: Final = msgspec.json.encode({"gracePeriodSeconds": 0})
_DEFAULT_ACCOUNT: Final = msgspec.json.encode({"metadata": {"name": "default"}})


class _Name(Value, frozen=True, kw_only=True):
    name: str


class _Item(Value, frozen=True, kw_only=True):
    metadata: _Name


class _PodPage(Value, frozen=True, kw_only=True):
    metadata: ListMeta
    items: list[_Item]
