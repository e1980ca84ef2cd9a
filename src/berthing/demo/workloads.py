"""What runs on the demo's nodes: services, a database, followers of a cache, jobs, and so on.

Each app asks for what it asks for in its manifest, as a user's would; the checks read it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from berthing.demo.machines import GPU, HOSTNAME, POOL, ZONE, ZONES, Machine, Manifest

NAMESPACE: Final = "default"
GATE: Final = "example.com/season"
URGENT: Final = "urgent"

# Who is asked for by name.
DATABASE: Final = "database"
CRAWLER: Final = "crawler"
REPORTS: Final = "reports"
PAYROLL: Final = "payroll"
SEASON: Final = "season"
TRAINER: Final = "trainer"

PRIORITY_CLASS: Final[Manifest] = {
    "metadata": {"name": URGENT},
    "value": 1000,
    # It goes first where there is room, and drives nobody out.
    "preemptionPolicy": "Never",
}
_PATHS: Final = {
    "ReplicaSet": f"/apis/apps/v1/namespaces/{NAMESPACE}/replicasets",
    "StatefulSet": f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets",
    "Job": f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs",
    "Pod": f"/api/v1/namespaces/{NAMESPACE}/pods",
}


class App(msgspec.Struct, frozen=True, kw_only=True):
    """A number of pods that are alike, and what they ask for."""

    name: str
    kind: str = "ReplicaSet"
    replicas: int = 1
    # What a person is told of it.
    what: str = ""
    cpu: str = "500m"
    memory: str = "512Mi"
    gpus: int = 0
    pool: str = ""
    zone: str = ""
    tolerates: str = ""
    # Spread over the values of these labels, with a skew of at most one.
    spread_over: tuple[str, ...] = ()
    # No two of them on one node.
    is_apart: bool = False
    # On the same node as a pod of this app.
    beside: str = ""
    is_gated: bool = False
    is_urgent: bool = False
    # When it is over by itself.
    seconds: float = 0.0

    @property
    def path(self) -> str:
        """Where its object is made."""
        return _PATHS[self.kind]

    @property
    def object_path(self) -> str:
        """Where the object is, once it is made."""
        return f"{self.path}/{self.name}"

    @property
    def is_job(self) -> bool:
        """Whether its pods run to their end."""
        return self.kind == "Job"

    @property
    def manifest(self) -> Manifest:
        """The object that a user would apply."""
        template = {"metadata": {"labels": {"app": self.name}}, "spec": self._pod_spec()}
        metadata = {"name": self.name, "labels": {"app": self.name}}
        spec: Mapping[str, object]
        match self.kind:
            case "Pod":
                return {"metadata": metadata, "spec": self._pod_spec()}
            case "Job":
                spec = {"parallelism": self.replicas, "completions": self.replicas}
            case "StatefulSet":
                spec = {"replicas": self.replicas, "podManagementPolicy": "Parallel"}
            case _:
                spec = {"replicas": self.replicas}
        if not self.is_job:
            spec = {**spec, "selector": {"matchLabels": {"app": self.name}}}
        return {"metadata": metadata, "spec": {**spec, "template": template}}

    def _pod_spec(self) -> Manifest:
        requests = {"cpu": self.cpu, "memory": self.memory}
        if self.gpus:
            requests[GPU] = str(self.gpus)
        # Extended resources want a limit; what has a limit asks for as much.
        container: dict[str, object] = {"name": "main", "resources": {"requests": requests}}
        spec: dict[str, object] = {"containers": [container]}
        if self.seconds:
            container["command"] = ["sleep", f"{self.seconds:g}"]
            spec["restartPolicy"] = "Never"
        selector = {key: value for key, value in ((POOL, self.pool), (ZONE, self.zone)) if value}
        if selector:
            spec["nodeSelector"] = selector
        if self.tolerates:
            spec["tolerations"] = [{"key": self.tolerates, "operator": "Exists"}]
        if self.spread_over:
            spec["topologySpreadConstraints"] = [
                _spread(key, self.name) for key in self.spread_over
            ]
        affinity: dict[str, object] = {}
        if self.is_apart:
            affinity["podAntiAffinity"] = _required(self.name)
        if self.beside:
            affinity["podAffinity"] = _required(self.beside)
        if affinity:
            spec["affinity"] = affinity
        if self.is_gated:
            spec["schedulingGates"] = [{"name": GATE}]
        if self.is_urgent:
            spec["priorityClassName"] = URGENT
            spec["preemptionPolicy"] = "Never"
        return spec


def _spread(key: str, app: str) -> Manifest:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }


def _required(app: str) -> Manifest:
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": app}}}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


class Workloads(msgspec.Struct, frozen=True):
    """All apps, in the order in which they come."""

    services: tuple[App, ...]
    stateful: tuple[App, ...]
    special: tuple[App, ...]
    season: App
    # Fills the batch nodes until it is scaled down; reports and payroll wait for its room.
    crawler: App
    reports: App
    payroll: App
    trainer: App

    @property
    def all(self) -> tuple[App, ...]:
        """All of them."""
        special = (*self.stateful, *self.special, self.season)
        batch = (self.crawler, self.reports, self.payroll)
        return (*self.services, *special, *batch, self.trainer)


def workloads(nodes: Iterable[Machine]) -> Workloads:
    """About ten pods for every node."""
    of_pool: dict[str, list[Machine]] = {}
    for node in nodes:
        of_pool.setdefault(node.pool, []).append(node)
    count = sum(map(len, of_pool.values()))
    gpu_nodes = len(of_pool["gpu"])
    batch = of_pool["batch"]
    slots = sum(node.cpus for node in batch if not node.is_cordoned)
    repaired = sum(node.cpus for node in batch if node.is_cordoned)

    def per_hundred(number: int) -> int:
        return max(round(number * count / 100), len(ZONES))

    def service(name: str, number: int, cpu: str, memory: str) -> App:
        return App(
            name=name, replicas=per_hundred(number), cpu=cpu, memory=memory, spread_over=(ZONE,)
        )

    def batch_app(name: str, number: int) -> App:
        return App(
            name=name, replicas=number, cpu="1", memory="1Gi", pool="batch", tolerates="dedicated"
        )

    return Workloads(
        services=(
            service("web", 180, "250m", "512Mi"),
            service("api", 130, "500m", "1Gi"),
            service("search", 60, "1", "4Gi"),
            service("checkout", 60, "1", "2Gi"),
            App(name="workers", replicas=per_hundred(220), cpu="2", memory="4Gi"),
        ),
        stateful=(
            App(
                name=DATABASE,
                kind="StatefulSet",
                replicas=per_hundred(9),
                cpu="1",
                memory="8Gi",
                spread_over=(ZONE,),
                is_apart=True,
            ),
            App(
                name="cache",
                replicas=per_hundred(12),
                cpu="1",
                memory="8Gi",
                spread_over=(ZONE,),
                is_apart=True,
            ),
            App(name="sessions", replicas=per_hundred(48), cpu="250m", beside="cache"),
        ),
        special=(
            App(
                name="payments",
                replicas=per_hundred(36),
                pool="payments",
                tolerates="dedicated",
                spread_over=(HOSTNAME,),
            ),
            App(
                name="inference",
                replicas=3 * gpu_nodes,
                cpu="4",
                memory="16Gi",
                gpus=1,
                pool="gpu",
                tolerates=GPU,
                spread_over=(HOSTNAME,),
            ),
        ),
        season=App(name=SEASON, replicas=per_hundred(40), cpu="1", memory="1Gi", is_gated=True),
        crawler=batch_app(CRAWLER, slots),
        reports=replace(batch_app(REPORTS, slots // 2), kind="Job", seconds=1.5),
        # As many as find room on the node that is repaired.
        payroll=replace(batch_app(PAYROLL, repaired), kind="Job", seconds=2.0, is_urgent=True),
        trainer=App(
            name=TRAINER,
            kind="Pod",
            cpu="8",
            memory="64Gi",
            gpus=2,
            pool="gpu",
            zone=ZONES[0],
            tolerates=GPU,
        ),
    )
