"""berthing bench: how fast this installation is, on this machine."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

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
# As `berthing.bench.drain.workloads` has them.
DRAIN_WORKLOAD_NAMES = (*WORKLOAD_NAMES, "preferred-zone-affinity")


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


@bench.command()
@click.option("--real", is_flag=True, help="On etcd and kube-apiserver of our own; needs Go.")
@click.option(
    "--kubeconfig",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="On this control plane, which must have no nodes of its own.",
)
@click.option("--nodes", type=click.IntRange(min=3), default=5_000, show_default=True)
@click.option("--pods", type=click.IntRange(min=10), default=10_000, show_default=True)
@click.option(
    "--running",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Pods that run when the schedulers start.",
)
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option(
    "--workload",
    "workloads",
    type=click.Choice(DRAIN_WORKLOAD_NAMES),
    multiple=True,
    default=("plain",),
    show_default=True,
    help="What the pods are like; may be given several times.",
)
@click.option(
    "--scheduler",
    "schedulers",
    metavar="COMMAND",
    multiple=True,
    help="Who is measured: berthing, kube-scheduler (with --real), or a command with {config} for"
    " the configuration and perhaps {kubeconfig}; two are compared. By default berthing, and"
    " with --real kube-scheduler.",
)
def drain(
    *,
    real: bool,
    kubeconfig: Path | None,
    nodes: int,
    pods: int,
    running: int,
    rounds: int,
    workloads: tuple[str, ...],
    schedulers: tuple[str, ...],
) -> None:
    """Measure how fast schedulers empty a queue on a real API server, and what it costs them."""
    if real == (kubeconfig is not None):
        raise click.UsageError("say where to measure: either --real or --kubeconfig FILE")

    from berthing.api.errors import ClientError
    from berthing.bench.drain.errors import DrainError
    from berthing.bench.drain.measure import Plan
    from berthing.bench.drain.run import run

    plan = Plan(nodes=nodes, pods=pods, running=running, rounds=rounds, workloads=workloads)
    try:
        asyncio.run(
            run(
                plan,
                kubeconfig=kubeconfig,
                schedulers=schedulers
                or (("berthing", "kube-scheduler") if real else ("berthing",)),
                tell=lambda text: click.echo(text, err=True),
                show=click.echo,
            )
        )
    except (DrainError, ClientError) as error:
        click.echo(f"berthing bench drain: {error}", err=True)
        sys.exit(1)
