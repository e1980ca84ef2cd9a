"""A profile ready to schedule: its plugins made, each at its extension points, in running order.

The configuration's reader has already said everything that is wrong with names, points and
arguments.  What is left to go wrong here is the making: a plugin's own constructor may refuse.

Upstream: pkg/scheduler/framework/runtime/framework.go NewFramework (v1.36.4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from berthing.config.profile import RunningPlugin
from berthing.framework import (
    DEFAULT_EVENTS,
    ClusterEventWithHint,
    EnqueueExtensions,
    ExtensionPoint,
    FilterPlugin,
    Handle,
    PermitPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    ReservePlugin,
)
from berthing.framework.cluster_events import completed
from berthing.queue.scheduling_queue import QueueingProfile
from berthing.scheduler.registry import Registry

T = TypeVar("T")

# What a plugin can send a pod back with, to wait for events.
_REJECTING = (PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, ReservePlugin, PermitPlugin)


class ProfileError(Exception):
    """Plugins of a profile cannot be made; one line for each."""

    def __init__(self, profile_name: str, problems: Sequence[str]) -> None:
        super().__init__("\n".join(f"profile {profile_name}: {problem}" for problem in problems))
        self.problems = tuple(problems)


class Profile:
    """One schedulerName: plugins by point in running order, and what their scores count for."""

    def __init__(
        self,
        name: str,
        plugins: Mapping[str, Plugin],
        points: Mapping[ExtensionPoint, tuple[Plugin, ...]],
        score_weights: Mapping[str, int],
    ) -> None:
        self.name = name
        self.plugins = plugins
        self.points = points
        self.score_weights = score_weights

    def events(self) -> Mapping[str, tuple[ClusterEventWithHint, ...]]:
        """Which events may help the pods of each plugin that could reject one.

        A plugin that says nothing of it is woken by all; one that says "none", by none.  As in
        upstream it is heard as well where the profile has it only score, which costs nothing:
        no pod waits for it.
        """
        rejecting = {
            name: plugin for name, plugin in self.plugins.items() if isinstance(plugin, _REJECTING)
        }
        return {
            name: completed(tuple(plugin.events_to_register()))
            if isinstance(plugin, EnqueueExtensions)
            else DEFAULT_EVENTS
            for name, plugin in rejecting.items()
        }

    def queueing(self) -> QueueingProfile:
        """What of the profile concerns the queue."""
        return QueueingProfile(self.at(ExtensionPoint.PRE_ENQUEUE, PreEnqueuePlugin), self.events())

    def at(self, point: ExtensionPoint, kind: type[T]) -> tuple[T, ...]:
        """The plugins of a point, as what the point makes them."""
        return tuple(plugin for plugin in self.points[point] if isinstance(plugin, kind))

    @property
    def pre_filter_extensions(self) -> tuple[PreFilterExtensions, ...]:
        """PreFilter plugins that keep up with pods that come and go in a what-if."""
        return tuple(
            plugin
            for plugin in self.points[ExtensionPoint.PRE_FILTER]
            if isinstance(plugin, PreFilterExtensions)
        )

    async def close(self) -> None:
        """Close all plugins, the last made first."""
        for plugin in reversed(list(self.plugins.values())):
            await plugin.close()


def assemble(
    name: str,
    running: Mapping[str, Sequence[RunningPlugin]],
    args: Mapping[str, msgspec.Struct],
    *,
    registry: Registry,
    handle: Handle,
) -> Profile:
    """Make each plugin of a profile once and put it at its points; ProfileError tells all failures.

    running  extension point -> plugins in order, from the configuration
    args     plugin -> its decoded arguments
    """
    names = dict.fromkeys(plugin.name for plugins in running.values() for plugin in plugins)
    made: dict[str, Plugin] = {}
    problems: list[str] = []
    for plugin_name in names:
        try:
            made[plugin_name] = _make(plugin_name, args.get(plugin_name), registry, handle)
        except _CannotMakeError as error:
            problems.append(str(error))
    if problems:
        raise ProfileError(name, problems)
    return Profile(
        name,
        made,
        {
            point: tuple(made[plugin.name] for plugin in running.get(point, ()))
            for point in ExtensionPoint
        },
        {plugin.name: plugin.weight or 1 for plugin in running.get(ExtensionPoint.SCORE, ())},
    )


class _CannotMakeError(Exception):
    """Why a plugin could not be made."""


def _make(name: str, args: msgspec.Struct | None, registry: Registry, handle: Handle) -> Plugin:
    registration = registry.registrations.get(name)
    if registration is None:
        raise _CannotMakeError(f"plugin {name} does not exist")
    if registration.plugin is None:
        raise _CannotMakeError(f"plugin {name} is not run by this version of Berthing yet")
    try:
        if args is None and registration.args_type is not None:
            args = registration.args_type()
        return registration.plugin(args, handle)
    except Exception as error:
        raise _CannotMakeError(
            f'initializing plugin "{name}" ({registration.package} {registration.version}): '
            f"{type(error).__name__}: {error}"
        ) from error
