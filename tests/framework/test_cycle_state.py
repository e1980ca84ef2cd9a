from __future__ import annotations

from typing import Self

import pytest

from berthing.framework import CycleState, StateKey, StateNotFoundError


class Counter:
    def __init__(self, count: int) -> None:
        self.count = count

    def clone(self) -> Self:
        return type(self)(self.count)


COUNTER = StateKey[Counter]("Counter")
NAMES = StateKey[list[str]]("Names")


def test_what_was_written_is_read() -> None:
    state = CycleState()
    state.write(NAMES, ["a"])
    assert state.read(NAMES) == ["a"]
    assert state.get(NAMES) == ["a"]


def test_keys_of_one_name_are_one_key() -> None:
    state = CycleState()
    state.write(NAMES, ["a"])
    assert state.read(StateKey[list[str]]("Names")) == ["a"]


def test_a_missing_value_names_its_key() -> None:
    state = CycleState()
    assert state.get(NAMES) is None
    with pytest.raises(StateNotFoundError, match="nothing was written under 'Names'"):
        state.read(NAMES)


def test_deleting_twice_is_fine() -> None:
    state = CycleState()
    state.write(NAMES, ["a"])
    state.delete(NAMES)
    state.delete(NAMES)
    assert state.get(NAMES) is None


def test_a_clone_has_its_own_copy_of_values_that_change() -> None:
    state = CycleState()
    state.write(COUNTER, Counter(1))
    state.clone().read(COUNTER).count = 5
    assert state.read(COUNTER).count == 1


def test_a_clone_shares_values_that_do_not_change() -> None:
    state = CycleState()
    names = ["a"]
    state.write(NAMES, names)
    assert state.clone().read(NAMES) is names


def test_writing_to_a_clone_leaves_the_original_alone() -> None:
    state = CycleState()
    state.write(NAMES, ["a"])
    state.clone().write(NAMES, ["b"])
    assert state.read(NAMES) == ["a"]


def test_a_clone_keeps_who_sits_out() -> None:
    state = CycleState()
    state.skip_filter_plugins = frozenset({"NodePorts"})
    clone = state.clone()
    assert clone.skip_filter_plugins == {"NodePorts"}
    assert clone.pods_to_activate is state.pods_to_activate
