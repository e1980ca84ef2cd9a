"""berthing config: is a configuration right, what does it mean, and how does an old one read today."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

import click
import msgspec

from berthing.cli.loading import (
    discovered,
    feature_gates,
    line,
    load_configuration,
    load_read,
    read,
)
from berthing.cli.main import EXIT_BAD_INPUT
from berthing.cli.tables import table
from berthing.config.document import Document
from berthing.config.effective import args_object, effective_yaml, yaml_text
from berthing.config.features import FeatureGates
from berthing.config.findings import Finding, Findings, format_path
from berthing.config.load import EffectiveProfile, Loaded
from berthing.config.v1 import API_VERSION


@click.group()
def config() -> None:
    """Check, show, migrate and describe scheduler configurations."""


@config.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@feature_gates
def check(files: tuple[str, ...], output: str, gates: FeatureGates) -> None:
    """Find everything that is wrong in configuration files; - stands for standard input.

    Exits 1 if there is an error.  Warnings are for what kube-scheduler accepts though it is
    hardly meant.
    """
    registry = discovered()
    loaded = [load_configuration(file, gates, registry) for file in files]
    if output == "json":
        found = [_as_json(each.file, finding) for each in loaded for finding in each.findings]
        click.echo(msgspec.json.format(msgspec.json.encode(found)))
    else:
        for each in loaded:
            click.echo(_report(each))
    if not all(each.ok for each in loaded):
        sys.exit(1)


@config.command()
@click.argument("file", required=False)
@click.option(
    "-o", "--output", type=click.Choice(["table", "yaml"]), default="table", show_default=True
)
@feature_gates
def show(file: str | None, output: str, gates: FeatureGates) -> None:
    """Show what runs at each extension point, in order, with weights, args and origin.

    Without FILE, what runs by default.  With -o yaml, the complete configuration in v1, every
    default filled in.
    """
    registry = discovered()
    loaded = load_configuration(file, gates, registry)
    for finding in loaded.findings:
        click.echo(line(loaded.file, finding), err=True)
    if loaded.config is None:
        sys.exit(1)
    if output == "yaml":
        click.echo(effective_yaml(loaded.config, registry.catalogue.keys()), nl=False)
    else:
        click.echo("\n\n".join(_profile(profile) for profile in loaded.profiles))


@config.command()
@click.argument("file")
@feature_gates
def migrate(file: str, gates: FeatureGates) -> None:
    """Print the v1 equivalent of an older configuration or of a Policy file.

    What cannot carry over, or means something else today, is told on standard error.
    """
    from berthing.config import legacy

    document = read(file)
    if document.value is not None and not legacy.is_legacy(document.value):
        _refuse_to_migrate(document)
    loaded = load_read(document, gates, discovered())
    for finding in loaded.findings:
        click.echo(line(loaded.file, finding), err=True)
    converted = legacy.convert(document, Findings()) if loaded.ok else None
    if converted is None:
        sys.exit(1)
    click.echo(yaml_text(converted.value), nl=False)


@config.command()
def schema() -> None:
    """Print a JSON Schema for editors, with the args of all installed plugins."""
    from berthing.config.schema import schema as make_schema

    registry = discovered()
    click.echo(msgspec.json.format(msgspec.json.encode(make_schema(registry.args_types))))


def _refuse_to_migrate(document: Document) -> None:
    """Say why there is nothing to migrate: it is v1 already, or nothing that is known."""
    tree = document.value
    is_v1 = isinstance(tree, dict) and tree.get("apiVersion") == API_VERSION
    reason = (
        f"nothing to migrate, this is {API_VERSION}"
        if is_v1
        else "neither an older KubeSchedulerConfiguration nor a Policy; see apiVersion and kind"
    )
    click.echo(f"{document.file}: {reason}", err=True)
    sys.exit(EXIT_BAD_INPUT)


def _report(loaded: Loaded) -> str:
    lines = [line(loaded.file, finding) for finding in loaded.findings]
    if loaded.ok:
        names = ", ".join(profile.scheduler_name for profile in loaded.profiles)
        lines.append(f"{loaded.file}: ok, profiles: {names}")
    else:
        errors = sum(finding.is_error for finding in loaded.findings)
        lines.append(f"{loaded.file}: {errors} error{'s' if errors > 1 else ''}")
    return "\n".join(lines)


def _as_json(file: str, finding: Finding) -> dict[str, object]:
    return {
        "file": file,
        "line": finding.line,
        "column": finding.column,
        "path": format_path(finding.path),
        "severity": finding.severity,
        "message": finding.message,
        "suggestion": finding.suggestion,
    }


def _profile(profile: EffectiveProfile) -> str:
    running = table(
        (
            (
                point if first else "",
                plugin.name,
                "-" if plugin.weight is None else str(plugin.weight),
                str(plugin.origin),
            )
            for point, plugins in profile.plugins.items()
            for first, plugin in _marked(plugins)
        ),
        header=("POINT", "PLUGIN", "WEIGHT", "FROM"),
        indent="  ",
    )
    args = table(
        (
            (name, msgspec.json.encode(args_object(name, given)).decode())
            for name, given in profile.args.items()
        ),
        header=("ARGS OF", ""),
        indent="  ",
    )
    return f"profile {profile.scheduler_name}\n{running}\n\n{args}".rstrip()


T = TypeVar("T")


def _marked(items: Iterable[T]) -> Iterable[tuple[bool, T]]:
    """Each item, and whether it is the first."""
    return ((number == 0, item) for number, item in enumerate(items))
