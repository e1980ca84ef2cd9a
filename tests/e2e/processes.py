"""Programs that run beside the tests and never outlive them.

Each runs in a session of its own, so that Ctrl-C reaches the tests alone, and on Linux asks the
kernel to be killed when the thread that started it is gone, however it went: start processes from
the main thread.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

# Runs before the program, in its process, for code between fork and exec may deadlock in a
# process with threads.  The parent may have died before prctl (1: PR_SET_PDEATHSIG) took effect.
_BOUND_TO_PARENT: Final = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""


class ProcessDiedError(Exception):
    """A program ended though it should run; the message has the end of its log."""


class Process:
    """A program with its output in a file; it can be started again after it was stopped."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.command = tuple(map(str, command))
        self.log = log
        # By us, giving it no chance to tidy up.
        self.was_killed = False
        self._environment = environment
        self._popen: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """True from `start` until the program ended."""
        return self._popen is not None and self._popen.poll() is None

    @property
    def pid(self) -> int:
        """The number of the process, which is started."""
        assert self._popen, f"{self.name} was never started"
        return self._popen.pid

    def start(self) -> None:
        """Start the program, which must not run; output is added to the log."""
        assert not self.is_running, f"{self.name} runs already"
        with self.log.open("ab") as log:
            self._popen = subprocess.Popen(
                _bound_to_us(self.command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )

    def stop(self, *, timeout: float = 60.0) -> int:
        """Ask the program to end and wait until it did; its exit code. May be called twice."""
        return self._end(signal.SIGTERM, timeout)

    def send(self, signal_: signal.Signals) -> None:
        """Send a signal, and wait for nothing."""
        os.killpg(self.pid, signal_)

    def kill(self) -> None:
        """End the program, giving it no chance to tidy up."""
        self.was_killed = True
        self._end(signal.SIGKILL, 10.0)

    def check(self) -> None:
        """Raise if the program has ended."""
        if not self.is_running:
            raise ProcessDiedError(f"{self.name} ended:\n{self.log_end()}")

    def log_end(self, lines: int = 20) -> str:
        """The last lines of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _end(self, how: signal.Signals, timeout: float) -> int:
        assert self._popen, f"{self.name} was never started"
        if self.is_running:
            self.send(how)
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(self.pid, signal.SIGKILL)
            self._popen.wait()
            raise ProcessDiedError(
                f"{self.name} did not end within {timeout:.0f} s of {how.name}:\n{self.log_end()}"
            ) from None


def _bound_to_us(command: Sequence[str]) -> list[str]:
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-ISc", _BOUND_TO_PARENT, str(os.getpid()), *command]
