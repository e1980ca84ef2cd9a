"""What happens in the demo, in order: the part of its users, who apply manifests, and of fate.

Everything is asked of the API server as any client would.  An act ends once what it is about has
come true, or once nothing happens any more: then the story goes on, and the checks tell what is wrong.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from types import NoneType
from typing import Final

from berthing.api.kinds import kind_of
from berthing.api.node import Node
from berthing.api.scheduling import PriorityClass
from berthing.client.api_client import ApiClient
from berthing.demo.machines import Machine
from berthing.demo.outcome import Death, Outcome
from berthing.demo.witness import PodSeen, Witness
from berthing.demo.workloads import (
    DATABASE,
    NAMESPACE,
    PRIORITY_CLASS,
    App,
    Workloads,
)

# So long nothing may happen, and so long an act may take, before nobody believes in it any more.
_QUIET_SECONDS: Final = 10.0
_LONGEST_SECONDS: Final = 120.0
# Between two things that happen, so that a person can follow.
_BEAT_SECONDS: Final = 0.35
_LOOK_SECONDS: Final = 0.02
# A pod that was turned down once is kept back for a second, and until the second is over in which
# that ends.  This is a little longer.
_BACKOFF_SECONDS: Final = 2.1
_MERGE: Final = "application/merge-patch+json"
_PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"

Tell = Callable[[str], None]


class Story:
    """One run of it."""

    def __init__(
        self,
        nodes: Iterable[Machine],
        apps: Workloads,
        *,
        client: ApiClient,
        witness: Witness,
        fail_node: Callable[[str], None],
        tell: Tell,
        random: Random,
    ) -> None:
        self._nodes = tuple(nodes)
        self._apps = apps
        self._client = client
        self._witness = witness
        self._fail_node = fail_node
        self._tell = tell
        self._random = random
        self._gate_opened_at = float("inf")
        self._death: Death | None = None

    async def run(self) -> None:
        """Tell it from the beginning to the end."""
        await self.nodes_join()
        await self.services_come()
        await self.stateful_apps_come()
        await self.some_are_held_back()
        await self.batch_nodes_fill()
        await self.the_gate_opens()
        await self.a_node_is_repaired()
        await self.a_node_dies()
        await self.one_cannot_fit()
        await self.room_is_made()

    def outcome(self, seconds: float) -> Outcome:
        """What came of it."""
        return Outcome(
            workloads=self._apps,
            nodes=self._witness.nodes,
            pods=tuple(self._witness.pods.values()),
            failures=self._witness.failures,
            gate_opened_at=self._gate_opened_at,
            death=self._death,
            seconds=seconds,
        )

    async def nodes_join(self) -> None:
        """A cluster without pods."""
        for machine in self._nodes:
            await self._create(kind_of(Node).path, machine.manifest)
        await self._create(kind_of(PriorityClass).path, PRIORITY_CLASS)
        pools = Counter(each.pool for each in self._nodes)
        cordoned = sum(each.is_cordoned for each in self._nodes)
        special = f"{pools['batch']} for batch, {pools['gpu']} with GPUs, {pools['payments']} for payments"
        self._tell(f"{len(self._nodes)} nodes join: {special}; {cordoned} cordoned")
        await asyncio.sleep(_BEAT_SECONDS)

    async def services_come(self) -> None:
        """Many pods that must be even over the zones, and some that need not."""
        began = self._now()
        for app in self._apps.services:
            how = "evenly over the zones" if app.spread_over else "anywhere"
            self._tell(f"{app.name}: {app.replicas} pods, {how}")
            await self._apply(app)
            await asyncio.sleep(_BEAT_SECONDS)
        if await self._placed(*self._apps.services):
            count = sum(each.replicas for each in self._apps.services)
            took = self._now() - began
            self._tell(f"all {count} placed, {took:.1f} s after the first was asked for")

    async def stateful_apps_come(self) -> None:
        """Pods that mind who else is on their node, or which node it is."""
        apps = (*self._apps.stateful, *self._apps.special)
        for app in apps:
            self._tell(f"{app.name}: {app.replicas} pods, {_wish(app)}")
            await self._apply(app)
            await asyncio.sleep(_BEAT_SECONDS)
        await self._placed(*apps)

    async def some_are_held_back(self) -> None:
        """Pods that nobody may place yet."""
        app = self._apps.season
        self._tell(f"{app.name}: {app.replicas} pods behind a gate; nobody may place them yet")
        await self._apply(app)
        await asyncio.sleep(_BEAT_SECONDS)

    async def batch_nodes_fill(self) -> None:
        """Pods that fill some nodes, and then jobs that find no room: some, and some that matter."""
        crawler, reports, payroll = self._apps.crawler, self._apps.reports, self._apps.payroll
        self._tell(f"{crawler.name}: {crawler.replicas} pods, which fill the batch nodes")
        await self._apply(crawler)
        await self._placed(crawler)
        for app, how in (
            (reports, "no room, so they wait"),
            (payroll, "urgent, but no room either"),
        ):
            self._tell(f"{app.name}: {app.replicas} jobs; {how}")
            await self._apply(app)
            await self._until(partial(self._refused, app))

    async def the_gate_opens(self) -> None:
        """Those who were held back are let go, and so are those who come in their place later."""
        await asyncio.sleep(_BEAT_SECONDS)
        app = self._apps.season
        began = self._gate_opened_at = self._now()
        await self._let_go()
        if await self._placed(app):
            took = self._now() - began
            self._tell(f"the gate opens: {app.replicas} {app.name} pods placed in {took:.2f} s")

    async def a_node_is_repaired(self) -> None:
        """Room for the urgent jobs and nobody else: all wait for it, they get it."""
        # Nobody who waits is still in backoff, which counts for more than priority.
        payroll = self._apps.payroll
        refused = max((each.refused_at or 0 for each in self._witness.of(payroll.name)), default=0)
        await asyncio.sleep(refused + _BACKOFF_SECONDS - self._now())
        machine = next(each for each in self._nodes if each.is_cordoned and each.pool == "batch")
        self._tell(f"{machine.name} is repaired: room for {machine.cpus}, urgent jobs first")
        patch = {"spec": {"unschedulable": None}}
        await self._patch(f"{kind_of(Node).path}/{machine.name}", patch)
        await self._until(lambda: all(each.placements for each in self._witness.of(payroll.name)))

    async def a_node_dies(self) -> None:
        """A node with a member of the database and all else that is on it."""
        name = self._victim()
        lost = tuple(each for each in self._witness.pods.values() if _is_on(each, name))
        self._death = Death(name, self._now(), lost)
        self._fail_node(name)
        self._tell(f"{name} dies, with {len(lost)} pods on it")
        await self._until(lambda: any(each.going_at is not None for each in lost))
        silent = self._now() - self._death.at
        self._tell(f"{name} is silent for {silent:.1f} s now: its pods are given up")
        began = self._now()
        # Whoever has the machine says that it is gone: no member of the database comes to be twice.
        await self._client.request("DELETE", f"{kind_of(Node).path}/{name}", type_=NoneType)
        if await self._until(lambda: self._replaced(lost)):
            self._tell(f"all {len(lost)} placed elsewhere, {self._now() - began:.2f} s later")

    async def one_cannot_fit(self) -> None:
        """A pod that asks for what nobody has."""
        app = self._apps.trainer
        self._tell(f"{app.name}: wants {app.gpus} GPUs in {app.zone}, where no node has two left")
        await self._apply(app)
        await self._until(lambda: f"{NAMESPACE}/{app.name}" in self._witness.failures)

    async def room_is_made(self) -> None:
        """Those who waited longest find room at last, and all jobs come to their end."""
        crawler, reports, payroll = self._apps.crawler, self._apps.reports, self._apps.payroll
        self._tell(f"{crawler.name} is scaled down to 0: room for {reports.name}")
        patch = {"spec": {"replicas": 0}}
        await self._patch(crawler.object_path, patch)
        began = self._now()
        if await self._until(
            lambda: all(each.placements for each in self._witness.of(reports.name))
        ):
            self._tell(f"all {reports.replicas} placed, {self._now() - began:.2f} s later")
        names = (reports.name, payroll.name)
        count = reports.replicas + payroll.replicas
        if await self._until(lambda: not any(each.is_live for each in self._witness.of(*names))):
            self._tell(f"all {count} jobs are done")

    # How it is done.

    async def _apply(self, app: App) -> None:
        await self._create(app.path, app.manifest)

    async def _create(self, path: str, manifest: object) -> None:
        await self._client.request("POST", path, body=manifest, type_=NoneType)

    async def _patch(self, path: str, patch: object) -> None:
        await self._client.request("PATCH", path, body=patch, content_type=_MERGE, type_=NoneType)

    async def _let_go(self) -> None:
        for seen in list(self._witness.of(self._apps.season.name)):
            if seen.let_go_at is None:
                patch = {"spec": {"schedulingGates": None}}
                await self._patch(f"{_PODS}/{seen.pod.name}", patch)

    async def _placed(self, *apps: App) -> bool:
        """Wait until all pods of some apps have a node."""
        wanted = {each.name: each.replicas for each in apps}
        return await self._until(lambda: self._strength(wanted) == wanted)

    def _refused(self, app: App) -> bool:
        """Whether all pods of an app were told that there is no room."""
        refused = [each for each in self._witness.of(app.name) if each.refused_at is not None]
        return len(refused) == app.replicas

    def _strength(self, apps: Iterable[str]) -> dict[str, int]:
        counts = Counter(
            each.app for each in self._witness.of(*apps) if each.is_live and each.placements
        )
        return {name: counts[name] for name in apps}

    async def _until(self, is_so: Callable[[], bool]) -> bool:
        """Wait for something, as long as there is hope; whether it came about."""
        began = last = self._now()
        news = self._witness.news
        while not is_so():
            if self._witness.news != news:
                news, last = self._witness.news, self._now()
            if self._now() - last > _QUIET_SECONDS or self._now() - began > _LONGEST_SECONDS:
                self._tell("this should have come about, and has not: the checks will tell")
                return False
            await self._let_go_if_open()
            await asyncio.sleep(_LOOK_SECONDS)
        return True

    async def _let_go_if_open(self) -> None:
        if self._gate_opened_at <= self._now():
            await self._let_go()

    def _victim(self) -> str:
        """A node of the middle zone with a member of the database."""
        members = {each.node_name for each in self._witness.of(DATABASE) if each.is_live}
        zone = sorted({each.zone for each in self._nodes})[1]
        names = sorted(each.name for each in self._nodes if each.zone == zone)
        return self._random.choice([name for name in names if name in members] or names)

    def _replaced(self, lost: Iterable[PodSeen]) -> bool:
        wanted = {app.name: app.replicas for app in self._apps.all if not app.is_job}
        wanted = {name: count for name, count in wanted.items() if name in {e.app for e in lost}}
        return self._strength(wanted) == wanted

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _wish(app: App) -> str:
    """What an app asks for, in a few words."""
    words: list[str] = []
    if app.is_apart:
        words.append("no two on one node")
    if app.beside:
        words.append(f"each beside a {app.beside}")
    if app.gpus:
        words.append("with a GPU each")
    if app.pool == "payments":
        words.append("on nodes of their own")
    return ", ".join(words)


def _is_on(seen: PodSeen, node_name: str) -> bool:
    return seen.node_name == node_name and seen.is_live
