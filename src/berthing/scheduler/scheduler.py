"""The scheduler: everything that is known of a cluster, and the loop that places pods in it.

    changed(kind, old, new) --> EventHandlers --> cluster columns, queue
                                                         |
    run:  pop --> schedule_one --> (binding tasks)  <----+
          every second: who has waited out its backoff;  every 30 s: who waits for too long

One loop owns all of it.  What comes in while PostFilter waits for something is kept in line until
the attempt is over, so that an attempt sees one state of the cluster.

Upstream: pkg/scheduler/scheduler.go (v1.36.4).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import cast

import msgspec

from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.config.features import FeatureGates
from berthing.config.load import EffectiveProfile
from berthing.config.v1 import KubeSchedulerConfiguration
from berthing.framework import Code, ExtensionPoint, QueueSortPlugin
from berthing.queue.scheduling_queue import (
    FLUSH_BACKOFF_SECONDS,
    FLUSH_UNSCHEDULABLE_SECONDS,
    SchedulingQueue,
)
from berthing.scheduler.cycle import Cycle
from berthing.scheduler.decision import Decision
from berthing.scheduler.events import RESOURCES, EventHandlers
from berthing.scheduler.handle import LiveHandle
from berthing.scheduler.metrics import Metrics
from berthing.scheduler.outside import Outside
from berthing.scheduler.profile import Profile, assemble
from berthing.scheduler.registry import Registry
from berthing.scheduler.runtime import Runtime
from berthing.scheduler.schedule_one import ScheduleOne
from berthing.scheduler.status_writes import StatusWrites
from berthing.scheduler.waiting_pods import PodsInPreBind, WaitingPods
from berthing.telemetry import logs

log = logs.get("scheduler")


class Scheduler:
    """Places the pods of its profiles, as long as it runs."""

    def __init__(
        self,
        config: KubeSchedulerConfiguration,
        profiles: Iterable[EffectiveProfile],
        *,
        registry: Registry,
        gates: FeatureGates,
        outside: Outside,
        now: Callable[[], float],
        random: Random,
        metrics: Metrics | None = None,
    ) -> None:
        self.cluster = Cluster()
        self.metrics = metrics or Metrics()
        self.waiting = WaitingPods()
        self._now = now
        self._pre_binding = PodsInPreBind()
        self._status_writes = StatusWrites(outside.pod_writer)
        self._profiles: list[Profile] = []
        handles: dict[str, LiveHandle] = {}
        runtimes: dict[str, Runtime] = {}
        for profile in profiles:
            name = profile.scheduler_name
            handle = handles[name] = LiveHandle(
                name,
                cluster=self.cluster,
                gates=gates,
                outside=outside,
                waiting=self.waiting,
                pre_binding=self._pre_binding,
                now=now,
            )
            assembled = assemble(
                name,
                {ExtensionPoint(point): plugins for point, plugins in profile.plugins.items()},
                cast("Mapping[str, msgspec.Struct]", profile.args),
                registry=registry,
                handle=handle,
            )
            self._profiles.append(assembled)
            cycle = Cycle(
                self.cluster,
                assembled,
                random=random,
                # Columns make it cheap to look at all nodes, unless the user says otherwise.
                percentage_of_nodes_to_score=profile.percentage_of_nodes_to_score or 100,
            )
            runtimes[name] = Runtime(assembled, cycle, self.waiting, self.metrics)
        self.queue = _queue(config, self._profiles, self.metrics)
        for assembled in self._profiles:
            handles[assembled.name].complete(self.queue, assembled)
        self._runtimes = runtimes
        self._events = EventHandlers(
            self.cluster,
            self.queue,
            responsible=runtimes,
            assumed=_Assumed(self.cluster, self.waiting),
            observe=self.metrics.event_handling_duration_seconds.observe,
        )
        self._one = ScheduleOne(
            cluster=self.cluster,
            queue=self.queue,
            runtimes=runtimes,
            recorders={name: handle.event_recorder for name, handle in handles.items()},
            waiting=self.waiting,
            pre_binding=self._pre_binding,
            pod_writer=outside.pod_writer,
            status_writes=self._status_writes,
            metrics=self.metrics,
            announces=gates.enabled("NominatedNodeNameForExpectation"),
            now=now,
        )
        self._read_gauges()
        self._wake = asyncio.Event()
        self.queue.on_active = self._wake.set
        self._stopping = False
        # Changes in line, while an attempt waits for something; None if none does.
        self._in_line: list[tuple[type[ApiObject], ApiObject | None, ApiObject | None]] | None = (
            None
        )

    # What is known.

    @property
    def kinds(self) -> tuple[type[ApiObject], ...]:
        """The kinds of objects that its plugins need to hear of."""
        registered = {
            item.event.resource
            for profile in self._profiles
            for items in profile.events().values()
            for item in items
        }
        read = [
            kind
            for profile in self._profiles
            for plugin in profile.plugins.values()
            for kind in plugin.reads
        ]
        by_event = [kind for kind, resource in RESOURCES.items() if resource in registered]
        return tuple(dict.fromkeys((Node, Pod, *read, *by_event)))

    def decision(self, pod_key: str) -> Decision | None:
        """The last decision about the pod namespace/name, if it is still kept."""
        kept = (runtime.cycle.decisions.last(pod_key) for runtime in self._runtimes.values())
        return next((decision for decision in kept if decision is not None), None)

    @property
    def attempt_waits(self) -> bool:
        """Whether an attempt waits for something: what happens meanwhile is kept in line."""
        return self._in_line is not None

    # What happens in the cluster.

    def changed(self, kind: type[ApiObject], old: ApiObject | None, new: ApiObject | None) -> None:
        """An object came (old is None), changed, or is gone (new is None)."""
        if self._in_line is not None:
            self._in_line.append((kind, old, new))
        else:
            self._apply(kind, old, new)

    def _apply(self, kind: type[ApiObject], old: ApiObject | None, new: ApiObject | None) -> None:
        if isinstance(old, Pod) and (not isinstance(new, Pod) or new.spec.node_name):
            self._status_writes.drop(old.metadata.uid)
        self._events.apply(kind, old, new, now=self._now())

    # The loop.

    async def run(self) -> None:
        """Schedule until `stop`; what is under way then comes to its end."""
        async with asyncio.TaskGroup() as tasks:
            flushes = [
                tasks.create_task(self._flush_backoff(), name="flush of the backoff queues"),
                tasks.create_task(self._flush_unschedulable(), name="flush of unschedulable pods"),
            ]
            while not self._stopping:
                await self._schedule_next()
            for flush in flushes:
                flush.cancel()

    def stop(self) -> None:
        """Begin no further attempt."""
        self._stopping = True
        self._wake.set()

    async def finish(self) -> None:
        """Let what is under way come to its end: bindings, and what is still to be told.

        A pod that waits on Permit is turned back: nobody will be there to allow it.
        """
        for waiting in self.waiting:
            waiting.reject("", "the scheduler stops")
        await self._one.bindings_done()
        await self._status_writes.drained()

    async def close(self) -> None:
        """Let go of everything at once."""
        await self._one.cancel_bindings()
        await self._status_writes.close()
        for profile in self._profiles:
            await profile.close()

    async def _schedule_next(self) -> None:
        queued = self.queue.pop()
        if queued is None:
            self._wake.clear()
            await self._wake.wait()
            return
        self._in_line = []
        try:
            await self._one.schedule_one(queued)
        finally:
            in_line, self._in_line = self._in_line, None
            for change in in_line:
                self._apply(*change)
        # Events, answers and bindings get their turn between two attempts.
        await asyncio.sleep(0)

    async def _flush_backoff(self) -> None:
        while True:
            # On the whole second, for that is what backoffs are cut to.
            now = self._now()
            await asyncio.sleep(math.floor(now) + FLUSH_BACKOFF_SECONDS - now)
            self.queue.flush_backoff(now=self._now())

    async def _flush_unschedulable(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_UNSCHEDULABLE_SECONDS)
            self.queue.flush_unschedulable(now=self._now())

    def _read_gauges(self) -> None:
        """What can be looked up when somebody asks need not be counted all along."""
        metrics, queue = self.metrics, self.queue
        metrics.pending_pods.read_from(
            lambda: {(name,): count for name, count in queue.pending().items()}
        )
        metrics.unschedulable_pods.read_from(
            lambda: dict[tuple[str, ...], float](queue.rejections().items())
        )
        metrics.inflight_events.read_from(
            lambda: {(label,): count for label, count in queue.in_flight_events().items()}
        )
        metrics.cache_size.read_from(self._cache_size)
        metrics.goroutines.read_from(lambda: {("binding",): self._one.bindings})

    def _cache_size(self) -> Mapping[tuple[str, ...], float]:
        placed = list(self.cluster.placed())
        assumed = sum(1 for _, _, assumed in placed if assumed)
        return {
            ("nodes",): len(self.cluster.nodes),
            ("pods",): len(placed),
            ("assumed_pods",): assumed,
        }


def _queue(
    config: KubeSchedulerConfiguration, profiles: Sequence[Profile], metrics: Metrics
) -> SchedulingQueue:
    # All profiles sort alike; the configuration's reader sees to that.
    sorts = [
        sort
        for profile in profiles
        for sort in profile.at(ExtensionPoint.QUEUE_SORT, QueueSortPlugin)
    ]
    return SchedulingQueue(
        {profile.name: profile.queueing() for profile in profiles},
        sort_key=sorts[0].sort_key,
        initial_backoff_seconds=config.pod_initial_backoff_seconds,
        max_backoff_seconds=config.pod_max_backoff_seconds,
        observer=_QueueMetrics(metrics),
    )


class _Assumed:
    """Pods whose node is our word alone so far."""

    def __init__(self, cluster: Cluster, waiting: WaitingPods) -> None:
        self._cluster = cluster
        self._waiting = waiting

    def deleted(self, pod: PodInfo) -> None:
        waiting = self._waiting.get(pod.uid)
        if waiting is not None:
            waiting.reject("", "removed")
        else:
            self._cluster.forget(pod.uid)


class _QueueMetrics:
    """Counts what happens in the queue."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def incoming(self, queue: str, event: str) -> None:
        self._metrics.queue_incoming_pods_total.inc(queue, event)

    def hint(self, plugin: str, event: str, result: str, seconds: float) -> None:
        self._metrics.queueing_hint_execution_duration_seconds.observe(
            seconds, plugin, event, result
        )

    def pre_enqueue(self, profile: str, code: Code, seconds: float) -> None:
        self._metrics.framework_extension_point_duration_seconds.observe(
            seconds, "PreEnqueue", str(code), profile
        )
