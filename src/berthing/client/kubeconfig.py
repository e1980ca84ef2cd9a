"""How to reach the cluster that a kubeconfig's context names.

Upstream: client-go/tools/clientcmd/client_config.go, validation.go, loader.go (v1.36.4).
Differs:  `auth-provider`, of which client-go still knows OIDC, is an error that names exec plugins.

Everything that can be checked without the server is checked here, so that a mistake is told with
its file and place before anything starts.  A token, a password or a certificate goes before an
exec plugin, as upstream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from berthing.api.errors import CredentialsError
from berthing.client.cluster_access import AccessError, ClusterAccess
from berthing.client.credentials import (
    CertificateFiles,
    Impersonation,
    UserCredentials,
    basic_auth,
    bearer,
)
from berthing.client.endpoint import Endpoint, parse_address, tls_context
from berthing.client.exec_plugin import ExecCredentials
from berthing.client.identity import Certificate, Credentials
from berthing.client.kubeconfig_files import (
    EXEC_EXTENSION,
    Context,
    ExecConfig,
    Kubeconfig,
    read_kubeconfig,
)
from berthing.client.proxy import PROXY_SCHEMES

T = TypeVar("T")

_SERVER_SCHEMES: Final = ("https", "http")


def default_files(environ: Mapping[str, str], *, home: Path) -> list[Path]:
    """The files that kubectl reads: those of $KUBECONFIG that exist, or ~/.kube/config."""
    listed = [Path(name) for name in environ.get("KUBECONFIG", "").split(":") if name]
    return [path for path in listed or [home / ".kube" / "config"] if path.exists()]


def kubeconfig_access(
    files: Iterable[Path],
    *,
    now: Callable[[], float],
    context: str = "",
    server: str = "",
) -> ClusterAccess:
    """How to reach the cluster of a context, or of the current one; `server` replaces its URL.

    Raises AccessError for what is missing, contradictory, or cannot be read.
    """
    return _Chosen(read_kubeconfig(files), context, server).access(now)


class _Chosen:
    """One context of a kubeconfig, with the cluster and the user that it names."""

    def __init__(self, config: Kubeconfig, context: str, server: str) -> None:
        self._config = config
        self._name = context or config.current_context
        self._context = self._find_context()
        self._cluster = self._find("cluster", self._context.cluster, config.clusters)
        self._user = self._find("user", self._context.user, config.users)
        self._server = server or self._cluster.server

    def access(self, now: Callable[[], float]) -> ClusterAccess:
        """Check everything, and say how to reach the cluster."""
        endpoint = self._endpoint()
        return ClusterAccess(
            endpoint=endpoint,
            credentials=self._credentials(endpoint, now),
            kubeconfig=str(self._config.files[0]),
            namespace=self._context.namespace or "default",
        )

    def _find_context(self) -> Context:
        contexts = self._config.contexts
        if not self._name:
            raise self._mistake("current-context", f"no context is chosen: {_there_are(contexts)}")
        if self._name not in contexts:
            message = f"there is no context {self._name!r}: {_there_are(contexts)}"
            raise self._mistake("contexts", message)
        return contexts[self._name]

    def _find(self, what: str, name: str, entries: Mapping[str, T]) -> T:
        if not name:
            raise self._mistake(f"context {self._name!r}", f"it names no {what}")
        if name not in entries:
            message = f"there is no {what} {name!r}: {_there_are(entries)}"
            raise self._mistake(f"context {self._name!r}", message)
        return entries[name]

    def _endpoint(self) -> Endpoint:
        cluster = self._cluster
        where = f"cluster {self._context.cluster!r}"
        if not self._server:
            raise self._mistake(where, "it has no server: set one, as https://10.0.0.1:6443")
        authority = self._either(
            where,
            "certificate-authority",
            cluster.certificate_authority,
            cluster.certificate_authority_data,
        )
        if cluster.insecure_skip_tls_verify and authority:
            raise self._mistake(
                where, "insecure-skip-tls-verify and a certificate-authority: leave out one of them"
            )
        endpoint = Endpoint(
            server=self._server,
            certificate_authority=authority,
            insecure_skip_tls_verify=cluster.insecure_skip_tls_verify,
            tls_server_name=cluster.tls_server_name,
            proxy_url=cluster.proxy_url,
        )
        self._check(where, "server", lambda: parse_address(self._server, schemes=_SERVER_SCHEMES))
        if cluster.proxy_url:
            self._check(
                where, "proxy-url", lambda: parse_address(cluster.proxy_url, schemes=PROXY_SCHEMES)
            )
        if authority:
            self._check(where, "certificate-authority", lambda: tls_context(endpoint, None))
        return endpoint

    def _credentials(self, endpoint: Endpoint, now: Callable[[], float]) -> Credentials:
        user = self._user
        where = f"user {self._context.user!r}"
        if user.auth_provider is not None:
            message = (
                f"auth-provider {user.auth_provider.name!r} is not supported: use an exec plugin"
            )
            raise self._mistake(where, message)
        headers = list(self._impersonation(where).headers)
        has_password = bool(user.username or user.password)
        if has_password and user.token:
            raise self._mistake(where, "a token and a username: leave out one of them")
        certificate = self._certificate(where, endpoint)
        if has_password:
            headers.append(basic_auth(user.username, user.password))
        elif user.token and not user.token_file:
            headers.append(bearer(user.token))
        elif not user.token_file and certificate is None and user.exec is not None:
            return self._plugin(where, user.exec, endpoint, headers, now)
        token = Path(user.token_file) if user.token_file and not has_password else None
        if token is not None:
            self._content(where, "tokenFile", str(token))
        return UserCredentials(token=token, certificate=certificate, headers=headers)

    def _impersonation(self, where: str) -> Impersonation:
        user = self._user
        impersonation = Impersonation(
            user=user.impersonate,
            uid=user.impersonate_uid,
            groups=user.impersonate_groups,
            extra=user.impersonate_extra,
        )
        if impersonation.headers and not user.impersonate:
            raise self._mistake(where, "as-uid, as-groups and as-user-extra need a user: set as")
        return impersonation

    def _certificate(self, where: str, endpoint: Endpoint) -> CertificateFiles | Certificate | None:
        user = self._user
        certificate = self._either(
            where, "client-certificate", user.client_certificate, user.client_certificate_data
        )
        key = self._either(where, "client-key", user.client_key, user.client_key_data)
        if not certificate and not key:
            return None
        if not certificate or not key:
            missing = "client-key" if certificate else "client-certificate"
            raise self._mistake(
                where, f"{missing} is missing: a certificate and its key go together"
            )
        pair = Certificate(certificate, key)
        self._check(where, "client-certificate", lambda: tls_context(endpoint, pair))
        if user.client_certificate and user.client_key:
            return CertificateFiles(Path(user.client_certificate), Path(user.client_key))
        return pair

    def _plugin(
        self,
        where: str,
        config: ExecConfig,
        endpoint: Endpoint,
        headers: Iterable[tuple[str, str]],
        now: Callable[[], float],
    ) -> ExecCredentials:
        extensions = {each.name: each.extension for each in self._cluster.extensions}
        plugin = ExecCredentials(
            config,
            endpoint=endpoint,
            cluster_config=extensions.get(EXEC_EXTENSION),
            headers=headers,
            now=now,
        )
        self._check(where, "exec", plugin.check)
        return plugin

    def _either(self, where: str, field: str, file: str, data: bytes) -> bytes:
        """What a field has, or the file that it names; empty if there is neither."""
        if file and data:
            raise self._mistake(where, f"{field} and {field}-data: leave out one of them")
        return self._content(where, field, file) if file else data

    def _content(self, where: str, field: str, file: str) -> bytes:
        try:
            content = Path(file).read_bytes()
        except OSError as error:
            message = f"{file} cannot be read: {error.strerror}"
            raise self._mistake(f"{where}: {field}", message) from error
        if not content.strip():
            raise self._mistake(f"{where}: {field}", f"{file} is empty")
        return content

    def _check(self, where: str, field: str, check: Callable[[], object]) -> None:
        try:
            check()
        except (ValueError, CredentialsError) as error:
            raise self._mistake(f"{where}: {field}", str(error)) from error

    def _mistake(self, where: str, message: str) -> AccessError:
        return AccessError(f"{self._config.place}: {where}: {message}")


def _there_are(names: Iterable[str]) -> str:
    known = ", ".join(map(repr, sorted(names)))
    return f"there are {known}" if known else "there are none"
