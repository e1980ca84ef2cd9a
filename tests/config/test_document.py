"""Files and places: what a document offers, whatever its text."""

import os
from pathlib import Path

import pytest

from berthing.config.document import MAX_BYTES, Document, parse_document, read_document
from berthing.config.findings import Finding, Findings, Severity

YAML = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: first
- plugins:
    score: {enabled: [{name: ImageLocality, weight: 7}]}
  schedulerName: second
"""

JSON = """\
{"kind": "x",
 "profiles": [
  {"schedulerName": "first"}, {"é": 1,
   "weight": 7}
 ]}
"""


def only_error(document: Document) -> Finding:
    (finding,) = document.findings
    assert finding.is_error
    return finding


@pytest.mark.parametrize(
    ("text", "path", "place"),
    [
        pytest.param(YAML, (), (1, 1), id="the whole"),
        pytest.param(YAML, ("kind",), (2, 1), id="a key"),
        pytest.param(YAML, ("profiles", 0), (4, 3), id="a list item"),
        pytest.param(YAML, ("profiles", 1, "schedulerName"), (7, 3), id="a key in a list item"),
        pytest.param(
            YAML,
            ("profiles", 1, "plugins", "score", "enabled", 0, "weight"),
            (6, 45),
            id="a key in brackets",
        ),
        pytest.param(YAML, ("profiles", 0, "plugins", "bind"), (4, 3), id="nothing there: above"),
        pytest.param(YAML, ("profiles", 7), (3, 1), id="beyond the end of a list"),
        pytest.param(YAML, ("profiles", "kind"), (3, 1), id="a key where there is a list"),
        pytest.param(YAML, ("kind", 0), (2, 1), id="an index where there is a text"),
        pytest.param(YAML, ("unheard", "of"), (1, 1), id="nothing of it there"),
        pytest.param(JSON, ("profiles", 1), (3, 31), id="an object in JSON"),
        pytest.param(JSON, ("profiles", 1, "weight"), (4, 4), id="a key in JSON"),
        pytest.param("\n\n  a: 1\r\n  b: 2\r\n", ("b",), (4, 3), id="lines that end with CRLF"),
        pytest.param("\ufeffa: 1\n", ("a",), (1, 1), id="after a byte order mark"),
        pytest.param("é: 1\nü: {ö: 2}\n", ("ü", "ö"), (2, 5), id="columns are characters"),
        pytest.param("7: x\n", ("7",), (1, 1), id="a number as key"),
        pytest.param("a: &x\n  b: 1\nc: *x\n", ("c", "b"), (2, 3), id="behind an alias"),
        pytest.param("a: &x\n  b: 1\nc: *x\n", ("c",), (3, 1), id="the key of an alias"),
        pytest.param("a: &x {b: 1}\nc:\n  <<: *x\n", ("c", "b"), (1, 8), id="a merged key"),
        pytest.param("", ("a",), (0, 0), id="nowhere"),
    ],
)
def test_position(text: str, path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    assert parse_document(text).position(path) == place


def test_located_fills_in_places_and_follows_the_file() -> None:
    document = parse_document(YAML, file="c.yaml")
    findings = Findings()
    findings.error("second", "profiles", 1, "schedulerName")
    findings.error("elsewhere", "kind", line=5, column=2)
    findings.warning("first", "profiles", 0, "weight")
    assert document.located(findings) == [
        Finding("first", ("profiles", 0, "weight"), "", Severity.WARNING, 4, 3),
        Finding("elsewhere", ("kind",), "", Severity.ERROR, 5, 2),
        Finding("second", ("profiles", 1, "schedulerName"), "", Severity.ERROR, 7, 3),
    ]


def test_findings_of_one_place_keep_their_order() -> None:
    document = parse_document(YAML)
    findings = Findings()
    findings.error("one", "kind")
    findings.error("two", "kind")
    assert [finding.message for finding in document.located(findings)] == ["one", "two"]


def test_reads_a_file(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("kind: x\n")
    document = read_document(file)
    assert (document.file, document.value, list(document.findings)) == (
        str(file),
        {"kind": "x"},
        [],
    )


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "scheduler.yaml").touch()
    document = read_document(tmp_path / "schedular.yaml")
    assert document.value is None
    assert only_error(document) == Finding(
        "there is no such file", suggestion="did you mean scheduler.yaml?"
    )


def test_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    assert only_error(read_document(tmp_path / "a" / "b")).message == "there is no such file"


def test_a_directory_is_an_error(tmp_path: Path) -> None:
    assert only_error(read_document(tmp_path)).message == "this is a directory, not a file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.touch(mode=0)
    assert "permission denied" in only_error(read_document(file)).message


def test_a_file_that_the_system_refuses_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("berthing.config.document.open_file", refuse)
    finding = only_error(read_document("config.yaml"))
    assert finding.message == "this file may not be read: permission denied"


def test_a_path_through_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    finding = only_error(read_document(tmp_path / "file" / "config.yaml"))
    assert finding.message == "this file cannot be read: Not a directory"


def test_a_name_with_a_nul_is_an_error() -> None:
    assert "cannot be the name of a file" in only_error(read_document("a\0b")).message


def test_a_huge_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "big.yaml"
    with file.open("wb") as stream:
        stream.truncate(50 * 1024 * 1024)
    assert only_error(read_document(file)) == Finding(
        "there are more than 2048 KiB in this file", suggestion="is it a configuration?"
    )


def test_a_file_of_the_largest_size_is_read() -> None:
    text = "a: " + "x" * (MAX_BYTES - 3)
    assert not parse_document(text).findings.errors
    assert parse_document(text + "x").findings.errors


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("\n\n", id="blank lines"),
        pytest.param("# all\n# comments\n", id="comments"),
        pytest.param("null\n", id="null"),
        pytest.param("---\n---\na: 1\n", id="an empty document before the real one"),
        pytest.param("\ufeff", id="a byte order mark"),
    ],
)
def test_nothing_is_an_error(text: str) -> None:
    document = parse_document(text)
    assert document.value is None
    assert [error.message for error in document.findings.errors] == [
        "there is no configuration in this file"
    ]


@pytest.mark.parametrize(
    ("content", "value"),
    [
        pytest.param(b"a: \xc3\xa9\n", {"a": "é"}, id="UTF-8"),
        pytest.param(b"\xef\xbb\xbfa: 1\n", {"a": 1}, id="UTF-8 with a byte order mark"),
        pytest.param("\ufeffa: é\n".encode("utf-16-le"), {"a": "é"}, id="UTF-16, low byte first"),
        pytest.param("\ufeffa: é\n".encode("utf-16-be"), {"a": "é"}, id="UTF-16, high byte first"),
        pytest.param(b"a: 1\r\nb: 2\r", {"a": 1, "b": 2}, id="line ends of other systems"),
        pytest.param(b'\xef\xbb\xbf{a: 1, "b": 2}', {"a": 1, "b": 2}, id="flow style after a BOM"),
        pytest.param(b'{"a": "\xff\xc3"}', {"a": "\ufffd\ufffd"}, id="JSON that is not UTF-8"),
    ],
)
def test_encodings(content: bytes, value: object) -> None:
    document = parse_document(content)
    assert document.value == value
    assert not document.findings.errors


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        pytest.param(b"a: 1\nb: \xff\n", (2, 4), "this is not UTF-8 text", id="a stray byte"),
        pytest.param(b"\x7fELF\x02\x01", (1, 1), "U+007F is not allowed", id="a program"),
        pytest.param(b"a: 1\n\x00", (2, 1), "U+0000 is not allowed", id="a NUL"),
        pytest.param(b"a: \x1b[31m", (1, 4), "U+001B is not allowed", id="an escape sequence"),
        pytest.param(b"\xff\xfea\x00\x00\xd8", (1, 2), "this is not UTF-8", id="broken UTF-16"),
        pytest.param(b"\xff\xfea\x00:", (1, 2), "this is not UTF-8", id="half of UTF-16"),
        pytest.param(
            "a: 1\n\ufeffb: 2\n".encode(), (2, 1), "byte order mark inside", id="files joined"
        ),
        pytest.param(
            b"a: 1\n---\n\x00", (3, 1), "U+0000", id="even in the document that is not read"
        ),
    ],
)
def test_what_is_no_text_is_an_error(content: bytes, place: tuple[int, int], message: str) -> None:
    finding = only_error(parse_document(content))
    assert (finding.line, finding.column) == place
    assert message in finding.message


def test_broken_characters_in_json_are_replaced_with_a_warning() -> None:
    (finding,) = parse_document(b'{"a":\n "\xff"}').findings
    assert (finding.message, finding.severity) == ("this is not UTF-8 text", Severity.WARNING)
    assert (finding.line, finding.column) == (2, 3)
