"""A dict that stays as it is, so that many objects can share it and sets can hold it."""

from __future__ import annotations

from typing import Final, Never, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A dict that is never changed; hashable if its values are.

    A dict all the same: it compares with plain ones and encodes as one, and reading it costs no
    more.
    """

    __slots__ = ("_hash",)

    _hash: int

    def __hash__(self) -> int:  # type: ignore[override]  # dict says "unhashable" as None
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(frozenset(self.items()))
            return self._hash

    def _refuse(self, *_: object, **__: object) -> Never:
        raise TypeError(f"{type(self).__name__} does not change: make a new one")

    __setitem__ = _refuse
    __delitem__ = _refuse
    __ior__ = _refuse
    clear = _refuse
    pop = _refuse
    popitem = _refuse
    setdefault = _refuse
    update = _refuse

    def __copy__(self) -> FrozenDict[K, V]:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict[K, V]:
        return self

    def __reduce__(self) -> tuple[type[FrozenDict[K, V]], tuple[dict[K, V]]]:
        return type(self), (dict(self),)


# What stands for absent labels, annotations and the like, in every object.
EMPTY: Final[FrozenDict[str, str]] = FrozenDict()
