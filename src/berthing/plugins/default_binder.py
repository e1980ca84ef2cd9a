"""DefaultBinder binds pods by telling the API server.

Upstream: plugins/defaultbinder/default_binder.go (v1.36.4).
Differs:  nowhere a user can see.
"""

from __future__ import annotations

from berthing.api.pod_info import PodInfo
from berthing.framework import BindPlugin, CycleState, Status


class DefaultBinder(BindPlugin):
    """Takes every pod."""

    name = "DefaultBinder"

    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Bind the pod; what the API server has against it is raised."""
        await self.handle.pod_writer.bind_pod(pod.pod, node_name)
        return None
