"""`berthing demo` as a person sees it: on a terminal, in a pipe, in other encodings, interrupted."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest

from berthing.cli import demo as command
from berthing.cli.demo import Shown, play, show
from berthing.cli.terminal import look_for
from berthing.simulate import virtual_time
from cli.run import run
from demo.outcomes import FEW_NODES, shown

DEMO = (sys.executable, "-m", "berthing", "demo", "--nodes", str(FEW_NODES))
# Whoever runs the tests in the background has them ignore Ctrl-C, and all that they start.
HEEDING_CTRL_C = (
    sys.executable,
    "-c",
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])",
)
CODES = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    """A terminal with UTF-8."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """What it shows in the end, and all that has scrolled away."""
        screen = [""]
        for part in re.split(r"(\x1b\[\d+F|\x1b\[J|\n)", CODES.sub("", self.getvalue())):
            if part == "\n":
                screen.append("")
            elif part == "\x1b[J" or not part:
                continue
            elif up := re.fullmatch(r"\x1b\[(\d+)F", part):
                # What is below is erased at once.
                del screen[len(screen) - 1 - int(up[1]) :]
                screen.append("")
            else:
                screen[-1] += part
        return screen


def tampered() -> Shown:
    """An outcome with a pod less than there should be."""
    good = shown()
    return Shown(replace(good.outcome, pods=good.outcome.pods[1:]), good.report)


def text_of(what: Shown, encoding: str = "utf-8") -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    show(what, out=out, look=look_for(out, {}))
    out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    return out.buffer.getvalue().decode(encoding)


def test_for_real_in_a_pipe() -> None:
    done = subprocess.run(DEMO, capture_output=True, text=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 80
    assert done.stdout.splitlines()[-1] == "All 11 checks passed."
    for said in ("30 nodes join", "dies, with", "Placement", "Why default/trainer waits"):
        assert said in done.stdout


def test_ctrl_c_ends_it_without_a_traceback() -> None:
    demo_heeding = (*HEEDING_CTRL_C, *DEMO)
    with subprocess.Popen(
        demo_heeding, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as demo:
        assert demo.stdout is not None
        assert "nodes join" in demo.stdout.readline()
        demo.send_signal(signal.SIGINT)
        _, errors = demo.communicate()
    assert (demo.returncode, errors) == (130, "berthing demo: interrupted\n")


def test_a_wrong_placement_fails_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def comes_out_wrong(main: Coroutine[Any, Any, Shown]) -> Shown:
        main.close()
        return tampered()

    monkeypatch.setattr(command, "run_loop", comes_out_wrong)
    result = run("demo", "--nodes", str(FEW_NODES))
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "1 of 11 checks failed."
    assert re.search(r"✗ all pods placed, each once +web: 53 of 54\n", result.stdout)


def test_a_right_one_does_not() -> None:
    text = text_of(shown())
    assert text.splitlines()[-1] == "All 11 checks passed."
    assert text.count("✓") == 11
    assert "✗" not in text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_where_blocks_cannot_be_written_signs_of_ascii_stand_for_them(encoding: str) -> None:
    text = text_of(tampered(), encoding)
    assert text.isascii()
    assert text.count("  ok ") == 10
    assert "  X  all pods placed" in text
    assert "####" in text


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, *, lines: int = 24, **environ: str) -> Terminal:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", str(lines))
    out = Terminal()
    look = look_for(out, environ)
    virtual_time.run(play(FEW_NODES, 1, out=out, look=look, now=virtual_time.now))
    show(shown(), out=out, look=look)
    return out


def test_on_a_terminal_the_cluster_is_drawn_below_what_happens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = on_a_terminal(monkeypatch)
    drawn = CODES.sub("", out.getvalue())
    assert re.search(r"\n  zone-b  -[▁-█]+![▁-█!]*  +\d+% cpu\n", drawn), "a silent node"
    assert re.search(r"\n  zone-b  -[▁-█]+x[▁-█]*  +\d+% cpu\n", drawn), "one that is gone"
    assert re.search(r"\d placed, \d+ waiting, 12 gated, \d+ ended\n", drawn)
    # In the end nothing of it is left: what is told stands there once, and in order.
    text = "\n".join(out.lines())
    assert "% cpu" not in text
    assert text.count("30 nodes join") == text.count("jobs are done") == 1
    assert all(len(line) < 80 for line in out.lines())


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[1mPlacement" in on_a_terminal(monkeypatch).getvalue()
    assert not CODES.search(on_a_terminal(monkeypatch, NO_COLOR="1").getvalue())
    assert not CODES.search(on_a_terminal(monkeypatch, TERM="dumb").getvalue())


def test_a_terminal_of_few_lines_shows_what_happens_and_nothing_that_moves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "% cpu" not in on_a_terminal(monkeypatch, lines=8).getvalue()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--nodes", "3"), "3 is not in the range 30<=x<=500"),
        (("--nodes", "many"), "'many' is not a valid integer"),
        (("--seed", "x"), "'x' is not a valid integer"),
        (("now",), "unexpected extra argument"),
    ],
)
def test_what_cannot_be_asked_for(words: tuple[str, ...], said: str) -> None:
    result = run("demo", *words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert os.linesep + "Error" in os.linesep + result.stderr
