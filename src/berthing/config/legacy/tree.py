"""Reading plain trees whose types have been checked, where null means unset."""

from __future__ import annotations


def as_object(value: object) -> dict[str, object]:
    """A copy of an object; empty for null."""
    return dict(value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """A copy of a list; empty for null."""
    return list(value) if isinstance(value, list | tuple) else []
