from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from cli.run import run

GOOD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""
BAD = GOOD + 'paralelism: 3\npodMaxBackoffSeconds: "x"\n'


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    return str(path)


@pytest.fixture
def bad(tmp_path: Path) -> str:
    path = tmp_path / "bad.yaml"
    path.write_text(BAD)
    return str(path)


def test_a_good_file_is_ok(good: str) -> None:
    result = run("config", "check", good)
    assert result.exit_code == 0
    assert result.output == f"{good}: ok, profiles: default-scheduler\n"


def test_all_mistakes_come_with_file_line_and_suggestion(bad: str) -> None:
    result = run("config", "check", bad)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0].startswith(f"{bad}:3:1: error: paralelism: ")
    assert lines[0].endswith("did you mean parallelism?")
    assert lines[1].startswith(f"{bad}:4:1: error: podMaxBackoffSeconds: ")
    assert lines[2] == f"{bad}: 2 errors"


def test_one_bad_file_among_good_ones_fails(good: str, bad: str) -> None:
    result = run("config", "check", good, bad)
    assert result.exit_code == 1
    assert f"{good}: ok" in result.output


def test_json_has_a_row_per_finding(bad: str) -> None:
    result = run("config", "check", "-o", "json", bad)
    assert result.exit_code == 1
    rows = msgspec.json.decode(result.stdout, type=list[dict[str, object]])
    assert [(row["file"], row["line"], row["column"], row["path"]) for row in rows] == [
        (bad, 3, 1, "paralelism"),
        (bad, 4, 1, "podMaxBackoffSeconds"),
    ]
    assert rows[0]["suggestion"] == "did you mean parallelism?"
    assert all(row["message"] and row["severity"] == "error" for row in rows)


def test_json_of_a_good_file_is_an_empty_list(good: str) -> None:
    result = run("config", "check", "-o", "json", good)
    assert (result.exit_code, result.stdout) == (0, "[]\n")


def test_standard_input() -> None:
    assert run("config", "check", "-", stdin=GOOD).output == (
        "<stdin>: ok, profiles: default-scheduler\n"
    )


def test_older_versions_are_read() -> None:
    text = GOOD.replace("/v1", "/v1beta3")
    result = run("config", "check", "-", stdin=text)
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("missing.yaml", "No such file", id="no such file"),
        pytest.param(".", "directory", id="a directory"),
        pytest.param("empty.yaml", "there is no configuration in this file", id="an empty file"),
        pytest.param("binary.yaml", "error", id="a binary file"),
    ],
)
def test_files_that_are_none(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty.yaml").touch()
    (tmp_path / "binary.yaml").write_bytes(bytes(range(256)))
    result = run("config", "check", str(tmp_path / name))
    assert result.exit_code == 1
    assert message.lower() in result.output.lower()


def test_without_files_it_says_what_is_missing() -> None:
    result = run("config", "check")
    assert result.exit_code == 2
    assert "Missing argument 'FILE...'" in result.output


def test_unknown_feature_gates_are_refused(good: str) -> None:
    result = run("config", "check", "--feature-gates", "GangSchedulin=true", good)
    assert result.exit_code == 2
    assert "GangScheduling" in result.output


def test_feature_gates_change_what_is_valid() -> None:
    text = GOOD + (
        "profiles:\n- pluginConfig:\n  - name: VolumeBinding\n    args:\n"
        "      shape:\n      - {utilization: 0, score: 0}\n"
    )
    assert run("config", "check", "-", stdin=text).exit_code == 1
    gates = ("--feature-gates", "StorageCapacityScoring=true")
    assert run("config", "check", *gates, "-", stdin=text).exit_code == 0
