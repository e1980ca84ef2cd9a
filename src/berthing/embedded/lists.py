"""Lists, in one piece or in pages that all show the same moment.

Upstream: apiserver/pkg/storage/continue.go, pkg/storage/etcd3/store.go (v1.36.4).
Differs:  a list at an earlier revision is always the current one, as upstream's with
          resourceVersionMatch=NotOlderThan.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

import msgspec

from berthing.api.kinds import Kind
from berthing.api.meta import ApiObject
from berthing.embedded.refusals import bad_request, expired, too_large_version
from berthing.embedded.selection import Selection
from berthing.embedded.store import Compacted, Key, Store, Stored
from berthing.embedded.trees import Tree, write_tree

_TOO_OLD: Final = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter."
)


class _Continue(msgspec.Struct, frozen=True):
    """Where a list goes on: after an object, as of a revision."""

    v: str
    rv: int
    start: Key


def listed(
    store: Store,
    kind: Kind[ApiObject],
    selection: Selection,
    *,
    at_least: int = 0,
    limit: int = 0,
    continue_: str = "",
) -> bytes:
    """A list, or its next page, as JSON."""
    if at_least > store.revision:
        raise too_large_version(at_least, store.revision)
    token = _read(continue_) if continue_ else None
    revision = token.rv if token else store.revision
    try:
        found = [each for each in store.all_at(kind, revision) if selection(each)]
    except Compacted as error:
        raise expired(_TOO_OLD) from error
    if token:
        found = [each for each in found if each.key > token.start]
    metadata: Tree = {"resourceVersion": str(revision)}
    if limit and len(found) > limit:
        metadata["continue"] = _write(revision, found[limit - 1])
        if not selection.is_by_content:
            metadata["remainingItemCount"] = len(found) - limit
        found = found[:limit]
    return _list_json(kind, metadata, found)


def _list_json(kind: Kind[ApiObject], metadata: Tree, items: list[Stored]) -> bytes:
    head = write_tree(
        {"kind": kind.list_kind, "apiVersion": kind.api_version, "metadata": metadata}
    )
    return b'%s,"items":[%s]}' % (head[:-1], b",".join(each.json for each in items))


def _write(revision: int, last: Stored) -> str:
    token = _Continue(v="meta.k8s.io/v1", rv=revision, start=last.key)
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode()


def _read(text: str) -> _Continue:
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(text), type=_Continue)
    except (binascii.Error, msgspec.MsgspecError, ValueError) as error:
        raise bad_request(f"continue key is not valid: {error}") from error
