"""A whole control plane in this process, but for a scheduler: API server, controllers, kubelets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Never

from berthing.embedded.kubelets import Kubelets, Pace
from berthing.embedded.node_lifecycle import NodeLifecycle, Patience
from berthing.embedded.owned_pods import OwnedPods
from berthing.embedded.server import ApiServer
from berthing.embedded.workloads import Jobs, ReplicaSets, StatefulSets


class ControlPlane:
    """Everything that lives in a cluster beside its scheduler and its users."""

    def __init__(
        self,
        *,
        now: Callable[[], float],
        random: Random,
        pace: Pace | None = None,
        patience: Patience | None = None,
        history_length: int = 10_000,
    ) -> None:
        self.api = ApiServer(now=now, random=random, history_length=history_length)
        store, objects = self.api.store, self.api.objects
        self.kubelets = Kubelets(store, objects, now=now, random=random, pace=pace)
        pods = OwnedPods(store)
        self._parts = (
            self.kubelets,
            NodeLifecycle(store, objects, patience=patience),
            ReplicaSets(store, objects, pods),
            StatefulSets(store, objects, pods),
            Jobs(store, objects, pods),
        )

    async def run(self) -> Never:
        """Let all of it work until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for part in self._parts:
                tasks.create_task(part.run(), name=f"embedded {type(part).__name__}")
        raise AssertionError("its parts do not end")
