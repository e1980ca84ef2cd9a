"""Lists: selected, in pages, as of one moment."""

from __future__ import annotations

from typing import Any

import pytest

from embedded.servers import POD, Server, named

PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
def server() -> Server:
    server = Server()
    for name in "cabed":
        labels = {"app": "db" if name in "ab" else "web"}
        node = {"nodeName": "n1"} if name in "bc" else {}
        server.create(PODS, named(POD, name, labels=labels, **node))
    return server


def names(answer: Any) -> str:
    return "".join(each["metadata"]["name"] for each in answer["items"])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "abcde"),
        ("?labelSelector=app%3Ddb", "ab"),
        ("?labelSelector=app%20notin%20(db)", "cde"),
        ("?fieldSelector=spec.nodeName%3Dn1", "bc"),
        ("?fieldSelector=spec.nodeName%3D,metadata.name!%3Da", "de"),
        ("?fieldSelector=status.phase!%3DPending", ""),
        ("?resourceVersion=0", "abcde"),
    ],
)
def test_what_is_selected(server: Server, query: str, expected: str) -> None:
    assert names(server.get(f"{PODS}{query}")) == expected
    assert names(server.get(f"/api/v1/pods{query}")) == expected


def test_another_namespace_is_empty(server: Server) -> None:
    assert names(server.get("/api/v1/namespaces/kube-system/pods")) == ""


def test_pages_show_one_moment(server: Server) -> None:
    first = server.get(f"{PODS}?limit=2")
    assert (names(first), first["metadata"]["remainingItemCount"]) == ("ab", 3)
    server.ask("DELETE", f"{PODS}/d")
    server.create(PODS, named(POD, "cc"))
    token = first["metadata"]["continue"]
    second = server.get(f"{PODS}?limit=2&continue={token}")
    third = server.get(f"{PODS}?limit=2&continue={second['metadata']['continue']}")
    assert names(second) + names(third) == "cde"
    assert "continue" not in third["metadata"]
    versions = {page["metadata"]["resourceVersion"] for page in (first, second, third)}
    assert len(versions) == 1


def test_a_page_after_compaction_has_expired(server: Server) -> None:
    token = server.get(f"{PODS}?limit=2")["metadata"]["continue"]
    server.create(PODS, named(POD, "x"))
    server.api.store.compact()
    code, answer = server.ask("GET", f"{PODS}?limit=2&continue={token}")
    assert (code, answer["reason"]) == (410, "Expired")


def test_a_list_of_what_has_not_happened_yet_times_out(server: Server) -> None:
    code, answer = server.ask("GET", f"{PODS}?resourceVersion=1000000")
    assert (code, answer["reason"]) == (504, "Timeout")


def test_a_made_up_page_is_a_bad_request(server: Server) -> None:
    assert server.ask("GET", f"{PODS}?continue=x")[0] == 400
