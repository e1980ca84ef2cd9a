"""Who we are by what a configuration or a file says: tokens, certificates, passwords.

Files are read again every minute, and when the server no longer knows us: kubelets and operators
replace tokens and certificates long before they run out.  What cannot be read at such a time
leaves us who we were.

Upstream: client-go/transport/token_source.go, cert_rotation.go (v1.36.4).
Differs:  a request that was refused is sent again at once with the new token.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec

from berthing.api.errors import CredentialsError
from berthing.client.identity import Certificate, Identity
from berthing.telemetry import logs

_log = logs.get("client.credentials")

_REREAD_SECONDS: Final = 60.0


class Impersonation(msgspec.Struct, frozen=True, kw_only=True):
    """The user in whose place we act; nobody if there is no name."""

    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = {}

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """What an API server wants to hear of it."""
        single = (("impersonate-user", self.user), ("impersonate-uid", self.uid))
        return (
            *((name, value) for name, value in single if value),
            *(("impersonate-group", group) for group in self.groups),
            *(
                (f"impersonate-extra-{quote(key.lower(), safe='')}", value)
                for key, values in self.extra.items()
                for value in values
            ),
        )


def basic_auth(username: str, password: str) -> tuple[str, str]:
    """The header for a user name and a password."""
    encoded = base64.b64encode(f"{username}:{password}".encode()).decode()
    return "authorization", f"Basic {encoded}"


def bearer(token: str) -> tuple[str, str]:
    """The header for a token."""
    return "authorization", f"Bearer {token}"


class CertificateFiles(msgspec.Struct, frozen=True):
    """Where a certificate and its key are."""

    certificate: Path
    key: Path


class UserCredentials:
    """Headers that stay, and a token or a certificate that may be in files."""

    def __init__(
        self,
        *,
        token: Path | None = None,
        certificate: CertificateFiles | Certificate | None = None,
        headers: Iterable[tuple[str, str]] = (),
    ) -> None:
        self._token = token
        self._certificate = certificate
        self._headers = tuple(headers)
        self._identity: Identity | None = None
        self._read_at = 0.0

    async def identity(self) -> Identity:
        """Who we are by what the files said last; raises CredentialsError if they never could."""
        now = asyncio.get_running_loop().time()
        if self._identity is None:
            self._identity = self._read()
        elif now - self._read_at >= _REREAD_SECONDS:
            self._identity = self._read_again(self._identity)
        else:
            return self._identity
        self._read_at = now
        return self._identity

    def refused(self, identity: Identity) -> bool:
        """Look at once whether the files say something new."""
        if self._identity is not None and self._identity is identity:
            self._identity = self._read_again(identity)
        return self._identity is not identity

    def _read_again(self, before: Identity) -> Identity:
        try:
            identity = self._read()
        except CredentialsError as error:
            _log.error(error, "Credentials cannot be read again, the ones before are kept")
            return before
        # The same object for the same identity: that is what connections are known by.
        return before if identity == before else identity

    def _read(self) -> Identity:
        headers = self._headers
        if self._token is not None:
            headers = (bearer(_read_token(self._token)), *headers)
        certificate = self._certificate
        if isinstance(certificate, CertificateFiles):
            certificate = Certificate(_read(certificate.certificate), _read(certificate.key))
        return Identity(headers, certificate)


def _read_token(path: Path) -> str:
    try:
        token = _read(path).decode("ascii").strip()
    except UnicodeDecodeError as error:
        raise CredentialsError(f"{path}: this is no token: {error}") from error
    if not token:
        raise CredentialsError(f"{path}: expected a token, the file is empty")
    return token


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CredentialsError(f"{path}: cannot be read: {error.strerror}") from error
