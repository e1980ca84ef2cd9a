"""Watches: what they tell from where on, and how they end."""

from __future__ import annotations

import json
from typing import Any

from berthing.simulate.virtual_time import run
from embedded.servers import POD, Server, named

PODS = "/api/v1/namespaces/default/pods"
MERGE = "application/merge-patch+json"


def short(events: list[Any]) -> list[tuple[str, str]]:
    return [(each["type"], each["object"]["metadata"].get("name", "")) for each in events]


async def story(server: Server, query: str) -> list[Any]:
    """Open a watch, let things happen, close it; what did it tell?"""
    watch = server.watch(f"{PODS}?watch=1{query}")
    server.create(PODS, named(POD, "b"))
    server.ask("PATCH", f"{PODS}/a", {"metadata": {"labels": {"x": "y"}}}, content_type=MERGE)
    server.ask("PATCH", f"{PODS}/a/status", {"status": {"phase": "Failed"}}, content_type=MERGE)
    server.ask("DELETE", f"{PODS}/b")
    server.api.close_watches()
    text = b"".join([chunk async for chunk in watch])
    return [json.loads(line) for line in text.splitlines()]


def start() -> tuple[Server, str]:
    server = Server()
    version = server.create(PODS, named(POD, "a"))["metadata"]["resourceVersion"]
    return server, version


def test_changes_are_told_in_order_with_rising_versions() -> None:
    server, version = start()
    events = run(story(server, f"&resourceVersion={version}"))
    assert short(events) == [
        ("ADDED", "b"),
        ("MODIFIED", "a"),
        ("MODIFIED", "a"),
        ("DELETED", "b"),
    ]
    versions = [int(each["object"]["metadata"]["resourceVersion"]) for each in events]
    assert versions == sorted(set(versions))
    assert versions[0] > int(version)


def test_a_watch_without_a_version_starts_with_all_there_is() -> None:
    server, _ = start()
    assert short(run(story(server, "")))[0] == ("ADDED", "a")


def test_what_is_selected_no_more_is_deleted() -> None:
    server, version = start()
    query = f"&resourceVersion={version}&fieldSelector=status.phase!%3DFailed"
    events = run(story(server, query))
    assert short(events) == [
        ("ADDED", "b"),
        ("MODIFIED", "a"),
        ("DELETED", "a"),
        ("DELETED", "b"),
    ]
    # As it was while it was selected, at the version at which it was not any more.
    gone = events[2]["object"]
    assert gone["status"]["phase"] == "Pending"
    assert int(gone["metadata"]["resourceVersion"]) > int(
        events[1]["object"]["metadata"]["resourceVersion"]
    )


def test_what_happened_before_the_watch_is_caught_up_on() -> None:
    async def main() -> list[Any]:
        server, version = start()
        server.create(PODS, named(POD, "b"))
        watch = server.watch(f"{PODS}?watch=1&resourceVersion={version}&timeoutSeconds=1")
        return [json.loads(line) async for chunk in watch for line in chunk.splitlines()]

    assert short(run(main())) == [("ADDED", "b")]


def test_a_watch_from_before_compaction_says_gone_and_ends() -> None:
    async def main() -> list[Any]:
        server, version = start()
        server.create(PODS, named(POD, "b"))
        server.api.store.compact()
        watch = server.watch(f"{PODS}?watch=1&resourceVersion={version}")
        return [json.loads(line) async for chunk in watch for line in chunk.splitlines()]

    (event,) = run(main())
    assert event["type"] == "ERROR"
    assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
    assert event["object"]["message"].startswith("too old resource version: ")


def test_a_short_history_forgets_as_well() -> None:
    async def main() -> list[Any]:
        server = Server(history_length=2)
        version = server.create(PODS, named(POD, "a"))["metadata"]["resourceVersion"]
        for name in "bcd":
            server.create(PODS, named(POD, name))
        watch = server.watch(f"{PODS}?watch=1&resourceVersion={version}")
        return [json.loads(line) async for chunk in watch for line in chunk.splitlines()]

    (event,) = run(main())
    assert event["type"] == "ERROR"


def test_a_quiet_watch_gets_bookmarks_and_ends_in_time() -> None:
    async def main() -> list[Any]:
        server, version = start()
        query = f"resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=150"
        watch = server.watch(f"{PODS}?watch=1&{query}")
        server.create("/api/v1/nodes", {"metadata": {"name": "n1"}})
        return [json.loads(line) async for chunk in watch for line in chunk.splitlines()]

    events = run(main())
    assert [each["type"] for each in events] == ["BOOKMARK"] * 3
    assert events[0]["object"]["metadata"]["resourceVersion"] == "7"
