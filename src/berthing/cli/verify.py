"""berthing verify: replays recorded facts against this installation."""

from __future__ import annotations

import logging
import sys
from collections import Counter

import click

from berthing.cli.main import EXIT_BAD_INPUT
from berthing.cli.tables import table
from berthing.telemetry import logs
from berthing.verify.outcome import Outcome
from berthing.verify.recordings import RecordingError, Replay, replay


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-v", "--verbose", is_flag=True, help="Show each difference, field by field.")
def verify(files: tuple[str, ...], *, verbose: bool) -> None:
    """Replay recorded facts (.jsonl or .jsonl.gz) and compare them with what Berthing says.

    The kind of a file is told from its rows.  Exits 1 if anything differs that is not meant to,
    2 if a file cannot be read.
    """
    # Recorded hints break on purpose; where nobody asked for logs, that is nothing to tell.
    logging.getLogger(logs.ROOT).addHandler(logging.NullHandler())
    replays: list[Replay] = []
    unreadable = False
    for file in files:
        try:
            replays.append(replay(file))
        except RecordingError as error:
            click.echo(f"berthing verify: {error}", err=True)
            unreadable = True
    if replays:
        click.echo(_summary(replays))
    if verbose:
        for done in replays:
            for outcome in done.mismatches:
                click.echo(_differences(done.path, outcome))
    if unreadable:
        sys.exit(EXIT_BAD_INPUT)
    if any(done.mismatches for done in replays):
        sys.exit(1)


def _summary(replays: list[Replay]) -> str:
    text = table(
        (
            (
                done.path,
                str(done.cases),
                str(done.matches),
                str(len(done.mismatches)),
                str(done.on_purpose_cases),
            )
            for done in replays
        ),
        header=("FILE", "CASES", "MATCHES", "MISMATCHES", "ON PURPOSE"),
    )
    for title, counts in (
        (
            "Differs on purpose, by rule (docs/differences.md):",
            [done.on_purpose for done in replays],
        ),
        ("Not checked by this version:", [done.unchecked for done in replays]),
    ):
        lines = [
            (done.path, name, str(count))
            for done, per_name in zip(replays, counts, strict=True)
            for name, count in _sorted(per_name)
        ]
        if lines:
            text += f"\n\n{title}\n" + table(lines, indent="  ")
    return text


def _sorted(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items())


def _differences(path: str, outcome: Outcome) -> str:
    lines = [f"\n{path}: {outcome.name}"]
    for difference in outcome.differences:
        lines.append(f"  {difference.field}")
        lines.append(f"    recorded  {difference.recorded!r}")
        lines.append(f"    ours      {difference.ours!r}")
    return "\n".join(lines)
