"""What commands that read a scheduler configuration share: the option for gates, and reading it."""

from __future__ import annotations

import sys

import click

from berthing.config.document import MAX_BYTES, Document, parse_document, read_document
from berthing.config.features import FeatureGates, parse_feature_gates
from berthing.config.findings import Finding, Findings, format_path
from berthing.config.load import Loaded, default, load_document
from berthing.scheduler.registry import Registry, discover

_STDIN = "-"
_STDIN_NAME = "<stdin>"


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


def load_configuration(file: str | None, gates: FeatureGates, registry: Registry) -> Loaded:
    """Read a configuration of any version; without a file, what holds by default."""
    if file is None:
        return default(gates=gates, catalogue=registry.catalogue, args_types=registry.args_types)
    return load_read(read(file), gates, registry)


def read(file: str) -> Document:
    """What a file, or standard input, says."""
    if file != _STDIN:
        return read_document(file)
    # One byte more than is taken, so that what is cut off is not read as the whole.
    return parse_document(sys.stdin.buffer.read(MAX_BYTES + 1), file=_STDIN_NAME)


def load_read(document: Document, gates: FeatureGates, registry: Registry) -> Loaded:
    """What a document comes to; a pipe can be read but once."""
    return load_document(
        document,
        gates=gates,
        catalogue=registry.catalogue,
        args_types=registry.args_types,
        convert=True,
    )


def line(file: str, finding: Finding) -> str:
    """A finding in one line, as compilers write them."""
    place = f"{file}:{finding.line}:{finding.column}" if finding.line else file
    return f"{place}: {finding.severity}: {sentence(finding)}"


def sentence(finding: Finding) -> str:
    """A finding without its place in the file."""
    where = f"{format_path(finding.path)}: " if finding.path else ""
    suggestion = f"; {finding.suggestion}" if finding.suggestion else ""
    return f"{where}{finding.message}{suggestion}"
