from __future__ import annotations

import json

import pytest

from berthing.api.core import Namespace
from berthing.api.decode import (
    DecodeError,
    MalformedError,
    UnknownKindError,
    WatchEvent,
    decode_list,
    decode_objects,
    decode_watch_event,
)
from berthing.api.meta import ListMeta, ObjectMeta, Status
from berthing.api.node import Node
from berthing.api.pod import Pod


def named(*names: str, **fields: object) -> list[object]:
    return [{"metadata": {"name": name}, **fields} for name in names]


def test_a_list_as_an_api_server_sends_it() -> None:
    text = json.dumps(
        {
            "kind": "PodList",
            "apiVersion": "v1",
            "metadata": {
                "resourceVersion": "77",
                "continue": "token",
                "remainingItemCount": 5,
            },
            "items": named("a", "b"),
        }
    )
    pods = decode_list(text.encode(), Pod)
    assert [pod.name for pod in pods.items] == ["a", "b"]
    assert pods.metadata == ListMeta(
        resource_version="77", continue_="token", remaining_item_count=5
    )


def test_items_need_not_say_what_they_are() -> None:
    assert decode_list(json.dumps({"items": named("n")}), Node).items == (
        Node(metadata=ObjectMeta(name="n")),
    )


def test_a_list_of_something_else_is_refused() -> None:
    text = json.dumps({"kind": "NodeList", "apiVersion": "v1", "items": named("n")})
    with pytest.raises(UnknownKindError, match="expected a PodList, got a NodeList"):
        decode_list(text, Pod)


def test_an_answer_that_is_no_list_is_refused() -> None:
    text = '{"kind":"Status","apiVersion":"v1","status":"Failure","code":403}'
    with pytest.raises(DecodeError, match="expected a PodList, got a Status"):
        decode_list(text, Pod)


def test_a_bad_item_is_named() -> None:
    items = [
        *named("a", "b"),
        {"metadata": {"name": "c", "namespace": "n"}, "spec": {"nodeName": 1}},
    ]
    with pytest.raises(DecodeError) as caught:
        decode_list(json.dumps({"items": items}), Pod)
    error = caught.value
    assert (error.place, error.what, error.path) == ("items[2]", "Pod n/c", "spec.nodeName")


class TestObjectsOfAnyKind:
    def test_one_object(self) -> None:
        text = '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}}'
        assert decode_objects(text) == (Namespace(metadata=ObjectMeta(name="n")),)

    def test_a_list_of_one_kind(self) -> None:
        text = json.dumps({"kind": "NodeList", "apiVersion": "v1", "items": named("a", "b")})
        assert [type(obj) for obj in decode_objects(text)] == [Node, Node]

    def test_a_list_of_mixed_kinds_in_order(self) -> None:
        items = [
            *named("a", apiVersion="v1", kind="Node"),
            *named("b", apiVersion="v1", kind="Pod"),
            {"apiVersion": "v1", "kind": "PodList", "items": named("c", "d")},
        ]
        objects = decode_objects(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}))
        assert [(type(obj), obj.name) for obj in objects] == [
            (Node, "a"),
            (Pod, "b"),
            (Pod, "c"),
            (Pod, "d"),
        ]

    def test_lists_in_lists_without_end_are_refused(self) -> None:
        opening = '{"apiVersion":"v1","kind":"List","items":['
        with pytest.raises(MalformedError, match="nested too deeply"):
            decode_objects(opening * 900 + "]}" * 900)

    def test_an_unknown_kind_stops_it(self) -> None:
        items = named("d", apiVersion="apps/v1", kind="Deployment")
        text = json.dumps({"kind": "List", "apiVersion": "v1", "items": items})
        with pytest.raises(UnknownKindError) as caught:
            decode_objects(text)
        assert str(caught.value) == (
            "items[0]: Deployment d: no scheduler reads a Deployment of apps/v1"
        )

    def test_unknown_kinds_can_be_skipped_and_told(self) -> None:
        items = [
            *named("d", apiVersion="apps/v1", kind="Deployment"),
            *named("n", apiVersion="v1", kind="Node"),
            {"apiVersion": "v1", "kind": "SecretList", "items": named("s")},
        ]
        skipped: list[UnknownKindError] = []
        text = json.dumps({"kind": "List", "apiVersion": "v1", "items": items})
        assert [obj.name for obj in decode_objects(text, skip=skipped.append)] == ["n"]
        assert [error.what for error in skipped] == ["Deployment d", "SecretList"]


class TestWatch:
    @pytest.mark.parametrize("type_", ["ADDED", "MODIFIED", "DELETED"])
    def test_a_change(self, type_: str) -> None:
        line = json.dumps({"type": type_, "object": named("web", kind="Pod")[0]})
        assert decode_watch_event(line, Pod) == WatchEvent(
            type_, Pod(metadata=ObjectMeta(name="web"))
        )

    def test_a_bookmark_has_a_resource_version_and_nulls(self) -> None:
        line = (
            '{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":'
            '{"resourceVersion":"99","creationTimestamp":null},"spec":{"containers":null},"status":{}}}'
        )
        event = decode_watch_event(line, Pod)
        assert isinstance(event, WatchEvent)
        assert event.object.metadata.resource_version == "99"

    def test_the_end_of_a_watch_is_a_status(self) -> None:
        line = (
            '{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},'
            '"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}'
        )
        assert decode_watch_event(line, Pod) == Status(
            status="Failure", message="too old resource version", reason="Expired", code=410
        )

    def test_a_line_that_was_cut_off(self) -> None:
        with pytest.raises(DecodeError):
            decode_watch_event('{"type":"ADDED","object":{"metadata":{"na', Pod)
