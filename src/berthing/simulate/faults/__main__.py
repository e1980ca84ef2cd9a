"""The command: runs seed after seed, and stops to tell of the first that breaks a promise."""

from __future__ import annotations

import sys
import time

import click

from berthing.simulate.faults.world import Outcome, simulate


@click.command()
@click.option("--seeds", type=click.IntRange(1), default=200, show_default=True, help="How many.")
@click.option("--first-seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("-v", "--verbose", is_flag=True, help="Tell all that happens.")
def main(*, seeds: int, first_seed: int, verbose: bool) -> None:
    """Schedule simulated clusters in which all goes wrong that can, one per seed.

    Exits 1 after the first run in which something is lost, bound twice or overfilled.
    """
    started = time.perf_counter()
    bound = steps = 0
    virtual = 0.0
    for seed in range(first_seed, first_seed + seeds):
        outcome = simulate(seed, click.echo if verbose else None)
        if not outcome.is_good:
            report(outcome, shown=verbose)
            sys.exit(1)
        bound += outcome.bound
        steps += outcome.steps
        virtual += outcome.time
    seconds = time.perf_counter() - started
    click.echo(
        f"{seeds} seeds from {first_seed}: all promises kept; {bound} pods bound, {steps} steps, "
        f"{virtual / 3600:.1f} h of virtual time in {seconds:.1f} s"
    )


def report(outcome: Outcome, *, shown: bool) -> None:
    """Tell what was broken, and how to see it again."""
    if not shown:
        click.echo("...")
        for line in outcome.last:
            click.echo(line)
    click.echo(f"\nseed {outcome.seed}: broken after {outcome.time:.3f} s, step {outcome.steps}:")
    for problem in outcome.problems:
        click.echo(f"  {problem}")
    click.echo(
        f"again: python -m berthing.simulate.faults --first-seed {outcome.seed} --seeds 1 -v"
    )


if __name__ == "__main__":
    main()
