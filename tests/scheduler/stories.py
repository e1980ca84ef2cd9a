"""Stories of a whole scheduler in virtual time: given nodes, when pods come, then these placements.

    @story
    async def test_a_pod_is_bound() -> None:
        async with scheduling(nodes=[make_node("n")]) as world:
            await world.comes(make_pod("a"))
            assert world.api.nodes_of_pods() == {"a": "n"}

It is the real scheduler with its real queue, columns and cycle; only the API server is a fake.
Whenever a story ends the columns must equal a rebuild, and every pod be in one place.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import wraps
from random import Random
from typing import Any, ParamSpec

from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.cluster import audit
from berthing.config.features import FeatureGates
from berthing.config.load import EffectiveProfile
from berthing.config.profile import RunningPlugin
from berthing.config.v1 import KubeSchedulerConfiguration
from berthing.framework import (
    BindPlugin,
    EnqueueExtensions,
    ExtensionPoint,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    ReservePlugin,
    points_of,
)
from berthing.plugins.default_binder import DefaultBinder
from berthing.plugins.node_resources_fit import NodeResourcesFit
from berthing.plugins.priority_sort import PrioritySort
from berthing.queue.queued_pod import QueuedPod
from berthing.scheduler.registry import Registration, Registry
from berthing.scheduler.scheduler import Scheduler
from berthing.simulate import virtual_time
from berthing.telemetry.instruments import Counter, Histogram
from scheduler.fake_api import FakeApi

P = ParamSpec("P")

PROFILE = "default-scheduler"

# Less than any pause of the scheduler's: all that can go on has gone on.
_A_MOMENT = 1e-4


def story(tale: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Tell a story in virtual time."""

    @wraps(tale)
    def told(*args: P.args, **kwargs: P.kwargs) -> None:
        virtual_time.run(tale(*args, **kwargs))

    return told


class World:
    """A scheduler that runs, and the cluster that it schedules."""

    def __init__(self, scheduler: Scheduler, api: FakeApi) -> None:
        self.scheduler = scheduler
        self.api = api

    # What happens.

    async def comes(self, *objects: ApiObject) -> None:
        """Objects come or change, and the scheduler does what there is to be done at once."""
        for obj in objects:
            self.api.show(obj)
        await self.a_moment()

    async def goes(self, *objects: ApiObject) -> None:
        for obj in objects:
            self.api.remove(obj)
        await self.a_moment()

    async def a_moment(self) -> None:
        """Everybody who can go on does so."""
        await asyncio.sleep(_A_MOMENT)

    async def pass_time(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self.a_moment()

    # How things stand.

    def plugin(self, name: str, profile: str = PROFILE) -> Any:
        """A plugin at work, and through it the handle."""
        (found,) = [each for each in self.scheduler._profiles if each.name == profile]
        return found.plugins[name]

    def where(self, name: str) -> str:
        """Where a pod is: bound, waiting (and where in the queue), in flight, assumed, or gone."""
        places = [
            *(f"bound to {node}" for pod, node in self.api.nodes_of_pods().items() if pod == name),
            *(
                f"assumed on {node}"
                for info, node, assumed in self.scheduler.cluster.placed()
                if assumed and info.pod.name == name
            ),
            *(
                "gated" if queued.gating_plugin else queued.place.value
                for queued in self.scheduler.queue.waiting()
                if queued.pod_info.pod.name == name
            ),
        ]
        assert len(places) <= 1, f"{name} is in several places: {places}"
        return places[0] if places else "gone"

    def waiting(self, name: str) -> QueuedPod:
        """A pod in the queue, with its history."""
        (found,) = [
            queued for queued in self.scheduler.queue.waiting() if queued.pod_info.pod.name == name
        ]
        return found

    def requested_cpu(self, node_name: str) -> int:
        """What pods take on a node, in thousandths."""
        row = self.scheduler.cluster.row(node_name)
        assert row is not None
        return row.requested.get("cpu", 0)

    def attempts(self, profile: str = PROFILE) -> Mapping[str, int]:
        """How many attempts ended how."""
        return {
            labels[0]: int(series.value)
            for labels, series in self.scheduler.metrics.schedule_attempts_total.series()
            if labels[1] == profile
        }

    def check(self) -> None:
        """Nothing is lost, nothing is left behind."""
        assert audit.check(self.scheduler.cluster) == []
        self.scheduler.queue.check()


@asynccontextmanager
async def scheduling(
    *plugins: type[Plugin],
    nodes: Iterable[Node] = (),
    pods: Iterable[Pod] = (),
    profiles: Mapping[str, Sequence[type[Plugin]]] | None = None,
    gates: FeatureGates | None = None,
    stops: bool = False,
) -> AsyncIterator[World]:
    """A scheduler at work with these plugins, after NodeResourcesFit and before DefaultBinder.

    `profiles` has the plugins by schedulerName where one profile is not enough.  A story that
    `stops` the scheduler says so.
    """
    api = FakeApi()
    scheduler = _scheduler(profiles or {PROFILE: plugins}, api, gates or FeatureGates())
    api.tell = scheduler.changed
    for obj in (*nodes, *pods):
        api.show(obj)
    world = World(scheduler, api)
    running = asyncio.create_task(scheduler.run(), name="scheduler")
    try:
        await world.a_moment()
        yield world
        assert stops or not running.done(), "the scheduler has ended by itself"
        await world.a_moment()
        world.check()
    finally:
        scheduler.stop()
        await running
        if not stops:
            await scheduler.close()


def _scheduler(
    profiles: Mapping[str, Sequence[type[Plugin]]], api: FakeApi, gates: FeatureGates
) -> Scheduler:
    chosen: Mapping[str, Sequence[type[Plugin]]] = {
        name: (PrioritySort, NodeResourcesFit, *plugins, DefaultBinder)
        for name, plugins in profiles.items()
    }
    registrations = {
        plugin.name: Registration(
            plugin.name, tuple(points_of(plugin)), "tests", "1", plugin.args_type, plugin
        )
        for plugins in chosen.values()
        for plugin in plugins
    }
    return Scheduler(
        KubeSchedulerConfiguration(pod_initial_backoff_seconds=1, pod_max_backoff_seconds=10),
        [_profile(name, plugins) for name, plugins in chosen.items()],
        registry=Registry(registrations.values(), ()),
        gates=gates,
        outside=api,
        now=virtual_time.now,
        random=Random(1),
    )


def _profile(name: str, plugins: Sequence[type[Plugin]]) -> EffectiveProfile:
    points = {
        point.value: tuple(
            RunningPlugin(plugin.name, 1 if point is ExtensionPoint.SCORE else None)
            for plugin in plugins
            if point in points_of(plugin)
        )
        for point in ExtensionPoint
    }
    return EffectiveProfile(name, points, {})


# Plugins for one purpose.

_BASES: Mapping[str, type[Plugin]] = {
    "post_filter": PostFilterPlugin,
    "reserve": ReservePlugin,
    "unreserve": ReservePlugin,
    "permit": PermitPlugin,
    "pre_bind_pre_flight": PreBindPlugin,
    "pre_bind": PreBindPlugin,
    "bind": BindPlugin,
    "post_bind": PostBindPlugin,
    "events_to_register": EnqueueExtensions,
}
_MAY_WAIT = frozenset({"post_filter", "pre_bind", "bind", "post_bind"})


def make_plugin(name: str, *, calls: list[str] | None = None, **does: Any) -> type[Plugin]:
    """A plugin class that does this: method=answer, or method=function(state, pod, ...).

    What it is asked is written down in `calls`, as "Name method".
    """
    if "reserve" in does:
        does.setdefault("unreserve", None)
    # Unless a test says so, nobody comes back because of this plugin.
    does.setdefault("events_to_register", ())
    if "unreserve" in does:
        does.setdefault("reserve", None)
    if "pre_bind_pre_flight" in does:
        does.setdefault("pre_bind", None)
    bases = tuple(dict.fromkeys(_BASES[method] for method in does))
    methods = {method: _method(name, method, what, calls) for method, what in does.items()}
    return type(name, bases, {"name": name, **methods})


def _method(name: str, method: str, what: Any, calls: list[str] | None) -> Callable[..., Any]:
    def answer(self: Plugin, *args: Any) -> Any:
        if calls is not None and args:
            calls.append(f"{name} {method}")
        if isinstance(what, Exception):
            raise what
        return what(*args) if callable(what) else what

    async def awaited(self: Plugin, *args: Any) -> Any:
        result = answer(self, *args)
        return await result if asyncio.iscoroutine(result) else result

    return awaited if method in _MAY_WAIT else answer


def value(family: Counter, *labels: str) -> float:
    """What a counter or gauge shows with these label values."""
    return dict(family.series())[labels].value


def samples(histogram: Histogram, *labels: str) -> int:
    """How often something was measured, over all series that begin with these label values."""
    return sum(
        sum(series.counts)
        for values, series in histogram.series()
        if values[: len(labels)] == labels
    )
