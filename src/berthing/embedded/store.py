"""All objects of a cluster at their latest revision, and what became of them lately.

Every change of any object takes the next revision, which becomes the object's resourceVersion.
Changes are remembered kind by kind, so that a watch can be taken up where another was cut, and
a list can be read on where it stood.  What is older than the oldest one remembered is gone for
good: `Compacted` makes clients list anew.

Nothing here knows what the objects mean, and nothing waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from berthing.api.decode import decode_as
from berthing.api.kinds import SERVED_KINDS, Kind
from berthing.api.meta import ApiObject
from berthing.embedded.trees import Tree, text_at, with_value, write_tree

# Namespace and name; the namespace is empty for what lives in none.
Key = tuple[str, str]


class Stored:
    """An object at one revision: as a tree, as JSON, and as a scheduler reads it.

    Raises DecodeError for a tree that is no such object.
    """

    __slots__ = ("json", "key", "kind", "object", "revision", "tree")

    def __init__(self, kind: Kind[ApiObject], tree: Tree, revision: int) -> None:
        tree = with_value(tree, ("metadata", "resourceVersion"), str(revision))
        self.kind = kind
        self.tree: Final[Tree] = {**tree, "kind": kind.kind, "apiVersion": kind.api_version}
        self.json: Final = write_tree(self.tree)
        self.key: Final[Key] = (
            text_at(tree, "metadata", "namespace"),
            text_at(tree, "metadata", "name"),
        )
        self.revision = revision
        self.object: Final = decode_as(self.json, kind.type)

    @property
    def uid(self) -> str:
        """What tells it from an earlier object of the same name."""
        return text_at(self.tree, "metadata", "uid")


class Change:
    """An object was made (nothing before), changed, or removed (nothing after)."""

    __slots__ = ("_lines", "after", "before", "revision")

    def __init__(self, before: Stored | None, after: Stored | None, revision: int) -> None:
        self.before = before
        self.after = after
        self.revision = revision
        # Written once, however many watches tell of it.
        self._lines: dict[str, bytes] = {}

    def line(self, selects: Callable[[Stored], bool]) -> bytes | None:
        """The change as a watch for some objects tells it; None if it has nothing to tell.

        For such a watch an object that is selected no more is deleted, in the state it had.
        """
        was_selected = self.before is not None and selects(self.before)
        if self.after is not None and selects(self.after):
            return self._line("MODIFIED" if was_selected else "ADDED", self.after)
        if was_selected and self.before is not None:
            return self._line("DELETED", self.before)
        return None

    def _line(self, type_: str, stored: Stored) -> bytes:
        line = self._lines.get(type_)
        if line is None:
            if stored.revision != self.revision:
                stored = Stored(stored.kind, stored.tree, self.revision)
            line = self._lines[type_] = watch_line(type_, stored.json)
        return line


def watch_line(type_: str, json: bytes) -> bytes:
    """A line of a watch."""
    return b'{"type":"%s","object":%s}\n' % (type_.encode(), json)


Listener = Callable[[Change], None]


class Compacted(Exception):  # noqa: N818  # nothing went wrong: time has passed
    """What happened since some revision is not remembered any more."""

    def __init__(self, oldest: int) -> None:
        super().__init__(f"nothing is known from before revision {oldest}")
        self.oldest = oldest


class _Collection:
    """The objects of one kind, and their latest changes."""

    def __init__(self, history_length: int) -> None:
        self.objects: dict[Key, Stored] = {}
        self.changes: deque[Change] = deque(maxlen=history_length)
        # Every change after this revision is remembered.
        self.complete_after = 0
        self.listeners: list[Listener] = []

    def remember(self, change: Change) -> None:
        if len(self.changes) == self.changes.maxlen:
            self.complete_after = self.changes[0].revision
        self.changes.append(change)


class Store:
    """The cluster as etcd would hold it."""

    def __init__(self, *, history_length: int = 10_000) -> None:
        self.revision = 1
        self._collections = {kind.type: _Collection(history_length) for kind in SERVED_KINDS}

    def get(self, kind: Kind[ApiObject], key: Key) -> Stored | None:
        """One object, if it is there."""
        return self._collections[kind.type].objects.get(key)

    def all(self, kind: Kind[ApiObject]) -> Iterable[Stored]:
        """All objects of a kind, as they were made."""
        return self._collections[kind.type].objects.values()

    def put(self, kind: Kind[ApiObject], tree: Tree) -> Stored:
        """Make an object, or put it in place of the one of its name."""
        stored = Stored(kind, tree, self.revision + 1)
        self.revision += 1
        collection = self._collections[kind.type]
        before = collection.objects.get(stored.key)
        collection.objects[stored.key] = stored
        self._tell(collection, Change(before, stored, self.revision))
        return stored

    def remove(self, stored: Stored) -> Stored:
        """Remove an object; returns it as it was last seen."""
        self.revision += 1
        collection = self._collections[stored.kind.type]
        del collection.objects[stored.key]
        self._tell(collection, Change(stored, None, self.revision))
        return Stored(stored.kind, stored.tree, self.revision)

    def changes_since(self, kind: Kind[ApiObject], revision: int) -> Iterator[Change]:
        """What happened after a revision, oldest first; raises Compacted if that is forgotten."""
        collection = self._collections[kind.type]
        if revision < collection.complete_after:
            raise Compacted(collection.complete_after)
        return (change for change in collection.changes if change.revision > revision)

    def all_at(self, kind: Kind[ApiObject], revision: int) -> list[Stored]:
        """All objects of a kind as they were at a revision, by key."""
        objects = dict(self._collections[kind.type].objects)
        for change in reversed(tuple(self.changes_since(kind, revision))):
            if change.before is not None:
                objects[change.before.key] = change.before
            elif change.after is not None:
                del objects[change.after.key]
        return [objects[key] for key in sorted(objects)]

    def compact(self) -> None:
        """Forget what happened up to now."""
        for collection in self._collections.values():
            collection.changes.clear()
            collection.complete_after = self.revision

    def listen(self, kind: Kind[ApiObject], listener: Listener) -> Callable[[], None]:
        """Tell a listener of every change from now on, until the returned function is called."""
        listeners = self._collections[kind.type].listeners
        listeners.append(listener)
        return lambda: listeners.remove(listener)

    def _tell(self, collection: _Collection, change: Change) -> None:
        collection.remember(change)
        for listener in tuple(collection.listeners):
            listener(change)
