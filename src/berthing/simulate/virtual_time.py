"""An event loop whose time costs nothing: when nobody has anything to do, it is later at once.

    with the wall clock:   run what is ready, sleep until the next timer, run it, ...
    here:                  run what is ready, set the clock to the next timer, run it, ...

asyncio's own loop does the work; only the waiting is replaced.  Callbacks run in the order in
which asyncio runs them, so a run depends on nothing but the program and its random seed.  There
are no sockets, threads or signals here: something that waits for the outside waits for ever, and
a program in which everybody waits for ever ends with `Stuck`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

# Where virtual time starts, in seconds since 1970: 1 January 2026.
EPOCH = 1_767_225_600.0


class Stuck(RuntimeError):  # noqa: N818  # said of the program
    """Everybody waits, and for nothing that could come."""


class VirtualTimeLoop(asyncio.BaseEventLoop):
    """An asyncio event loop in virtual time."""

    def __init__(self) -> None:
        super().__init__()
        self._time = 0.0
        self._selector = _NoSockets(self)
        # Timers are due at their time exactly: there is no clock to be coarse.
        self._clock_resolution = 1e-9
        # Called after every step: each task that was ready has gone as far as its next await.
        self.after_step: Callable[[], None] | None = None

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._time

    def now(self) -> float:
        """The virtual time as seconds since 1970."""
        return EPOCH + self._time

    def pass_time(self, seconds: float | None) -> None:
        """Let time pass until the next timer."""
        if seconds is None:
            waiting = sorted(task.get_name() for task in asyncio.all_tasks(self))
            raise Stuck(f"no task can go on, and no timer is set; waiting: {', '.join(waiting)}")
        self._time += seconds

    def _run_once(self) -> None:
        super()._run_once()  # type: ignore[misc]  # typeshed hides it; every version has it
        if self.after_step is not None:
            self.after_step()

    def _process_events(self, event_list: object) -> None:
        """Nothing comes from outside."""

    def _write_to_self(self) -> None:
        """Nobody sleeps who would have to be woken."""


class _NoSockets:
    """Stands for the operating system, which lets a loop sleep until something happens."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> tuple[()]:
        if timeout is None or timeout > 0:
            self._loop.pass_time(timeout)
        return ()


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in virtual time, as `asyncio.run` does in real time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)


def now() -> float:
    """The virtual time as seconds since 1970, for whoever runs on such a loop."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop), "this is asked in simulations only"
    return loop.now()
