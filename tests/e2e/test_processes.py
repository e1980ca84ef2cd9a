"""No server outlives the tests, whatever becomes of them."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from e2e.processes import Process, ProcessDiedError
from e2e.waiting import wait_until

FOREVER = ("sh", "-c", "echo up; exec sleep 1000")
STARTER = """
import sys
from pathlib import Path
from e2e.processes import Process
process = Process("child", sys.argv[2:], log=Path(sys.argv[1]))
process.start()
print(process.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kernels can be asked for this")
def test_a_process_dies_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", STARTER, tmp_path / "log", *map(str, absolute(FOREVER))],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        wait_until(lambda: (tmp_path / "log").read_text() == "up\n")
        parent.kill()
    wait_until(lambda: is_gone(child))


def test_a_process_stops_and_starts_again(tmp_path: Path) -> None:
    process = Process("sh", absolute(FOREVER), log=tmp_path / "log")
    for log in ("up", "up\nup"):
        process.start()
        wait_until(partial(log_is, process, log))
        process.stop()
        assert not process.is_running


def test_a_process_that_ended_by_itself_is_missed(tmp_path: Path) -> None:
    process = Process("sh", absolute(("sh", "-c", "echo no such luck")), log=tmp_path / "log")
    process.start()
    wait_until(lambda: not process.is_running)
    with pytest.raises(ProcessDiedError, match="no such luck"):
        process.check()


def absolute(command: tuple[str, ...]) -> list[str]:
    return [f"/bin/{command[0]}", *command[1:]]


def log_is(process: Process, expected: str) -> bool:
    return process.log_end() == expected


def is_gone(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"
