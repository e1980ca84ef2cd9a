"""An embedded API server to ask, and what its answers say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

import msgspec

from berthing.api.frozen import EMPTY
from berthing.embedded.server import ApiServer, Response
from berthing.embedded.watching import Watch

JANUARY = 1_767_225_600.0  # 2026-01-01T00:00:00Z
POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main"}]}}


class Request(msgspec.Struct, frozen=True):
    method: str
    path: str
    headers: Mapping[str, str] = EMPTY
    body: bytes = b""


class Server:
    """Answers with a code and a tree."""

    def __init__(self, *, history_length: int = 10_000) -> None:
        self.api = ApiServer(now=lambda: JANUARY, random=Random(1), history_length=history_length)

    def ask(
        self, method: str, path: str, body: object = None, *, content_type: str = ""
    ) -> tuple[int, Any]:
        headers = {"Content-Type": content_type} if content_type else {}
        text = b"" if body is None else json.dumps(body).encode()
        answer = self.api.answer(Request(method, path, headers, text))
        assert isinstance(answer, Response)
        return answer.status, json.loads(answer.body)

    def get(self, path: str) -> Any:
        code, tree = self.ask("GET", path)
        assert code == 200, tree
        return tree

    def create(self, path: str, body: object) -> Any:
        code, tree = self.ask("POST", path, body)
        assert code == 201, tree
        return tree

    def watch(self, path: str) -> Watch:
        answer = self.api.answer(Request("GET", path))
        assert isinstance(answer, Watch)
        return answer


def named(kind: Mapping[str, Any], name: str, **spec: object) -> dict[str, Any]:
    """The object under another name, with other things in its spec."""
    labels = {"labels": spec.pop("labels")} if "labels" in spec else {}
    return {
        **kind,
        "metadata": {**kind.get("metadata", {}), "name": name, **labels},
        "spec": {**kind.get("spec", {}), **spec},
    }
