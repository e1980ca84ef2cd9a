"""The objects of one kind as last seen, and what changed when news of them comes.

    news (an event of a watch, a page of a list) ---> known objects ---> changed(kind, old, new)

1. `old` is always what was told as `new` before: an add has none, a deletion has no `new`.
2. News may come twice, and late.  Of two states of one object, told by their uid to be one, the
   newer resource version counts, and whoever is deleted stays so: uids are never used again.
3. An object that came in the place of another, under the same name with another uid, is a
   deletion and an add.
4. A list is the truth: what it does not have is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, Generic, Protocol, TypeVar

from berthing.api.meta import ApiObject

T = TypeVar("T", bound=ApiObject)

# How many deletions are remembered.  News that comes late comes within moments.
_REMEMBERED: Final = 10_000


class Sink(Protocol):
    """Is told of every change, in the order in which the API server made them."""

    def changed(self, kind: type, old: ApiObject | None, new: ApiObject | None) -> None:
        """An object was added (no `old`), changed, or deleted (no `new`); must not raise."""
        ...


class KnownObjects(Generic[T]):
    """The objects of one kind as last seen; tells a sink what changes."""

    def __init__(self, type_: type[T], sink: Sink) -> None:
        self._type = type_
        self._changed = sink.changed
        self._by_key: dict[str, T] = {}
        # uid -> resource version of its deletion, oldest first.
        self._deleted: dict[str, str] = {}

    @property
    def by_key(self) -> Mapping[str, T]:
        """The objects by `namespace/name`, or by name where there is no namespace."""
        return MappingProxyType(self._by_key)

    def seen(self, obj: T) -> bool:
        """A watch shows an object that was added or changed; False if that is old news."""
        key = obj.key
        known = self._by_key.get(key)
        if known is None:
            deleted_at = self._deleted.get(obj.metadata.uid)
            if deleted_at is not None and not is_newer(obj.metadata.resource_version, deleted_at):
                return False
            self._set(key, None, obj)
            return True
        if not is_newer(obj.metadata.resource_version, known.metadata.resource_version):
            return False
        self._set(key, known, obj)
        return True

    def deleted(self, obj: T) -> bool:
        """A watch shows an object as it was when it was deleted; False if that is old news."""
        self._remember_deletion(obj)
        key = obj.key
        known = self._by_key.get(key)
        if known is None:
            return False
        gone_at, known_at = obj.metadata.resource_version, known.metadata.resource_version
        if gone_at != known_at and not is_newer(gone_at, known_at):
            return False
        self._remove(key, known)
        return True

    def listed(self, obj: T) -> None:
        """A list has this object."""
        key = obj.key
        known = self._by_key.get(key)
        if known is None or known.metadata.resource_version != obj.metadata.resource_version:
            self._set(key, known, obj)

    def keep_only(self, keys: Collection[str]) -> None:
        """A whole list had these keys and no others."""
        for key in [key for key in self._by_key if key not in keys]:
            known = self._by_key[key]
            self._remember_deletion(known)
            self._remove(key, known)

    def _set(self, key: str, known: T | None, obj: T) -> None:
        if known is not None and known.metadata.uid != obj.metadata.uid:
            self._remember_deletion(known)
            self._remove(key, known)
            known = None
        self._by_key[key] = obj
        self._changed(self._type, known, obj)

    def _remove(self, key: str, known: T) -> None:
        del self._by_key[key]
        self._changed(self._type, known, None)

    def _remember_deletion(self, obj: T) -> None:
        uid, version = obj.metadata.uid, obj.metadata.resource_version
        remembered = self._deleted.get(uid)
        if remembered is None or is_newer(version, remembered):
            self._deleted[uid] = version
        if len(self._deleted) > _REMEMBERED:
            del self._deleted[next(iter(self._deleted))]


def is_newer(version: str, than: str) -> bool:
    """Whether a resource version is newer; of two that are no numbers, the one that came last."""
    if version.isdecimal() and than.isdecimal():
        return int(version) > int(than)
    return version != than
