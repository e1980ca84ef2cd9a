"""The object that an event is about, as the hint that looks at it needs it.

The queue hands hints whatever changed.  An object of another kind is a mistake in what was
registered; raising says so, and makes the queue try the pod again rather than let it sleep.
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def changed_to(kind: type[T], new: object | None) -> T:
    """The object as it is now; for a deletion, hand in the old one."""
    if not isinstance(new, kind):
        raise TypeError(f"expected a {kind.__name__}, got {type(new).__name__}")
    return new


def changed_from(kind: type[T], old: object | None) -> T | None:
    """The object as it was; None if it is new."""
    return None if old is None else changed_to(kind, old)
