"""`berthing bench drain` on a real API server, with upstream's scheduler for a contender."""

from __future__ import annotations

import re

from click.testing import CliRunner

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.cli.bench import bench
from e2e.control_plane import ControlPlane


def test_a_queue_is_emptied_measured_and_cleared_away(control_plane: ControlPlane) -> None:
    upstream = f"{control_plane.binaries.kube_scheduler} --config={{config}} --secure-port=0"
    sizes = ["--nodes=5", "--pods=40", "--running=10", "--rounds=2"]
    command = [
        "drain",
        f"--kubeconfig={control_plane.kubeconfig}",
        *sizes,
        f"--scheduler={upstream}",
    ]
    result = CliRunner().invoke(bench, command)
    assert result.exit_code == 0, result.output
    assert re.findall(r"^round (\d) +kube-scheduler +\d+ ", result.stdout, re.MULTILINE) == [
        "1",
        "2",
    ]
    assert not control_plane.client.list(Pod)
    assert not control_plane.client.list(Node)
