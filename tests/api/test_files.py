from __future__ import annotations

import os
from pathlib import Path

import pytest

from berthing.api.files import open_file


@pytest.fixture(name="pipe")
def _pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def reason(path: Path | str) -> str | None:
    try:
        with open_file(path):
            return None
    except OSError as error:
        return error.strerror


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    with open_file(tmp_path / "file") as stream:
        assert stream.read() == b"text"


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(pipe: Path) -> None:
    assert reason(pipe) == "it is a pipe that nobody writes to"


def test_a_pipe_whose_writer_has_written(pipe: Path) -> None:
    writer = os.open(pipe, os.O_RDWR)
    os.write(writer, b"text")
    with open_file(pipe) as stream:
        os.close(writer)
        assert stream.read() == b"text"


def test_a_pipe_whose_writer_takes_its_time(pipe: Path) -> None:
    writer = os.open(pipe, os.O_RDWR)
    with open_file(pipe) as stream:
        os.write(writer, b"text")
        os.close(writer)
        assert stream.read() == b"text"


def test_a_pipe_whose_writer_is_done_as_shells_pass_them() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"text")
    os.close(writer)
    with open_file(f"/dev/fd/{reader}") as stream:
        assert stream.read() == b"text"
    os.close(reader)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device(device: str) -> None:
    assert reason(device) == "it is a device"


def test_a_folder(tmp_path: Path) -> None:
    assert reason(tmp_path) == "Is a directory"


def test_what_is_not_there(tmp_path: Path) -> None:
    assert reason(tmp_path / "nowhere") == "No such file or directory"


def test_refused_files_are_closed(pipe: Path, tmp_path: Path) -> None:
    before = os.listdir("/dev/fd")
    for path in (pipe, "/dev/zero", tmp_path):
        reason(path)
    assert os.listdir("/dev/fd") == before
