"""How a pod reaches the cluster that it runs in: by its service account.

Upstream: client-go/rest/config.go, InClusterConfig (v1.36.4).
Differs:  without a readable ca.crt this is an error at once, not one of TLS later on.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from berthing.client.cluster_access import AccessError, ClusterAccess
from berthing.client.credentials import UserCredentials
from berthing.client.endpoint import Endpoint

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_HOST, _PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


def is_in_cluster(environ: Mapping[str, str]) -> bool:
    """Whether the environment is that of a pod."""
    return bool(environ.get(_HOST) and environ.get(_PORT))


def in_cluster_access(
    environ: Mapping[str, str], *, service_account: Path = SERVICE_ACCOUNT
) -> ClusterAccess:
    """The cluster that we run in; raises AccessError if we do not."""
    if not is_in_cluster(environ):
        raise AccessError(f"not inside a cluster: {_HOST} and {_PORT} are not set")
    token = service_account / "token"
    if not token.is_file():
        raise AccessError(
            f"{token}: there is no token; is automountServiceAccountToken off for this pod?"
        )
    host = environ[_HOST]
    host = f"[{host}]" if ":" in host else host
    return ClusterAccess(
        endpoint=Endpoint(
            server=f"https://{host}:{environ[_PORT]}",
            certificate_authority=_read(service_account / "ca.crt"),
        ),
        credentials=UserCredentials(token=token),
        namespace=_namespace(service_account / "namespace"),
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise AccessError(f"{path}: cannot be read: {error.strerror}") from error


def _namespace(path: Path) -> str:
    return path.read_text().strip() if path.is_file() else "default"
