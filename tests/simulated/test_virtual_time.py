"""The event loop in which waiting takes no time."""

from __future__ import annotations

import asyncio

import pytest

from berthing.simulate.virtual_time import EPOCH, Stuck, VirtualTimeLoop, now, run


def test_hours_pass_exactly() -> None:
    async def main() -> float:
        await asyncio.sleep(3600)
        return now() - EPOCH

    assert run(main()) == 3600.0


def test_deadlines_come_in_virtual_time() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30):
                await asyncio.Event().wait()
        return asyncio.get_running_loop().time()

    assert run(main()) == 30.0


def test_tasks_run_in_the_order_of_their_timers_and_no_time_passes_while_they_work() -> None:
    seen: list[tuple[str, float]] = []

    async def task(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await asyncio.sleep(0)
        seen.append((name, asyncio.get_running_loop().time()))

    async def main() -> None:
        async with asyncio.TaskGroup() as tasks:
            for name, seconds in (("c", 2.0), ("a", 1.0), ("b", 1.0)):
                tasks.create_task(task(name, seconds))

    run(main())
    assert seen == [("a", 1.0), ("b", 1.0), ("c", 2.0)]


def test_waiting_for_nothing_is_an_error_that_names_who_waits() -> None:
    async def main() -> None:
        await asyncio.create_task(asyncio.Event().wait(), name="the patient one")

    with pytest.raises(Stuck, match="the patient one"):
        run(main())


def test_every_step_can_be_looked_at() -> None:
    steps: list[float] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        loop.after_step = lambda: steps.append(loop.time())
        await asyncio.sleep(1)
        await asyncio.sleep(1)
        loop.after_step = None

    run(main())
    # A timer wakes the task in one step, and the task goes on in the next.
    assert steps == [0.0, 1.0, 1.0, 2.0]
