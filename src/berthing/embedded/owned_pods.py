"""The pods that controllers have made, by whom they belong to."""

from __future__ import annotations

from collections.abc import Callable

from berthing.api.kinds import Kind
from berthing.api.meta import ApiObject, OwnerReference
from berthing.api.pod import Pod
from berthing.embedded.pods import PODS
from berthing.embedded.store import Change, Key, Store, Stored
from berthing.embedded.trees import Tree, branch_at


class OwnedPods:
    """All pods that have a controller; tells controllers when theirs change."""

    def __init__(self, store: Store) -> None:
        self._by_owner: dict[str, dict[Key, Pod]] = {}
        self._told: dict[str, Callable[[Key], None]] = {}
        for stored in store.all(PODS):
            self._changed(Change(None, stored, stored.revision))
        store.listen(PODS, self._changed)

    def of(self, owner: Stored) -> list[Pod]:
        """The pods of an object, as they were made."""
        return list(self._by_owner.get(owner.uid, {}).values())

    def listen(self, kind: Kind[ApiObject], listener: Callable[[Key], None]) -> None:
        """Tell which objects of a kind have pods that changed."""
        self._told[kind.kind] = listener

    def _changed(self, change: Change) -> None:
        for stored in (change.before, change.after):
            if stored is None or not isinstance(stored.object, Pod):
                continue
            owner = stored.object.metadata.controller
            if owner is not None:
                self._keep(owner, stored.key, change.after)

    def _keep(self, owner: OwnerReference, key: Key, after: Stored | None) -> None:
        pods = self._by_owner.setdefault(owner.uid, {})
        pod = after.object if after is not None else None
        if isinstance(pod, Pod) and pod.metadata.controller == owner:
            pods[key] = pod
        else:
            pods.pop(key, None)
            if not pods:
                del self._by_owner[owner.uid]
        if (tell := self._told.get(owner.kind)) is not None:
            tell((key[0], owner.name))


def pod_from_template(owner: Stored, template: Tree, **metadata: str) -> Tree:
    """A pod as the template of its owner has it, under a name that is given."""
    reference: Tree = {
        "apiVersion": owner.kind.api_version,
        "kind": owner.kind.kind,
        "name": owner.key[1],
        "uid": owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "metadata": {
            **branch_at(template, "metadata"),
            **metadata,
            "ownerReferences": [reference],
        },
        "spec": branch_at(template, "spec"),
    }
