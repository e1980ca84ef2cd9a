"""What commands that read a scheduler configuration share: the option for gates, and reading it."""

from __future__ import annotations

import sys

import click

from berthing.config.document import MAX_BYTES
from berthing.config.features import FeatureGates, parse_feature_gates
from berthing.config.findings import Finding, Findings, format_path
from berthing.config.load import Loaded, default, load, load_text
from berthing.scheduler.registry import Registry, discover

STDIN = "-"
STDIN_NAME = "<stdin>"


def _gates(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> FeatureGates:
    findings = Findings()
    gates = parse_feature_gates(texts, findings)
    if gates is None:
        raise click.BadParameter("; ".join(sentence(finding) for finding in findings))
    return gates


feature_gates = click.option(
    "--feature-gates",
    "gates",
    multiple=True,
    callback=_gates,
    metavar="NAME=BOOL,...",
    help="Feature gates as kube-scheduler takes them; may be repeated.",
)


def discovered() -> Registry:
    """All plugins there are; those that cannot be used are warned of."""
    registry = discover()
    for problem in registry.problems:
        click.echo(f"warning: {problem}", err=True)
    return registry


def load_configuration(
    file: str | None, gates: FeatureGates, registry: Registry, *, text: bytes | None = None
) -> Loaded:
    """Read a configuration of any version; without a file, what holds by default.

    `text` is what was read of it before.
    """
    if file is None:
        return default(gates=gates, catalogue=registry.catalogue, args_types=registry.args_types)
    if text is None and file == STDIN:
        text = read_stdin()
    if text is None:
        return load(
            file,
            gates=gates,
            catalogue=registry.catalogue,
            args_types=registry.args_types,
            convert=True,
        )
    return load_text(
        text,
        file=STDIN_NAME if file == STDIN else file,
        gates=gates,
        catalogue=registry.catalogue,
        args_types=registry.args_types,
        convert=True,
    )


def read_stdin() -> bytes:
    """What a configuration from standard input says."""
    # One byte more than is taken, so that what is cut off is not read as the whole.
    return sys.stdin.buffer.read(MAX_BYTES + 1)


def line(file: str, finding: Finding) -> str:
    """A finding in one line, as compilers write them."""
    place = f"{file}:{finding.line}:{finding.column}" if finding.line else file
    return f"{place}: {finding.severity}: {sentence(finding)}"


def sentence(finding: Finding) -> str:
    """A finding without its place in the file."""
    where = f"{format_path(finding.path)}: " if finding.path else ""
    suggestion = f"; {finding.suggestion}" if finding.suggestion else ""
    return f"{where}{finding.message}{suggestion}"
