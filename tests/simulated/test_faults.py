"""Whole clusters in which all goes wrong that can: no pod is lost, bound twice, or put where it does not fit."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner

from berthing.simulate.faults.__main__ import main
from berthing.simulate.faults.safeguards import SAFEGUARDS
from berthing.simulate.faults.world import simulate

# `python -m berthing.simulate.faults --seeds 2000` runs more of them.
_SEEDS = 200
_PER_TEST = 10
_SHOWN_BY = {
    "look-up": 2,
    "uid": 3,
    "in-flight": 3,
    "backoff": 2,
    "relist": 1,
    "old-news": 8,
    "deletions": 8,
    "settle": 16,
}


@pytest.mark.parametrize("first", range(0, _SEEDS, _PER_TEST))
def test_all_promises_are_kept(first: int) -> None:
    for seed in range(first, first + _PER_TEST):
        outcome = simulate(seed)
        assert not outcome.problems, (
            f"python -m berthing.simulate.faults --first-seed {seed} --seeds 1 -v"
        )


@pytest.mark.parametrize("name", SAFEGUARDS)
def test_without_a_safeguard_a_promise_is_broken(name: str) -> None:
    # Those that are known to show it come first; if they do not any more, others will.
    seeds = dict.fromkeys((_SHOWN_BY.get(name, 0), *range(60)))
    with SAFEGUARDS[name].taken_away():
        assert any(not simulate(seed).is_good for seed in seeds)


def test_a_safeguard_is_back_once_it_was_taken_away() -> None:
    with SAFEGUARDS["assume"].taken_away():
        pass
    assert simulate(0).is_good


def test_one_seed_gives_one_run() -> None:
    here = [simulate(seed).digest for seed in (1, 2)]
    assert [simulate(seed).digest for seed in (1, 2)] == here
    # Nor does it depend on how a process orders its sets.
    program = (
        "from berthing.simulate.faults.world import simulate;"
        "print(*(simulate(seed).digest for seed in (1, 2)))"
    )
    for hash_seed in ("1", "2"):
        there = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert there.stdout.split() == here


def test_seeds_differ() -> None:
    assert len({simulate(seed).digest for seed in range(4)}) == 4


def test_the_command_tells_what_it_did() -> None:
    result = CliRunner().invoke(main, ["--first-seed", "2", "--seeds", "2"])
    assert result.exit_code == 0
    assert re.match(
        r"2 seeds from 2: all promises kept; \d+ pods bound, \d+ steps, ", result.output
    )


def test_a_broken_promise_is_told_with_the_command_that_shows_it_again() -> None:
    result = CliRunner().invoke(main, ["--seeds", "30", "--without", "give-back"])
    assert result.exit_code == 1
    assert "is lost: it neither waits nor is it being bound" in result.output
    program, _, command = result.output.splitlines()[-1].partition(" berthing.simulate.faults ")
    assert program == "again: python -m"
    again = CliRunner().invoke(main, shlex.split(command))
    assert again.exit_code == 1
    assert again.output.splitlines()[-4:] == result.output.splitlines()[-4:]


def test_the_trace_tells_all_that_happens() -> None:
    lines: list[str] = []
    simulate(0, lines.append)
    text = "\n".join(lines)
    for expected in (
        "troubles: ",
        "berthing-1 starts",
        "all is well from now on",
        "all is at rest",
    ):
        assert expected in text


def test_a_safeguard_that_does_not_exist_is_refused() -> None:
    result = CliRunner().invoke(main, ["--without", "luck"])
    assert result.exit_code == 2
    assert "look-up" in result.output
