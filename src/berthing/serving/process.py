"""One scheduler process: informers feed the scheduler, which acts on the cluster through a client.

    list + watch (an informer per kind) ---> Scheduler ---> bindings, status, events
                                                |
                          start: once all is seen;  stop: once what is under way has ended

It runs on whatever carries requests: a real API server, or one in memory and in virtual time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from random import Random

import msgspec

from berthing.api.meta import ApiObject
from berthing.api.pod import Pod
from berthing.client.api_client import ApiClient
from berthing.client.event_recorder import EventBroadcaster
from berthing.client.informer import LIVE_PODS, Informer
from berthing.client.pod_writer import PodWriter
from berthing.client.transport import Transport
from berthing.config.features import FeatureGates
from berthing.config.load import EffectiveProfile
from berthing.config.v1 import KubeSchedulerConfiguration
from berthing.framework import ClientConfig, EventRecorder
from berthing.scheduler.metrics import Metrics
from berthing.scheduler.registry import Registry
from berthing.scheduler.scheduler import Scheduler
from berthing.telemetry import logs

log = logs.get("process")

# How long bindings and what is still to be told may take once the process is to stop.
_STOP_SECONDS = 30.0


class Connection(msgspec.Struct, frozen=True):
    """How a process reaches its cluster."""

    transport: Transport
    config: ClientConfig
    # Who writes the events: reportingInstance is <schedulerName>-<hostname>.
    hostname: str


class SchedulerProcess:
    """A scheduler with all that it takes to schedule a cluster."""

    def __init__(
        self,
        config: KubeSchedulerConfiguration,
        profiles: tuple[EffectiveProfile, ...],
        *,
        registry: Registry,
        gates: FeatureGates,
        connection: Connection,
        now: Callable[[], float],
        random: Random,
        metrics: Metrics | None = None,
    ) -> None:
        limits = config.client_connection
        transport = connection.transport
        client = ApiClient(transport, random=random, qps=limits.qps, burst=limits.burst)
        # Events have limits of their own, as upstream's: they must not keep bindings waiting.
        event_client = ApiClient(transport, random=random, qps=limits.qps, burst=limits.burst)
        self._transport = transport
        self._events = EventBroadcaster(
            event_client, hostname=connection.hostname, now=now, random=random
        )
        outside = _Outside(
            client, connection.config, PodWriter(client, now=now, random=random), self._events
        )
        self.scheduler = Scheduler(
            config,
            profiles,
            registry=registry,
            gates=gates,
            outside=outside,
            now=now,
            random=random,
            metrics=metrics,
        )
        # Watches are not counted against the limits.
        watcher = ApiClient(transport, random=random)
        self.informers: Mapping[str, Informer[ApiObject]] = {
            kind.__name__: Informer(
                kind,
                client=watcher,
                sink=self.scheduler,
                random=random,
                field_selector=LIVE_PODS if kind is Pod else "",
            )
            for kind in self.scheduler.kinds
        }
        self._stop = asyncio.Event()

    @property
    def not_synced(self) -> tuple[str, ...]:
        """The kinds of which not all objects have been seen yet: until then nothing is scheduled."""
        return tuple(name for name, each in self.informers.items() if not each.is_synced)

    def stop(self) -> None:
        """Begin nothing new, and end once all is in order."""
        self._stop.set()
        self.scheduler.stop()

    async def run(self) -> None:
        """Schedule the cluster until `stop`."""
        try:
            await self._run()
        finally:
            await self._transport.close()

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            helpers = [tasks.create_task(self._events.run(), name="event writers")]
            helpers += [
                tasks.create_task(informer.run(), name=f"informer {name}")
                for name, informer in self.informers.items()
            ]
            try:
                if await self._synced():
                    await self.scheduler.run()
                    await self._finish()
            finally:
                for helper in helpers:
                    helper.cancel()
                await self.scheduler.close()

    async def _synced(self) -> bool:
        """Wait until everything was seen once; false if the process is to stop before that."""
        stopped = asyncio.create_task(self._stop.wait(), name="stop")
        synced = asyncio.create_task(self._all_seen(), name="first sync")
        try:
            await asyncio.wait([stopped, synced], return_when=asyncio.FIRST_COMPLETED)
            return synced.done()
        finally:
            stopped.cancel()
            synced.cancel()

    async def _all_seen(self) -> None:
        for name, informer in self.informers.items():
            await informer.wait_synced()
            log.v2("Caches are synced", kind=name, objects=len(informer.objects))

    async def _finish(self) -> None:
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self.scheduler.finish()
                await self._events.wait_written()
        except TimeoutError:
            log.warning("Stopping without having told all", seconds=_STOP_SECONDS)


class _Outside(msgspec.Struct, frozen=True):
    """A cluster behind a client."""

    client: ApiClient
    client_config: ClientConfig
    pod_writer: PodWriter
    events: EventBroadcaster

    def event_recorder(self, profile_name: str) -> EventRecorder:
        """Where the events of one profile are written, under its name."""
        return self.events.recorder(profile_name)
