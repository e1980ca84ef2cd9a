"""Plugins that bring into a run what built-in ones do not do: wait, turn back, break.

    Witness        in every profile: tells which attempts have taken a node, and what became of them
    Doorkeeper     Permit: lets pods wait, and lets them in, turns them back, or forgets them
    Preparation    PreBind: takes its time, turns pods back, raises
    Consideration  PostFilter: takes its time, during which events keep coming, and does nothing

Once all is well they keep nobody from anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Protocol

from berthing.api.pod_info import PodInfo
from berthing.framework import (
    ClusterEventWithHint,
    CycleState,
    EnqueueExtensions,
    NodeToStatus,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    ReservePlugin,
    Status,
    Wait,
    points_of,
)
from berthing.scheduler.registry import Registration, Registry, discover


class Moods(Protocol):
    """What the plugins of one process go by."""

    @property
    def chance(self) -> Random:
        """Decides what they do."""
        ...

    @property
    def is_calm(self) -> bool:
        """Whether they are to keep still."""
        ...

    def took(self, uid: str, node_name: str) -> None:
        """An attempt has taken a node."""
        ...

    def gave_back(self, uid: str) -> None:
        """It has given the node back."""
        ...

    def claims(self, uid: str, node_name: str) -> None:
        """The pod is bound, as far as the scheduler knows."""
        ...


def registry(moods: Moods) -> Registry:
    """Kube-scheduler's own plugins, and these."""
    in_tree = discover(())
    ours = [
        Registration(plugin.name, tuple(points_of(plugin)), "berthing", "", None, plugin)
        for plugin in _plugins(moods)
    ]
    return Registry([*in_tree.registrations.values(), *ours], ())


def _plugins(moods: Moods) -> Sequence[type[Plugin]]:
    chance = moods.chance

    class Witness(ReservePlugin, PostBindPlugin):
        name = "Witness"

        def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
            moods.took(pod.uid, node_name)

        def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
            moods.gave_back(pod.uid)

        async def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
            moods.claims(pod.uid, node_name)

    class Doorkeeper(PermitPlugin, EnqueueExtensions):
        name = "Doorkeeper"

        def events_to_register(self) -> Sequence[ClusterEventWithHint]:
            # Nothing that happens wakes whom it turned away: it wakes them itself.
            return ()

        def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> Wait | Status | None:
            dice = chance.random()
            if moods.is_calm or dice < 0.3:
                return None
            loop = asyncio.get_running_loop()
            if dice < 0.6:
                loop.call_later(4 * chance.random(), self._let_in, pod)
                return Wait(5)
            # Perhaps while it waits still, in which case it is to be woken once it is back.
            loop.call_later(1 + 5 * chance.random(), self._wake, pod)
            if dice < 0.8:
                return Wait(3)
            return Status.unschedulable("the door is shut")

        def _let_in(self, pod: PodInfo) -> None:
            waiting = self.handle.waiting_pod(pod.uid)
            if waiting is not None:
                waiting.allow(self.name)

        def _wake(self, pod: PodInfo) -> None:
            self.handle.activate({pod.key: pod.pod})

    class Preparation(PreBindPlugin):
        name = "Preparation"

        async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
            dice = chance.random()
            if moods.is_calm or dice < 0.5:
                return None
            await asyncio.sleep(3 * chance.random())
            if dice < 0.6:
                raise RuntimeError("preparations went wrong")
            return Status.unschedulable("not prepared") if dice < 0.7 else None

    class Consideration(PostFilterPlugin):
        name = "Consideration"

        async def post_filter(
            self, state: CycleState, pod: PodInfo, filtered: NodeToStatus
        ) -> PostFilterResult:
            if not moods.is_calm:
                await asyncio.sleep(chance.random())
            return PostFilterResult(Status.unschedulable("nothing to be done"))

    return Witness, Doorkeeper, Preparation, Consideration
