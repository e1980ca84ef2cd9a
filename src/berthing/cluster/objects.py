"""Objects of all kinds that are looked up rather than counted: services, claims, volumes, classes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar, cast

from berthing.api.meta import ApiObject

T = TypeVar("T", bound=ApiObject)


class Objects:
    """Objects by kind, namespace and name."""

    def __init__(self) -> None:
        self._by_kind: dict[type[ApiObject], dict[str, dict[str, ApiObject]]] = {}
        # Grows by one with each change of a kind, so that what is derived from it can tell.
        self._versions: dict[type[ApiObject], int] = {}

    def set(self, obj: ApiObject) -> None:
        """An object came or changed."""
        of_kind = self._by_kind.setdefault(type(obj), {})
        of_kind.setdefault(obj.namespace, {})[obj.name] = obj
        self._versions[type(obj)] = self.version(type(obj)) + 1

    def remove(self, obj: ApiObject) -> None:
        """An object is gone."""
        self._by_kind.get(type(obj), {}).get(obj.namespace, {}).pop(obj.name, None)
        self._versions[type(obj)] = self.version(type(obj)) + 1

    def get(self, kind: type[T], name: str, namespace: str = "") -> T | None:
        """One object, or None if there is none of that name."""
        found = self._by_kind.get(kind, {}).get(namespace, {}).get(name)
        return cast("T | None", found)

    def kinds(self) -> Collection[type[ApiObject]]:
        """The kinds of which there are objects, or were."""
        return self._by_kind.keys()

    def list(self, kind: type[T], namespace: str | None = None) -> Iterable[T]:
        """All objects of a kind, or those of one namespace."""
        of_kind = self._by_kind.get(kind, {})
        groups = of_kind.values() if namespace is None else (of_kind.get(namespace, {}),)
        return (cast("T", obj) for group in groups for obj in group.values())

    def version(self, kind: type[ApiObject]) -> int:
        """How often objects of this kind have changed."""
        return self._versions.get(kind, 0)
