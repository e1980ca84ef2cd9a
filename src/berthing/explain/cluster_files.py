"""A cluster as people have it in files: what `kubectl get ... -o yaml` wrote, or wrote by hand.

    files, folders, stdin ---> texts ---> objects ---> as an API server would have filled them in
                      gunzip        read_manifests             admission

A folder stands for all manifests below it.  Objects of kinds that no scheduler reads are counted
and left out, unless there is no such kind.  Everything that is wrong with any of the files is told at once.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

import msgspec

from berthing.api.decode import DecodeError
from berthing.api.files import open_file
from berthing.api.manifests import read_manifests
from berthing.api.meta import ApiObject
from berthing.api.pod import Pod
from berthing.explain.admission import Admission
from berthing.explain.checks import described, mistakes
from berthing.explain.other_kinds import left_out
from berthing.explain.problems import refuse

STDIN: Final = "-"
_STDIN_NAME: Final = "<stdin>"

_SUFFIXES: Final = (".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz")
_GZIP_MAGIC: Final = b"\x1f\x8b"
# The lists of a cluster as large as they come take some hundred MB.
_MOST_BYTES: Final = 2 * 2**30


class Readable(Protocol):
    """Where bytes come from: a file, or standard input."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes."""
        ...


class Found(msgspec.Struct, frozen=True):
    """An object, and the file it was found in."""

    obj: ApiObject
    file: str


class ClusterFiles(msgspec.Struct, frozen=True):
    """All that some files say about a cluster, in their order."""

    found: tuple[Found, ...]
    # Kinds that were left out -> how many objects of them.
    skipped: Counter[str]

    @property
    def objects(self) -> Iterator[ApiObject]:
        """The objects alone."""
        return (each.obj for each in self.found)


def read_files(
    paths: Sequence[str], stdin: Readable, *, beside: Iterable[ApiObject] = ()
) -> ClusterFiles:
    """Read files, folders and (as `-`) standard input; InputError tells all that is wrong.

    `beside` are objects that are known already; what is read may lean on them.
    """
    found: list[Found] = []
    skipped: Counter[str] = Counter()
    problems: list[str] = []
    for path in _files(paths, problems):
        try:
            text = _text(path, stdin)
            objects = _objects(text, skipped)
        except _UnreadableError as error:
            problems.append(f"{_name(path)}: {error}")
        else:
            found.extend(Found(obj, _name(path)) for obj in objects)
    admission = Admission((*beside, *(each.obj for each in found)))
    filled_in = tuple(Found(admission.filled_in(each.obj), each.file) for each in found)
    refuse([*problems, *_wrong_objects(filled_in), *_repeated(filled_in)])
    return ClusterFiles(filled_in, skipped)


class _UnreadableError(Exception):
    """Why a file cannot be read."""


def _files(paths: Iterable[str], problems: list[str]) -> Iterator[str]:
    """All files that the paths stand for, each once."""
    seen: set[str] = set()
    for path in paths:
        files = [path]
        if path != STDIN and os.path.isdir(path):
            files = sorted(_manifests_below(path))
            if not files:
                problems.append(f"{path}: there is no .yaml, .yml or .json file in this folder")
        for file in files:
            identity = file if file == STDIN else os.path.realpath(file)
            if identity not in seen:
                seen.add(identity)
                yield file


def _manifests_below(folder: str) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        for name in names:
            if name.lower().endswith(_SUFFIXES):
                yield os.path.join(place, name)


def _text(path: str, stdin: Readable) -> bytes:
    try:
        content = _limited(stdin) if path == STDIN else _content(path)
        if content.startswith(_GZIP_MAGIC):
            content = _limited(gzip.GzipFile(fileobj=io.BytesIO(content)))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _UnreadableError(f"broken gzip data: {error}") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _UnreadableError(reason) from error
    if _says_nothing(content):
        raise _UnreadableError("there is nothing in it; expected what `kubectl get -o yaml` writes")
    return content


def _content(path: str) -> bytes:
    with open_file(path) as stream:
        return _limited(stream)


def _limited(stream: Readable) -> bytes:
    content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise _UnreadableError(f"there are more than {_MOST_BYTES // 2**20} MiB in it")
    return content


def _says_nothing(content: bytes) -> bool:
    """Whether there are only blanks, comments and the lines between YAML documents."""
    lines = (line.strip() for line in io.BytesIO(content.removeprefix(codecs.BOM_UTF8)))
    return all(not line or line.startswith((b"#", b"---")) for line in lines)


def _objects(text: bytes, skipped: Counter[str]) -> tuple[ApiObject, ...]:
    try:
        return read_manifests(text, skip=lambda error: skipped.update((left_out(error),)))
    except DecodeError as error:
        raise _UnreadableError(str(error)) from error


def _wrong_objects(found: Iterable[Found]) -> Iterator[str]:
    for each in found:
        for mistake in mistakes(each.obj):
            yield f"{each.file}: {mistake}"


def _repeated(found: Iterable[Found]) -> Iterator[str]:
    first: dict[tuple[type[ApiObject], str], str] = {}
    for each in found:
        identity = type(each.obj), each.obj.key
        if identity in first:
            other = first[identity]
            where = "twice" if other == each.file else f"here, and in {other}"
            yield f"{each.file}: {described(each.obj)} is there {where}; leave one"
        else:
            first[identity] = each.file
    yield from _same_uids(found)


def _same_uids(found: Iterable[Found]) -> Iterator[str]:
    """Pods that are told apart by nothing but their names, as copied manifests are."""
    first: dict[str, ApiObject] = {}
    for each in found:
        if isinstance(each.obj, Pod):
            other = first.setdefault(each.obj.metadata.uid, each.obj)
            if other.key != each.obj.key:
                yield f"{each.file}: {described(each.obj)} has the uid of {described(other)}"


def _name(path: str) -> str:
    return _STDIN_NAME if path == STDIN else path
