"""What takes too long is interrupted, has ended then, and leaves no timer behind."""

import asyncio

import pytest

from handrail.clock import Clock, SystemClock
from handrail.errors import Timeout
from handrail.waiting import Deadline, Expired, cancel, wait_for_end, wait_for_event, within
from handrail_sim.clock import ManualClock
from tests.unit.lingering import Lingering, begun, run

ASYNC_RUNNER = run


async def test_a_block_that_takes_too_long_is_interrupted_at_its_deadline() -> None:
    clock, work = ManualClock(), Lingering()

    async def limited() -> None:
        async with Deadline(clock, 100):
            await work()

    task = await begun(limited())
    await clock.advance(99)
    assert not task.done()
    await clock.advance(1)
    with pytest.raises(Expired):
        await task
    assert work.ended
    assert task.cancelling() == 0


@pytest.mark.parametrize("clock", [ManualClock(), SystemClock()])
async def test_a_block_that_ends_in_time_leaves_no_timer(clock: Clock) -> None:
    async with Deadline(clock, 1):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    await asyncio.sleep(0.002)  # the machine's own time: a timer that is left would interrupt this


async def test_the_machines_own_time_interrupts_too() -> None:
    with pytest.raises(Expired):
        async with Deadline(SystemClock(), -1):
            await asyncio.Event().wait()


async def test_a_cancellation_from_outside_is_passed_on() -> None:
    work = Lingering()
    task = await begun(within(ManualClock(), 100, work()))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.ended


async def test_a_cancellation_together_with_the_limit_is_a_cancellation() -> None:
    clock = ManualClock()

    async def limited() -> None:
        async with Deadline(clock, 100):
            try:
                await asyncio.Event().wait()
            finally:
                await clock.sleep_ms(100)  # still ending when the limit strikes

    task = await begun(limited())
    task.cancel()
    await clock.advance(100)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_failure_of_the_block_is_told_although_it_came_late() -> None:
    clock = ManualClock()

    async def limited() -> None:
        async with Deadline(clock, 100):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise ValueError("late") from None

    task = await begun(limited())
    await clock.advance(100)
    with pytest.raises(ValueError, match="late"):
        await task
    assert task.cancelling() == 0


async def test_limits_can_be_nested_and_the_outer_one_does_not_wait_for_the_inner() -> None:
    clock = ManualClock()

    async def limited() -> None:
        async with Deadline(clock, 100):
            try:
                async with Deadline(clock, 200):
                    await asyncio.Event().wait()
            except Expired:
                pytest.fail("the inner limit was not reached")

    task = await begun(limited())
    await clock.advance(100)
    with pytest.raises(Expired):
        await task


async def test_work_that_takes_too_long_is_a_timeout_and_has_ended() -> None:
    clock, work = ManualClock(), Lingering()
    task = await begun(within(clock, 500, work()))
    await clock.advance(499)
    assert not task.done()
    await clock.advance(1)
    with pytest.raises(Timeout, match="500 ms"):
        await task
    assert work.ended


@pytest.mark.parametrize("timeout_ms", [60_000, None])
async def test_work_that_is_done_in_time_gives_its_result(timeout_ms: float | None) -> None:
    assert await within(SystemClock(), timeout_ms, asyncio.sleep(0, "done")) == "done"


async def test_an_event_that_comes_in_time_ends_the_wait() -> None:
    clock, event = ManualClock(), asyncio.Event()
    waiting = await begun(wait_for_event(clock, event, 100))
    await clock.advance(99)
    assert not waiting.done()
    event.set()
    assert await waiting is True
    assert clock.monotonic_ms() == 99


async def test_an_event_that_does_not_come_ends_nothing_but_the_wait() -> None:
    clock = ManualClock()
    waiting = await begun(wait_for_event(clock, asyncio.Event(), 100))
    await clock.advance(100)
    assert await waiting is False


async def test_an_event_at_the_very_deadline_counts() -> None:
    event = asyncio.Event()

    class Ringing(ManualClock):
        async def sleep_ms(self, duration_ms: float) -> None:
            await super().sleep_ms(duration_ms)
            asyncio.get_running_loop().call_soon(event.set)

    clock = Ringing()
    waiting = await begun(wait_for_event(clock, event, 100))
    await clock.advance(100)
    assert await waiting is True


async def test_a_wait_for_an_end_leaves_the_task_alone() -> None:
    clock, work = ManualClock(), Lingering()
    task = await begun(work())
    waiting = await begun(wait_for_end(clock, task, 100))
    await clock.advance(100)
    assert await waiting is False
    assert not task.cancelling()
    waiting = await begun(wait_for_end(clock, task, 100))
    await cancel(task)
    assert await waiting is True
