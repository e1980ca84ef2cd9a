from __future__ import annotations

import pytest

from berthing.api.node import Node
from berthing.plugins.changed_objects import changed_from, changed_to
from berthing.testing import make_node, make_pod


def test_an_object_of_the_kind_is_handed_through() -> None:
    node = make_node()
    assert changed_to(Node, node) is node
    assert changed_from(Node, node) is node


def test_a_new_object_was_nothing_before() -> None:
    assert changed_from(Node, None) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(make_pod(), "expected a Node, got Pod", id="another kind"),
        pytest.param(None, "expected a Node, got NoneType", id="nothing at all"),
    ],
)
def test_anything_else_raises(given: object | None, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        changed_to(Node, given)
