"""berthing demo: the whole scheduler at work in a cluster in memory, before your eyes."""

from __future__ import annotations

import asyncio
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

import click
import msgspec

from berthing.cli.demo_text import snapshot, summary, verdict, wrapped
from berthing.cli.event_loop import run_loop
from berthing.cli.explain_text import short_text
from berthing.cli.live_region import LiveRegion, columns, has_room
from berthing.cli.terminal import Look, look_for
from berthing.demo.checks import checks
from berthing.demo.machines import FEWEST
from berthing.demo.outcome import Outcome
from berthing.demo.running import Demo
from berthing.explain.report import Report

_DRAW_SECONDS = 0.1
_MOST_NODES = 500
_CLOSEST = 2
# What a shell says of a program that Ctrl-C has ended.
_EXIT_INTERRUPTED = 130


class Shown(msgspec.Struct, frozen=True):
    """What the demo has to show once it is over."""

    outcome: Outcome
    report: Report


@click.command()
@click.option(
    "--nodes",
    type=click.IntRange(FEWEST, _MOST_NODES),
    default=100,
    show_default=True,
    help="How many nodes; about ten times as many pods come.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="What is left to chance: which node dies, how long pods take to start, ties.",
)
def demo(*, nodes: int, seed: int) -> None:
    """Schedule a cluster in memory, and check every placement.

    Nodes join, services and a database come, jobs wait for room, a node dies, and one pod cannot
    fit.  All of it is real but the machines: API server, scheduler, controllers, in real time.

    Exits 0 if every placement is as it should be, 1 if not, 130 after Ctrl-C.
    """
    look = look_for(sys.stdout)
    try:
        shown = run_loop(play(nodes, seed, out=sys.stdout, look=look, now=time.time))
    except KeyboardInterrupt:
        click.echo("berthing demo: interrupted", err=True)
        sys.exit(_EXIT_INTERRUPTED)
    except BaseExceptionGroup as group:
        raise _cause(group) from group
    if not show(shown, out=sys.stdout, look=look):
        sys.exit(1)


async def play(
    nodes: int, seed: int, *, out: TextIO, look: Look, now: Callable[[], float]
) -> Shown:
    """Let the story happen, and tell it as it goes."""
    lines = _Lines(out, look)
    world = Demo(nodes, seed=seed, now=now, tell=lines.tell)
    lines.world = world
    drawing = asyncio.create_task(lines.draw(), name="drawing")
    try:
        outcome = await world.run()
        report = await world.why_pending()
    finally:
        drawing.cancel()
        with suppress(asyncio.CancelledError):
            await drawing
        lines.close()
    return Shown(outcome, report)


def show(shown: Shown, *, out: TextIO, look: Look) -> bool:
    """Say what came of it; true if all is as it should be."""
    checked = checks(shown.outcome)
    title = look.paint(f"Why {shown.report.pod_key} waits", "bold")
    width = columns(out)
    why = wrapped(short_text(shown.report, most_nodes=_CLOSEST), width)
    parts = (
        summary(shown.outcome, checked, look, width=width),
        f"{title}\n{why}",
        verdict(checked, look),
    )
    out.write("\n" + "\n\n".join(parts) + "\n")
    return all(check.passed for check in checked)


class _Lines:
    """What is told while it runs: line by line, and on a terminal with the cluster below."""

    def __init__(self, out: TextIO, look: Look) -> None:
        self._out = out
        self._look = look
        self._region = LiveRegion(out, self._now) if has_room(out) else None
        self.world: Demo | None = None

    def tell(self, text: str) -> None:
        """Tell what happens."""
        seconds = self.world.seconds if self.world else 0.0
        width = columns(self._out)
        first, *others = textwrap.wrap(text, max(width - 10, 20))
        for line in (f"{seconds:6.1f} s  {first}", *(f"{'':10}{other}" for other in others)):
            if self._region:
                self._region.tell(line)
            else:
                self._out.write(f"{line}\n")
                self._out.flush()

    async def draw(self) -> None:
        """Draw the cluster until cancelled."""
        while self._region:
            self._region.draw()
            await asyncio.sleep(_DRAW_SECONDS)

    def close(self) -> None:
        """Leave the lines that stay."""
        if self._region:
            self._region.close()

    def _now(self, width: int) -> list[str]:
        if self.world is None:
            return []
        return list(
            snapshot(self.world.witness, self._look, seconds=self.world.seconds, width=width)
        )


def _cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong first: the other tasks ended because of it."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
