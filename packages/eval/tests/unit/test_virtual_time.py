"""Time that passes only when everybody waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from handrail_eval.virtual_time import VirtualLoop, run_virtually
from handrail_sim.clock import ManualClock


def played(story: Coroutine[Any, Any, Any]) -> Any:
    return run_virtually(asyncio.wait_for(story, 30))


def test_an_hour_takes_no_time_and_is_an_hour_on_its_clock() -> None:
    async def story() -> tuple[float, int]:
        clock = ManualClock(1_000)
        with VirtualLoop.current().moving(clock):
            await clock.sleep_ms(3_600_000)
        return clock.monotonic_ms(), clock.now_ms()

    assert played(story()) == (3_600_000, 3_601_000)


def test_two_runs_do_not_share_their_time() -> None:
    async def story() -> tuple[float, float]:
        loop, long, short = VirtualLoop.current(), ManualClock(0), ManualClock(0)
        with loop.moving(long), loop.moving(short):
            await asyncio.gather(long.sleep_ms(90_000), short.sleep_ms(5))
        return long.monotonic_ms(), short.monotonic_ms()

    assert played(story()) == (90_000, 5)


def test_whoever_sleeps_by_a_clock_that_does_not_move_sleeps_on() -> None:
    async def story() -> tuple[bool, float]:
        still, clock = ManualClock(0), ManualClock(0)
        asleep = asyncio.create_task(still.sleep_ms(1))
        with VirtualLoop.current().moving(clock):
            await clock.sleep_ms(60_000)
        has_woken = asleep.done()
        asleep.cancel()
        return has_woken, still.monotonic_ms()

    assert played(story()) == (False, 0)


def test_work_for_a_thread_is_done_before_time_goes_on() -> None:
    async def story() -> tuple[float, str]:
        clock = ManualClock(0)
        with VirtualLoop.current().moving(clock):
            sleeper = asyncio.create_task(clock.sleep_ms(7))
            await asyncio.sleep(0)
            seen, where = await asyncio.to_thread(
                lambda: (clock.monotonic_ms(), threading.current_thread().name)
            )
            await sleeper
        return seen, where

    assert played(story()) == (0, threading.main_thread().name)


def test_time_stands_still_while_somebody_works_out_of_sight() -> None:
    async def story() -> tuple[float, float]:
        loop, clock, done = VirtualLoop.current(), ManualClock(0), asyncio.Event()
        begun = threading.Event()

        def work() -> None:
            begun.wait()
            loop.call_soon_threadsafe(done.set)

        loop.busy.append(lambda: not done.is_set())
        thread = threading.Thread(target=work)
        thread.start()
        with loop.moving(clock):
            sleeper = asyncio.create_task(clock.sleep_ms(7))
            loop.call_soon(begun.set)
            await done.wait()
            meanwhile = clock.monotonic_ms()
            await sleeper
        thread.join()
        return meanwhile, clock.monotonic_ms()

    assert played(story()) == (0, 7)


def test_another_loop_says_that_its_time_is_real() -> None:
    async def story() -> None:
        VirtualLoop.current()

    with pytest.raises(RuntimeError, match="loop_factory=VirtualLoop"):
        asyncio.run(story())
