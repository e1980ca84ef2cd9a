"""The command `berthing`: finds the command that was asked for, and ends without a traceback."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Mapping

import click

from berthing import __version__

EXIT_BAD_INPUT = 2


class LazyGroup(click.Group):
    """A group that imports a command when it is run, so that --help stays quick."""

    def __init__(self, *, commands_at: Mapping[str, str], name: str, help: str) -> None:  # noqa: A002 - click's own word
        super().__init__(name=name, help=help)
        self._commands_at = commands_at

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order they were given: most wanted first."""
        return list(self._commands_at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command."""
        if cmd_name not in self._commands_at:
            return None
        module, attribute = self._commands_at[cmd_name].split(":")
        command: object = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{module}:{attribute} is not a command")
        return command


cli = LazyGroup(
    name="berthing",
    help="kube-scheduler in Python: same configuration, same decisions, plugins as Python packages.",
    commands_at={
        "demo": "berthing.cli.demo:demo",
        "run": "berthing.cli.run:run",
        "explain": "berthing.cli.explain:explain",
        "config": "berthing.cli.config:config",
        "plugins": "berthing.cli.plugins:plugins",
        "verify": "berthing.cli.verify:verify",
        "bench": "berthing.cli.bench:bench",
    },
)
cli = click.version_option(__version__, package_name="berthing", message="berthing %(version)s")(
    cli
)


def main() -> None:
    """Run the command line; the exit code is the command's."""
    try:
        cli(prog_name="berthing")
    except BrokenPipeError:
        # Whoever read our output has seen enough (`| head`).  Python would complain once more
        # when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 - the end of the program: users get a line, not a traceback
        if os.environ.get("BERTHING_TRACEBACK"):
            traceback.print_exc()
        else:
            click.echo(
                f"berthing: this is a mistake in Berthing: {type(error).__name__}: {error}\n"
                "Set BERTHING_TRACEBACK=1 to see where, and please report it.",
                err=True,
            )
        sys.exit(70)
