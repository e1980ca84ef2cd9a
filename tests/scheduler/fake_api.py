"""An API server as the scheduler sees it: it remembers what it is told, and can be made to fail.

What is written is shown to the scheduler at once, as a watch would show it, unless `is_watched` is
taken away: then the news wait for `catch_up`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import cast

from msgspec.structs import replace

from berthing.api.errors import ClientError, error_of
from berthing.api.meta import ApiObject, Status
from berthing.api.pod import Pod, PodCondition
from berthing.framework import ApiClient, ClientConfig

News = tuple[type[ApiObject], ApiObject | None, ApiObject | None]


class FakeApi:
    """The outside world of a scheduler, with room for mishaps.

    said            everything the scheduler told, in order, in words
    bind_mishaps    what the next bindings end with, in place of success
    status_mishaps  the same for status patches
    """

    def __init__(self) -> None:
        self.said: list[str] = []
        self.bind_mishaps: deque[Exception] = deque()
        self.status_mishaps: deque[Exception] = deque()
        self.is_watched = True
        # Bindings, status patches: held while the event is not set.
        self.bindings_go_on = _open()
        self.patches_go_on = _open()
        self.tell: Callable[[type[ApiObject], ApiObject | None, ApiObject | None], None]
        self._objects: dict[tuple[type[ApiObject], str, str], ApiObject] = {}
        self._news: list[News] = []
        self._version = 0

    # What there is.

    def show(self, obj: ApiObject) -> None:
        """An object came or changed."""
        self._version += 1
        key = (type(obj), obj.metadata.namespace, obj.metadata.name)
        newer = replace(obj, metadata=replace(obj.metadata, resource_version=str(self._version)))
        old, self._objects[key] = self._objects.get(key), newer
        self._told(type(obj), old, newer)

    def remove(self, obj: ApiObject) -> None:
        """An object is gone."""
        old = self._objects.pop((type(obj), obj.metadata.namespace, obj.metadata.name))
        self._told(type(obj), old, None)

    def pod(self, name: str, namespace: str = "default") -> Pod:
        return cast("Pod", self._objects[Pod, namespace, name])

    def nodes_of_pods(self) -> dict[str, str]:
        """The node of every bound pod."""
        return {
            obj.name: obj.spec.node_name
            for obj in self._objects.values()
            if isinstance(obj, Pod) and obj.spec.node_name
        }

    def catch_up(self) -> None:
        """Show what was kept back."""
        self.is_watched = True
        news, self._news = self._news, []
        for each in news:
            self.tell(*each)

    def _told(self, kind: type[ApiObject], old: ApiObject | None, new: ApiObject | None) -> None:
        if self.is_watched:
            self.tell(kind, old, new)
        else:
            self._news.append((kind, old, new))

    # What the scheduler says.

    def events(self, pod_name: str) -> list[str]:
        """The notes of all events about a pod."""
        head = f"event {pod_name}: "
        return [said.removeprefix(head) for said in self.said if said.startswith(head)]

    def conditions(self, pod_name: str) -> list[str]:
        """What PodScheduled=False was written with, as "reason: message"."""
        head = f"unscheduled {pod_name}: "
        return [said.removeprefix(head) for said in self.said if said.startswith(head)]

    # The scheduler's side.

    # For plugins that make requests of their own: there is none in these stories.
    client = cast("ApiClient", None)
    client_config = cast("ClientConfig", None)

    @property
    def pod_writer(self) -> FakeApi:
        return self

    def event_recorder(self, profile_name: str) -> FakeApi:
        return self

    def event(self, regarding: object, *, type_: str, reason: str, action: str, note: str) -> None:
        self.said.append(f"event {cast('Pod', regarding).name}: {type_} {reason} {action}: {note}")

    async def bind_pod(self, pod: Pod, node_name: str) -> None:
        self.said.append(f"bind {pod.name} to {node_name}")
        await self.bindings_go_on.wait()
        if self.bind_mishaps:
            mishap = self.bind_mishaps.popleft()
            if isinstance(mishap, LostAnswerError):
                self._bind(pod, node_name)
            raise mishap
        self._bind(pod, node_name)

    def _bind(self, pod: Pod, node_name: str) -> None:
        current = self._current(pod)
        if current.spec.node_name:
            text = f'pod {pod.name} is already assigned to node "{current.spec.node_name}"'
            raise refusal(409, "Conflict", text)
        status = replace(current.status, nominated_node_name="")
        self.show(replace(current, spec=replace(current.spec, node_name=node_name), status=status))

    async def patch_pod_status(
        self,
        pod: Pod,
        *,
        condition: PodCondition | None = None,
        nominated_node_name: str | None = None,
    ) -> None:
        if condition is not None:
            assert (condition.type, condition.status) == ("PodScheduled", "False")
            self.said.append(f"unscheduled {pod.name}: {condition.reason}: {condition.message}")
        if nominated_node_name not in (None, pod.status.nominated_node_name):
            self.said.append(f"nominate {pod.name} to {nominated_node_name or 'nowhere'}")
        await self.patches_go_on.wait()
        if self.status_mishaps:
            raise self.status_mishaps.popleft()
        current = self._current(pod)
        status = current.status
        if nominated_node_name is not None:
            status = replace(status, nominated_node_name=nominated_node_name)
        if condition is not None:
            status = replace(status, conditions=(condition,))
        if status != current.status:
            self.show(replace(current, status=status))

    def _current(self, pod: Pod) -> Pod:
        current = self._objects.get((Pod, pod.metadata.namespace, pod.name))
        if not isinstance(current, Pod) or current.metadata.uid != pod.metadata.uid:
            raise refusal(404, "NotFound", f'pods "{pod.name}" not found')
        return current


class LostAnswerError(ClientError):
    """The binding was carried out, and the answer did not come back."""


def refusal(code: int, reason: str, message: str) -> ClientError:
    """The API server's no."""
    return error_of(Status(status="Failure", code=code, reason=reason, message=message))


def _open() -> asyncio.Event:
    gate = asyncio.Event()
    gate.set()
    return gate
