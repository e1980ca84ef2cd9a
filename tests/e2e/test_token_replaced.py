"""The token in its file is replaced while the scheduler runs, and the old one is taken back."""

from __future__ import annotations

from http import HTTPStatus

from berthing.api.node import Node
from berthing.testing import make_node
from e2e.api_client import ApiClient, RefusedError
from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.load import check_settled, events_by_reason, plain_pods, wait_bound
from e2e.proxy import Proxy, Request
from e2e.waiting import wait_until


def test_it_goes_on_with_the_new_one(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(make_node("one"))
    berthing = start_berthing(through=proxy)
    control_plane.client.create_all(plain_pods(1, prefix="before"))
    wait_bound(control_plane, 1)
    old = control_plane.scheduler_client()
    control_plane.rotate_token()
    # The API server remembers a token that was good for 10 s.
    wait_until(lambda: is_unknown(old))
    # Watches, too, have to be opened anew.
    assert proxy.break_off(is_watch)
    control_plane.add_nodes(make_node("two"))
    control_plane.client.create_all(plain_pods(20, prefix="after"))
    wait_bound(control_plane, 21)
    check_settled(berthing, pods=21)
    assert berthing.process.stop() == 0
    told = events_by_reason(control_plane)
    assert set(told) == {"Scheduled"}
    assert len(told["Scheduled"]) == 21


def is_unknown(client: ApiClient) -> bool:
    try:
        client.list(Node)
    except RefusedError as error:
        return error.status.code == HTTPStatus.UNAUTHORIZED
    return False


def is_watch(request: Request) -> bool:
    return request.is_watch
