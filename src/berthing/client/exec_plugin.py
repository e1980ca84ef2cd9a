"""Who we are by what a command says: the credential plugins of clouds and companies.

    request ---> identity known, and not expired ---> go on
                      | no
                 run the command, once for all who wait ---> token, certificate, or both

What it says is kept until it expires, or until the server refuses it.

Upstream: client-go/plugin/pkg/client/auth/exec/exec.go (v1.36.4).
Differs:  a plugin that does not ask anything has a minute; what it writes to standard error is in
          the error's text; a failure is told to all who wait for it, rather than tried for each.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Annotated, Final

import msgspec

from berthing.api.errors import CredentialsError
from berthing.client.credentials import bearer
from berthing.client.endpoint import Endpoint
from berthing.client.identity import Certificate, Identity
from berthing.client.kubeconfig_files import ExecConfig

_V1, _V1BETA1 = (
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
)
_MODES: Final = ("Never", "IfAvailable", "Always")
_SECONDS: Final = 60.0
# Who asks within so long of a failure hears of it, and does not run the command again.
_FAILURE_SECONDS: Final = 1.0
_SHOWN_CHARACTERS: Final = 500


class ExecCredentials:
    """Credentials from a command."""

    def __init__(
        self,
        config: ExecConfig,
        *,
        endpoint: Endpoint,
        now: Callable[[], float],
        cluster_config: object = None,
        headers: Iterable[tuple[str, str]] = (),
    ) -> None:
        self._config = config
        self._endpoint = endpoint
        self._cluster_config = cluster_config
        self._headers = tuple(headers)
        self._now = now
        self._identity: Identity | None = None
        self._expires_at: float | None = None
        self._failure: CredentialsError | None = None
        self._failed_at = 0.0
        self._running = asyncio.Lock()

    def check(self) -> None:
        """Raise ValueError for a configuration that can never work."""
        config = self._config
        if config.api_version not in (_V1, _V1BETA1):
            message = f"expected apiVersion {_V1} or {_V1BETA1}, got {config.api_version!r}"
            raise ValueError(message)
        if not config.command:
            raise ValueError("command is missing")
        if any(not variable.name for variable in config.env):
            raise ValueError("env has a variable without a name")
        if self._mode not in _MODES:
            raise ValueError(
                f"expected interactiveMode {', '.join(_MODES)}, got {config.interactive_mode!r}"
            )

    async def identity(self) -> Identity:
        """Who we are by what the command said last; raises CredentialsError if it fails."""
        if self._identity is not None and not self._is_expired:
            return self._identity
        async with self._running:
            # Another one may have been waiting for the same thing.
            if self._identity is None or self._is_expired:
                await self._refresh()
            assert self._identity is not None, "or the command has failed"
            return self._identity

    def refused(self, identity: Identity) -> bool:
        """The command is run again, unless it has been already."""
        if self._identity is identity:
            self._identity = None
        return True

    @property
    def _is_expired(self) -> bool:
        return self._expires_at is not None and self._now() > self._expires_at

    @property
    def _mode(self) -> str:
        # Only v1 insists that a mode is chosen.
        is_optional = self._config.api_version == _V1BETA1
        return self._config.interactive_mode or ("IfAvailable" if is_optional else "")

    async def _refresh(self) -> None:
        if self._failure is not None and self._now() - self._failed_at < _FAILURE_SECONDS:
            raise self._failure
        try:
            status = self._read(await self._run())
        except CredentialsError as error:
            self._failure, self._failed_at = error, self._now()
            raise
        self._failure = None
        headers = (bearer(status.token), *self._headers) if status.token else self._headers
        certificate = None
        if status.client_certificate_data:
            certificate = Certificate(
                status.client_certificate_data.encode(), status.client_key_data.encode()
            )
        expires_at = status.expiration_timestamp
        self._identity = Identity(headers, certificate)
        self._expires_at = expires_at.timestamp() if expires_at else None

    async def _run(self) -> bytes:
        is_interactive = self._is_interactive()
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                self._config.command,
                *self._config.args,
                env=self._environment(is_interactive=is_interactive),
                stdin=None if is_interactive else asyncio.subprocess.DEVNULL,
                stdout=pipe,
                stderr=None if is_interactive else pipe,
            )
        except OSError as error:
            hint = f"\n{self._config.install_hint}" if self._config.install_hint else ""
            raise self._mistake(f"cannot be run: {error.strerror}{hint}") from error
        try:
            async with asyncio.timeout(None if is_interactive else _SECONDS):
                output, complaints = await process.communicate()
        except TimeoutError as error:
            raise self._mistake(f"does not come to an end in {_SECONDS:g} s") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            said = (complaints or b"").decode(errors="replace").strip()[-_SHOWN_CHARACTERS:]
            raise self._mistake(f"fails with code {process.returncode}{': ' if said else ''}{said}")
        return output

    def _is_interactive(self) -> bool:
        if self._mode == "Never":
            return False
        is_terminal = sys.stdin is not None and sys.stdin.isatty()
        if self._mode == "Always" and not is_terminal:
            raise self._mistake("wants to ask something, and standard input is not a terminal")
        return is_terminal

    def _environment(self, *, is_interactive: bool) -> dict[str, str]:
        spec: dict[str, object] = {"interactive": is_interactive}
        if self._config.provide_cluster_info:
            spec["cluster"] = self._cluster_info()
        info = {"kind": "ExecCredential", "apiVersion": self._config.api_version, "spec": spec}
        own = {variable.name: variable.value for variable in self._config.env}
        return {**os.environ, **own, "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode()}

    def _cluster_info(self) -> dict[str, object]:
        endpoint = self._endpoint
        info: dict[str, object] = {
            "server": endpoint.server,
            "tls-server-name": endpoint.tls_server_name,
            "insecure-skip-tls-verify": endpoint.insecure_skip_tls_verify,
            "certificate-authority-data": endpoint.certificate_authority,
            "proxy-url": endpoint.proxy_url,
        }
        given = {name: value for name, value in info.items() if value}
        return given | {"config": self._cluster_config}

    def _read(self, output: bytes) -> _Status:
        try:
            answer = msgspec.json.decode(output, type=_ExecCredential)
        except msgspec.DecodeError as error:
            raise self._mistake(f"does not answer with an ExecCredential: {error}") from error
        expected = ("ExecCredential", self._config.api_version)
        if (answer.kind, answer.api_version) != expected:
            got = f"{answer.kind} of {answer.api_version}"
            raise self._mistake(f"answers with {got} instead of {' of '.join(expected)}")
        status = answer.status
        if status is None:
            raise self._mistake("answers without a status")
        if bool(status.client_certificate_data) != bool(status.client_key_data):
            raise self._mistake("answers with a certificate or a key, and not both")
        if not status.token and not status.client_certificate_data:
            raise self._mistake("answers with neither a token nor a certificate")
        return status

    def _mistake(self, message: str) -> CredentialsError:
        return CredentialsError(f"exec plugin {self._config.command}: it {message}")


class _Status(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _ExecCredential(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None
