"""Pods as an API server takes them: with what a scheduler does not read, and tests need not write."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from berthing.api.decode import decode_as, encode
from berthing.api.meta import ObjectMeta
from berthing.api.pod import Pod
from berthing.api.scheduling import PriorityClass
from e2e.api_client import path
from e2e.control_plane import ControlPlane


def create_pod(
    control_plane: ControlPlane, pod: Pod, *, container: Mapping[str, object] | None = None
) -> Pod:
    """Make a pod of one container with an image, limits where they are a must, and what is given."""
    document = msgspec.json.decode(encode(pod))
    (only,) = document["spec"]["containers"]
    only.setdefault("image", "app")
    requests = only.get("resources", {}).get("requests", {})
    extended = {name: amount for name, amount in requests.items() if "/" in name}
    if extended:
        only["resources"]["limits"] = extended
    only |= container or {}
    body = msgspec.json.encode(document)
    return decode_as(control_plane.client.request("POST", path(Pod, pod.namespace), body), Pod)


def add_priority_class(
    control_plane: ControlPlane, name: str, value: int, policy: str = ""
) -> None:
    """Make a class for pods that are `of_class` to name."""
    control_plane.client.create(
        PriorityClass(metadata=ObjectMeta(name=name), value=value, preemption_policy=policy)
    )


def of_class(name: str, pod: Pod) -> Pod:
    """The pod in a priority class, which sets what pods must not say themselves."""
    spec = replace(pod.spec, priority_class_name=name, priority=None, preemption_policy="")
    return replace(pod, spec=spec)
