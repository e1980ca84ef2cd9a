"""berthing run: schedules a cluster until it is told to stop."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import sys
import time
from collections.abc import Mapping

import click

from berthing import __version__
from berthing.cli.connecting import transport_to
from berthing.cli.event_loop import run_loop
from berthing.cli.loading import discovered, feature_gates, line, load_configuration
from berthing.cli.main import EXIT_BAD_INPUT
from berthing.client.access import scheduler_access
from berthing.client.cluster_access import AccessError, ClusterAccess
from berthing.config.features import FeatureGates
from berthing.config.load import Loaded
from berthing.scheduler.profile import ProfileError
from berthing.scheduler.registry import Registry
from berthing.serving.exposition import CONTENT_TYPE, Exposition
from berthing.serving.health import PING, Check, health_routes
from berthing.serving.http import Handler, Response, ServeError, Server
from berthing.serving.logs import LogFormat, configure
from berthing.serving.process import Connection, SchedulerProcess
from berthing.telemetry import logs

log = logs.get("run")

# Where kube-scheduler once answered without TLS.
_ADDRESS = "127.0.0.1:10251"
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class _HostPort(click.ParamType):  # type: ignore[type-arg]  # generic in stubs alone
    """HOST:PORT, or nothing to listen nowhere."""

    name = "HOST:PORT"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int] | None:
        """Read it, with the brackets of IPv6."""
        host, colon, port = str(value).rpartition(":")
        if not value:
            return None
        if not colon or not port.isdecimal() or int(port) > 65535:
            self.fail(f"{value!r} is no HOST:PORT; write 127.0.0.1:10251, say", param, ctx)
        return host.strip("[]"), int(port)


@click.command()
@click.option("--config", metavar="FILE", help="The scheduler's configuration.")
@click.option(
    "--kubeconfig",
    metavar="FILE",
    help="How to reach the cluster; without it what the configuration says, and in a pod its "
    "service account.",
)
@click.option("--master", metavar="URL", default="", help="The API server, in place of that.")
@click.option(
    "--http-bind-address",
    "address",
    type=_HostPort(),
    default=_ADDRESS,
    show_default=True,
    help="Where /healthz, /livez, /readyz and /metrics are served; empty for nowhere.",
)
@click.option("-v", "--v", "verbosity", type=click.IntRange(0, 10), default=2, show_default=True)
@click.option(
    "--logging-format",
    type=click.Choice([form.value for form in LogFormat]),
    default=LogFormat.TEXT.value,
    show_default=True,
)
@click.option("--seed", type=int, help="Break ties and jitter as another run did with this number.")
@feature_gates
def run(
    *,
    config: str | None,
    kubeconfig: str | None,
    master: str,
    address: tuple[str, int] | None,
    verbosity: int,
    logging_format: str,
    seed: int | None,
    gates: FeatureGates,
) -> None:
    """Schedule the cluster's pods until SIGTERM or SIGINT.

    On the first signal nothing new is begun, and what is under way comes to its end; the second
    ends the process at once.  Exits 2 if the configuration cannot be used, 1 if it broke.
    """
    configure(LogFormat(logging_format), verbosity=verbosity)
    registry = discovered()
    loaded = _loaded(config, gates, registry)
    limits = loaded.config.client_connection if loaded.config else None
    try:
        access = scheduler_access(
            kubeconfig=kubeconfig or (limits.kubeconfig if limits else ""),
            master=master,
            environ=os.environ,
            now=time.time,
        )
        run_loop(
            _schedule(
                loaded,
                access,
                address=address,
                registry=registry,
                gates=gates,
                random=random.Random(seed),
            )
        )
    except (AccessError, ProfileError, ServeError) as error:
        for problem in str(error).splitlines():
            click.echo(f"berthing run: {problem}", err=True)
        sys.exit(EXIT_BAD_INPUT)


def _loaded(config: str | None, gates: FeatureGates, registry: Registry) -> Loaded:
    loaded = load_configuration(config, gates, registry)
    for finding in loaded.findings:
        click.echo(line(loaded.file, finding), err=True)
    if loaded.config is None:
        sys.exit(EXIT_BAD_INPUT)
    if loaded.config.extenders:
        click.echo("berthing run: this version does not call extenders yet; remove them", err=True)
        sys.exit(EXIT_BAD_INPUT)
    return loaded


async def _schedule(
    loaded: Loaded,
    access: ClusterAccess,
    *,
    address: tuple[str, int] | None,
    registry: Registry,
    gates: FeatureGates,
    random: random.Random,
) -> None:
    assert loaded.config is not None, "a configuration with errors is refused before"
    process = SchedulerProcess(
        loaded.config,
        loaded.profiles,
        registry=registry,
        gates=gates,
        connection=Connection(transport_to(access), access, socket.gethostname()),
        now=time.time,
        random=random,
    )
    _stop_on_signals(process)
    server = Server(_routes(process))
    if address is not None:
        host, port = address
        port = await server.listen(host=host, port=port)
        log.info("Serving health and metrics", address=f"{host}:{port}")
    log.info("Starting Berthing", version=__version__, server=access.server)
    if loaded.config.leader_election.leader_elect:
        log.warning(
            "This version does not elect a leader: run one replica, or set leaderElect: false"
        )
    try:
        await process.run()
    finally:
        await server.close()
    log.info("Stopped")


def _stop_on_signals(process: SchedulerProcess) -> None:
    """The first signal ends all in order, the second at once."""
    loop = asyncio.get_running_loop()

    def stop(number: signal.Signals) -> None:
        log.info("Stopping", signal=number.name)
        process.stop()
        for each in _SIGNALS:
            loop.remove_signal_handler(each)

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop, number)


def _routes(process: SchedulerProcess) -> Mapping[str, Handler]:
    exposition = Exposition(process.scheduler.metrics.families())

    def not_synced() -> str | None:
        missing = process.not_synced
        return f"not yet seen: {', '.join(missing)}" if missing else None

    ready = Check("informer-sync", not_synced)
    return {
        **health_routes("/healthz", [PING]),
        **health_routes("/livez", [PING]),
        **health_routes("/readyz", [PING, ready]),
        "/metrics": lambda _: Response(exposition.text(), content_type=CONTENT_TYPE),
    }
