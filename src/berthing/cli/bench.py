"""berthing bench: how fast this installation is, on this machine."""

from __future__ import annotations

import click

# As `berthing.bench.engine_workloads` has them: not imported, so that --help stays quick.
WORKLOAD_NAMES = (
    "plain",
    "node-affinity",
    "required-spread",
    "preferred-spread",
    "required-affinity",
    "anti-affinity",
    "preferred-affinity",
)


@click.group()
def bench() -> None:
    """Measure how fast Berthing is, on this machine."""


@bench.command()
@click.option("--nodes", type=click.IntRange(min=1), default=5_000, show_default=True)
@click.option("--pods", type=click.IntRange(min=1), default=50_000, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
def decode(nodes: int, pods: int, rounds: int) -> None:
    """Decode the lists of nodes and pods that an API server sends."""
    from berthing.bench.decode import run

    click.echo(run(nodes=nodes, pods=pods, rounds=rounds).report())


@bench.command()
@click.option("--nodes", type=click.IntRange(min=3), default=5_000, show_default=True)
@click.option("--pods", type=click.IntRange(min=0), default=10_000, show_default=True)
@click.option("--cycles", type=click.IntRange(min=1), default=1_000, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True)
@click.option(
    "--workload",
    "workloads",
    type=click.Choice(WORKLOAD_NAMES),
    multiple=True,
    help="Measure only this; may be given several times.",
)
def engine(nodes: int, pods: int, cycles: int, rounds: int, workloads: tuple[str, ...]) -> None:
    """Time scheduling cycles, in memory, for several kinds of pods and sizes of clusters."""
    from berthing.bench.engine import run

    figures = run(nodes=nodes, pods=pods, cycles=cycles, rounds=rounds, workloads=workloads)
    click.echo(figures.report())
