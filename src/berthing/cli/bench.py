"""berthing bench: how fast this installation is, on this machine."""

from __future__ import annotations

import click


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
