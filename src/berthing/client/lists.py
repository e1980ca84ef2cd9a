"""All objects of a kind, page by page.

No resource version is asked for, which means the most recent state: such a list never goes back in
time, and is served in pages, so that neither the answer nor its decoding takes long.  (client-go's
reflector asks for "0", any state that the server has at hand, which may be an old one and comes
in one piece, 125 MB for 50,000 pods.)

An object that we cannot read is reported and left out; `unreadable` has its key, so that whoever
keeps objects does not take it for deleted.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, Generic, TypeVar
from urllib.parse import urlencode

import msgspec

from berthing.api.decode import DecodeError, decode_as
from berthing.api.errors import ExpiredError
from berthing.api.kinds import kind_of
from berthing.api.meta import ApiObject, ListMeta, Value
from berthing.client.api_client import ApiClient
from berthing.client.unreadable import unreadable

T = TypeVar("T", bound=ApiObject)

PAGE_SIZE: Final = 500


class Page(msgspec.Struct, Generic[T], frozen=True):
    """A part of a list; all parts show the cluster at one and the same resource version."""

    items: list[T]
    unreadable: list[str]
    resource_version: str


async def pages(
    client: ApiClient, type_: type[T], *, field_selector: str = "", page_size: int = PAGE_SIZE
) -> AsyncIterator[Page[T]]:
    """List the objects of a kind in all namespaces.

    Raises ExpiredError if the server forgets the list before it is through; a page size of 0 asks
    for all at once, which cannot expire.
    """
    continue_ = ""
    while True:
        query = {"limit": page_size, "continue": continue_, "fieldSelector": field_selector}
        page, continue_ = await _page(client, type_, f"{kind_of(type_).path}{_query(query)}")
        yield page
        if not continue_:
            return


async def list_all(client: ApiClient, type_: type[T], *, field_selector: str = "") -> list[T]:
    """All objects of a kind, as they were at one point in time."""
    try:
        return [
            item
            async for page in pages(client, type_, field_selector=field_selector)
            for item in page.items
        ]
    except ExpiredError:
        whole = pages(client, type_, field_selector=field_selector, page_size=0)
        return [item async for page in whole for item in page.items]


def _query(values: dict[str, object]) -> str:
    given = {name: value for name, value in values.items() if value}
    return f"?{urlencode(given)}" if given else ""


async def _page(client: ApiClient, type_: type[T], path: str) -> tuple[Page[T], str]:
    body = await client.request("GET", path, type_=_ListBody)
    page: Page[T] = Page([], [], body.metadata.resource_version)
    for raw in body.items or ():
        try:
            page.items.append(decode_as(raw, type_))
        except DecodeError as error:
            page.unreadable.append(unreadable(raw, type_, error).key)
    return page, body.metadata.continue_


class _ListBody(Value, frozen=True, kw_only=True):
    metadata: ListMeta = ListMeta()
    items: list[msgspec.Raw] | None = None
