"""Older servers do not have every kind: then there are no objects of it, and all else goes on."""

from __future__ import annotations

import asyncio
import random

import pytest

from berthing.api.meta import ApiObject
from berthing.api.pod import Pod
from berthing.api.resource import ResourceClaim
from berthing.client.informer import Informer
from berthing.simulate.virtual_time import run
from client.fake_server import HANG, FakeServer, json_answer, status_answer, watch
from client.objects import Heard


def is_synced_with(kind: type[ApiObject], server: FakeServer) -> tuple[bool, list[str]]:
    """Whether an informer takes the kind for seen after five minutes, and what it told."""

    async def story() -> tuple[bool, list[str]]:
        heard = Heard()
        informer = Informer(kind, client=server.client(), sink=heard, random=random.Random(1))
        task = asyncio.create_task(informer.run())
        await asyncio.sleep(300)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return informer.is_synced, heard.news

    return run(story())


def not_there(times: int) -> FakeServer:
    return FakeServer().will(*(status_answer(404, "NotFound") for _ in range(times)))


def test_a_kind_that_the_server_lacks_has_no_objects() -> None:
    assert is_synced_with(ResourceClaim, not_there(100)) == (True, [])


def test_a_kind_of_the_core_is_on_every_server() -> None:
    assert is_synced_with(Pod, not_there(100)) == (False, [])


def test_a_kind_that_comes_with_an_upgrade_is_seen() -> None:
    claim = {"metadata": {"name": "gpu", "namespace": "default", "resourceVersion": "7"}}
    server = not_there(3).will(
        json_answer({"metadata": {"resourceVersion": "9"}, "items": [claim]}),
        watch(HANG),
        watch(HANG),
        watch(HANG),
    )
    assert is_synced_with(ResourceClaim, server) == (True, ["+gpu@7"])
