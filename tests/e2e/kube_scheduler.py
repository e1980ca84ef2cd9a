"""Upstream's scheduler, to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from e2e.control_plane import ControlPlane
from e2e.processes import Process

Config = Mapping[str, object]


def kube_scheduler(control_plane: ControlPlane, config: Config, *, directory: Path) -> Process:
    """kube-scheduler, not yet started, with the rights of deploy/rbac.yaml.

    `config` says what a KubeSchedulerConfiguration is to have beyond how to reach the cluster.
    """
    file = directory / "kube-scheduler.yaml"
    file.write_bytes(msgspec.json.encode(_complete(control_plane, config)))
    # Nobody asks it for metrics, and its port might be taken.
    options = (f"--config={file}", "--secure-port=0")
    command = (control_plane.binaries.kube_scheduler, *options)
    return Process("kube-scheduler", command, log=directory / "kube-scheduler.log")


def _complete(control_plane: ControlPlane, config: Config) -> Config:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        # Without a limit, or waiting for it is what would be measured.
        "clientConnection": {"kubeconfig": str(control_plane.scheduler_kubeconfig), "qps": -1},
        **config,
    }
