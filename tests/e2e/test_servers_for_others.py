"""Other programs can have the servers too, for as long as they hold a pipe."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from e2e.binaries import Binaries
from e2e.servers import Servers

COMMAND = (sys.executable, "-m", "e2e.servers")


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(lambda asked: asked.stdin.close(), id="closed input"),
        pytest.param(lambda asked: asked.send_signal(signal.SIGTERM), id="SIGTERM"),
    ],
)
def test_they_are_told_where_and_go_without_a_trace(
    binaries: Binaries, end: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    with subprocess.Popen(
        COMMAND, cwd=Path(__file__).parents[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as asked:
        assert asked.stdout
        servers = msgspec.json.decode(asked.stdout.readline(), type=Servers)
        kubectl = (servers.kubectl, "--kubeconfig", servers.kubeconfig)
        ready = subprocess.check_output([*kubectl, "get", "--raw", "/readyz"])
        end(asked)
    assert ready == b"ok"
    assert asked.returncode == 0
    assert not Path(servers.directory).exists()
