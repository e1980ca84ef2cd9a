"""Whom we trust, whom we show ourselves to be, and what is said when that does not work out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from berthing.api.errors import CredentialsError, NotSentError
from berthing.client.endpoint import Endpoint, parse_address
from berthing.client.identity import Certificate, Identity
from berthing.client.transport import Request
from client.certificates import Authority, authority
from client.http_server import Server, Talk, Users, bearer, serving, transport_to

GET = Request(method="GET", path="/")


async def who_am_i(talk: Talk) -> None:
    while True:
        await talk.request()
        await talk.answer(talk.user() or "nobody")


def asked(users: Users | None = None, **endpoint: Any) -> str:
    async def ask() -> str:
        async with (
            serving(who_am_i) as server,
            transport_to(server.endpoint(**endpoint), users) as transport,
        ):
            return (await transport.send(GET)).body.decode()

    return asyncio.run(ask())


def test_a_server_is_trusted_by_its_authority() -> None:
    assert asked() == "nobody"


def test_a_server_of_another_authority_is_not() -> None:
    with pytest.raises(NotSentError, match=r"certificate is not trusted: .*(issuer|self.signed)"):
        asked(certificate_authority=Authority().pem)


def test_without_an_authority_the_systems_are_asked() -> None:
    with pytest.raises(NotSentError, match="certificate is not trusted"):
        asked(certificate_authority=b"")


def test_all_servers_are_trusted_by_whoever_insists() -> None:
    assert asked(certificate_authority=b"", insecure_skip_tls_verify=True) == "nobody"


def test_the_name_in_the_certificate_may_be_another_than_in_the_url() -> None:
    assert asked(tls_server_name="api.example.com") == "nobody"
    with pytest.raises(NotSentError, match=r"mismatch.*other.example.com"):
        asked(tls_server_name="other.example.com")


def test_a_server_without_tls_is_not_spoken_to_in_tls() -> None:
    async def plain(talk: Talk) -> None:
        await talk.reader.read(1)
        await talk.answer(status=400)

    async def ask() -> None:
        async with (
            serving(plain, tls=False) as server,
            transport_to(server.endpoint()) as transport,
        ):
            await transport.send(GET)

    with pytest.raises(NotSentError, match="the TLS handshake failed"):
        asyncio.run(ask())


def test_a_server_without_tls() -> None:
    async def ask() -> bytes:
        async with serving(who_am_i, tls=False) as server:
            endpoint = Endpoint(server=server.url.replace("https", "http"))
            async with transport_to(endpoint) as transport:
                return (await transport.send(GET)).body

    assert asyncio.run(ask()) == b"nobody"


def test_a_client_certificate() -> None:
    assert asked(Users(Identity(certificate=authority().issue("scheduler")))) == "scheduler"


def test_another_certificate_means_other_connections() -> None:
    first, second = (Identity(certificate=authority().issue(name)) for name in ("one", "two"))
    users = Users(first)

    async def ask(server: Server) -> list[bytes]:
        async with transport_to(server.endpoint(), users) as transport:
            before = await transport.send(GET)
            users.identities = [second]
            after = await transport.send(GET)
            return [before.body, after.body]

    async def both() -> list[bytes]:
        async with serving(who_am_i) as server:
            return await ask(server)

    assert asyncio.run(both()) == [b"one", b"two"]


@pytest.mark.parametrize("part", ["certificate", "key"])
def test_a_certificate_and_a_key_that_do_not_belong_together(part: str) -> None:
    ours, other = authority().issue("one"), authority().issue("two")
    parts = {"certificate": ours.certificate, "key": ours.key} | {part: getattr(other, part)}
    with pytest.raises(CredentialsError, match="no matching PEM pair"):
        asked(Users(Identity(certificate=Certificate(**parts))))
    with pytest.raises(CredentialsError, match="no matching PEM pair"):
        asked(Users(Identity(certificate=Certificate(**(parts | {part: b"no PEM"})))))


def test_an_identity_that_is_refused_is_exchanged_for_a_new_one() -> None:
    async def story(talk: Talk) -> None:
        while True:
            is_known = "Bearer new" in await talk.request()
            await talk.answer("ok" if is_known else "", status=200 if is_known else 401)

    async def ask(*users: Identity) -> list[int]:
        async with serving(story) as server:
            async with transport_to(server.endpoint(), Users(*users)) as transport:
                sent = await transport.send(GET)
            async with (
                transport_to(server.endpoint(), Users(*users)) as transport,
                transport.open(GET) as stream,
            ):
                return [sent.status, stream.status]

    assert asyncio.run(ask(bearer("old"), bearer("new"))) == [200, 200]
    assert asyncio.run(ask(bearer("old"), bearer("older"))) == [401, 401]
    assert asyncio.run(ask(bearer("old"))) == [401, 401]


def test_identities_are_not_shown_to_whoever_reads_logs() -> None:
    shown = repr(bearer("secret-token", Certificate(b"public", b"secret-key")))
    assert "secret" not in shown
    assert "authorization" in shown


@pytest.mark.parametrize(
    ("url", "host_and_port", "path"),
    [
        ("https://api.example.com", "api.example.com:443", ""),
        ("https://10.0.0.1:6443/", "10.0.0.1:6443", ""),
        ("https://[::1]:6443/k8s/clusters/c-1", "[::1]:6443", "/k8s/clusters/c-1"),
        ("http://localhost", "localhost:80", ""),
        ("localhost:6443", "localhost:6443", ""),
    ],
)
def test_addresses(url: str, host_and_port: str, path: str) -> None:
    address = parse_address(url, schemes=("https", "http"))
    assert (address.host_and_port, address.path) == (host_and_port, path)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://x", "begins with https:// or http://"),
        ("https://", "names no host"),
        ("https://x:port", "Port could not be cast"),
        ("https://x:99999", "out of range"),
    ],
)
def test_what_is_no_address(url: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_address(url, schemes=("https", "http"))
