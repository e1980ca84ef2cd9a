from __future__ import annotations

import pytest

from berthing.api.decode import encode_value
from berthing.api.pod import PodSpec
from berthing.api.quantity import parse_quantity
from berthing.api.resource_list import ResourceList


def test_amounts_are_texts_or_numbers_or_quantities() -> None:
    amounts = ResourceList.of(
        {"cpu": "500m", "memory": parse_quantity("1Gi"), "pods": 110, "x": 0.5}
    )
    assert {name: str(amount) for name, amount in amounts.items()} == {
        "cpu": "500m",
        "memory": "1Gi",
        "pods": "110",
        "x": "500m",
    }


def test_a_list_of_nothing_is_not_written() -> None:
    spec = PodSpec(overhead=ResourceList.of({}))
    assert encode_value(spec) == b"{}"


def test_lists_that_read_alike_are_one_object() -> None:
    one = ResourceList.from_json({"cpu": "250m", "memory": "1Gi"})
    assert ResourceList.from_json({"cpu": "250m", "memory": "1Gi"}) is one


def test_equal_amounts_keep_their_own_spelling() -> None:
    one, other = ResourceList.from_json({"cpu": "1"}), ResourceList.from_json({"cpu": "+1"})
    assert one == other
    assert [str(each["cpu"]) for each in (one, other)] == ["1", "+1"]


def test_null_is_zero() -> None:
    assert ResourceList.from_json({"cpu": None})["cpu"].is_zero()


def test_true_is_not_one() -> None:
    assert ResourceList.from_json({"cpu": 1}) == ResourceList.of({"cpu": "1"})
    with pytest.raises(ValueError, match="cpu: quantities must match"):
        ResourceList.from_json({"cpu": True})


@pytest.mark.parametrize("value", ["12 apples", [1], {"cpu": "1"}, "1.5.2"])
def test_a_bad_amount_is_told_with_its_resource(value: object) -> None:
    with pytest.raises(ValueError, match=r"^memory: "):
        ResourceList.from_json({"cpu": "1", "memory": value})


@pytest.mark.parametrize("value", ["cpu=1", ["cpu"], 7])
def test_only_a_mapping_is_a_list_of_amounts(value: object) -> None:
    with pytest.raises(TypeError, match="Expected `object`"):
        ResourceList.from_json(value)
