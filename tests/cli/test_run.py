"""`berthing run` says what keeps it from starting; tests/e2e has it run."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from cli.run import run

NOBODY_THERE = """\
apiVersion: v1
kind: Config
clusters: [{name: here, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: me, user: {}}]
contexts: [{name: here, context: {cluster: here, user: me}}]
current-context: here
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    """A file that is right, with a server that is not there."""
    file = tmp_path / "kubeconfig"
    file.write_text(NOBODY_THERE)
    return str(file)


@pytest.fixture(autouse=True)
def outside_of_any_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)


def config(tmp_path: Path, text: str) -> str:
    file = tmp_path / "config.yaml"
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    file.write_text(head + text)
    return str(file)


def test_without_a_cluster() -> None:
    result = run("run")
    assert result.exit_code == 2
    assert result.stderr.startswith("berthing run: no API server is configured")
    assert "--kubeconfig" in result.stderr


def test_a_kubeconfig_that_is_not_there(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    result = run("run", "--kubeconfig", missing)
    assert result.exit_code == 2
    assert missing in result.stderr
    assert "Traceback" not in result.stderr


def test_the_kubeconfig_may_stand_in_the_configuration(tmp_path: Path) -> None:
    text = f"clientConnection: {{kubeconfig: {tmp_path}/missing}}\n"
    result = run("run", "--config", config(tmp_path, text))
    assert result.exit_code == 2
    assert f"{tmp_path}/missing" in result.stderr


def test_a_configuration_with_mistakes(tmp_path: Path, kubeconfig: str) -> None:
    file = config(tmp_path, "parallelism: 0\npodMaxBackoffSeconds: -1\n")
    result = run("run", "--config", file, "--kubeconfig", kubeconfig)
    assert result.exit_code == 2
    assert f"{file}:3:1: error: parallelism" in result.stderr
    assert f"{file}:4:1: error: podMaxBackoffSeconds" in result.stderr


def test_extenders_are_not_called_yet(tmp_path: Path, kubeconfig: str) -> None:
    text = "extenders: [{urlPrefix: 'http://127.0.0.1:1', filterVerb: filter, weight: 1}]\n"
    result = run("run", "--config", config(tmp_path, text), "--kubeconfig", kubeconfig)
    assert result.exit_code == 2
    assert "does not call extenders yet" in result.stderr


@pytest.mark.parametrize("address", ["10251", "127.0.0.1:http", "127.0.0.1:99999"])
def test_an_address_that_is_none(address: str, kubeconfig: str) -> None:
    result = run("run", "--kubeconfig", kubeconfig, "--http-bind-address", address)
    assert result.exit_code == 2
    assert f"'{address}' is no HOST:PORT" in result.stderr


def test_a_port_that_is_taken(kubeconfig: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = run("run", "--kubeconfig", kubeconfig, "--http-bind-address", address)
    assert result.exit_code == 2
    assert address in result.stderr
    assert "Traceback" not in result.stderr
