"""The demo's outcome, in virtual time; and outcomes that somebody has tampered with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from berthing.cli.demo import Shown
from berthing.demo.outcome import Outcome
from berthing.demo.running import Demo
from berthing.demo.witness import Placement, PodSeen
from berthing.simulate import virtual_time

FEW_NODES = 30


@lru_cache
def shown(*, seed: int = 1, nodes: int = FEW_NODES, begins: float = 0) -> Shown:
    """The demo, played to its end, begun so long after a whole second; not to be changed."""

    async def play() -> Shown:
        await asyncio.sleep(begins)
        world = Demo(nodes, seed=seed, now=virtual_time.now, tell=lambda _: None)
        outcome = await world.run()
        return Shown(outcome, await world.why_pending())

    return virtual_time.run(play())


def the_outcome() -> Outcome:
    return shown().outcome


def first(outcome: Outcome, app: str, number: int = 0) -> PodSeen:
    """A pod of an app that is wanted and has a node."""
    return [each for each in outcome.of(app) if each.is_live and each.placements][number]


def changed(outcome: Outcome, seen: PodSeen, **changes: Any) -> Outcome:
    """The outcome, had one pod fared otherwise."""
    other = replace(seen, **changes)
    pods = tuple(other if each is seen else each for each in outcome.pods)
    return replace(outcome, pods=pods)


def moved(outcome: Outcome, seen: PodSeen, node_name: str, *, at: float | None = None) -> Outcome:
    """The outcome, had one pod been placed elsewhere, or at another time."""
    moment = seen.placements[0].at if at is None else at
    placement = Placement(moment, node_name, outcome.nodes[node_name].node)
    return changed(outcome, seen, placements=[placement])


def node_where(outcome: Outcome, is_so: Callable[[Any], bool]) -> str:
    """A living node of which something is true."""
    return next(name for name, seen in outcome.living_nodes.items() if is_so(seen))
