"""Servers for a run, and for each test a control plane without anything of the test before."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Protocol

import pytest

from e2e.berthing_run import MISTAKES, Berthing
from e2e.binaries import Binaries, NoGoError, build
from e2e.control_plane import ControlPlane
from e2e.kube_scheduler import Config, kube_scheduler
from e2e.processes import Process
from e2e.proxy import Proxy

StartKubeScheduler = Callable[[Config], Process]

_LOG_LINES = 200


class StartBerthing(Protocol):
    """Starts `berthing run` with a configuration, through a proxy if there is one."""

    def __call__(
        self, config: Config | None = None, *, through: Proxy | None = None, ready: bool = True
    ) -> Berthing:
        """Return once it is ready, or else once it serves its health."""
        ...


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


@pytest.fixture
def proxy(control_plane: ControlPlane) -> Iterator[Proxy]:
    """What a test puts between a scheduler and the API server."""
    with control_plane.proxy() as proxy:
        yield proxy


@pytest.fixture
def start_berthing(
    control_plane: ControlPlane,
    proxy: Proxy,
    tmp_path: Path,
) -> Iterator[StartBerthing]:
    """Start Berthing with the rights that we ship; it is stopped after the test, and must end well."""
    started: list[Berthing] = []
    first_server = control_plane.api_server.pid
    names = (f"berthing-{number}" for number in count(1))

    def start(
        config: Config | None = None, *, through: Proxy | None = None, ready: bool = True
    ) -> Berthing:
        kubeconfig = control_plane.scheduler_kubeconfig
        if through:
            kubeconfig = control_plane.kubeconfig_through(through)
        berthing = Berthing(
            kubeconfig=kubeconfig, config=config or {}, directory=tmp_path, name=next(names)
        )
        started.append(berthing)
        berthing.begin()
        if ready:
            berthing.wait_ready()
        return berthing

    yield start
    for berthing in started:
        # Shown if the test has failed.
        print(f"--- {berthing.process.name}\n{berthing.process.log_end(_LOG_LINES)}")
        assert berthing.process.was_killed or berthing.process.stop() == 0
        assert [text for text in MISTAKES if text in berthing.log()] == []
        # A server that has just started knows no rights yet, and forbids what it will allow.
        if control_plane.api_server.pid == first_server:
            assert "forbidden" not in berthing.log()
