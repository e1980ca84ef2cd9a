"""What commands that talk to a cluster share: which one is meant, and how requests get there."""

from __future__ import annotations

import os
import time
from pathlib import Path

from berthing import __version__
from berthing.client.cluster_access import AccessError, ClusterAccess
from berthing.client.http_transport import HttpTransport
from berthing.client.kubeconfig import default_files, kubeconfig_access


def user_access(kubeconfig: str | None, context: str | None) -> ClusterAccess:
    """The cluster that a person means, as kubectl understands it; AccessError if there is none."""
    files = [Path(kubeconfig)] if kubeconfig else default_files(os.environ, home=Path.home())
    if not files:
        raise AccessError("there is no kubeconfig: give --kubeconfig FILE, or set KUBECONFIG")
    return kubeconfig_access(files, context=context or "", now=time.time)


def transport_to(access: ClusterAccess) -> HttpTransport:
    """What carries requests to the cluster's API server."""
    user_agent = f"berthing/{__version__}"
    return HttpTransport(access.endpoint, access.credentials, user_agent=user_agent)
