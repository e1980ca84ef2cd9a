"""What can be done to the objects of a cluster: create, update, patch, delete, bind.

Upstream: apiserver/pkg/registry/generic/registry/store.go, registry/rest (v1.36.4).
Differs:  objects are decoded, and their names looked at; no other rule of validation is held.
          Deleting a namespace leaves what is in it.

Every change is made at once and as a whole: nothing here waits.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from berthing.api.core import Namespace
from berthing.api.decode import DecodeError
from berthing.api.kinds import Kind, kind_of
from berthing.api.meta import ApiObject
from berthing.api.names import dns1123_subdomain_errors
from berthing.embedded.patches import patched
from berthing.embedded.pods import PODS, bound_pod, grace_seconds, new_pod
from berthing.embedded.refusals import (
    MODIFIED,
    already_exists,
    bad_request,
    conflict,
    invalid,
    not_found,
    precondition_failed,
)
from berthing.embedded.store import Key, Store, Stored
from berthing.embedded.trees import Tree, branch_at, list_at, text_at, value_at, with_value

NAMESPACES: Final = kind_of(Namespace)

# Whose status is changed apart from the rest; of the others there is none, or nobody minds.
_WITH_STATUS: Final = frozenset(
    {
        "pods",
        "nodes",
        "namespaces",
        "services",
        "replicationcontrollers",
        "replicasets",
        "statefulsets",
        "jobs",
        "persistentvolumes",
        "persistentvolumeclaims",
        "poddisruptionbudgets",
        "resourceclaims",
        "podgroups",
        "volumeattachments",
    }
)
# What only the server writes.
_OWN_METADATA: Final = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "namespace",
    "name",
    "resourceVersion",
)
_NAME_CHARACTERS: Final = "bcdfghjklmnpqrstvwxz2456789"


class Objects:
    """The rules by which a store is changed."""

    def __init__(self, store: Store, *, now: Callable[[], float], random: Random) -> None:
        self._store = store
        self._now = now
        self._random = random

    def get(self, kind: Kind[ApiObject], key: Key) -> Stored:
        """One object; refuses if there is none."""
        stored = self._store.get(kind, key)
        if stored is None:
            raise not_found(kind, key[1])
        return stored

    def create(self, kind: Kind[ApiObject], namespace: str, tree: Tree) -> Stored:
        """Make an object of that kind."""
        tree = self._with_metadata(kind, namespace, tree)
        name = text_at(tree, "metadata", "name")
        for error in dns1123_subdomain_errors(name):
            raise invalid(kind, name, "metadata.name", f'Invalid value: "{name}": {error}')
        if namespace and self._store.get(NAMESPACES, ("", namespace)) is None:
            raise not_found(NAMESPACES, namespace)
        if self._store.get(kind, (namespace, name)) is not None:
            raise already_exists(kind, name)
        if kind is PODS:
            tree = new_pod(tree, self._store, self._time())
        return self._put(kind, tree)

    def update(
        self, kind: Kind[ApiObject], key: Key, tree: Tree, *, subresource: str = ""
    ) -> Stored:
        """Put another in its place; of a status, the status alone, and else all but that."""
        name = text_at(tree, "metadata", "name")
        if name != key[1]:
            message = (
                f"the name of the object ({name}) does not match the name on the URL ({key[1]})"
            )
            raise bad_request(message)
        return self._replace(self.get(kind, key), tree, subresource)

    def patch(
        self,
        kind: Kind[ApiObject],
        key: Key,
        patch: Tree,
        *,
        content_type: str,
        subresource: str = "",
    ) -> Stored:
        """Change parts of an object."""
        stored = self.get(kind, key)
        tree = patched(stored.tree, patch, content_type)
        return self._replace(stored, tree, subresource)

    def delete(self, kind: Kind[ApiObject], key: Key, options: Tree) -> Stored:
        """Remove an object, or mark it as going if somebody has to agree; returns what is left."""
        stored = self.get(kind, key)
        self._hold(stored, branch_at(options, "preconditions"))
        seconds = 0
        if kind is PODS:
            seconds = grace_seconds(stored.tree, options.get("gracePeriodSeconds"))
        if not seconds and not list_at(stored.tree, "metadata", "finalizers"):
            return self._store.remove(stored)
        if value_at(stored.tree, "metadata", "deletionTimestamp") is not None:
            old = value_at(stored.tree, "metadata", "deletionGracePeriodSeconds")
            # It is going already; that it goes sooner can be asked for, and nothing else.
            if not isinstance(old, int) or seconds >= old:
                return stored
        tree = with_value(
            stored.tree, ("metadata", "deletionTimestamp"), self._time(after_seconds=seconds)
        )
        return self._put(
            kind, with_value(tree, ("metadata", "deletionGracePeriodSeconds"), seconds)
        )

    def bind(self, key: Key, binding: Tree) -> Stored:
        """Give a pod its node, once and for all."""
        if text_at(binding, "metadata", "name") not in ("", key[1]):
            raise bad_request("name in URL does not match name in Binding object")
        stored = self.get(PODS, key)
        self._hold(stored, branch_at(binding, "metadata"))
        return self._put(PODS, bound_pod(stored.tree, binding, self._store, self._time()))

    def _with_metadata(self, kind: Kind[ApiObject], namespace: str, tree: Tree) -> Tree:
        metadata = dict(branch_at(tree, "metadata"))
        given = text_at(metadata, "namespace")
        if given not in ("", namespace):
            raise bad_request(
                f"the namespace of the provided object does not match the namespace sent on the request: {given}"
            )
        if namespace:
            metadata["namespace"] = namespace
        if not metadata.get("name") and text_at(metadata, "generateName"):
            ending = "".join(self._random.choices(_NAME_CHARACTERS, k=5))
            metadata["name"] = text_at(metadata, "generateName") + ending
        if not metadata.get("name"):
            error = "Required value: name or generateName is required"
            raise invalid(kind, "", "metadata.name", error)
        metadata["uid"] = str(uuid.UUID(int=self._random.getrandbits(128), version=4))
        metadata["creationTimestamp"] = self._time()
        if "spec" in tree:
            metadata["generation"] = 1
        return {**tree, "metadata": metadata}

    def _replace(self, stored: Stored, tree: Tree, subresource: str) -> Stored:
        self._hold(stored, branch_at(tree, "metadata"))
        tree = _with_own_metadata(tree, stored.tree)
        if subresource == "status":
            tree = {**stored.tree, "status": tree.get("status")}
        elif stored.kind.resource in _WITH_STATUS and "status" in stored.tree:
            tree = {**tree, "status": stored.tree["status"]}
        if tree == stored.tree:
            return stored
        if tree.get("spec") != stored.tree.get("spec"):
            generation = value_at(stored.tree, "metadata", "generation")
            if isinstance(generation, int):
                tree = with_value(tree, ("metadata", "generation"), generation + 1)
        if _is_free_to_go(tree):
            return self._store.remove(stored)
        return self._put(stored.kind, tree)

    def _hold(self, stored: Stored, wanted: Tree) -> None:
        """Refuse what is meant for another object, or for another state of this one."""
        uid = text_at(wanted, "uid")
        if uid not in ("", stored.uid):
            key = "/".join(part for part in stored.key if part)
            raise precondition_failed(stored.kind, key, stored.key[1], "UID", uid, stored.uid)
        revision = text_at(wanted, "resourceVersion")
        if revision not in ("", "0", str(stored.revision)):
            raise conflict(stored.kind, stored.key[1], MODIFIED)

    def _put(self, kind: Kind[ApiObject], tree: Tree) -> Stored:
        try:
            return self._store.put(kind, tree)
        except DecodeError as error:
            message = f"{kind.kind} in version {kind.api_version!r} cannot be handled: {error}"
            raise bad_request(message) from error

    def _time(self, *, after_seconds: int = 0) -> str:
        moment = datetime.fromtimestamp(int(self._now()), UTC) + timedelta(seconds=after_seconds)
        return moment.isoformat().replace("+00:00", "Z")


def _with_own_metadata(tree: Tree, old: Tree) -> Tree:
    old_metadata = branch_at(old, "metadata")
    metadata = dict(branch_at(tree, "metadata"))
    for key in _OWN_METADATA:
        metadata.pop(key, None)
        if key in old_metadata:
            metadata[key] = old_metadata[key]
    return {**tree, "metadata": metadata, "kind": old["kind"], "apiVersion": old["apiVersion"]}


def _is_free_to_go(tree: Tree) -> bool:
    """Whether an object that is going waited for nothing but its finalizers."""
    metadata = branch_at(tree, "metadata")
    return (
        metadata.get("deletionTimestamp") is not None
        and not metadata.get("finalizers")
        and not metadata.get("deletionGracePeriodSeconds")
    )
