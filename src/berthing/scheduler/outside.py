"""The outside world as the scheduler needs it: what a live cluster, or a simulated one, offers.

The core does no I/O: it is handed one of these, the time and a source of chance.
"""

from __future__ import annotations

from typing import Protocol

from berthing.framework import ApiClient, ClientConfig, EventRecorder, PodWriter


class Outside(Protocol):
    """Everything through which the scheduler acts on a cluster."""

    @property
    def client(self) -> ApiClient:
        """Requests to the API server, for plugins that need some of their own."""
        ...

    @property
    def client_config(self) -> ClientConfig:
        """How the API server is reached."""
        ...

    @property
    def pod_writer(self) -> PodWriter:
        """Bindings and pod status."""
        ...

    def event_recorder(self, profile_name: str) -> EventRecorder:
        """Where the events of one profile are written, under its name."""
        ...
