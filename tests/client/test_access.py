"""Which cluster a scheduler schedules, by its flags and by where it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from berthing.client.access import scheduler_access
from berthing.client.cluster_access import AccessError, ClusterAccess
from client.kubeconfigs import make_kubeconfig


def access(*, kubeconfig: str = "", master: str = "") -> ClusterAccess:
    return scheduler_access(kubeconfig=kubeconfig, master=master, environ={}, now=lambda: 0.0)


def test_by_kubeconfig(tmp_path: Path) -> None:
    file = str(make_kubeconfig(tmp_path / "config"))
    assert access(kubeconfig=file).server == "https://api"
    assert access(kubeconfig=file).kubeconfig == file
    assert access(kubeconfig=file, master="https://other").server == "https://other"


def test_by_url_alone() -> None:
    assert access(master="http://localhost:8080").server == "http://localhost:8080"
    with pytest.raises(AccessError, match="--master: expected a URL"):
        access(master="ssh://x")


def test_not_at_all() -> None:
    with pytest.raises(AccessError, match=r"no API server is configured.* give --kubeconfig FILE"):
        access()
