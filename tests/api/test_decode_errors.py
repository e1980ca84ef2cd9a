from __future__ import annotations

import json

import pytest

from berthing.api.decode import (
    DecodeError,
    MalformedError,
    UnknownKindError,
    WrongTypeError,
    decode_as,
    decode_object,
)
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.policy import PodDisruptionBudget
from berthing.api.resource import ResourceSlice


def pod_with(**fields: object) -> str:
    return json.dumps({"metadata": {"namespace": "shop", "name": "web"}, **fields})


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        pytest.param(
            pod_with(spec={"containers": [{"name": "a"}, {"image": 5}]}),
            "spec.containers[1].image",
            "expected `str`, got `int`",
            id="a number for a text",
        ),
        pytest.param(
            pod_with(spec={"priority": "high"}),
            "spec.priority",
            "expected `int | null`, got `str`",
            id="a text for a number",
        ),
        pytest.param(
            pod_with(spec={"priority": 2**31}),
            "spec.priority",
            "expected `int` <= 2147483647",
            id="a number beyond 32 bits",
        ),
        pytest.param(
            pod_with(spec={"hostNetwork": "yes"}),
            "spec.hostNetwork",
            "expected `bool`, got `str`",
            id="a text for a truth",
        ),
        pytest.param(
            pod_with(spec={"tolerations": {"key": "a"}}),
            "spec.tolerations",
            "expected `array`, got `object`",
            id="one of a list without the list",
        ),
        pytest.param(
            pod_with(spec={"nodeSelector": {"disk": "ssd", "cores": 8}}),
            "spec.nodeSelector[cores]",
            "expected `str`, got `int`",
            id="a number in a map of texts",
        ),
        pytest.param(
            pod_with(spec={"nodeSelector": {"disk": "ssd", "since": 1.5}}),
            "spec.nodeSelector[since]",
            "expected `str`, got `float`",
            id="a fraction in a map of texts",
        ),
        pytest.param(
            pod_with(spec={"nodeSelector": ["disk=ssd"]}),
            "spec.nodeSelector",
            "expected `object`, got `array`",
            id="a list for a map",
        ),
        pytest.param(
            pod_with(spec={"overhead": {"cpu": "1", "memory": "512 apples"}}),
            "spec.overhead",
            "memory: quantities must match the regular expression",
            id="what is no quantity",
        ),
        pytest.param(
            pod_with(spec={"overhead": 5}),
            "spec.overhead",
            "expected `object`, got `int`",
            id="a number for amounts",
        ),
    ],
)
def test_a_wrong_type_is_told_with_path_and_object(text: str, path: str, message: str) -> None:
    with pytest.raises(WrongTypeError) as caught:
        decode_as(text, Pod)
    assert caught.value.path == path
    assert caught.value.what == "Pod shop/web"
    assert caught.value.message.startswith(message)
    assert str(caught.value) == f"Pod shop/web: {path}: {caught.value.message}"


def test_the_key_of_a_map_of_objects_is_found() -> None:
    attributes = {"a": {"int": 1}, "b": {"int": "two"}}
    text = json.dumps({"spec": {"devices": [{"attributes": attributes}]}})
    with pytest.raises(WrongTypeError) as caught:
        decode_as(text, ResourceSlice)
    assert caught.value.path == "spec.devices[0].attributes[b].int"


def test_a_number_or_a_text_is_neither_list_nor_truth() -> None:
    with pytest.raises(WrongTypeError) as caught:
        decode_as('{"spec":{"minAvailable":[1]}}', PodDisruptionBudget)
    assert caught.value.path == "spec.minAvailable"


@pytest.mark.parametrize(
    ("metadata", "what"),
    [
        pytest.param({}, "Node", id="nameless"),
        pytest.param({"name": "n1"}, "Node n1", id="by name"),
        pytest.param({"name": 7, "namespace": None}, "Node", id="even the name is wrong"),
        pytest.param(None, "Node", id="no metadata"),
    ],
)
def test_an_object_is_named_as_far_as_it_can_be(metadata: object, what: str) -> None:
    text = json.dumps({"metadata": metadata, "spec": {"unschedulable": 5}})
    with pytest.raises(WrongTypeError) as caught:
        decode_as(text, Node)
    assert caught.value.what == what


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "input data was truncated", id="nothing"),
        pytest.param('{"metadata":', "input data was truncated", id="cut off"),
        pytest.param("[]", "expected an object, got `array`", id="a list"),
        pytest.param("null", "expected an object, got `null`", id="null"),
        pytest.param('"pod"', "expected an object, got `str`", id="a text"),
        pytest.param("{]", "JSON is malformed", id="no JSON"),
        pytest.param("{} {}", "JSON is malformed: trailing characters", id="more than one"),
        pytest.param(b'{"metadata":{"name":"\xff"}}', "'utf-8' codec", id="no UTF-8"),
        pytest.param('{"metadata":' * 100_000, "nested too deeply", id="nested without end"),
        pytest.param(
            '{"spec":' + "[" * 100_000, "nested too deeply", id="wrong and nested without end"
        ),
    ],
)
def test_what_is_no_object_at_all(text: str | bytes, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_as(text, Pod)
    assert message in str(caught.value)


def test_malformed_text_is_told_apart_from_wrong_types() -> None:
    with pytest.raises(MalformedError):
        decode_as("{", Pod)
    with pytest.raises(WrongTypeError):
        decode_as('{"metadata":{"name":1}}', Pod)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"n"}}',
            "Deployment n/d: no scheduler reads a Deployment of apps/v1",
            id="a kind that is not read",
        ),
        pytest.param(
            '{"apiVersion":"storage.k8s.io/v1beta1","kind":"CSINode"}',
            "CSINode: no scheduler reads a CSINode of storage.k8s.io/v1beta1",
            id="a version that is not read",
        ),
        pytest.param('{"kind":"Pod"}', "Pod: no apiVersion or no kind", id="no version"),
        pytest.param("{}", "no apiVersion or no kind", id="no word on what it is"),
    ],
)
def test_unknown_kinds(text: str, message: str) -> None:
    with pytest.raises(UnknownKindError) as caught:
        decode_object(text)
    assert str(caught.value) == message


def test_an_error_gathers_its_places_from_within() -> None:
    error = WrongTypeError("bad", path="spec", what="Pod a/b").at("items[3]").at("document 2")
    assert isinstance(error, WrongTypeError)
    assert str(error) == "document 2.items[3]: Pod a/b: spec: bad"
    assert (error.message, error.path, error.what) == ("bad", "spec", "Pod a/b")
