"""Runs a profile's plugins where something is done about a decision: from PostFilter to PostBind.

    post_filter                           nothing fits: make room
    reserve -> permit -> (wait) -> pre_bind -> bind -> post_bind
       +---------+----------+---------+---------+----> unreserve, in reverse order

Whatever goes wrong in a plugin comes back as a status with its name; nothing is raised, but for
cancellation.  `Cycle` runs the points that decide.

Upstream: pkg/scheduler/framework/runtime/framework.go (v1.36.4).
Differs:  Bind with no plugin that takes the pod is an error that says so; upstream's has no text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from functools import wraps
from itertools import groupby
from time import perf_counter
from typing import Any, Concatenate, ParamSpec, TypeVar

from berthing.api.pod_info import PodInfo
from berthing.framework import (
    BindPlugin,
    Code,
    CycleState,
    ExtensionPoint,
    NodeToStatus,
    PermitPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreBindPreFlightResult,
    ReservePlugin,
    Status,
    Wait,
)
from berthing.scheduler.asking import PluginFailureError, asked, awaited, misbehaved
from berthing.scheduler.cycle import Cycle
from berthing.scheduler.metrics import Metrics
from berthing.scheduler.profile import Profile
from berthing.scheduler.waiting_pods import WaitingPods
from berthing.telemetry import logs
from berthing.telemetry.instruments import Distribution

log = logs.get("scheduler")

P = ParamSpec("P")
T = TypeVar("T")

# What a point may answer besides None and a rejection; anything else is a mistake of the plugin.
_NOTHING_ELSE: frozenset[Code] = frozenset({Code.SUCCESS})
_OR_SKIP = frozenset({Code.SUCCESS, Code.SKIP})


def _point(
    name: str,
) -> Callable[
    [Callable[Concatenate[Runtime, P], T]], Callable[Concatenate[Runtime, P], T | Status]
]:
    """Time an extension point, and turn a plugin that broke into a status."""

    def wrap(
        run: Callable[Concatenate[Runtime, P], T],
    ) -> Callable[Concatenate[Runtime, P], T | Status]:
        @wraps(run)
        def timed(self: Runtime, /, *args: P.args, **kwargs: P.kwargs) -> T | Status:
            started = perf_counter()
            answer: T | Status
            try:
                answer = run(self, *args, **kwargs)
            except PluginFailureError as failure:
                answer = failure.status
            self.observe(name, answer, started)
            return answer

        return timed

    return wrap


def _waiting_point(
    name: str,
) -> Callable[
    [Callable[Concatenate[Runtime, P], Awaitable[T]]],
    Callable[Concatenate[Runtime, P], Coroutine[Any, Any, T | Status]],
]:
    """The same for points that may wait."""

    def wrap(
        run: Callable[Concatenate[Runtime, P], Awaitable[T]],
    ) -> Callable[Concatenate[Runtime, P], Coroutine[Any, Any, T | Status]]:
        @wraps(run)
        async def timed(self: Runtime, /, *args: P.args, **kwargs: P.kwargs) -> T | Status:
            started = perf_counter()
            answer: T | Status
            try:
                answer = await run(self, *args, **kwargs)
            except PluginFailureError as failure:
                answer = failure.status
            self.observe(name, answer, started)
            return answer

        return timed

    return wrap


class Runtime:
    """One profile at work: its plugins, the cycle that decides, and the points that act."""

    def __init__(
        self, profile: Profile, cycle: Cycle, waiting: WaitingPods, metrics: Metrics
    ) -> None:
        self.name = profile.name
        self.profile = profile
        self.cycle = cycle
        self._waiting = waiting
        self._metrics = metrics
        self._durations: dict[tuple[str, Code], Distribution] = {}
        self._post_filters = profile.at(ExtensionPoint.POST_FILTER, PostFilterPlugin)
        self._reserves = profile.at(ExtensionPoint.RESERVE, ReservePlugin)
        self._permits = profile.at(ExtensionPoint.PERMIT, PermitPlugin)
        self._pre_binds = profile.at(ExtensionPoint.PRE_BIND, PreBindPlugin)
        self._binds = profile.at(ExtensionPoint.BIND, BindPlugin)
        self._post_binds = profile.at(ExtensionPoint.POST_BIND, PostBindPlugin)

    @property
    def has_post_filters(self) -> bool:
        """Whether anybody can make room for a pod that fits nowhere."""
        return bool(self._post_filters)

    async def post_filter(
        self, state: CycleState, pod: PodInfo, filtered: NodeToStatus
    ) -> PostFilterResult:
        """What PostFilter plugins achieved; the first that makes room, or gives up, ends it."""
        result = await self._post_filter(state, pod, filtered)
        return PostFilterResult(result) if isinstance(result, Status) else result

    @_waiting_point("PostFilter")
    async def _post_filter(
        self, state: CycleState, pod: PodInfo, filtered: NodeToStatus
    ) -> PostFilterResult:
        if state.skip_all_post_filter_plugins:
            return PostFilterResult(Status.unschedulable("All PostFilter plugins are skipped"))
        nominated: str | None = None
        reasons: list[str] = []
        for plugin in self._post_filters:
            result: object = await awaited(
                plugin.name, "PostFilter", plugin.post_filter, state, pod, filtered
            )
            if not isinstance(result, PostFilterResult):
                raise misbehaved(plugin.name, f"PostFilter returned {result!r}")
            status = _checked(plugin.name, "PostFilter", result.status, _NOTHING_ELSE)
            if status is None or status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return PostFilterResult(status, result.nominated_node_name)
            if result.nominated_node_name is not None:
                nominated = result.nominated_node_name
            reasons += status.reasons
        return PostFilterResult(Status.unschedulable(*reasons), nominated)

    @_point("Reserve")
    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Let plugins take what the pod needs there; None, or the first one's objection."""
        for plugin in self._reserves:
            answer = asked(plugin.name, "Reserve", plugin.reserve, state, pod, node_name)
            status = _checked(plugin.name, "Reserve", answer, _NOTHING_ELSE)
            if status is not None:
                return status
        return None

    @_point("Unreserve")
    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Let plugins give it all back, the last first, whatever becomes of the others."""
        for plugin in reversed(self._reserves):
            try:
                asked(plugin.name, "Unreserve", plugin.unreserve, state, pod, node_name)
            except PluginFailureError as failure:
                log.error(failure, "Plugin failed", plugin=plugin.name, pod=pod.key)

    @_point("Permit")
    def permit(
        self, state: CycleState, pod: PodInfo, node_name: str
    ) -> Status | Mapping[str, float]:
        """An objection, or for how long each plugin that asks for it wants the pod to wait."""
        waits: dict[str, float] = {}
        for plugin in self._permits:
            answer = asked(plugin.name, "Permit", plugin.permit, state, pod, node_name)
            if isinstance(answer, Wait):
                waits[plugin.name] = answer.timeout_seconds
                continue
            status = _checked(plugin.name, "Permit", answer, _NOTHING_ELSE)
            if status is not None:
                return status
        return waits

    async def wait_on_permit(self, pod: PodInfo) -> Status | None:
        """Wait until the pod is allowed; None then, or why it was turned back."""
        waiting = self._waiting.get(pod.uid)
        if waiting is None:
            return None
        started = perf_counter()
        try:
            status = await waiting.wait()
        finally:
            self._waiting.remove(pod.uid)
        self._metrics.permit_wait_duration_seconds.observe(
            perf_counter() - started, str(status.code)
        )
        if status.is_success:
            return None
        if status.is_rejected:
            return status
        text = f"waiting on permit for pod: {status.message}"
        return Status.from_error(RuntimeError(text), plugin=status.plugin)

    @_point("PreBindPreFlight")
    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """None if some plugin has work before the binding, `Skip` if none has."""
        skipped: list[str] = []
        parallel: list[str] = []
        for plugin in self._pre_binds:
            answer = asked(
                plugin.name, "PreBindPreFlight", plugin.pre_bind_pre_flight, state, pod, node_name
            )
            if isinstance(answer, PreBindPreFlightResult):
                if answer.allow_parallel:
                    parallel.append(plugin.name)
                continue
            status = _checked(plugin.name, "PreBindPreFlight", answer, _OR_SKIP)
            if status is not None and not status.is_skip:
                raise misbehaved(plugin.name, f"PreBindPreFlight must not answer {status.code}")
            if status is not None:
                skipped.append(plugin.name)
        state.skip_pre_bind_plugins = frozenset(skipped)
        state.parallel_pre_bind_plugins = frozenset(parallel)
        return Status.skip() if len(skipped) == len(self._pre_binds) else None

    @_waiting_point("PreBind")
    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Let plugins do what must be done first; neighbours that allow it run side by side."""
        for group in self._pre_bind_groups(state):
            status = await _first_objection(
                _objection(plugin.name, "PreBind", plugin.pre_bind, state, pod, node_name)
                for plugin in group
            )
            if status is not None:
                return status
        return None

    def _pre_bind_groups(self, state: CycleState) -> Iterable[Sequence[PreBindPlugin]]:
        """Plugins that run together; one that runs alone, even if skipped, parts its neighbours."""
        for parallel, plugins in groupby(
            self._pre_binds, lambda plugin: plugin.name in state.parallel_pre_bind_plugins
        ):
            at_work = [each for each in plugins if each.name not in state.skip_pre_bind_plugins]
            if parallel:
                yield at_work
            else:
                yield from ([plugin] for plugin in at_work)

    @_waiting_point("Bind")
    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Tell the API server, by the first plugin that takes the pod."""
        for plugin in self._binds:
            answer = await awaited(plugin.name, "Bind", plugin.bind, state, pod, node_name)
            status = _checked(plugin.name, "Bind", answer, _OR_SKIP)
            if status is None or not status.is_skip:
                return status
        return Status.from_error(RuntimeError("no Bind plugin took the pod"))

    @_waiting_point("PostBind")
    async def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Let plugins know."""
        for plugin in self._post_binds:
            try:
                await awaited(plugin.name, "PostBind", plugin.post_bind, state, pod, node_name)
            except PluginFailureError as failure:
                log.error(failure, "Plugin failed", plugin=plugin.name, pod=pod.key)

    def observe(self, point: str, answer: object, started: float) -> None:
        """Count how long an extension point took, and how it ended."""
        status = answer.status if isinstance(answer, PostFilterResult) else answer
        # Permit alone answers something else: who wants the pod to wait.
        without_status = Code.WAIT if status else Code.SUCCESS
        code = status.code if isinstance(status, Status) else without_status
        self._series(point, code).observe(perf_counter() - started)

    def _series(self, point: str, code: Code) -> Distribution:
        series = self._durations.get((point, code))
        if series is None:
            durations = self._metrics.framework_extension_point_duration_seconds
            series = self._durations[point, code] = durations.child(point, str(code), self.name)
        return series


def _checked(plugin: str, point: str, answer: object, allowed: frozenset[Code]) -> Status | None:
    """What a plugin has against it; None if nothing."""
    if answer is None:
        return None
    if not isinstance(answer, Status):
        raise misbehaved(plugin, f"{point} returned {answer!r}, not a Status")
    if answer.is_success:
        return None
    if answer.is_rejected or answer.code in allowed:
        return answer.by(plugin)
    raise misbehaved(plugin, f"{point} answered {answer.code}: {answer}")


async def _objection(
    plugin: str, point: str, method: Callable[..., Awaitable[Status | None]], *args: object
) -> Status | None:
    """What a plugin that may wait has against it; None if nothing."""
    return _checked(plugin, point, await awaited(plugin, point, method, *args), _NOTHING_ELSE)


async def _first_objection(coming: Iterable[Awaitable[Status | None]]) -> Status | None:
    """The first objection of some that are asked together; the others are called off."""
    together = list(coming)
    if len(together) == 1:
        return await together[0]
    tasks = [asyncio.ensure_future(each) for each in together]
    try:
        for task in asyncio.as_completed(tasks):
            status = await task
            if status is not None:
                return status
    finally:
        for left in tasks:
            left.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return None
