"""Files made, or happened, to break a reader: each gives an error, and soon."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from berthing.config.load import load, load_text
from config.reading import HEADER

BOMB = HEADER + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9) if before else 'lol'}]\n"
    for before, name in zip(["", *"abcdefgh"], "abcdefghi", strict=True)
)


def fifty_megabytes(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50 * 2**20)


WRITERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a directory": (Path.mkdir, "this is a directory, not a file"),
    "50 MB of zeros": (fifty_megabytes, "there are more than 2048 KiB in this file"),
    "50 MB of YAML": (
        lambda path: path.write_text(HEADER + "# " + "x" * 50 * 2**20),
        "there are more than 2048 KiB in this file",
    ),
    "a binary": (
        lambda path: path.write_bytes(b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)) * 100),
        "control character",
    ),
    "random bytes": (
        lambda path: path.write_bytes(b"\xff\xd8\xff\xe0" + bytes(reversed(range(256)))),
        "not UTF-8 text",
    ),
    "a billion laughs": (
        lambda path: path.write_text(BOMB),
        "the aliases up to here stand for too much text",
    ),
    "a pipe that nobody writes to": (os.mkfifo, "it is a pipe that nobody writes to"),
    "an empty file": (lambda path: path.write_bytes(b""), "there is no configuration"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_is_no_configuration(name: str, tmp_path: Path) -> None:
    write, message = WRITERS[name]
    path = tmp_path / "scheduler.yaml"
    write(path)
    loaded = load(path)
    assert not loaded.ok
    assert message in loaded.findings[0].message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_text(HEADER)
    path.chmod(stat.S_IWUSR)
    (finding,) = load(path).findings
    assert finding.message == "this file may not be read: permission denied"


@pytest.mark.parametrize("name", ["", "\0", "x" * 5000])
def test_a_name_that_is_no_file(name: str) -> None:
    assert not load(name).ok


MANY = 30_000


def many() -> Iterator[tuple[str, str]]:
    plugins = "profiles:\n- plugins:\n    {}:\n      {}:\n"
    for key, listed in (("multiPoint", "enabled"), ("filter", "enabled"), ("score", "disabled")):
        head = plugins.format(key, listed)
        yield f"unknown, {key} {listed}", head + _items("      - name: P{}\n")
        yield f"the same, {key} {listed}", head + "      - name: NodeName\n" * MANY
    yield "fields", _items("field{}: 1\n")
    yield "profiles", "profiles:\n" + _items("- schedulerName: a{}\n")
    yield "extenders", "extenders:\n" + _items("- bindVerb: b{}\n")
    yield "arguments", "profiles:\n- pluginConfig:\n" + "  - name: NodeResourcesFit\n" * MANY


def _items(item: str) -> str:
    return "".join(item.format(number) for number in range(MANY))


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in many()])
def test_thousands_of_everything_are_told_apart_from_none(body: str) -> None:
    # What takes the square of the time does not come back from here.
    assert load_text(HEADER + body).findings


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1beta2", "v1beta3"])
def test_tens_of_thousands_of_profiles_are_one_mistake(version: str) -> None:
    header = HEADER.replace("/v1", f"/{version}")
    (finding,) = load_text(f"{header}profiles: [{'{},' * MANY}]", convert=True).findings
    assert finding.message == "there are 30000 profiles, more than the 1000 that are read"
    assert (finding.path, finding.line) == (("profiles",), 3)


@pytest.mark.parametrize("file", ["/dev/zero", "/"])
def test_certificates_are_read_from_files_only(file: str) -> None:
    body = f"extenders: [{{filterVerb: f, tlsConfig: {{caFile: {file}}}}}]"
    errors = [finding for finding in load_text(HEADER + body).findings if finding.is_error]
    assert [finding.path[-1] for finding in errors] == ["caFile"]


def test_many_beginnings_of_certificates_end() -> None:
    begin = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"  # -----BEGIN CERTIFICATE-----
    body = f"extenders: [{{filterVerb: f, tlsConfig: {{caData: {begin * 40_000}}}}}]"
    errors = [finding for finding in load_text(HEADER + body).findings if finding.is_error]
    assert [finding.message for finding in errors] == ["there is no PEM certificate in it"]
