from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from berthing.bench.drain.workloads import DRAIN_WORKLOADS
from berthing.cli.bench import DRAIN_WORKLOAD_NAMES, bench


def test_the_command_knows_every_workload() -> None:
    assert [each.name for each in DRAIN_WORKLOADS] == list(DRAIN_WORKLOAD_NAMES)


@pytest.mark.parametrize("where", [[], ["--real", "--kubeconfig", __file__]], ids=["none", "both"])
def test_where_to_measure_must_be_said(where: list[str]) -> None:
    result = CliRunner().invoke(bench, ["drain", *where])
    assert result.exit_code == 2
    assert "either --real or --kubeconfig FILE" in result.output


def test_a_kubeconfig_that_is_none(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text("apiVersion: v1\nkind: Config\n")
    result = CliRunner().invoke(bench, ["drain", "--kubeconfig", str(file)])
    assert result.exit_code == 1
    assert result.output.startswith("berthing bench drain: ")
    assert str(file) in result.output


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(
        '{"apiVersion":"v1","kind":"Config","current-context":"a",'
        '"clusters":[{"name":"a","cluster":{"server":"http://127.0.0.1:1"}}],'
        '"users":[{"name":"a","user":{}}],'
        '"contexts":[{"name":"a","context":{"cluster":"a","user":"a"}}]}'
    )
    result = CliRunner().invoke(bench, ["drain", "--kubeconfig", str(file)])
    assert result.exit_code == 1
    assert "cannot connect to http://127.0.0.1:1" in result.output
