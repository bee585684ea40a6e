"""Time that passes only when everybody waits for it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

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


def test_time_stands_still_while_a_thread_works_and_while_somebody_says_so() -> None:
    async def story(virtual: VirtualTime) -> list[str]:
        clock, order = virtual.clock(0), []
        said = [True]
        virtual.busy.append(lambda: said[0])

        async def deadline() -> None:
            await clock.sleep_ms(1)
            order.append("deadline")

        async def work() -> None:
            await asyncio.to_thread(time.sleep, 0.05)
            order.append("thread")
            await asyncio.sleep(0.05)
            order.append("said")
            said[0] = False

        await asyncio.gather(deadline(), work())
        return order

    assert played(story) == ["thread", "said", "deadline"]
