"""CPU time and memory of a process with all that it started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from berthing.bench.drain.errors import DrainError
from berthing.bench.drain.usage import Usage, usage_of

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def add_process(
    proc: Path, pid: int, *, parent: int, seconds: tuple[float, float], peak_kb: int | None
) -> None:
    user, system = (int(each * TICKS_PER_SECOND) for each in seconds)
    directory = proc / str(pid)
    directory.mkdir()
    fields = ["S", str(parent), *["0"] * 9, str(user), str(system), "0", "0", "20"]
    (directory / "stat").write_text(f"{pid} (a (strange) name) {' '.join(fields)}\n")
    peak = "" if peak_kb is None else f"VmPeak:  1 kB\nVmHWM:\t {peak_kb} kB\n"
    (directory / "status").write_text(f"Name:\ta\n{peak}")


def test_a_process_with_its_descendants(tmp_path: Path) -> None:
    add_process(tmp_path, 10, parent=1, seconds=(1.0, 0.5), peak_kb=1000)
    add_process(tmp_path, 12, parent=11, seconds=(2.0, 0.0), peak_kb=100)
    add_process(tmp_path, 11, parent=10, seconds=(0.25, 0.0), peak_kb=10)
    add_process(tmp_path, 13, parent=1, seconds=(99.0, 99.0), peak_kb=9999)
    (tmp_path / "self").mkdir()
    assert usage_of(10, proc=tmp_path) == Usage(3.75, 1110 * 1024)


def test_a_process_that_is_just_ending_has_no_memory(tmp_path: Path) -> None:
    add_process(tmp_path, 10, parent=1, seconds=(1.0, 0.0), peak_kb=None)
    assert usage_of(10, proc=tmp_path) == Usage(1.0, 0)


def test_a_process_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(DrainError, match="process 10 is gone"):
        usage_of(10, proc=tmp_path)


def test_this_process() -> None:
    usage = usage_of(os.getpid())
    assert usage.cpu_seconds > 0
    assert usage.peak_bytes > 1_000_000
