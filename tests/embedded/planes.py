"""A control plane that runs in virtual time, and what a test does with it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from random import Random
from typing import Any, ParamSpec

from berthing.api.apps import ReplicaSet, StatefulSet
from berthing.api.batch import Job
from berthing.api.kinds import kind_of
from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.embedded.control_plane import ControlPlane
from berthing.embedded.kubelets import Pace
from berthing.embedded.node_lifecycle import Patience
from berthing.embedded.patches import MERGE
from berthing.embedded.trees import Tree, read_tree
from berthing.simulate import virtual_time

P = ParamSpec("P")

# One second to start and one to stop, so that a test can say when what is done.
PACE = Pace(start_seconds=(1, 1), stop_seconds=(1, 1), lease_seconds=10)
PATIENCE = Patience(grace_seconds=40, period_seconds=5)
PODS = kind_of(Pod)
NODES = kind_of(Node)


def story(tale: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Tell a story in virtual time."""

    @wraps(tale)
    def told(*args: P.args, **kwargs: P.kwargs) -> None:
        virtual_time.run(tale(*args, **kwargs))

    return told


def as_tree(value: object) -> Tree:
    """JSON, as tests write it."""
    return read_tree(json.dumps(value).encode())


class Plane:
    """A control plane at work; without a scheduler, so a test binds pods itself."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.objects = plane.api.objects
        self.store = plane.api.store

    async def pass_time(self, seconds: float = 0.5) -> None:
        """Enough for controllers to have done what there is to do, and for no kubelet."""
        await asyncio.sleep(seconds)

    async def node(self, name: str = "n", **metadata: Any) -> None:
        tree = {"metadata": {"name": name, **metadata}, "status": {"allocatable": {"cpu": "8"}}}
        self.objects.create(NODES, "", as_tree(tree))
        await self.pass_time()

    async def apply(self, type_: type[ApiObject], name: str = "web", **spec: Any) -> None:
        pod_spec = spec.pop("pod", {})
        template = {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "main"}], **pod_spec},
        }
        tree = {"metadata": {"name": name}, "spec": {"template": template, **spec}}
        self.objects.create(kind_of(type_), "default", as_tree(tree))
        await self.pass_time()

    async def replica_set(self, replicas: int, name: str = "web", **spec: Any) -> None:
        await self.apply(ReplicaSet, name, replicas=replicas, **spec)

    async def stateful_set(self, replicas: int, name: str = "db", **spec: Any) -> None:
        await self.apply(StatefulSet, name, replicas=replicas, **spec)

    async def job(self, name: str = "sums", *, seconds: float = 5, **spec: Any) -> None:
        container = {"name": "main", "command": ["sleep", f"{seconds:g}"]}
        pod = {"restartPolicy": "Never", "containers": [container]}
        await self.apply(Job, name, pod=pod, **spec)

    async def patch(self, type_: type[ApiObject], name: str, **spec: Any) -> None:
        key = ("" if type_ is Node else "default", name)
        self.objects.patch(kind_of(type_), key, {"spec": spec}, content_type=MERGE)
        await self.pass_time()

    async def bind(self, *names: str, node: str = "n") -> None:
        """Give some pods a node, or all that have none."""
        for name in names or [pod.name for pod in self.pods() if not pod.spec.node_name]:
            self.objects.bind(("default", name), {"target": {"name": node}})
        await self.pass_time()

    async def delete_pod(self, name: str, *, grace: int | None = None) -> None:
        options = {} if grace is None else {"gracePeriodSeconds": grace}
        self.objects.delete(PODS, ("default", name), dict(options))
        await self.pass_time()

    def pods(self) -> list[Pod]:
        return [each.object for each in self.store.all(PODS) if isinstance(each.object, Pod)]

    def pod(self, name: str) -> Pod:
        (found,) = [pod for pod in self.pods() if pod.name == name]
        return found

    def phases(self) -> dict[str, str]:
        return {
            pod.name: "going" if pod.metadata.deletion_timestamp else pod.status.phase
            for pod in self.pods()
        }

    def status(self, type_: type[ApiObject], name: str) -> Any:
        stored = self.store.get(kind_of(type_), ("default", name))
        assert stored is not None
        return stored.tree.get("status")

    def the_node(self, name: str = "n") -> Node:
        stored = self.store.get(NODES, ("", name))
        assert stored is not None
        assert isinstance(stored.object, Node)
        return stored.object


@asynccontextmanager
async def running() -> AsyncIterator[Plane]:
    """A control plane at work, with a node."""
    plane = ControlPlane(now=virtual_time.now, random=Random(1), pace=PACE, patience=PATIENCE)
    task = asyncio.create_task(plane.run(), name="control plane")
    try:
        world = Plane(plane)
        await world.pass_time()
        await world.node()
        yield world
        assert not task.done(), "its parts do not end"
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
