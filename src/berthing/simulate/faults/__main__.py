"""The command: runs seed after seed, and stops to tell of the first that breaks a promise."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext

import click

from berthing.simulate.faults.safeguards import SAFEGUARDS
from berthing.simulate.faults.world import Outcome, simulate


@click.command()
@click.option("--seeds", type=click.IntRange(1), default=200, show_default=True, help="How many.")
@click.option("--first-seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--without",
    type=click.Choice(tuple(SAFEGUARDS)),
    metavar="SAFEGUARD",
    help="Take away a part of the scheduler, to see a promise broken: "
    + ", ".join(SAFEGUARDS)
    + ".",
)
@click.option("-v", "--verbose", is_flag=True, help="Tell all that happens.")
def main(*, seeds: int, first_seed: int, without: str | None, verbose: bool) -> None:
    """Schedule simulated clusters in which all goes wrong that can, one per seed.

    Exits 1 after the first run in which a promise is broken, having told what happened, and how to
    see it again.
    """
    with SAFEGUARDS[without].taken_away() if without else nullcontext():
        run(range(first_seed, first_seed + seeds), without=without, verbose=verbose)


def run(seeds: Sequence[int], *, without: str | None, verbose: bool) -> None:
    """Run one seed after the other."""
    started = time.perf_counter()
    bound = steps = 0
    virtual = 0.0
    for seed in seeds:
        outcome = simulate(seed, click.echo if verbose else None)
        if not outcome.is_good:
            report(outcome, without=without, shown=verbose)
            sys.exit(1)
        bound += outcome.bound
        steps += outcome.steps
        virtual += outcome.time
    seconds = time.perf_counter() - started
    click.echo(
        f"{len(seeds)} seeds from {seeds[0]}: all promises kept; {bound} pods bound, {steps} steps, "
        f"{virtual / 3600:.1f} h of virtual time in {seconds:.1f} s"
    )


def report(outcome: Outcome, *, without: str | None, shown: bool) -> None:
    """Tell what was broken, and how to see it again."""
    if not shown:
        click.echo("...")
        for line in outcome.last:
            click.echo(line)
    click.echo(f"\nseed {outcome.seed}: broken after {outcome.time:.3f} s, step {outcome.steps}:")
    for problem in outcome.problems:
        click.echo(f"  {problem}")
    click.echo(f"again: {replay(outcome.seed, without)}")


def replay(seed: int, without: str | None) -> str:
    """The command that shows a run again."""
    command = f"python -m berthing.simulate.faults --first-seed {seed} --seeds 1 -v"
    return f"{command} --without {without}" if without else command


if __name__ == "__main__":
    main()
