"""Servers for a run, and for each test a control plane without anything of the test before."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.binaries import Binaries, NoGoError, build
from e2e.control_plane import ControlPlane
from e2e.kube_scheduler import Config, kube_scheduler
from e2e.processes import Process

StartKubeScheduler = Callable[[Config], Process]


@pytest.fixture(scope="session")
def binaries(pytestconfig: pytest.Config) -> Binaries:
    """The real programs; without Go there are none, which only a developer's machine may say."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    assert capture

    def announce(text: str) -> None:
        with capture.global_and_fixture_disabled():
            pytestconfig.get_terminal_writer().line(text)

    try:
        return build(announce)
    except NoGoError as error:
        if os.environ.get("CI") == "true" or os.environ.get("BERTHING_E2E_REQUIRED") == "1":
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def servers(binaries: Binaries) -> Iterator[ControlPlane]:
    with ControlPlane(binaries) as control_plane:
        yield control_plane


@pytest.fixture
def control_plane(servers: ControlPlane) -> Iterator[ControlPlane]:
    """Running servers; what a test stopped is started, what it made is taken away."""
    yield servers
    servers.start()
    servers.wipe()


@pytest.fixture
def start_kube_scheduler(
    control_plane: ControlPlane, tmp_path: Path
) -> Iterator[StartKubeScheduler]:
    """Start upstream's scheduler with the rights that we ship; it is stopped after the test."""
    started: list[Process] = []

    def start(config: Config) -> Process:
        scheduler = kube_scheduler(control_plane, config, directory=tmp_path)
        scheduler.start()
        started.append(scheduler)
        return scheduler

    yield start
    for scheduler in started:
        scheduler.stop()
