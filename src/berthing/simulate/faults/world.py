"""One run: a cluster, a scheduler, their troubles, and at the end a time without any.

    settle in ---> troubles, for about a minute ---> all is well ---> at rest, within two minutes

Checked after every step: what `promises` says, and that the process still runs.  The columns are
held against a rebuild now and then, for that takes its time: after one step in so many, each time
that troubles are over, and in the end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import cache
from random import Random
from typing import Final

import msgspec

from berthing.cluster import audit
from berthing.config.document import Document, parse_document
from berthing.config.features import FeatureGates
from berthing.config.load import Loaded, load_document
from berthing.embedded.server import ApiServer
from berthing.scheduler.registry import Registry
from berthing.serving.process import Connection, SchedulerProcess
from berthing.simulate import virtual_time
from berthing.simulate.faults.inhabitants import Inhabitants
from berthing.simulate.faults.judge import unsettled
from berthing.simulate.faults.network import FaultyTransport, Network
from berthing.simulate.faults.plugins import registry
from berthing.simulate.faults.promises import Truth, untrue
from berthing.simulate.faults.trace import Trace
from berthing.simulate.faults.troubles import Troubles, drawn
from berthing.simulate.in_memory import IN_MEMORY
from berthing.simulate.virtual_time import VirtualTimeLoop
from berthing.telemetry import logs

# Within so many seconds after the last trouble all has to be at rest.  A list that failed is tried
# again after a minute at most, and nothing else waits as long.
_REST_SECONDS: Final = 120.0
# A process that is to stop does not wait for longer than that.
_STOP_SECONDS: Final = 30.0
# How often we look though nothing seems to have changed, in steps; and how often such a look takes
# in an audit of the columns, which costs more than all else together.
_LOOK_EVERY: Final = 25
_AUDIT_EVERY: Final = 15

_CONFIGURATION: Final = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled: [{name: Witness}]
  - schedulerName: patient
    plugins:
      multiPoint:
        enabled: [{name: Witness}, {name: Doorkeeper}, {name: Preparation}, {name: Consideration}]
"""


class Outcome(msgspec.Struct, frozen=True):
    """How a run ended."""

    seed: int
    problems: tuple[str, ...]
    # Virtual seconds, and what happened at last.
    time: float
    last: tuple[str, ...]
    digest: str
    steps: int
    bound: int

    @property
    def is_good(self) -> bool:
        """Whether all promises were kept."""
        return not self.problems


def simulate(seed: int, show: Callable[[str], None] | None = None) -> Outcome:
    """Run one seed; `show` is told all that happens."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, VirtualTimeLoop), "it was made here"
        world = World(seed, loop, Trace(loop.time, show))
        with _mistakes_told_to(world.break_promises):
            runner.run(world.run())
        return world.outcome()


class World:
    """Everything there is in a run."""

    def __init__(self, seed: int, loop: VirtualTimeLoop, trace: Trace) -> None:
        self.seed = seed
        self._loop = loop
        self._trace = trace
        self._chance = Random(f"{seed} world")
        self._troubles: Troubles | None = drawn(self._chance)
        self._api = ApiServer(now=loop.now, random=Random(f"{seed} server"))
        self._truth = Truth(self._api.store)
        self._network = Network(
            self._api,
            troubles=self._troubles,
            chance=Random(f"{seed} network"),
            trace=trace,
            observer=self._truth,
        )
        self._inhabitants = Inhabitants(
            self._api,
            troubles=self._troubles,
            chance=Random(f"{seed} inhabitants"),
            trace=trace,
            upset=self._truth.upset.add,
        )
        self._lives: list[Life] = []
        self._problems: list[str] = []
        self._is_broken = asyncio.Event()
        self._steps = 0
        self._looks = 0
        self._crashes_at_step = 0

    @property
    def is_calm(self) -> bool:
        """Whether nothing goes wrong any more."""
        return self._troubles is None

    def outcome(self) -> Outcome:
        """How it ended."""
        return Outcome(
            self.seed,
            tuple(self._problems),
            self._loop.time(),
            tuple(self._trace.last),
            self._trace.digest,
            self._steps,
            len(self._truth.node_of),
        )

    def break_promises(self, *problems: str) -> None:
        """Something that has to be true is not: the run ends here."""
        if problems and not self._problems:
            self._problems += problems
            self._loop.after_step = None
            self._is_broken.set()

    # The story.

    async def run(self) -> None:
        """Live through all of it."""
        self._loop.set_exception_handler(self._unhandled)
        self._trace.tell(f"troubles: {_told(self._troubles)}")
        self._inhabitants.settle_in()
        self._start()
        self._loop.after_step = self._check
        story = [
            asyncio.create_task(self._story(), name="story"),
            asyncio.create_task(self._is_broken.wait(), name="broken"),
        ]
        done, _ = await asyncio.wait(story, return_when=asyncio.FIRST_COMPLETED)
        self._loop.after_step = None
        for task in done:
            task.result()
        for life in self._lives:
            await life.end()

    async def _story(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            house = tasks.create_task(self._inhabitants.keep_house(), name="kubelets")
            troubles = [
                tasks.create_task(self._server_restarts(), name="restarts of the server"),
                tasks.create_task(self._history_gets_lost(), name="losses of history"),
                tasks.create_task(self._we_crash(), name="crashes"),
                tasks.create_task(self._we_stop(), name="stops"),
            ]
            await self._inhabitants.live(self._chance.uniform(20, 60))
            for task in troubles:
                task.cancel()
            self._calm_down()
            await self._come_to_rest()
            house.cancel()

    def _calm_down(self) -> None:
        self._trace.tell("all is well from now on")
        self._troubles = None
        self._crashes_at_step = 0
        self._network.heal()
        self._inhabitants.finish()

    async def _come_to_rest(self) -> None:
        waited, problems = 0.0, ["no scheduler runs"]
        for pause in (2, 2, 4, 8, 16, 30, _REST_SECONDS):
            await asyncio.sleep(min(pause, _REST_SECONDS - waited))
            waited += pause
            life = self._lives[-1]
            if life.is_running:
                problems = list(
                    unsettled(
                        self._api.store,
                        life.process,
                        life.loaded.profiles,
                        life.registry,
                        self._truth.outlived,
                    )
                )
            if not problems:
                self.break_promises(*audit.check(life.process.scheduler.cluster))
                self._trace.tell("all is at rest")
                return
        self.break_promises(*problems)

    # Troubles that are not of single requests.

    async def _server_restarts(self) -> None:
        async for troubles in self._each(lambda troubles: troubles.server_restarts):
            if self._network.is_up:
                self._network.restart(
                    seconds=self._chance.expovariate(0.5),
                    forgets=self._chance.random() < 0.5 and bool(troubles.history_lost),
                )

    async def _history_gets_lost(self) -> None:
        async for _ in self._each(lambda troubles: troubles.history_lost):
            self._trace.tell("history is forgotten")
            self._api.store.compact()

    async def _we_crash(self) -> None:
        async for _ in self._each(lambda troubles: troubles.our_crashes):
            # Not at a quiet moment, but after any of the next steps.
            self._crashes_at_step = self._steps + self._chance.randint(1, 40)

    async def _we_stop(self) -> None:
        async for _ in self._each(lambda troubles: troubles.our_stops):
            life = self._lives[-1]
            if life.is_running and not life.is_stopping:
                self._trace.tell(f"{life.name} is to stop")
                life.stop()

    async def _each(self, rate_of: Callable[[Troubles], float]) -> AsyncIterator[Troubles]:
        """Now and then, as often as a trouble comes; not at all if it does not."""
        while self._troubles is not None and (rate := rate_of(self._troubles)):
            await asyncio.sleep(self._chance.expovariate(rate))
            yield self._troubles

    # Our process.

    def _start(self) -> None:
        number = len(self._lives) + 1
        life = Life(f"berthing-{number}", self, self._network, self._truth)
        self._trace.tell(f"{life.name} starts")
        self._lives.append(life)

    def _crash(self, life: Life) -> None:
        self._trace.tell(f"{life.name} crashes")
        self._truth.unsettle(life.transport)
        life.die()
        self._loop.call_later(self._chance.uniform(0, 3), self._start)

    # After every step.

    def _check(self) -> None:
        self._steps += 1
        life = self._lives[-1]
        if life.is_running:
            self.break_promises(*self._untrue(life))
            if self._steps == self._crashes_at_step:
                self._crash(life)
        elif life.has_stopped:
            self.break_promises(*life.left_behind())
            life.is_over = True
            self._truth.unsettle(life.transport)
            self._trace.tell(f"{life.name} has stopped")
            self._loop.call_later(self._chance.uniform(0, 3), self._start)
        self.break_promises(*self._truth.broken)

    def _untrue(self, life: Life) -> Iterator[str]:
        yield from self._truth.rooms_lost(life.transport, life.process)
        if life.has_changed() or self._steps % _LOOK_EVERY == 0:
            yield from untrue(life.process, life.attempts)
            self._looks += 1
            if self._looks % _AUDIT_EVERY == 0:
                yield from audit.check(life.process.scheduler.cluster)

    def _unhandled(self, _loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        self.break_promises(f"{context.get('message')}: {context.get('exception')!r}")


class Life:
    """One process of ours, and what is known about its attempts."""

    def __init__(self, name: str, world: World, network: Network, truth: Truth) -> None:
        self.name = name
        self.chance = Random(f"{world.seed} {name}")
        self.attempts: dict[str, bool] = {}
        self.transport = FaultyTransport(network, name)
        self.registry = registry(self)
        self.loaded = _loaded(self.registry)
        assert self.loaded.config is not None, self.loaded.findings
        self.process = SchedulerProcess(
            self.loaded.config,
            self.loaded.profiles,
            registry=self.registry,
            gates=FeatureGates(),
            connection=Connection(self.transport, IN_MEMORY, name),
            now=virtual_time.now,
            random=self.chance,
        )
        self.is_stopping = False
        self.is_over = False
        self._stop_began = 0.0
        self._seen: tuple[object, ...] = ()
        self._world = world
        self._truth = truth
        self._running = asyncio.create_task(self.process.run(), name=name)

    @property
    def is_calm(self) -> bool:
        """Whether plugins are to keep still."""
        return self._world.is_calm

    @property
    def is_running(self) -> bool:
        """Whether it lives."""
        return not self.is_over and not self._running.done()

    def has_changed(self) -> bool:
        """Whether columns and queue may have changed since it was last asked.

        Looked at are sizes and logs, which is cheap and misses little; what was missed is there
        still when it next says yes.
        """
        scheduler = self.process.scheduler
        queue, nodes = scheduler.queue, scheduler.cluster.nodes
        before = self._seen
        self._seen = (
            nodes.node_changes.now,
            nodes.usage_changes.now,
            len(queue.unbound),
            len(queue.in_flight),
            len(self.attempts),
        )
        return before != self._seen

    @property
    def has_stopped(self) -> bool:
        """Whether it has ended by itself, which nobody has taken note of yet."""
        return not self.is_over and self._running.done()

    def stop(self) -> None:
        """End in order."""
        self.is_stopping = True
        self._stop_began = asyncio.get_running_loop().time()
        self.process.stop()

    def left_behind(self) -> Iterator[str]:
        """What is not in order, now that it has ended by itself."""
        if not self.is_stopping:
            error = self._running.exception() if not self._running.cancelled() else "cancelled"
            yield f"{self.name} has ended: {error!r}"
        elif asyncio.get_running_loop().time() < self._stop_began + _STOP_SECONDS:
            for uid, is_claimed in self.attempts.items():
                if not is_claimed:
                    yield f"{self.name} has stopped while it was binding pod {uid}"

    def die(self) -> None:
        """End at once: nothing that it does from here on reaches anybody."""
        self.is_over = True
        self.transport.die()
        self._running.cancel()

    async def end(self) -> None:
        """The run is over."""
        self.die()
        await asyncio.gather(self._running, return_exceptions=True)

    # What its plugins tell.

    def took(self, uid: str, node_name: str) -> None:
        """An attempt has taken a node."""
        self.attempts[uid] = False

    def gave_back(self, uid: str) -> None:
        """It has given the node back."""
        self.attempts.pop(uid, None)

    def claims(self, uid: str, node_name: str) -> None:
        """The pod is bound, as far as the scheduler knows."""
        self.attempts[uid] = True
        if not self.is_over:
            self._truth.claimed(uid, node_name)


@cache
def _configuration() -> Document:
    return parse_document(_CONFIGURATION)


def _loaded(plugins: Registry) -> Loaded:
    return load_document(
        _configuration(), catalogue=plugins.catalogue, args_types=plugins.args_types
    )


def _told(troubles: Troubles | None) -> str:
    values = msgspec.structs.asdict(troubles) if troubles else {}
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items() if value)


# Mistakes of ours that a scheduler survives, and tells in its log alone.
_MISTAKES: Final = frozenset(
    {
        "Error in the scheduling cycle",
        "Error in the binding cycle",
        "QueueingHintFn returns error",
        "Unexpected error running PreEnqueue plugin",
        "Cannot handle objects of another kind",
        "Plugin failed",
    }
)


class _Mistakes(logging.Handler):
    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.ERROR)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg in _MISTAKES:
            self._tell(f"logged: {record.msg}: {getattr(record, logs.VALUES, '')}")


@contextmanager
def _mistakes_told_to(tell: Callable[[str], None]) -> Iterator[None]:
    """Read our own log while a run lasts; nobody else does."""
    logger = logging.getLogger(logs.ROOT)
    before = logger.level, logger.propagate
    handler = _Mistakes(tell)
    logger.addHandler(handler)
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]
