from __future__ import annotations

import os
import subprocess
import sys

import pytest

from berthing import __version__
from cli.run import run

COMMANDS = ["config", "plugins", "verify", "bench"]


def test_help_lists_the_commands() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert [name for name in COMMANDS if f"\n  {name} " in result.output] == COMMANDS


def test_version() -> None:
    assert run("--version").output == f"berthing {__version__}\n"


def test_a_misspelt_command_is_named() -> None:
    result = run("confg")
    assert result.exit_code == 2
    assert "No such command 'confg'" in result.output


@pytest.mark.parametrize("traceback", ["", "1"])
def test_a_mistake_of_ours_is_one_line_unless_asked(traceback: str) -> None:
    code = "import berthing.cli.main as m\nm.cli = lambda **_: 1 / 0\nm.main()\n"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "BERTHING_TRACEBACK": traceback},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 70
    assert ("Traceback" in done.stderr) is bool(traceback)
    assert "ZeroDivisionError" in done.stderr


def test_a_reader_that_went_away_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -m berthing config schema | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == "{\n"
