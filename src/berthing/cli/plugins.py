"""berthing plugins: which plugins a configuration may name."""

from __future__ import annotations

import sys

import click
import msgspec

from berthing.cli.tables import table
from berthing.scheduler.registry import Registration, Registry, discover


@click.command()
@click.option(
    "-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True
)
def plugins(output: str) -> None:
    """List the plugins there are: kube-scheduler's own, and those of installed packages.

    Exits 1 if an installed package offers a plugin that cannot be used.
    """
    registry = discover()
    click.echo(_json(registry) if output == "json" else _table(registry))
    for problem in registry.problems:
        click.echo(f"berthing plugins: {problem}", err=True)
    if registry.problems:
        sys.exit(1)


def _table(registry: Registry) -> str:
    return table(
        (
            (
                item.name,
                _runs(item),
                item.package,
                item.version,
                item.args_type.__name__ if item.args_type else "-",
                ", ".join(item.points),
            )
            for item in registry.registrations.values()
        ),
        header=("NAME", "RUNS", "PACKAGE", "VERSION", "ARGS", "EXTENSION POINTS"),
    )


def _runs(item: Registration) -> str:
    if item.plugin is None:
        return "not yet"
    return "yes" if item.is_complete else "in part"


def _json(registry: Registry) -> str:
    listed = [_fields(item) for item in registry.registrations.values()]
    return msgspec.json.format(msgspec.json.encode(listed)).decode()


def _fields(item: Registration) -> dict[str, object]:
    return {
        "name": item.name,
        "runs": _runs(item),
        "package": item.package,
        "version": item.version,
        "args": item.args_type.__name__ if item.args_type else None,
        "extensionPoints": list(item.points),
    }
