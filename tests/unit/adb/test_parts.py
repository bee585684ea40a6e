"""The small parts by themselves: a limit of time, output that is kept."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.adb_shell import KeptOutput
from handrail.clock import ManualClock
from handrail.waiting import Deadline, Expired
from tests.unit.adb.wires import turns


def test_a_block_that_takes_too_long_is_interrupted() -> None:
    async def story() -> None:
        clock, cleaned = ManualClock(), []

        async def work() -> None:
            async with Deadline(clock, 100):
                try:
                    await asyncio.Event().wait()
                finally:
                    cleaned.append(True)

        task = asyncio.ensure_future(work())
        await turns()
        await clock.advance(99)
        assert not task.done()
        await clock.advance(1)
        with pytest.raises(Expired):
            await task
        assert cleaned == [True]
        assert task.cancelling() == 0

    asyncio.run(story())


def test_a_block_that_ends_in_time_leaves_no_timer() -> None:
    async def story() -> None:
        async with Deadline(ManualClock(), 100):
            await asyncio.sleep(0)
        await turns()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(story())


def test_a_cancellation_from_outside_is_passed_on() -> None:
    async def story() -> None:
        clock = ManualClock()

        async def work() -> None:
            async with Deadline(clock, 100):
                await asyncio.Event().wait()

        task = asyncio.ensure_future(work())
        await turns()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())


def test_a_cancellation_together_with_the_limit_is_a_cancellation() -> None:
    async def story() -> None:
        clock = ManualClock()

        async def work() -> None:
            async with Deadline(clock, 100):
                try:
                    await asyncio.Event().wait()
                finally:
                    await asyncio.sleep(0)

        task = asyncio.ensure_future(work())
        await turns()
        task.cancel()
        await clock.advance(100)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())


def test_the_head_is_kept_and_the_rest_counted() -> None:
    kept = KeptOutput(5)
    for piece in (b"abc", b"def", b"ghi"):
        kept.add(piece)
    assert (kept.value(), kept.size, kept.dropped) == (b"abcde", 5, 4)
