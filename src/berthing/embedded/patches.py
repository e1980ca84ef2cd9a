"""Changes to objects that clients send as patches.

    merge             RFC 7386: objects are merged, null removes, all else is replaced
    strategic merge   as merge, but some lists are sets: their items are merged by a key of theirs

Upstream: apimachinery/pkg/util/strategicpatch/patch.go, the patchMergeKey tags of
          k8s.io/api/core/v1 (v1.36.4).
Differs:  the lists that are merged are known by their names, which is enough for the kinds that
          are served here; there are no JSON patches and no server-side apply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from berthing.embedded.refusals import bad_request, unsupported_media_type
from berthing.embedded.trees import Json, Tree

MERGE: Final = "application/merge-patch+json"
STRATEGIC_MERGE: Final = "application/strategic-merge-patch+json"

# By which field the items of a list are told apart.
_KEYS: Final = {
    "conditions": "type",
    "addresses": "type",
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "env": "name",
    "schedulingGates": "name",
    "resourceClaims": "name",
    "resourceClaimStatuses": "name",
    "imagePullSecrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "hostIPs": "ip",
}
# Lists of plain values that are merged.
_SETS: Final = frozenset({"finalizers", "podCIDRs"})

_ORDER: Final = "$setElementOrder/"
_DELETION: Final = "$deleteFromPrimitiveList/"
_DIRECTIVE: Final = "$patch"


def patched(tree: Tree, patch: Tree, content_type: str) -> Tree:
    """The tree after a patch; refuses types of patches that are not known here."""
    return _patch(content_type.partition(";")[0].strip())(tree, patch)


def _patch(media_type: str) -> Callable[[Tree, Tree], Tree]:
    match media_type:
        case "application/merge-patch+json":
            return _merged
        case "application/strategic-merge-patch+json":
            return _strategically_merged
    raise unsupported_media_type((MERGE, STRATEGIC_MERGE))


def _merged(tree: Tree, patch: Tree) -> Tree:
    result = dict(tree)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            old = tree.get(key)
            result[key] = _merged(old if isinstance(old, dict) else {}, value)
        else:
            result[key] = value
    return result


def _strategically_merged(tree: Tree, patch: Tree) -> Tree:
    match patch.get(_DIRECTIVE):
        case "replace":
            return {key: value for key, value in patch.items() if key != _DIRECTIVE}
        case "delete":
            return {}
    result = dict(tree)
    for key, value in patch.items():
        if key.startswith(_DELETION):
            name = key.removeprefix(_DELETION)
            result[name] = [each for each in _items(tree.get(name)) if each not in _items(value)]
        elif key.startswith("$"):
            continue
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = _strategically_replaced(key, tree.get(key), value)
    for key, value in patch.items():
        if key.startswith(_ORDER):
            name = key.removeprefix(_ORDER)
            result[name] = _ordered(name, _items(result.get(name)), _items(value))
    return result


def _strategically_replaced(key: str, old: Json, new: Json) -> Json:
    if isinstance(new, dict):
        return _strategically_merged(old if isinstance(old, dict) else {}, new)
    if not isinstance(new, list):
        return new
    if key in _SETS:
        return [*_items(old), *(each for each in new if each not in _items(old))]
    if key in _KEYS:
        return _merged_items(_KEYS[key], _items(old), new)
    return new


def _merged_items(merge_key: str, old: list[Json], new: list[Json]) -> list[Json]:
    if any(isinstance(each, dict) and each == {_DIRECTIVE: "replace"} for each in new):
        return [each for each in new if each != {_DIRECTIVE: "replace"}]
    items = {_key(each, merge_key): each for each in old}
    for each in new:
        key = _key(each, merge_key)
        assert isinstance(each, dict), "it has a key"
        if each.get(_DIRECTIVE) == "delete":
            items.pop(key, None)
            continue
        before = items.get(key)
        items[key] = _strategically_merged(before if isinstance(before, dict) else {}, each)
    return list(items.values())


def _ordered(name: str, items: list[Json], order: list[Json]) -> list[Json]:
    """The items in an order; those that it does not name come first."""
    merge_key = _KEYS.get(name)
    keys = [_key(each, merge_key) if merge_key else each for each in order]

    def place(item: Json) -> int:
        key = _key(item, merge_key) if merge_key else item
        return keys.index(key) if key in keys else -1

    return sorted(items, key=place)


def _key(item: Json, merge_key: str) -> str:
    key = item.get(merge_key) if isinstance(item, dict) else None
    if not isinstance(key, str):
        raise bad_request(f"map: {item} does not contain declared merge key: {merge_key}")
    return key


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
