"""Real servers for other programs, as `berthing bench drain --real`: python -m e2e.servers, in tests/.

Once the servers are up, one line of JSON tells where everything is; they stay up until standard
input ends, as it does when the program that asked for them is gone, or SIGTERM or Ctrl-C comes.
"""

from __future__ import annotations

import signal
import sys

import msgspec

from e2e.binaries import Binaries, BuildError, NoGoError, build
from e2e.control_plane import ControlPlane


class Servers(msgspec.Struct, frozen=True, rename="camel"):
    """What the line says: files and programs, by their paths."""

    directory: str
    kubeconfig: str
    scheduler_kubeconfig: str
    kube_scheduler: str
    kubectl: str


def main() -> None:
    """Run the servers until nobody needs them any more."""
    for end in (signal.SIGTERM, signal.SIGINT):
        signal.signal(end, lambda *_: sys.exit())
    try:
        binaries = build(lambda text: print(text, file=sys.stderr))
    except (NoGoError, BuildError) as error:
        sys.exit(str(error))
    with ControlPlane(binaries) as control_plane:
        print(msgspec.json.encode(_described(control_plane, binaries)).decode(), flush=True)
        sys.stdin.read()


def _described(control_plane: ControlPlane, binaries: Binaries) -> Servers:
    return Servers(
        directory=str(control_plane.directory),
        kubeconfig=str(control_plane.kubeconfig),
        scheduler_kubeconfig=str(control_plane.scheduler_kubeconfig),
        kube_scheduler=str(binaries.kube_scheduler),
        kubectl=str(binaries.kubectl),
    )


if __name__ == "__main__":
    main()
