"""Tokens and certificates in files, which others replace while we run."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from berthing.api.errors import CredentialsError
from berthing.client.cluster_access import AccessError
from berthing.client.credentials import CertificateFiles, UserCredentials
from berthing.client.identity import Certificate, Identity
from berthing.client.in_cluster import in_cluster_access, is_in_cluster
from berthing.simulate.virtual_time import run

IN_POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def token(identity: Identity) -> str:
    return dict(identity.headers)["authorization"].removeprefix("Bearer ")


def test_a_token_is_read_again_every_minute(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one\n")
    credentials = UserCredentials(token=file)

    async def story() -> None:
        first = await credentials.identity()
        file.write_text("two\n")
        await asyncio.sleep(59)
        assert await credentials.identity() is first
        await asyncio.sleep(1)
        assert token(await credentials.identity()) == "two"

    run(story())


def test_the_same_token_is_the_same_identity(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one")
    credentials = UserCredentials(token=file)

    async def story() -> None:
        first = await credentials.identity()
        await asyncio.sleep(100)
        assert await credentials.identity() is first

    run(story())


def test_a_token_that_is_refused_is_read_again_at_once(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one")
    credentials = UserCredentials(token=file)

    async def story() -> None:
        first = await credentials.identity()
        assert not credentials.refused(first)
        file.write_text("two")
        assert credentials.refused(first)
        second = await credentials.identity()
        assert token(second) == "two"
        # Another request was refused with the first one: there is a newer one to try.
        assert credentials.refused(first)
        assert await credentials.identity() is second

    run(story())


@pytest.mark.parametrize("broken", ["", None])
def test_a_file_that_is_being_replaced_leaves_us_who_we_were(
    tmp_path: Path, broken: str | None
) -> None:
    file = tmp_path / "token"
    file.write_text("one")
    credentials = UserCredentials(token=file)

    async def story() -> None:
        first = await credentials.identity()
        file.unlink() if broken is None else file.write_text(broken)
        await asyncio.sleep(61)
        assert await credentials.identity() is first
        assert not credentials.refused(first)
        file.write_text("two")
        await asyncio.sleep(61)
        assert token(await credentials.identity()) == "two"

    run(story())


@pytest.mark.parametrize(
    ("content", "problem"), [(None, "No such file"), (b" \n", "is empty"), (b"\xff", "no token")]
)
def test_a_token_that_was_never_there(tmp_path: Path, content: bytes | None, problem: str) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(CredentialsError, match=problem):
        run(UserCredentials(token=file).identity())


def test_certificates_are_read_again_as_well(tmp_path: Path) -> None:
    files = CertificateFiles(tmp_path / "pem", tmp_path / "key")
    files.certificate.write_bytes(b"c1")
    files.key.write_bytes(b"k1")
    credentials = UserCredentials(certificate=files, headers=[("x", "y")])

    async def story() -> None:
        first = await credentials.identity()
        assert first == Identity((("x", "y"),), Certificate(b"c1", b"k1"))
        files.certificate.write_bytes(b"c2")
        await asyncio.sleep(60)
        assert (await credentials.identity()).certificate == Certificate(b"c2", b"k1")

    run(story())


@pytest.fixture
def service_account(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("pod-token")
    (tmp_path / "ca.crt").write_bytes(b"PEM")
    (tmp_path / "namespace").write_text("kube-system\n")
    return tmp_path


def test_inside_a_cluster(service_account: Path) -> None:
    access = in_cluster_access(IN_POD, service_account=service_account)
    assert access.server == "https://10.0.0.1:443"
    assert access.kubeconfig == ""
    assert access.endpoint.certificate_authority == b"PEM"
    assert access.namespace == "kube-system"
    assert token(run(access.credentials.identity())) == "pod-token"


def test_inside_a_cluster_with_ipv6(service_account: Path) -> None:
    environ = IN_POD | {"KUBERNETES_SERVICE_HOST": "fd00::1"}
    access = in_cluster_access(environ, service_account=service_account)
    assert access.server == "https://[fd00::1]:443"


def test_outside_of_a_cluster() -> None:
    assert not is_in_cluster({})
    with pytest.raises(AccessError, match="not inside a cluster: KUBERNETES_SERVICE_HOST"):
        in_cluster_access({})


@pytest.mark.parametrize(
    ("missing", "problem"),
    [("token", "automountServiceAccountToken"), ("ca.crt", "ca.crt: cannot be read: No such file")],
)
def test_a_pod_without_a_service_account(service_account: Path, missing: str, problem: str) -> None:
    (service_account / missing).unlink()
    with pytest.raises(AccessError, match=problem):
        in_cluster_access(IN_POD, service_account=service_account)


def test_a_pod_that_is_not_told_its_namespace(service_account: Path) -> None:
    (service_account / "namespace").unlink()
    assert in_cluster_access(IN_POD, service_account=service_account).namespace == "default"
