"""A pod's whole way: from the queue to a node, or back to the queue with the reason.

    schedule_one   find_node --> assume --> reserve --> permit
                      |             |          |           |
                      |             +----------+-----------+---> unreserve, forget, back with
                      +-- PostFilter makes room, back -----------------------------> the reason
    bind           (many at once)  wait on permit --> prebind --> bind --> postbind
                                         |               |          |
                                         +---------------+----------+---> unreserve, forget, back

1. From the pop to the start of the binding nothing changes the cluster: there is no await but
   in PostFilter, and meanwhile the scheduler keeps events in line, and bindings that failed wait.
2. Each way out ends with the pod bound, queued, or known to be gone, and with nothing of it left
   in the columns where it did not get its node.

Upstream: pkg/scheduler/schedule_one.go (v1.36.4).
Differs:  the pod's status is written in the background, and not given up (status_writes.py);
          nothing is told of a failed attempt at a pod that has got its node, or is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from time import perf_counter
from typing import Any

from berthing.api.errors import ClientError
from berthing.api.pod import Pod, PodCondition
from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.framework import CycleState, Status
from berthing.framework.handle import EventRecorder, PodWriter
from berthing.queue.derived_events import ASSIGNED_POD_DELETE
from berthing.queue.queued_pod import QueuedPod
from berthing.queue.scheduling_queue import SchedulingQueue
from berthing.scheduler.events import placed_on
from berthing.scheduler.failure import NO_NODES, Failure, broken, no_fit, turned_back
from berthing.scheduler.metrics import Metrics, attempts_label
from berthing.scheduler.runtime import Runtime
from berthing.scheduler.status_writes import StatusWrites
from berthing.scheduler.waiting_pods import PodsInPreBind, WaitingPods
from berthing.telemetry import logs

log = logs.get("scheduler")


class Attempt:
    """One try at one pod: everything about it from the pop to the end."""

    __slots__ = ("node_name", "pod", "queued", "runtime", "started", "state")

    def __init__(self, queued: QueuedPod, runtime: Runtime) -> None:
        self.queued = queued
        self.pod = queued.pod_info
        self.runtime = runtime
        self.state = CycleState()
        self.started = perf_counter()
        self.node_name = ""

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return perf_counter() - self.started


class ScheduleOne:
    """Tries pods one after the other; bindings go on beside that."""

    def __init__(
        self,
        *,
        cluster: Cluster,
        queue: SchedulingQueue,
        runtimes: Mapping[str, Runtime],
        recorders: Mapping[str, EventRecorder],
        waiting: WaitingPods,
        pre_binding: PodsInPreBind,
        pod_writer: PodWriter,
        status_writes: StatusWrites,
        metrics: Metrics,
        announces: bool,
        now: Callable[[], float],
    ) -> None:
        """Take what the parts share; `announces` tells nodes before bindings that take a while."""
        self._cluster = cluster
        self._queue = queue
        self._runtimes = runtimes
        self._recorders = recorders
        self._waiting = waiting
        self._pre_binding = pre_binding
        self._pod_writer = pod_writer
        self._status_writes = status_writes
        self._metrics = metrics
        self._announces = announces
        self._now = now
        # Set while nobody relies on the cluster to stay as it is.
        self._between_attempts = asyncio.Event()
        self._between_attempts.set()
        self._bindings: set[asyncio.Task[None]] = set()

    async def schedule_one(self, queued: QueuedPod) -> None:
        """Take one pod to a node, or back to the queue with the reason."""
        attempt = Attempt(queued, self._runtimes[queued.pod_info.scheduler_name])
        if self._is_moot(attempt):
            self._queue.done(attempt.pod.uid)
            return
        self._between_attempts.clear()
        try:
            failure = await self._scheduling_cycle(attempt)
        except Exception as error:  # noqa: BLE001 - a mistake of ours costs this attempt, not more
            log.error(error, "Error in the scheduling cycle", pod=attempt.pod.key)
            if self._cluster.is_assumed(attempt.pod.uid):
                self._give_up_node(attempt)
            failure = broken(Status.from_error(error))
        finally:
            self._between_attempts.set()
        if failure is not None:
            self._fail(attempt, failure)
            return
        self._activate(attempt)
        self._start(self._bind(attempt), f"bind {attempt.pod.key}")

    @property
    def bindings(self) -> int:
        """How many bindings are under way."""
        return len(self._bindings)

    async def bindings_done(self) -> None:
        """Return once no binding is under way."""
        while self._bindings:
            await asyncio.wait(self._bindings)

    async def cancel_bindings(self) -> None:
        """Call off what is under way; what becomes of it only the API server knows."""
        for task in self._bindings:
            task.cancel()
        await asyncio.gather(*self._bindings, return_exceptions=True)

    # The scheduling cycle.

    async def _scheduling_cycle(self, attempt: Attempt) -> Failure | None:
        failure = await self._find_node(attempt)
        # No await from here: what was decided is still true.
        return failure or self._assume_and_reserve(attempt) or self._permit(attempt)

    def _is_moot(self, attempt: Attempt) -> bool:
        """Whether there is nothing to be done for the pod: it goes, or has its node already."""
        pod = attempt.pod
        if pod.pod.metadata.deletion_timestamp is not None:
            self._record(attempt, pod.pod, f"skip schedule deleting pod: {pod.key}")
            return True
        # An update while it was being decided about may have queued a pod anew.
        return self._cluster.pod(pod.uid) is not None

    async def _find_node(self, attempt: Attempt) -> Failure | None:
        try:
            if not len(self._cluster.nodes):
                return NO_NODES
            return await self._decide(attempt)
        finally:
            self._metrics.scheduling_algorithm_duration_seconds.observe(attempt.seconds)

    async def _decide(self, attempt: Attempt) -> Failure | None:
        runtime, pod, state = attempt.runtime, attempt.pod, attempt.state
        decision = runtime.cycle.schedule(pod, state, self._queue.nominator.by_node)
        if decision.chosen:
            attempt.node_name = decision.chosen
            return None
        if decision.error is not None:
            return broken(decision.error)
        if not runtime.has_post_filters:
            return no_fit(decision)
        result = await runtime.post_filter(state, pod, decision)
        message = result.status.message if result.status is not None else ""
        return no_fit(decision, message, result.nominated_node_name)

    def _assume_and_reserve(self, attempt: Attempt) -> Failure | None:
        try:
            self._cluster.assume(attempt.pod, attempt.node_name)
        except ValueError as error:
            return broken(Status.from_error(error))
        self._queue.nominator.delete(attempt.pod.uid)
        status = attempt.runtime.reserve(attempt.state, attempt.pod, attempt.node_name)
        return None if status is None else self._turn_back(attempt, status)

    def _permit(self, attempt: Attempt) -> Failure | None:
        answer = attempt.runtime.permit(attempt.state, attempt.pod, attempt.node_name)
        if isinstance(answer, Status):
            return self._turn_back(attempt, answer)
        if answer:
            self._waiting.add(attempt.pod.pod, answer)
        return None

    def _turn_back(self, attempt: Attempt, status: Status) -> Failure:
        self._give_up_node(attempt)
        return turned_back(status)

    def _give_up_node(self, attempt: Attempt) -> None:
        attempt.runtime.unreserve(attempt.state, attempt.pod, attempt.node_name)
        self._cluster.forget(attempt.pod.uid)

    def _activate(self, attempt: Attempt) -> None:
        """Let go what plugins asked for during this attempt."""
        pods = attempt.state.pods_to_activate
        if pods:
            self._queue.activate(list(pods.values()), now=self._now())
            pods.clear()

    # The binding cycle.

    async def _bind(self, attempt: Attempt) -> None:
        try:
            failure = await self._binding_cycle(attempt)
        except Exception as error:  # noqa: BLE001 - a mistake of ours must not lose the pod
            log.error(error, "Error in the binding cycle", pod=attempt.pod.key)
            failure = broken(Status.from_error(error))
        if failure is None:
            await self._bound(attempt)
            return
        while not self._between_attempts.is_set():
            await self._between_attempts.wait()
        self._binding_failed(attempt, failure)

    async def _binding_cycle(self, attempt: Attempt) -> Failure | None:
        runtime, state, pod, node_name = (
            attempt.runtime,
            attempt.state,
            attempt.pod,
            attempt.node_name,
        )
        has_work = True
        if self._announces:
            flight = runtime.pre_bind_pre_flight(state, pod, node_name)
            if flight is not None and not flight.is_skip:
                return broken(flight)
            has_work = flight is None
        # A "does not fit" that is still on its way must not arrive after the binding.
        await self._status_writes.settle(pod.uid)
        if self._announces and (has_work or self._waiting.get(pod.uid) is not None):
            await self._announce(attempt)
        status = await runtime.wait_on_permit(pod)
        if status is not None:
            return turned_back(status)
        # What fails from here on is no "no", and so is woken by no event.
        self._queue.done(pod.uid)
        status = await (
            self._pre_bind(attempt) if has_work else runtime.pre_bind(state, pod, node_name)
        )
        status = status or await runtime.bind(state, pod, node_name)
        return None if status is None else broken(status)

    async def _announce(self, attempt: Attempt) -> None:
        """Tell in the pod's status where it will be, as that may take a while."""
        try:
            await self._pod_writer.patch_pod_status(
                attempt.pod.pod, nominated_node_name=attempt.node_name
            )
        except ClientError as error:
            # Good to know for others, but nothing depends on it.
            log.error(
                error,
                "Failed to update the nominated node name in the binding cycle",
                pod=attempt.pod.key,
                nominatedNodeName=attempt.node_name,
            )

    async def _pre_bind(self, attempt: Attempt) -> Status | None:
        uid = attempt.pod.uid
        work = asyncio.ensure_future(
            attempt.runtime.pre_bind(attempt.state, attempt.pod, attempt.node_name)
        )
        reasons: list[str] = []

        def cancel(reason: str) -> None:
            reasons.append(reason)
            work.cancel()

        entry = self._pre_binding.add(uid, cancel)
        try:
            status = await work
        except asyncio.CancelledError:
            if not reasons:
                raise
            return Status.from_error(RuntimeError(reasons[0]))
        finally:
            work.cancel()
            self._pre_binding.remove(uid)
        if status is None and not entry.mark_prebound():
            return Status.from_error(RuntimeError(reasons[0]))
        return status

    async def _bound(self, attempt: Attempt) -> None:
        pod, queued, metrics = attempt.pod, attempt.queued, self._metrics
        log.v2("Successfully bound pod to node", pod=pod.key, node=attempt.node_name)
        self._count(attempt, "scheduled")
        metrics.pod_scheduling_attempts.observe(queued.attempts)
        if queued.initial_attempt_timestamp is not None:
            metrics.pod_scheduling_sli_duration_seconds.observe(
                self._now() - queued.initial_attempt_timestamp, attempts_label(queued.attempts)
            )
        if queued.flushed:
            metrics.pod_scheduled_after_flush_total.inc()
        self._recorders[attempt.runtime.name].event(
            pod.pod,
            type_="Normal",
            reason="Scheduled",
            action="Binding",
            note=f"Successfully assigned {pod.key} to {attempt.node_name}",
        )
        await attempt.runtime.post_bind(attempt.state, pod, attempt.node_name)
        self._activate(attempt)

    def _binding_failed(self, attempt: Attempt, failure: Failure) -> None:
        """Give the room back, and tell others that wait for it."""
        uid = attempt.pod.uid
        self._waiting.remove(uid)
        self._give_up_node(attempt)
        if self._cluster.pod(uid) is not None:
            # The watch has shown it bound: by us, and the answer was lost, or by somebody else.
            self._fail(attempt, failure)
        elif failure.is_rejection:
            # The pod itself was turned back from there: its own room is of no use to it.
            self._fail(attempt, failure)
            self._tell_of_room(attempt, only=lambda other: other.uid != uid)
        else:
            self._tell_of_room(attempt)
            self._fail(attempt, failure)

    def _tell_of_room(
        self, attempt: Attempt, only: Callable[[PodInfo], bool] | None = None
    ) -> None:
        gone = placed_on(attempt.pod.pod, attempt.node_name)
        self._queue.move_all(ASSIGNED_POD_DELETE, gone, None, now=self._now(), only=only)

    # What becomes of a pod that got no node.

    def _fail(self, attempt: Attempt, failure: Failure) -> None:
        self._count(attempt, "unschedulable" if failure.is_rejection else "error")
        tried = attempt.pod
        if failure.is_rejection:
            log.v2("Unable to schedule pod; waiting", pod=tried.key, err=failure.message)
        else:
            log.error(None, "Error scheduling pod; retrying", pod=tried.key, err=failure.message)
        taken_back = self._queue.give_back(
            attempt.queued,
            unschedulable=failure.unschedulable,
            pending=failure.pending,
            now=self._now(),
        )
        if not taken_back:
            # It is gone, or bound: by us, and the answer was lost, or by somebody else.
            return
        pod = attempt.queued.pod_info
        # The API server will say so too, but the next cycle comes sooner.
        self._queue.nominator.add(pod, failure.nominated_node_name)
        self._record(attempt, pod.pod, failure.message)
        self._write_status(pod.pod, failure)

    def _record(self, attempt: Attempt, pod: Pod, message: str) -> None:
        self._recorders[attempt.runtime.name].event(
            pod,
            type_="Warning",
            reason="FailedScheduling",
            action="Scheduling",
            note=message,
        )

    def _write_status(self, pod: Pod, failure: Failure) -> None:
        condition = PodCondition(
            type="PodScheduled",
            status="False",
            reason=failure.reason,
            message=failure.message,
            observed_generation=pod.metadata.generation,
        )
        self._status_writes.put(
            pod, condition=condition, nominated_node_name=failure.nominated_node_name
        )

    def _count(self, attempt: Attempt, result: str) -> None:
        profile = attempt.runtime.name
        self._metrics.schedule_attempts_total.inc(result, profile)
        self._metrics.scheduling_attempt_duration_seconds.observe(attempt.seconds, result, profile)

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._bindings.add(task)
        task.add_done_callback(self._bindings.discard)
