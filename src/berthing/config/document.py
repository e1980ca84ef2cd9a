"""A configuration file as a plain tree, read as kube-scheduler reads it, with every key's place.

A text that starts with { (after blanks) is JSON, any other is YAML; see json_reader.py and
yaml_reader.py for what they take.  Nothing here raises: whatever is wrong with a file, or odd
about it, is among the document's findings.

Upstream: apimachinery/pkg/runtime/serializer/json, and its recognizer.
Differs:  errors are told all at once; sizes are limited (MAX_BYTES here, more in tree.py).
"""

from __future__ import annotations

import codecs
import itertools
import os
import re
from collections.abc import Iterable

import msgspec

from berthing.api.files import open_file
from berthing.config.findings import Finding, Findings, Path, did_you_mean
from berthing.config.json_reader import read_json
from berthing.config.tree import Lines, Node, UnreadableError, offset_at, plain
from berthing.config.yaml_reader import read_yaml

# The largest configuration in sane use has certificates in it and takes some ten KB.
MAX_BYTES = 2 * 1024 * 1024


class Document:
    """What one file holds: its tree, where everything in it stands, what is wrong with it.

    `file` is the name to show; `value` the tree of dict, list, str, int, float, bool and None
    (None also where nothing could be read); `findings` what was met while reading, to which
    those who read on may add.
    """

    def __init__(
        self, file: str, findings: Findings, *, root: Node | None = None, text: str = ""
    ) -> None:
        self.file = file
        self.findings = findings
        self.value = plain(root) if root else None
        self._root = root
        self._lines = Lines(text)

    def position(self, path: Path) -> tuple[int, int]:
        """Line and column, from 1, of the key (or list item) at `path`, or the nearest above it.

        (0, 0) where the file holds nothing.
        """
        return self._lines.place(offset_at(self._root, path)) if self._root else (0, 0)

    def located(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings with lines and columns filled in, in the order of the file."""
        placed = [finding if finding.line else self._placed(finding) for finding in findings]
        return sorted(placed, key=lambda finding: (finding.line, finding.column))

    def _placed(self, finding: Finding) -> Finding:
        line, column = self.position(finding.path)
        return msgspec.structs.replace(finding, line=line, column=column)


def read_document(path: str | os.PathLike[str]) -> Document:
    """Read a file; whatever is wrong with it ends up in the document's findings."""
    file = os.fspath(path)
    try:
        with open_file(file) as stream:
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        findings = Findings()
        findings.error(_problem(error), suggestion=_similar_file(file, error))
        return Document(file, findings)
    return parse_document(content, file=file)


def parse_document(text: bytes | str, *, file: str = "") -> Document:
    """Read a text; whatever is wrong with it ends up in the document's findings."""
    findings = Findings()
    if len(text) > MAX_BYTES:
        findings.error(
            f"there are more than {MAX_BYTES // 1024} KiB in this file",
            suggestion="is it a configuration?",
        )
        return Document(file, findings)
    characters = text if isinstance(text, str) else _decoded(text)
    # Behind a byte order mark a { is read as YAML.
    is_json = characters.lstrip(_BLANKS).startswith("{")
    body = characters.removeprefix("\ufeff")
    lines = Lines(body)
    try:
        root = _read_json(body, findings, lines) if is_json else _read_yaml(body, findings, lines)
    except UnreadableError as error:
        line, column = lines.place(error.offset)
        findings.error(error.message, suggestion=error.suggestion, line=line, column=column)
        return Document(file, findings)
    if root is None or root.value is None:
        findings.error("there is no configuration in this file", suggestion=_BEGINNING)
    return Document(file, findings, root=root, text=body)


_BEGINNING = (
    "begin with apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration"
)

# What Go takes for blank, which is a little less than what str.lstrip() does.
_BLANKS = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
# Bytes that are no UTF-8 come out of _decoded() as these.
_BROKEN_BYTE = re.compile("[\ud800-\udfff]")
# libyaml would skip a byte order mark at the start of any line; upstream reads it as a letter.
_NOT_IN_YAML = re.compile(
    "(?<=[\n\r])\ufeff|[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)


def _decoded(content: bytes) -> str:
    """The text of a file; what cannot be decoded comes out as lone surrogates."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError as error:
                return content[: error.start].decode(encoding) + "\udcff"
    return content.decode(errors="surrogateescape")


def _read_json(text: str, findings: Findings, lines: Lines) -> Node:
    if broken := _BROKEN_BYTE.search(text):
        # Upstream reads on, with a replacement character for each such byte.
        line, column = lines.place(broken.start())
        findings.warning("this is not UTF-8 text", line=line, column=column)
        text = _BROKEN_BYTE.sub("\ufffd", text)
    return read_json(text, findings, lines)


def _read_yaml(text: str, findings: Findings, lines: Lines) -> Node | None:
    if unwanted := _NOT_IN_YAML.search(text):
        raise _unwanted_character(unwanted)
    return read_yaml(text, findings, lines)


def _unwanted_character(match: re.Match[str]) -> UnreadableError:
    if _BROKEN_BYTE.match(match.group()):
        return UnreadableError("this is not UTF-8 text", match.start(), "is it a text file?")
    if match.group() == "\ufeff":
        return UnreadableError("there is a byte order mark inside the text here", match.start())
    return UnreadableError(
        f"the control character U+{ord(match.group()):04X} is not allowed",
        match.start(),
        "is this a text file?",
    )


def _problem(error: OSError | ValueError) -> str:
    match error:
        case FileNotFoundError():
            return "there is no such file"
        case IsADirectoryError():
            return "this is a directory, not a file"
        case PermissionError():
            return "this file may not be read: permission denied"
        case OSError(strerror=str(reason)):
            return f"this file cannot be read: {reason}"
        case _:
            return f"this cannot be the name of a file: {error}"


def _similar_file(file: str, error: OSError | ValueError) -> str:
    if not isinstance(error, FileNotFoundError):
        return ""
    directory, name = os.path.split(file)
    try:
        with os.scandir(directory or ".") as entries:
            names = [entry.name for entry in itertools.islice(entries, 1000)]
    except OSError:
        return ""
    return did_you_mean(name, names)
