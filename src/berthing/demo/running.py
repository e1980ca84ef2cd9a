"""The demo's world put together: a control plane in memory, the scheduler, a witness, and a story.

All of it lives on one event loop, in real time or in virtual time, and a seed decides all chance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Final

from msgspec.structs import replace

from berthing.client.api_client import ApiClient
from berthing.config.features import FeatureGates
from berthing.config.load import Loaded, default
from berthing.demo.machines import machines
from berthing.demo.outcome import Outcome
from berthing.demo.story import Story, Tell
from berthing.demo.witness import Witness
from berthing.demo.workloads import NAMESPACE, TRAINER, workloads
from berthing.embedded.control_plane import ControlPlane
from berthing.embedded.kubelets import Pace
from berthing.embedded.node_lifecycle import Patience
from berthing.explain.asked_pod import pod_in_cluster
from berthing.explain.live_cluster import read_cluster
from berthing.explain.question import ask
from berthing.explain.report import Report
from berthing.scheduler.registry import Registry, discover
from berthing.serving.process import Connection, SchedulerProcess
from berthing.simulate.in_memory import IN_MEMORY, InMemoryTransport

# A dead node is given up after a good second, where Kubernetes takes most of a minute; where there
# are many, so that their leases are not all there is to do, it takes longer.
_LEASE_SECONDS: Final = 0.4
_LEASE_SECONDS_PER_NODE: Final = 0.004
_NO_LIMIT: Final = -1.0


class Demo:
    """A cluster of so many nodes, and what happens in it."""

    def __init__(self, node_count: int, *, seed: int, now: Callable[[], float], tell: Tell) -> None:
        random = Random(seed)
        nodes = tuple(machines(node_count))
        lease = max(_LEASE_SECONDS, _LEASE_SECONDS_PER_NODE * node_count)
        self._plane = ControlPlane(
            now=now,
            random=Random(random.random()),
            pace=Pace(start_seconds=(0.1, 0.4), stop_seconds=(0.1, 0.3), lease_seconds=lease),
            patience=Patience(grace_seconds=2.5 * lease, period_seconds=lease / 2),
        )
        self._registry = discover(())
        self._loaded = _configuration(self._registry)
        assert self._loaded.config is not None, "the defaults are right"
        self._process = SchedulerProcess(
            self._loaded.config,
            self._loaded.profiles,
            registry=self._registry,
            gates=FeatureGates(),
            connection=Connection(InMemoryTransport(self._plane.api), IN_MEMORY, "demo"),
            now=now,
            random=Random(random.random()),
        )
        self._client = ApiClient(InMemoryTransport(self._plane.api), random=random)
        self._time = asyncio.get_running_loop().time
        self._began_at = self._time()
        self.witness = Witness(self._plane.api.store, time=self._time)
        self._story = Story(
            nodes,
            workloads(nodes),
            client=self._client,
            witness=self.witness,
            fail_node=self._plane.kubelets.fail,
            tell=tell,
            random=Random(random.random()),
        )

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return self._time() - self._began_at

    async def run(self) -> Outcome:
        """Let everything happen, and stop the scheduler in order."""
        async with asyncio.TaskGroup() as tasks:
            plane = tasks.create_task(self._plane.run(), name="control plane")
            process = tasks.create_task(self._process.run(), name="scheduler")
            await self._story.run()
            self._process.stop()
            await process
            plane.cancel()
        return self._story.outcome(self.seconds)

    async def why_pending(self) -> Report:
        """The explanation of the pod that does not fit, as any user of the cluster gets it."""
        live = await read_cluster(self._client, IN_MEMORY.server)
        asked = pod_in_cluster(live.cluster, f"{NAMESPACE}/{TRAINER}")
        question = ask(
            asked.pod,
            live.cluster.objects,
            self._loaded.profiles,
            registry=self._registry,
            gates=FeatureGates(),
        )
        return Report(question)


def _configuration(registry: Registry) -> Loaded:
    """The scheduler's defaults, but with requests that nobody counts."""
    loaded = default(catalogue=registry.catalogue, args_types=registry.args_types)
    assert loaded.config is not None, "the defaults are right"
    limits = replace(loaded.config.client_connection, qps=_NO_LIMIT)
    return replace(loaded, config=replace(loaded.config, client_connection=limits))
