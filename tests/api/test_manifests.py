from __future__ import annotations

import gzip
import json

import pytest

from berthing.api.core import Namespace
from berthing.api.decode import DecodeError, MalformedError, UnknownKindError, encode
from berthing.api.manifests import read_manifests
from berthing.api.node import Node
from berthing.api.pod import Pod

WEB = """
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  creationTimestamp: 2026-01-02T03:04:05Z
  labels: {app: web}
spec:
  nodeSelector:
  priority: 1_000
  containers:
    - name: main
      image: web:v1
      resources:
        requests: {cpu: 0.50, memory: 1Gi, example.com/gpu: 1}
"""


def test_a_pod_as_people_write_it() -> None:
    (pod,) = read_manifests(WEB)
    assert isinstance(pod, Pod)
    requests = pod.spec.containers[0].resources.requests
    assert pod.key == "shop/web"
    assert pod.spec.priority == 1000
    assert pod.spec.node_selector == {}
    assert {name: str(amount) for name, amount in requests.items()} == {
        "cpu": "500m",
        "memory": "1Gi",
        "example.com/gpu": "1",
    }
    assert pod.metadata.creation_timestamp is not None


def test_many_documents_and_lists_among_them() -> None:
    text = f"""
---
{WEB}
---
# nothing here
---
apiVersion: v1
kind: List
items:
  - {{apiVersion: v1, kind: Node, metadata: {{name: n1}}}}
  - {{apiVersion: v1, kind: Namespace, metadata: {{name: shop}}}}
"""
    assert [(type(obj), obj.name) for obj in read_manifests(text)] == [
        (Pod, "web"),
        (Node, "n1"),
        (Namespace, "shop"),
    ]


def test_json_is_read_as_well_one_or_several() -> None:
    one = '{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}'
    two = one.replace('"a"', '"b"')
    assert [obj.name for obj in read_manifests(one)] == ["a"]
    assert [obj.name for obj in read_manifests(f"\n {one}\n{two} ")] == ["a", "b"]


def test_bytes_with_or_without_a_mark() -> None:
    for text in (WEB.encode(), b"\xef\xbb\xbf" + WEB.encode()):
        assert [obj.name for obj in read_manifests(text)] == ["web"]


def test_what_was_encoded_is_read_again() -> None:
    (pod,) = read_manifests(WEB)
    assert read_manifests(encode(pod)) == (pod,)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        pytest.param("on", "metadata.labels[x]: expected `str`, got `bool`", id="a word for true"),
        pytest.param(
            "n", "metadata.labels[x]: expected `str`, got `bool`", id="a letter for false"
        ),
        pytest.param("1.0", "metadata.labels[x]: expected `str`, got `int`", id="a version"),
        pytest.param("1.5", "metadata.labels[x]: expected `str`, got `float`", id="a fraction"),
    ],
)
def test_labels_that_needed_quotes(label: str, message: str) -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  labels: {{app: a, x: {label}}}\n"
    with pytest.raises(DecodeError) as caught:
        read_manifests(text)
    assert str(caught.value) == f"Pod web: {message}"


def test_an_empty_label_is_an_empty_text() -> None:
    (pod,) = read_manifests("apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    x:\n")
    assert pod.metadata.labels == {"x": ""}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("just a text", "expected an object, got `str`", id="a text"),
        pytest.param("- a\n- b", "expected an object, got `array`", id="a list"),
        pytest.param("a: [1", "did not find expected ',' or ']'", id="broken YAML"),
        pytest.param('{"a": ', "input data was truncated", id="broken JSON"),
        pytest.param("{a: b}", "JSON is malformed", id="a brace that starts no JSON"),
        pytest.param(
            b"\xff\xfe\x00", "not a text: 'utf-8' codec can't decode byte 0xff", id="bytes"
        ),
        pytest.param(gzip.compress(b"a: b"), "invalid start byte", id="a gzip file"),
        pytest.param("a: \ud800", "not a text", id="half a character"),
        pytest.param('{"a": "\ud800"}', "not a text", id="half a character in JSON"),
    ],
)
def test_what_is_no_manifest(text: str | bytes, message: str) -> None:
    with pytest.raises(MalformedError) as caught:
        read_manifests(text)
    assert message in str(caught.value)


def test_lines_are_counted_from_the_start_of_the_text() -> None:
    with pytest.raises(MalformedError, match=r"^line 4: "):
        read_manifests("\n\n\n  a: b: c")


def test_the_document_of_a_mistake_is_told() -> None:
    with pytest.raises(DecodeError) as caught:
        read_manifests(f"{WEB}\n---\n{WEB}\n---\n{WEB.replace('1_000', 'high')}")
    assert str(caught.value).startswith("document 3: Pod shop/web: spec.priority: ")


def test_unknown_kinds_stop_it_unless_they_may_be_skipped() -> None:
    text = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\n---\n{WEB}"
    with pytest.raises(UnknownKindError, match="document 1: Secret s: no scheduler reads a Secret"):
        read_manifests(text)
    skipped: list[UnknownKindError] = []
    assert [obj.name for obj in read_manifests(text, skip=skipped.append)] == ["web"]
    assert [error.what for error in skipped] == ["Secret s"]


def test_an_empty_text_holds_nothing() -> None:
    assert read_manifests("") == ()
    assert read_manifests(b"# only a comment\n---\n") == ()


def test_a_large_list_in_json_is_not_read_as_yaml() -> None:
    items = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}"}} for i in range(3000)
    ]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=2)
    assert len(read_manifests(text)) == 3000
