"""A real control plane on this machine: that of tests/e2e, in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

import berthing
from berthing.bench.drain.errors import DrainError


class Servers(msgspec.Struct, frozen=True, rename="camel"):
    """Where everything is: kubeconfigs for us and for a scheduler, and upstream's scheduler."""

    kubeconfig: Path
    scheduler_kubeconfig: Path
    kube_scheduler: Path


@asynccontextmanager
async def real_servers() -> AsyncIterator[Servers]:
    """Run etcd and kube-apiserver as long as the block lasts; the first time they are built."""
    tests = Path(berthing.__file__).parents[2] / "tests"
    if not (tests / "e2e" / "servers.py").exists():
        raise DrainError(
            "--real needs a checkout of Berthing, whose tests/e2e has the servers; from an installed"
            " package, give --kubeconfig"
        )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "e2e.servers", cwd=tests, stdin=PIPE, stdout=PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = await process.stdout.readline()
        if not line:
            raise DrainError("the servers of tests/e2e did not start")
        yield msgspec.json.decode(line, type=Servers, dec_hook=lambda type_, text: type_(text))
    finally:
        # They stay up as long as somebody may write to them.
        process.stdin.close()
        await process.wait()
