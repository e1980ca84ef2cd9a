"""What a path of the API leads to: a kind, and in it a namespace, an object, a subresource.

/api/v1/pods                                          a kind, everywhere
/api/v1/namespaces/default/pods                       a kind, in a namespace
/api/v1/namespaces/default/pods/web/status            an object, a subresource
/apis/policy/v1/...                                   the same for other groups
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import unquote

import msgspec

from berthing.api.kinds import Kind, find_resource
from berthing.api.meta import ApiObject


class Route(msgspec.Struct, frozen=True):
    """What is meant; without a name, all objects."""

    kind: Kind[ApiObject]
    namespace: str = ""
    name: str = ""
    subresource: str = ""


@lru_cache(maxsize=4096)
def find_route(path: str) -> Route | None:
    """Where a path leads; None if there is nothing."""
    match [unquote(part) for part in path.strip("/").split("/")]:
        case ["api", version, *rest]:
            return _route(version, rest)
        case ["apis", group, version, *rest]:
            return _route(f"{group}/{version}", rest)
    return None


def _route(api_version: str, parts: list[str]) -> Route | None:
    match parts:
        case ["namespaces", namespace, resource, *rest] if found := _below(
            api_version, resource, namespace, rest
        ):
            return found
        case [resource, *rest]:
            return _below(api_version, resource, "", rest)
    return None


def _below(api_version: str, resource: str, namespace: str, rest: list[str]) -> Route | None:
    kind = find_resource(api_version, resource)
    # What lives in namespaces is found by name only there; what lives in none, only outside.
    if kind is None or len(rest) > 2 or (namespace and not kind.namespaced):
        return None
    if kind.namespaced and rest and not namespace:
        return None
    name, subresource = (*rest, "", "")[:2]
    return Route(kind, namespace, name, subresource)
