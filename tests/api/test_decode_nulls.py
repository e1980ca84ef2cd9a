"""An explicit null is an absent field, and in maps and lists the zero value, as for Go."""

from __future__ import annotations

import json

import pytest

from api.objects import OBJECTS, Json
from berthing.api.decode import WrongTypeError, decode_as, decode_list, decode_object
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.policy import PodDisruptionBudget
from berthing.api.resource import ResourceClaim
from berthing.api.storage import CSINode


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"metadata":null,"spec":null,"status":null}', id="whole parts"),
        pytest.param('{"metadata":{"name":null,"labels":null}}', id="texts and maps"),
        pytest.param('{"metadata":{"creationTimestamp":null}}', id="times"),
        pytest.param('{"spec":{"containers":null,"priority":null}}', id="lists and numbers"),
        pytest.param('{"spec":{"hostNetwork":null,"overhead":null}}', id="truths and amounts"),
    ],
)
def test_a_null_field_is_absent(text: str) -> None:
    assert decode_as(text, Pod) == Pod()


def test_nulls_deep_inside_are_absent_too() -> None:
    text = (
        '{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"},"limits":null}}]}}'
    )
    without = '{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}}'
    assert decode_as(text, Pod) == decode_as(without, Pod)


@pytest.mark.parametrize("obj", OBJECTS)
def test_any_field_of_any_kind_may_be_null(obj: Json) -> None:
    assert isinstance(obj, dict)
    for emptied in _with_one_field_null({key: obj[key] for key in obj}):
        decode_object(json.dumps(emptied))


def _with_one_field_null(value: dict[str, Json]) -> list[dict[str, Json]]:
    emptied: list[dict[str, Json]] = []
    for key, inner in value.items():
        if key in ("apiVersion", "kind"):
            continue
        emptied.append({**value, key: None})
        if isinstance(inner, dict):
            emptied += [{**value, key: each} for each in _with_one_field_null(inner)]
        elif isinstance(inner, list) and inner and isinstance(inner[0], dict):
            emptied += [
                {**value, key: [each, *inner[1:]]} for each in _with_one_field_null(inner[0])
            ]
    return emptied


def test_in_a_map_of_texts_null_is_an_empty_text() -> None:
    pod = decode_as('{"spec":{"nodeSelector":{"disk":null,"zone":"a"}}}', Pod)
    assert pod.spec.node_selector == {"disk": "", "zone": "a"}


def test_among_amounts_null_is_zero() -> None:
    pod = decode_as('{"spec":{"overhead":{"cpu":null},"nodeSelector":null}}', Pod)
    assert pod.spec.overhead["cpu"].is_zero()


def test_in_a_list_null_is_the_zero_value() -> None:
    pod = decode_as('{"metadata":{"finalizers":[null,"f"]},"spec":{"tolerations":[null]}}', Pod)
    assert pod.metadata.finalizers == ("", "f")
    assert [toleration.key for toleration in pod.spec.tolerations] == [""]


def test_a_time_in_a_map_may_be_null() -> None:
    budget = decode_as('{"status":{"disruptedPods":{"web":null}}}', PodDisruptionBudget)
    assert budget.status.disrupted_pods == {"web": None}


def test_what_api_servers_really_send() -> None:
    assert decode_as('{"spec":{"drivers":null}}', CSINode).spec.drivers == ()
    node = decode_as('{"status":{"images":[{"names":null,"sizeBytes":5}]}}', Node)
    assert node.status.images[0].names == ()


def test_numbers_keep_their_digits_when_nulls_are_taken_out() -> None:
    text = '{"metadata":{"name":null},"spec":{"overhead":{"cpu":0.1234567890000000001,"x":1e400}}}'
    overhead = decode_as(text, Pod).spec.overhead
    assert {name: str(amount) for name, amount in overhead.items()} == {
        "cpu": "123456790n",
        "x": "10e399",
    }


def test_parameters_of_drivers_keep_their_nulls() -> None:
    opaque = '{"driver":"d","parameters":{"a":null,"b":[null]}}'
    text = (
        f'{{"metadata":{{"name":null}},"spec":{{"devices":{{"config":[{{"opaque":{opaque}}}]}}}}}}'
    )
    config = decode_as(text, ResourceClaim).spec.devices.config[0]
    assert config.opaque is not None
    assert json.loads(bytes(config.opaque.parameters)) == {"a": None, "b": [None]}


def test_an_error_behind_a_null_is_found() -> None:
    with pytest.raises(WrongTypeError) as caught:
        decode_as('{"metadata":{"name":null,"namespace":"n"},"spec":{"nodeName":5}}', Pod)
    assert (caught.value.path, caught.value.what) == ("spec.nodeName", "Pod n")


def test_a_null_in_one_item_of_a_list() -> None:
    text = '{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b","labels":null}}]}'
    assert [pod.name for pod in decode_list(text, Pod).items] == ["a", "b"]


def test_a_list_may_be_null_altogether() -> None:
    assert decode_list('{"items":null,"metadata":null}', Pod).items == ()
