"""Where pods have been, by the history that etcd keeps: nothing that a scheduler or a server says.

etcd answers JSON beside gRPC.  The API server stores pods as protobuf, of which a few fields are
read here by their numbers.

    revision(control_plane)            now
    node_names(control_plane, since)   all that happened to each pod after that
"""

from __future__ import annotations

import base64
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from typing import Final

import msgspec

from e2e.control_plane import ControlPlane

_FIRST: Final = b"/registry/pods/"
_BEHIND_LAST: Final = b"/registry/pods0"

# Fields by their numbers: Unknown.raw, Pod.metadata, ObjectMeta.uid, Pod.spec, PodSpec.nodeName.
_MAGIC: Final = b"k8s\0"
_RAW: Final = 2
_METADATA: Final = 1
_UID: Final = 5
_SPEC: Final = 2
_NODE_NAME: Final = 10


class _KeyValue(msgspec.Struct):
    key: str
    mod_revision: str
    value: str = ""


class _Header(msgspec.Struct):
    revision: str


class _Range(msgspec.Struct):
    header: _Header
    kvs: tuple[_KeyValue, ...] = ()


class _Event(msgspec.Struct):
    kv: _KeyValue
    type: str = "PUT"


class _Events(msgspec.Struct):
    events: tuple[_Event, ...] = ()


class _Watch(msgspec.Struct):
    result: _Events


class _Socket(HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("etcd", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def revision(control_plane: ControlPlane) -> int:
    """How far the history has come."""
    return int(_range(control_plane).header.revision)


def node_names(control_plane: ControlPlane, since: int) -> Mapping[str, tuple[str, ...]]:
    """The nodes that each pod has been on, by its uid, in order; "" stands for none.

    A pod that was bound once shows as `("", "node")`.  Pods must not have been deleted meanwhile.
    """
    last = max((int(kv.mod_revision) for kv in _range(control_plane).kvs), default=0)
    seen: dict[str, list[str]] = {}
    if last <= since:
        return {}
    for event in _events(control_plane, since + 1, last):
        assert event.type == "PUT", "a pod was deleted"
        pod = _field(base64.b64decode(event.kv.value).removeprefix(_MAGIC), _RAW)
        uid = _field(_field(pod, _METADATA), _UID).decode()
        name = _field(_field(pod, _SPEC), _NODE_NAME).decode()
        names = seen.setdefault(uid, [])
        if not names or names[-1] != name:
            names.append(name)
    return {uid: tuple(names) for uid, names in seen.items()}


def _events(control_plane: ControlPlane, first: int, last: int) -> Iterator[_Event]:
    request = {"create_request": {**_pods(), "start_revision": str(first)}}
    with closing(_connection(control_plane)) as connection:
        answer = _ask(connection, "/v3/watch", request)
        while line := answer.readline():
            for event in msgspec.json.decode(line, type=_Watch).result.events:
                yield event
                if int(event.kv.mod_revision) >= last:
                    return


def _range(control_plane: ControlPlane) -> _Range:
    with closing(_connection(control_plane)) as connection:
        answer = _ask(connection, "/v3/kv/range", {**_pods(), "keys_only": True})
        return msgspec.json.decode(answer.read(), type=_Range)


def _connection(control_plane: ControlPlane) -> _Socket:
    return _Socket(str(control_plane.directory / "etcd.sock"))


def _ask(connection: _Socket, path: str, request: object) -> HTTPResponse:
    connection.request("POST", path, msgspec.json.encode(request))
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    return answer


def _pods() -> dict[str, object]:
    """The keys of all pods."""
    ends = {"key": _FIRST, "range_end": _BEHIND_LAST}
    return {name: base64.b64encode(end).decode() for name, end in ends.items()}


def _field(message: bytes, number: int) -> bytes:
    """The last value of a field that is a text or a message; empty if there is none."""
    found = b""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        match tag & 7:
            case 0:
                _, at = _varint(message, at)
            case 1:
                at += 8
            case 2:
                length, at = _varint(message, at)
                if tag >> 3 == number:
                    found = message[at : at + length]
                at += length
            case 5:
                at += 4
            case wire_type:
                raise ValueError(f"no such wire type: {wire_type}")
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at
