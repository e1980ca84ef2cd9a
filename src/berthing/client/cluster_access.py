"""How a cluster is reached, and as whom: what a kubeconfig or a pod's service account comes down to."""

from __future__ import annotations

import msgspec

from berthing.client.endpoint import Endpoint
from berthing.client.identity import Credentials


class AccessError(ValueError):
    """A configuration from which it does not follow how to reach a cluster."""


class ClusterAccess(msgspec.Struct, frozen=True, kw_only=True):
    """Where the API server is, and who we are to it."""

    endpoint: Endpoint
    credentials: Credentials
    # The file in use, for plugins that bring a client of their own; empty inside a cluster.
    kubeconfig: str = ""
    # Where commands look that name no namespace.
    namespace: str = "default"

    @property
    def server(self) -> str:
        """The API server's URL."""
        return self.endpoint.server
