"""Runs a command line in this process, as a user would see it."""

from __future__ import annotations

from click.testing import CliRunner, Result

from berthing.cli.main import cli


def run(*words: str, stdin: str | bytes | None = None) -> Result:
    """The outcome of `berthing WORDS...`; whatever is raised beyond an exit is raised here."""
    return CliRunner().invoke(
        cli, list(words), input=stdin, prog_name="berthing", catch_exceptions=False
    )
