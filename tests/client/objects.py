"""Pods as an API server shows them, and a sink that writes down what it is told."""

from __future__ import annotations

from berthing.api.meta import ApiObject, ObjectMeta
from berthing.api.pod import Pod, PodSpec


def pod(name: str, version: int | str, *, uid: str = "", node: str = "") -> Pod:
    metadata = ObjectMeta(
        name=name, namespace="default", uid=uid or f"uid-{name}", resource_version=str(version)
    )
    return Pod(metadata=metadata, spec=PodSpec(node_name=node))


class Heard:
    """What a sink was told, as `+web@5`, `web@5>7`, `-web@7`; holds the story against itself."""

    def __init__(self) -> None:
        self.news: list[str] = []
        self.objects: dict[str, ApiObject] = {}

    def changed(self, kind: type, old: ApiObject | None, new: ApiObject | None) -> None:
        known = new or old
        assert known is not None
        assert isinstance(known, kind)
        assert self.objects.get(known.key) is old, "old is what was told before"
        if old and new:
            assert old.metadata.uid == new.metadata.uid
        self.news.append(_told(old, new))
        if new is None:
            del self.objects[known.key]
        else:
            self.objects[known.key] = new

    def take(self) -> list[str]:
        news, self.news = self.news, []
        return news


def _told(old: ApiObject | None, new: ApiObject | None) -> str:
    if old is None:
        assert new is not None
        return f"+{new.name}@{new.metadata.resource_version}"
    if new is None:
        return f"-{old.name}@{old.metadata.resource_version}"
    return f"{old.name}@{old.metadata.resource_version}>{new.metadata.resource_version}"
