from __future__ import annotations

import os
from pathlib import Path

import yaml

from cli.run import run

EXAMPLES = Path(__file__).parents[2] / "examples"
V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def test_a_policy_file_becomes_v1_and_says_what_is_lost() -> None:
    result = run("config", "migrate", str(EXAMPLES / "policy.json"))
    assert result.exit_code == 0
    tree = yaml.safe_load(result.stdout)
    assert tree["apiVersion"] == "kubescheduler.config.k8s.io/v1"
    assert "NodePreferAvoidPods" in result.stderr
    assert f"{EXAMPLES / 'policy.json'}:" in result.stderr


def test_what_was_migrated_is_valid() -> None:
    migrated = run("config", "migrate", str(EXAMPLES / "policy.json")).stdout
    assert run("config", "check", "-", stdin=migrated).exit_code == 0


def test_v1_needs_no_migration() -> None:
    result = run("config", "migrate", "-", stdin=V1)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "nothing to migrate" in result.stderr


def test_mistakes_in_the_old_file_are_told_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "old.yaml"
    path.write_text(V1.replace("/v1", "/v1beta2") + "parallelsm: 3\n")
    result = run("config", "migrate", str(path))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert f"{path}:3:1: error: parallelsm" in result.stderr


def test_a_file_that_is_not_there() -> None:
    result = run("config", "migrate", "nowhere.yaml")
    assert result.exit_code == 1
    assert "nowhere.yaml: error: " in result.stderr


def test_names_that_old_yaml_takes_for_words_stay_names() -> None:
    text = V1.replace("/v1", "/v1beta3") + 'profiles:\n- schedulerName: "y"\n'
    migrated = run("config", "migrate", "-", stdin=text)
    assert migrated.exit_code == 0
    checked = run("config", "check", "-", stdin=migrated.stdout)
    assert checked.output == "<stdin>: ok, profiles: y\n"


def test_wrong_values_are_told_at_the_old_files_lines() -> None:
    text = V1.replace("/v1", "/v1beta3") + "parallelism: -1\n"
    result = run("config", "migrate", "-", stdin=text)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "<stdin>:3:1: error: parallelism: " in result.stderr


def test_a_pipe_is_read_once() -> None:
    reader, writer = os.pipe()
    os.write(writer, V1.replace("/v1", "/v1beta2").encode())
    os.close(writer)
    result = run("config", "migrate", f"/dev/fd/{reader}")
    os.close(reader)
    assert result.exit_code == 0
    assert result.stdout.startswith(V1)
