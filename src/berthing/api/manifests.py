"""API objects from what people keep in files: YAML of any number of documents, or JSON.

YAML is taken as kubectl takes it: turned into JSON by the rules of YAML 1.1, then decoded as if
an API server had sent it.  So times stay text, `cpu: 0.5` is a number that a quantity accepts,
and a label written `on`, `yes` or `1.0` is a mistake that is reported with its path.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

import msgspec

from berthing.api.decode import DecodeError, MalformedError, Skip, decode_objects
from berthing.api.meta import ApiObject
from berthing.api.yaml_values import YamlError, read_yaml


def read_manifests(text: str | bytes, *, skip: Skip | None = None) -> tuple[ApiObject, ...]:
    """Read all objects of a text: of all its documents, and of the lists among them.

    With `skip`, objects of kinds that no scheduler reads are told to it and left out.
    """
    documents = tuple(_documents(_as_text(text)))
    objects: list[ApiObject] = []
    for number, document in enumerate(documents, start=1):
        try:
            objects += decode_objects(document, skip=skip)
        except DecodeError as error:
            if len(documents) == 1:
                raise
            raise error.at(f"document {number}") from error
    return tuple(objects)


def _as_text(text: str | bytes) -> str:
    try:
        # A text may hold halves of characters, which neither JSON nor YAML can take.
        content = text.encode() if isinstance(text, str) else text
        return content.decode("utf-8-sig")
    except UnicodeError as error:
        raise MalformedError(f"not a text: {error}") from error


def _documents(text: str) -> Iterator[bytes]:
    """Each document as JSON; as for kubectl, it is JSON already if it starts like it."""
    if text[:_LONGEST_START].lstrip().startswith("{"):
        yield from _split_json(text.lstrip())
        return
    try:
        for value in read_yaml(text):
            if value is not None:
                yield msgspec.json.encode(value)
    except YamlError as error:
        raise MalformedError(str(error)) from error


# kubectl looks for the brace no further either.
_LONGEST_START: Final = 4096


def _split_json(text: str) -> Iterator[bytes]:
    """Split a text into the JSON objects that follow each other in it."""
    while text:
        end = _end_of_first(text)
        yield text[:end].encode()
        text = text[end:].lstrip()


def _end_of_first(text: str) -> int:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        pass
    else:
        return len(text)
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (json.JSONDecodeError, RecursionError):
        # Whoever reads it next says what is wrong with it.
        return len(text)
    return end
