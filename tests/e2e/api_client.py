"""The tests' own client of the API server: typed, blocking, and as small as can be.

It shares nothing with the client under test but the types of objects.  A single request opens a
connection of its own, so that a restarted API server needs no care.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlencode

import msgspec

from berthing.api.decode import decode_as, decode_list, decode_watch_event, encode
from berthing.api.kinds import kind_of
from berthing.api.meta import ApiObject, Status
from e2e.certificates import Pair

T = TypeVar("T", bound=ApiObject)

MERGE: Final = "application/merge-patch+json"
_JSON: Final = "application/json"
_CONNECTIONS: Final = 8
_PAUSE_SECONDS: Final = 0.1
# Answers of a server that is busy, starting, or was restarted since the list.
_PASSING: Final = frozenset({401, 403, 410, 429, 500, 503, 504})


class RefusedError(Exception):
    """The API server answered with an error; `status` is what it said."""

    def __init__(self, request: str, status: Status) -> None:
        super().__init__(f"{request}: {status.code} {status.reason}: {status.message}")
        self.status = status


class Access(msgspec.Struct, frozen=True):
    """Where an API server is, how to know it, and who we are: a pair, a token, or nobody."""

    host: str
    port: int
    authority: Path
    pair: Pair | None = None
    token: str = ""

    @property
    def url(self) -> str:
        """The address as kubeconfigs have it."""
        return f"https://{self.host}:{self.port}"

    def context(self) -> ssl.SSLContext:
        """What a connection needs to know the server, and to make us known."""
        context = ssl.create_default_context(cafile=str(self.authority))
        if self.pair:
            context.load_cert_chain(self.pair.certificate, self.pair.key)
        return context


class ApiClient:
    """Objects at an API server, made, read, changed and waited for."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._context = access.context()

    def create(self, obj: T) -> T:
        """Make an object; as the API server left it."""
        return decode_as(self.request("POST", _path_of(obj), encode(obj)), type(obj))

    def create_all(self, objects: Iterable[ApiObject]) -> None:
        """Make many objects over several connections, in no order."""
        self.request_all("POST", ((_path_of(each), encode(each)) for each in objects))

    def get(self, type_: type[T], name: str, namespace: str = "default") -> T:
        """The object of that name."""
        return decode_as(self.request("GET", path(type_, namespace, name)), type_)

    def list(self, type_: type[T], namespace: str = "") -> tuple[T, ...]:
        """All objects of a type, in one namespace or in all."""
        return decode_list(self.request("GET", path(type_, namespace)), type_).items

    def patch(
        self,
        type_: type[T],
        name: str,
        change: object,
        *,
        namespace: str = "default",
        subresource: str = "",
    ) -> T:
        """Change an object by a JSON merge patch."""
        where = path(type_, namespace, name, subresource)
        body = msgspec.json.encode(change)
        return decode_as(self.request("PATCH", where, body, content_type=MERGE), type_)

    def delete(self, type_: type[ApiObject], name: str, namespace: str = "default") -> None:
        """Delete an object at once: no kubelet is there to end a pod in peace."""
        self.request("DELETE", f"{path(type_, namespace, name)}?gracePeriodSeconds=0")

    def wait_for(
        self,
        type_: type[T],
        condition: Callable[[Mapping[str, T]], bool],
        *,
        namespace: str = "",
        timeout: float = 30.0,
    ) -> Mapping[str, T]:
        """Wait until all objects of a type, by key, are as wished; a server may come and go."""
        deadline = time.monotonic() + timeout
        seen: Mapping[str, T] = {}
        while time.monotonic() < deadline:
            try:
                for seen in self._states(type_, namespace, deadline):
                    if condition(seen):
                        return seen
            except RefusedError as error:
                if error.status.code not in _PASSING:
                    raise
                time.sleep(_PAUSE_SECONDS)
            except (OSError, HTTPException):
                time.sleep(_PAUSE_SECONDS)
        raise AssertionError(f"not so within {timeout:.0f} s; last seen:\n{_shown(seen)}")

    def request(
        self, method: str, where: str, body: bytes = b"", *, content_type: str = _JSON
    ) -> bytes:
        """The answer to any request, or RefusedError."""
        with closing(self._connect()) as connection:
            return self._ask(connection, method, where, body, content_type).read()

    def request_all(
        self, method: str, requests: Iterable[tuple[str, bytes]], *, content_type: str = _JSON
    ) -> None:
        """Send many requests, path and body, over several connections, in no order."""
        todo = list(requests)

        def send(share: Iterable[tuple[str, bytes]]) -> None:
            with closing(self._connect()) as connection:
                for where, body in share:
                    self._ask(connection, method, where, body, content_type).read()

        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            list(pool.map(send, (todo[start::_CONNECTIONS] for start in range(_CONNECTIONS))))

    def _states(self, type_: type[T], namespace: str, deadline: float) -> Iterator[Mapping[str, T]]:
        """All objects of a type: now, and after each change as long as the watch holds."""
        listed = decode_list(self.request("GET", path(type_, namespace)), type_)
        objects = {each.key: each for each in listed.items}
        yield objects
        query = urlencode({"watch": 1, "resourceVersion": listed.metadata.resource_version})
        with closing(self._connect()) as connection:
            answer = self._ask(connection, "GET", f"{path(type_, namespace)}?{query}")
            while line := _line_until(connection, answer, deadline):
                event = decode_watch_event(line, type_)
                if isinstance(event, Status):
                    return
                if event.type == "DELETED":
                    objects.pop(event.object.key, None)
                else:
                    objects[event.object.key] = event.object
                yield objects

    def _connect(self) -> HTTPSConnection:
        access = self._access
        return HTTPSConnection(access.host, access.port, context=self._context, timeout=60)

    def _ask(
        self,
        connection: HTTPSConnection,
        method: str,
        where: str,
        body: bytes = b"",
        content_type: str = _JSON,
    ) -> HTTPResponse:
        headers = {"Content-Type": content_type, "Accept": _JSON}
        if self._access.token:
            headers["Authorization"] = f"Bearer {self._access.token}"
        connection.request(method, where, body or None, headers)
        answer = connection.getresponse()
        if answer.status >= 400:
            raise RefusedError(f"{method} {where}", _status(answer))
        return answer


def path(type_: type[ApiObject], namespace: str = "", name: str = "", subresource: str = "") -> str:
    """Where objects of a type are: all of them, those of a namespace, or one."""
    kind = kind_of(type_)
    root = kind.path.removesuffix(f"/{kind.resource}")
    inside = f"namespaces/{namespace}" if namespace and kind.namespaced else ""
    return "/".join(part for part in (root, inside, kind.resource, name, subresource) if part)


def _path_of(obj: ApiObject) -> str:
    return path(type(obj), obj.namespace)


def _status(answer: HTTPResponse) -> Status:
    body = answer.read()
    try:
        return msgspec.json.decode(body, type=Status)
    except msgspec.DecodeError:
        return Status(code=answer.status, message=body.decode(errors="replace"))


def _line_until(connection: HTTPSConnection, answer: HTTPResponse, deadline: float) -> bytes:
    """The next line of a watch; TimeoutError if none came in time, empty at the end."""
    connection.sock.settimeout(max(deadline - time.monotonic(), 0.001))
    return answer.readline()


def _shown(objects: Mapping[str, ApiObject]) -> str:
    return "\n".join(f"{key}: {encode(each).decode()}" for key, each in list(objects.items())[:20])
