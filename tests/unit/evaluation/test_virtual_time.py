"""Time that passes only when everybody waits for it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from handrail.clock import ManualClock
from handrail.evaluation.virtual_time import VirtualTime, virtual_time


def played(story: Any) -> Any:
    async def run() -> Any:
        async with virtual_time() as virtual:
            return await story(virtual)

    return asyncio.run(asyncio.wait_for(run(), 30))


def test_an_hour_takes_no_time_and_is_an_hour_on_its_clock() -> None:
    async def story(virtual: VirtualTime) -> tuple[float, int]:
        clock = virtual.clock(1_000)
        await clock.sleep_ms(3_600_000)
        return clock.monotonic_ms(), clock.now_ms()

    assert played(story) == (3_600_000, 3_601_000)


def test_two_runs_do_not_share_their_time() -> None:
    async def story(virtual: VirtualTime) -> tuple[float, float]:
        long, short = virtual.clock(0), virtual.clock(0)
        await asyncio.gather(long.sleep_ms(90_000), short.sleep_ms(5))
        return long.monotonic_ms(), short.monotonic_ms()

    assert played(story) == (90_000, 5)


async def turns(count: int = 200) -> None:
    """Enough for a clock that may go on to have gone on."""
    for _ in range(count):
        await asyncio.sleep(0)


def test_work_that_begins_while_others_come_to_rest_holds_time() -> None:
    async def story() -> float:
        clock, is_at_work = ManualClock(0), False
        sleeper = asyncio.create_task(clock.sleep_ms(7))
        moving = asyncio.create_task(clock.advance_to_next(lambda: is_at_work))
        await asyncio.sleep(0)
        is_at_work = True
        await moving
        sleeper.cancel()
        return clock.monotonic_ms()

    assert asyncio.run(story()) == 0


def test_time_stands_still_while_a_thread_works_and_while_somebody_says_so() -> None:
    async def story(virtual: VirtualTime) -> list[float]:
        clock, gate, said = virtual.clock(0), threading.Event(), [False]
        virtual.busy.append(lambda: said[0])
        thread = asyncio.create_task(asyncio.to_thread(gate.wait))
        await asyncio.sleep(0)
        sleeper = asyncio.create_task(clock.sleep_ms(7))
        await turns()
        during_thread = clock.monotonic_ms()
        said[0] = True
        gate.set()
        await thread
        await turns()
        while_said = clock.monotonic_ms()
        said[0] = False
        await sleeper
        return [during_thread, while_said, clock.monotonic_ms()]

    assert played(story) == [0, 0, 7]
