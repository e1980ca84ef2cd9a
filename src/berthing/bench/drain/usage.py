"""What a process and those it started have taken so far, from /proc."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Final

import msgspec

from berthing.bench.drain.errors import DrainError

_PROC: Final = Path("/proc")


class Usage(msgspec.Struct, frozen=True):
    """CPU time in user and system mode, and the most memory that was resident at a time."""

    cpu_seconds: float
    peak_bytes: int


def usage_of(pid: int, *, proc: Path = _PROC) -> Usage:
    """What a process and all its descendants have taken; raises DrainError if it is gone.

    Peaks are added up, though they need not have come at the same time.
    """
    if not (proc / str(pid) / "stat").exists():
        raise DrainError(
            f"process {pid} is gone, or this is no Linux: its CPU time is not in {proc}"
        )
    ticks = peak = 0
    for each in _family(pid, proc):
        ticks += _cpu_ticks(proc / str(each))
        peak += _peak_bytes(proc / str(each))
    return Usage(ticks / os.sysconf("SC_CLK_TCK"), peak)


def _family(pid: int, proc: Path) -> list[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for directory in proc.glob("[0-9]*"):
        if fields := _stat(directory):
            children[int(fields[1])].append(int(directory.name))
    found = [pid]
    for each in found:
        found += children[each]
    return found


def _cpu_ticks(directory: Path) -> int:
    fields = _stat(directory)
    # utime, stime, and the same of children that were waited for.
    return sum(int(ticks) for ticks in fields[11:15])


def _stat(directory: Path) -> list[str]:
    """The fields from the state on; empty for a process that has gone meanwhile."""
    try:
        # The name before it may hold blanks and brackets.
        return (directory / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _peak_bytes(directory: Path) -> int:
    try:
        found = re.search(r"^VmHWM:\s+(\d+) kB$", (directory / "status").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0
