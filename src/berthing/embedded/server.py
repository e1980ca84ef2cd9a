"""An API server in this process: requests and answers as over HTTP, without a socket.

    request ---> route ---> get, list: the store as it is
                            watch:     told by the store from now on
                            the rest:  objects, which changes the store by its rules

What goes in and out is JSON, as it would be on the wire.  There is no authentication, and nothing
fails but for a reason; whoever wants trouble puts it between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final, Protocol
from urllib.parse import parse_qs

import msgspec

from berthing.embedded.lists import listed
from berthing.embedded.objects import NAMESPACES, Objects
from berthing.embedded.pods import PODS
from berthing.embedded.refusals import (
    Refused,
    bad_request,
    method_not_allowed,
    no_such_path,
    success,
)
from berthing.embedded.routes import Route, find_route
from berthing.embedded.selection import read_selection
from berthing.embedded.store import Store
from berthing.embedded.trees import Tree, read_tree
from berthing.embedded.watching import Watch

_JSON: Final = {"content-type": "application/json"}
_ALIVE: Final = frozenset({"/healthz", "/livez", "/readyz"})
_NAMESPACES: Final = ("default", "kube-system", "kube-public", "kube-node-lease")
# How long a watch goes on if nobody says.
_WATCH_SECONDS: Final = 1800.0


class Request(Protocol):
    """What a client sends; the path has the query in it."""

    @property
    def method(self) -> str:
        """GET, POST, PUT, PATCH or DELETE."""
        ...

    @property
    def path(self) -> str:
        """The path with its query."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers; of these, the content type counts."""
        ...

    @property
    def body(self) -> bytes:
        """The body; empty if there is none."""
        ...


class Response(msgspec.Struct, frozen=True):
    """An answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ApiServer:
    """A cluster that is reached by requests."""

    def __init__(
        self, *, now: Callable[[], float], random: Random, history_length: int = 10_000
    ) -> None:
        self.store = Store(history_length=history_length)
        self.objects = Objects(self.store, now=now, random=random)
        self._watches: list[Watch] = []
        for name in _NAMESPACES:
            labels: Tree = {"kubernetes.io/metadata.name": name}
            self.objects.create(
                NAMESPACES, "", {"metadata": {"name": name, "labels": dict(labels)}}
            )

    def answer(self, request: Request) -> Response | Watch:
        """Answer a request; what is read as it comes is a Watch, to be closed by the reader."""
        try:
            return self._watch(request) or self._answer(request)
        except Refused as refused:
            return Response(refused.status.code, {**_JSON, **refused.headers}, refused.body)

    def close_watches(self) -> None:
        """End all watches, as a server does that goes down."""
        for watch in self._watches:
            watch.close()

    def _answer(self, request: Request) -> Response:
        path, _, query = request.path.partition("?")
        if path in _ALIVE and request.method == "GET":
            return Response(200, {"content-type": "text/plain"}, b"ok")
        route = find_route(path)
        if route is None:
            raise no_such_path()
        match request.method, bool(route.name):
            case "GET", True:
                found = self.objects.get(route.kind, (route.namespace, route.name))
                return Response(200, _JSON, found.json)
            case "GET", False:
                return Response(200, _JSON, self._list(route, _Query(query)))
            case "POST", _:
                return self._post(route, _body(request))
            case (("PUT" | "PATCH" | "DELETE"), True):
                return self._change(route, request)
        raise method_not_allowed()

    def _list(self, route: Route, query: _Query) -> bytes:
        return listed(
            self.store,
            route.kind,
            read_selection(route.kind, route.namespace, query.text),
            at_least=query.number("resourceVersion"),
            limit=query.number("limit"),
            continue_=query.text("continue"),
        )

    def _post(self, route: Route, body: Tree) -> Response:
        if not route.name:
            created = self.objects.create(route.kind, route.namespace, body)
            return Response(201, _JSON, created.json)
        if route.kind is PODS and route.subresource == "binding":
            self.objects.bind((route.namespace, route.name), body)
            return Response(201, _JSON, success())
        raise method_not_allowed()

    def _change(self, route: Route, request: Request) -> Response:
        key = (route.namespace, route.name)
        if route.subresource not in ("", "status"):
            raise no_such_path()
        body = _body(request)
        match request.method:
            case "PUT":
                changed = self.objects.update(route.kind, key, body, subresource=route.subresource)
            case "PATCH":
                changed = self.objects.patch(
                    route.kind,
                    key,
                    body,
                    content_type=_content_type(request),
                    subresource=route.subresource,
                )
            case _:
                changed = self.objects.delete(route.kind, key, body)
        return Response(200, _JSON, changed.json)

    def _watch(self, request: Request) -> Watch | None:
        path, _, text = request.path.partition("?")
        query = _Query(text)
        route = find_route(path)
        if route is None or request.method != "GET" or query.text("watch") not in ("1", "true"):
            return None
        since = query.number("resourceVersion")
        watch = Watch(
            self.store,
            route.kind,
            read_selection(route.kind, route.namespace, query.text),
            since=since or None,
            timeout_seconds=query.number("timeoutSeconds") or _WATCH_SECONDS,
            with_bookmarks=query.text("allowWatchBookmarks") in ("1", "true"),
        )
        self._watches = [each for each in self._watches if not each.is_over] + [watch]
        return watch


class _Query:
    """What stands behind the question mark."""

    def __init__(self, text: str) -> None:
        self._values = parse_qs(text)

    def text(self, name: str) -> str:
        """The value of a parameter; empty if it is not given."""
        return self._values.get(name, [""])[0]

    def number(self, name: str) -> int:
        """A parameter that has to be a number; 0 if it is not given."""
        text = self.text(name)
        if text and not text.isdecimal():
            raise bad_request(f'Invalid value: "{text}": {name} has to be a number')
        return int(text or 0)


def _body(request: Request) -> Tree:
    if not request.body:
        return {}
    try:
        return read_tree(request.body)
    except ValueError as error:
        raise bad_request(f"couldn't read the body of the request: {error}") from error


def _content_type(request: Request) -> str:
    for name, value in request.headers.items():
        if name.lower() == "content-type":
            return value
    return ""
