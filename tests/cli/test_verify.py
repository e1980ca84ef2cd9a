from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from cli.run import run

PAIR = {"a": "1Ki", "b": "1024", "cmp": 0, "sum": "2Ki", "diff": "0"}
WRONG = {**PAIR, "sum": "3Ki"}


def write(path: Path, *rows: object) -> str:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.jsonl.gz"])
def test_equal_rows_pass_plain_or_gzipped(tmp_path: Path, name: str) -> None:
    result = run("verify", write(tmp_path / name, PAIR, PAIR))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1].split()[1:] == ["2", "2", "0", "0"]


def test_a_difference_fails_and_v_shows_it_field_by_field(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.jsonl", PAIR, WRONG)
    result = run("verify", "-v", path)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1].split()[1:] == ["2", "1", "1", "0"]
    assert "  sum\n    recorded  '3Ki'\n    ours      '2Ki'" in result.stdout


def test_without_v_only_the_count(tmp_path: Path) -> None:
    result = run("verify", write(tmp_path / "pairs.jsonl", WRONG))
    assert result.exit_code == 1
    assert "recorded" not in result.stdout


def test_what_is_not_checked_yet_is_listed_with_its_count(tmp_path: Path) -> None:
    row = {"scenario": {"id": "x"}, "expect": {"id": "x", "groups": [], "message": None}}
    result = run("verify", write(tmp_path / "decisions.jsonl", row, row))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1].split()[1:] == ["2", "0", "0", "0"]
    listed = result.stdout.split("Not checked by this version:\n")[1].splitlines()
    assert [line.split()[1:] for line in listed] == [["groups", "2"], ["message", "2"]]


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    result = run("verify", str(tmp_path / "pipe"))
    assert result.exit_code == 2
    assert result.stderr.endswith("pipe: it is a pipe that nobody writes to\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "no rows; expected JSON lines", id="empty"),
        pytest.param(b"{\n", ":1: not a JSON object", id="broken JSON"),
        pytest.param(b"[1]\n", ":1: not a JSON object", id="not an object"),
        pytest.param(b'\n{"x": 1}\n', ":2: no known kind of recording has these fields: x", id="?"),
        pytest.param(gzip.compress(b"{}" * 99)[:-9], "broken gzip data", id="cut short"),
        pytest.param(b"\xff\xfe\n", ":1: not a JSON object", id="binary"),
        pytest.param(b'{"scenario": 1, "expect": 2}\n', ":1: expect: expected an object", id="odd"),
        pytest.param(b"[" * 100_000, ":1: not a JSON object", id="deep"),
    ],
)
def test_files_that_cannot_be_replayed(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(content)
    result = run("verify", str(path))
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_file_that_is_not_there_does_not_hide_the_others(tmp_path: Path) -> None:
    good = write(tmp_path / "pairs.jsonl", PAIR)
    result = run("verify", str(tmp_path / "missing.jsonl"), good)
    assert result.exit_code == 2
    assert "No such file or directory" in result.stderr
    assert good in result.stdout
