"""The kubeconfig made for schedulers: a token in a file, which may be replaced at any time."""

from __future__ import annotations

from http import HTTPStatus

from berthing.api.node import Node
from e2e.api_client import ApiClient, RefusedError
from e2e.control_plane import ControlPlane
from e2e.waiting import wait_until


def test_it_speaks_for_the_service_account_of_the_manifest(control_plane: ControlPlane) -> None:
    told = control_plane.kubectl(
        "auth", "whoami", "-o", "yaml", kubeconfig=control_plane.scheduler_kubeconfig
    )
    assert "username: system:serviceaccount:kube-system:berthing\n" in told


def test_a_replaced_token_works_at_once_and_the_old_one_not_much_longer(
    control_plane: ControlPlane,
) -> None:
    before = control_plane.scheduler_client()
    control_plane.rotate_token()
    control_plane.scheduler_client().list(Node)
    # The API server remembers a token that was good for 10 s.
    wait_until(lambda: is_unknown(before))


def is_unknown(client: ApiClient) -> bool:
    try:
        client.list(Node)
    except RefusedError as error:
        return error.status.code == HTTPStatus.UNAUTHORIZED
    return False
