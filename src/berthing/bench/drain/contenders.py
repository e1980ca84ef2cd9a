"""The schedulers that are measured, as processes of their own.

All of them read the same configuration: no limit on requests, no leader election, and a profile
with a name of its own.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from berthing.bench.drain.errors import DrainError
from berthing.bench.drain.usage import Usage, usage_of
from berthing.bench.drain.workloads import SCHEDULER_NAME

BERTHING: Final = "berthing"
KUBE_SCHEDULER: Final = "kube-scheduler"

_STOP_SECONDS: Final = 20.0
_LOG_END_BYTES: Final = 2000
# A scheduler is at rest when it takes less than this in such a time.
_REST_SHARE: Final = 0.05
_REST_SECONDS: Final = 0.5
_REST_PATIENCE_SECONDS: Final = 10.0


class Contender(msgspec.Struct, frozen=True):
    """A scheduler: its name in reports, and a command with {config} and {kubeconfig} in it."""

    name: str
    command: tuple[str, ...]

    @classmethod
    def of(cls, text: str, *, kube_scheduler: Path | None) -> Contender:
        """What somebody means by `berthing`, `kube-scheduler`, or a command."""
        # Nobody asks them for health or metrics, and their ports might be taken.
        if text == BERTHING:
            flags = (
                "--config={config}",
                "--kubeconfig={kubeconfig}",
                "--v=0",
                "--http-bind-address=",
            )
            return cls(BERTHING, (sys.executable, "-m", "berthing", "run", *flags))
        if text == KUBE_SCHEDULER and kube_scheduler is not None:
            return cls(
                KUBE_SCHEDULER, (str(kube_scheduler), "--config={config}", "--secure-port=0")
            )
        try:
            command = tuple(shlex.split(text))
        except ValueError as error:
            raise DrainError(f"cannot read the command {text!r}: {error}") from error
        if "{config}" not in text:
            raise DrainError(
                f"the command {text!r} must have {{config}} where the path of the configuration belongs"
            )
        return cls(Path(command[0]).name, command)


def write_config(directory: Path, kubeconfig: Path) -> Path:
    """Write the configuration that all contenders read."""
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": -1},
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": SCHEDULER_NAME}],
    }
    path = directory / "scheduler.yaml"
    path.write_bytes(msgspec.json.encode(config))
    return path


class Running:
    """A scheduler at work."""

    def __init__(self, contender: Contender, process: Process, log: Path) -> None:
        self._contender = contender
        self._process = process
        self._log = log

    def usage(self) -> Usage:
        """What it has taken so far; raises DrainError if it is gone."""
        if self._process.returncode is not None:
            raise self.failure("it ended by itself")
        return usage_of(self._process.pid)

    async def wait_exit(self) -> None:
        """Wait until it ends, which it should not."""
        await self._process.wait()

    async def rest(self) -> Usage:
        """What it has taken once it has done what was left: events, above all."""
        usage = self.usage()
        for _ in range(int(_REST_PATIENCE_SECONDS / _REST_SECONDS)):
            await asyncio.sleep(_REST_SECONDS)
            before, usage = usage, self.usage()
            if usage.cpu_seconds - before.cpu_seconds < _REST_SHARE * _REST_SECONDS:
                break
        return usage

    def failure(self, why: str) -> DrainError:
        """The error that says why this scheduler could not be measured, and what it wrote."""
        end = self._log.read_bytes()[-_LOG_END_BYTES:].decode(errors="replace").strip()
        return DrainError(f"{self._contender.name}: {why}; the end of its log:\n{end}")


@asynccontextmanager
async def running(
    contender: Contender, *, config: Path, kubeconfig: Path, log: Path
) -> AsyncIterator[Running]:
    """Run a scheduler as long as the block lasts."""
    paths = {"{config}": str(config), "{kubeconfig}": str(kubeconfig)}
    command = [_filled(word, paths) for word in contender.command]
    with log.open("wb") as output:
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output
            )
        except OSError as error:
            raise DrainError(f"cannot start {command[0]}: {error.strerror}") from error
    try:
        yield Running(contender, process, log)
    finally:
        await _stop(process)


def _filled(word: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word


async def _stop(process: Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(_STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
