"""Which cluster a scheduler schedules.

    --kubeconfig or --master given ---> that file, with that URL in place of its own
    neither, and inside a pod      ---> the cluster of the pod
    neither                        ---> an error

A scheduler that took whatever ~/.kube/config points to today would schedule a cluster that nobody
meant.  Upstream does not do so either.

Upstream: client-go/tools/clientcmd/client_config.go, BuildConfigFromFlags (v1.36.4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from berthing.client.cluster_access import AccessError, ClusterAccess
from berthing.client.credentials import UserCredentials
from berthing.client.endpoint import Endpoint, parse_address
from berthing.client.in_cluster import in_cluster_access, is_in_cluster
from berthing.client.kubeconfig import kubeconfig_access


def scheduler_access(
    *,
    kubeconfig: str,
    environ: Mapping[str, str],
    now: Callable[[], float],
    master: str = "",
) -> ClusterAccess:
    """How a scheduler reaches its cluster; raises AccessError with what to do about it."""
    if kubeconfig:
        return kubeconfig_access([Path(kubeconfig)], server=master, now=now)
    if master:
        return _anonymous(master)
    if is_in_cluster(environ):
        return in_cluster_access(environ)
    raise AccessError(
        "no API server is configured, and this is not inside a cluster: give --kubeconfig FILE, "
        "or set clientConnection.kubeconfig"
    )


def _anonymous(master: str) -> ClusterAccess:
    try:
        parse_address(master, schemes=("https", "http"))
    except ValueError as error:
        raise AccessError(f"--master: {error}") from error
    return ClusterAccess(endpoint=Endpoint(server=master), credentials=UserCredentials())
