"""What /healthz and its like say."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from berthing.serving.health import PING, Check, health_routes
from berthing.serving.http import Request, Response

SYNCED = Check("informer-sync", lambda: None)
NOT_SYNCED = Check("informer-sync", lambda: "pods have not come yet")


def ask(path: str, *checks: Check, **query: list[str]) -> Response:
    return health_routes("/readyz", checks)[path](Request(path=path, query=query))


def text(response: Response) -> str:
    return response.body.decode()


def test_all_is_well() -> None:
    assert ask("/readyz", PING, SYNCED) == Response(b"ok")


def test_all_is_well_at_length() -> None:
    assert text(ask("/readyz", PING, SYNCED, verbose=[""])) == (
        "[+]ping ok\n[+]informer-sync ok\nreadyz check passed\n"
    )


def test_a_failed_check_is_told_without_its_reason() -> None:
    response = ask("/readyz", PING, NOT_SYNCED)
    assert response.status == HTTPStatus.INTERNAL_SERVER_ERROR
    assert text(response) == (
        "[+]ping ok\n[-]informer-sync failed: reason withheld\nreadyz check failed\n"
    )


def test_an_excluded_check_is_not_asked() -> None:
    response = ask("/readyz", PING, NOT_SYNCED, exclude=["informer-sync"], verbose=[""])
    assert response.status == HTTPStatus.OK
    assert text(response) == ("[+]ping ok\n[+]informer-sync excluded: ok\nreadyz check passed\n")


def test_checks_that_are_excluded_in_vain() -> None:
    response = ask("/readyz", PING, exclude=["etcd", "a b"], verbose=[""])
    assert text(response) == (
        "[+]ping ok\n"
        'warn: some health checks cannot be excluded: no matches for "a b","etcd"\n'
        "readyz check passed\n"
    )


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        pytest.param(SYNCED, Response(b"ok"), id="well"),
        pytest.param(
            NOT_SYNCED,
            Response(
                b"internal server error: pods have not come yet\n",
                HTTPStatus.INTERNAL_SERVER_ERROR,
            ),
            id="not well, with the reason",
        ),
    ],
)
def test_each_check_has_a_page(check: Check, expected: Response) -> None:
    assert ask("/readyz/informer-sync", PING, check) == expected
