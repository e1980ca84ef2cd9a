"""JSON as plain trees: read along a path, and changed by copying along it.

An API server has to keep fields that it knows nothing of, so it keeps whole trees rather than
typed objects.  A tree that is stored never changes: whoever changes one gets another that shares
all branches beside the path.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Tree: TypeAlias = "dict[str, Json]"

_ENCODER: Final = msgspec.json.Encoder()


def read_tree(text: bytes) -> Tree:
    """Read a JSON object; raises ValueError for any other text."""
    tree = msgspec.json.decode(text)
    if not isinstance(tree, dict):
        raise ValueError("expected a JSON object")  # noqa: TRY004  # it is the text that is wrong
    return tree


def write_tree(tree: Tree) -> bytes:
    """Write a tree as JSON."""
    return _ENCODER.encode(tree)


def value_at(tree: Json, *path: str) -> Json:
    """What is at a path; None if there is nothing."""
    for key in path:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(key)
    return tree


def branch_at(tree: Json, *path: str) -> Tree:
    """The object at a path, empty if there is none; not to be changed."""
    value = value_at(tree, *path)
    return value if isinstance(value, dict) else {}


def list_at(tree: Json, *path: str) -> list[Json]:
    """The list at a path, empty if there is none; not to be changed."""
    value = value_at(tree, *path)
    return value if isinstance(value, list) else []


def text_at(tree: Json, *path: str) -> str:
    """The text at a path; empty if there is none."""
    value = value_at(tree, *path)
    return value if isinstance(value, str) else ""


def with_value(tree: Tree, path: tuple[str, ...], value: Json) -> Tree:
    """The tree with something else at a path."""
    key, *rest = path
    return {**tree, key: with_value(branch_at(tree, key), tuple(rest), value) if rest else value}


def without(tree: Tree, path: tuple[str, ...]) -> Tree:
    """The tree with nothing at a path."""
    key, *rest = path
    if key not in tree:
        return tree
    if rest:
        return {**tree, key: without(branch_at(tree, key), tuple(rest))}
    return {other: value for other, value in tree.items() if other != key}
