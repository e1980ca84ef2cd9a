from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import msgspec
import pytest

from berthing.api.frozen import FrozenDict


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda d: d.__setitem__("a", 2), id="set an item"),
        pytest.param(lambda d: d.__delitem__("a"), id="delete an item"),
        pytest.param(lambda d: d.__ior__({"b": 2}), id="merge in place"),
        pytest.param(lambda d: d.update(b=2), id="update"),
        pytest.param(lambda d: d.pop("a"), id="pop"),
        pytest.param(lambda d: d.popitem(), id="popitem"),
        pytest.param(lambda d: d.setdefault("b", 2), id="setdefault"),
        pytest.param(lambda d: d.clear(), id="clear"),
    ],
)
def test_nothing_changes_it(change: Callable[[FrozenDict[str, int]], object]) -> None:
    frozen = FrozenDict({"a": 1})
    with pytest.raises(TypeError, match="FrozenDict does not change"):
        change(frozen)
    assert frozen == {"a": 1}


def test_equal_ones_hash_alike_in_any_order() -> None:
    one, other = FrozenDict({"a": 1, "b": 2}), FrozenDict({"b": 2, "a": 1})
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other}) == 1


def test_copies_are_the_thing_itself() -> None:
    frozen = FrozenDict({"a": 1})
    assert copy.copy(frozen) is frozen
    assert copy.deepcopy([frozen])[0] is frozen


def test_it_survives_a_pickle() -> None:
    again = pickle.loads(pickle.dumps(FrozenDict({"a": 1})))
    assert again == {"a": 1}
    assert type(again) is FrozenDict


def test_it_encodes_as_a_plain_dict() -> None:
    assert msgspec.json.encode(FrozenDict({"a": 1})) == b'{"a":1}'


def test_a_merge_makes_a_plain_dict() -> None:
    assert FrozenDict({"a": 1}) | {"b": 2} == {"a": 1, "b": 2}
