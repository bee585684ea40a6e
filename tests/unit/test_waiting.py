"""What comes first, and work that runs beside: whoever began it sees its end."""

import asyncio
import logging

import pytest

from handrail.waiting import Background, beside, cancel, first, uninterrupted
from handrail_sim.clock import ManualClock
from tests.unit.lingering import Lingering, begun, run

ASYNC_RUNNER = run


async def test_what_is_cancelled_has_ended() -> None:
    works = [Lingering(), Lingering()]
    await cancel(*[await begun(work()) for work in works])
    assert all(work.ended for work in works)
    await cancel()


async def test_whoever_is_cancelled_while_cancelling_waits_for_the_end_and_hears_of_it() -> None:
    work = Lingering()
    ending = asyncio.create_task(cancel(await begun(work())))
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert work.ended


# what comes first


async def test_the_first_to_end_counts_and_the_others_have_ended_too() -> None:
    work = Lingering()
    quick, slow = await first(asyncio.sleep(0, "quick"), work())
    assert quick.result() == "quick"
    assert slow.cancelled()
    assert work.ended


async def test_a_loser_that_ends_with_a_result_keeps_it() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "stopped in order"
        return ""

    one, _ = await first(stubborn(), asyncio.sleep(0))
    assert one.result() == "stopped in order"


async def test_a_failure_is_the_callers_to_look_at() -> None:
    async def fail() -> None:
        raise ValueError("no")

    failed, other, third = await first(fail(), Lingering()(), Lingering()())
    assert str(failed.exception()) == "no"
    assert other.cancelled()
    assert third.cancelled()


async def test_whoever_waits_for_the_first_and_is_cancelled_ends_all_of_them() -> None:
    works = [Lingering(), Lingering()]
    waiting = await begun(first(works[0](), works[1]()))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert all(work.ended for work in works)


# beside a block


async def test_work_beside_a_block_ends_with_it() -> None:
    work = Lingering()
    async with beside(work(), "beside") as task:
        await asyncio.sleep(0)
        assert not task.done()
        assert task.get_name() == "beside"
    assert task.cancelled()
    assert work.ended


async def test_work_beside_a_block_that_fails_ends_with_it() -> None:
    work = Lingering()

    async def block() -> None:
        async with beside(work(), "beside"):
            await asyncio.sleep(0)
            raise ValueError("block")

    with pytest.raises(ValueError, match="block"):
        await block()
    assert work.ended


async def test_a_block_can_wait_for_the_work_beside_it() -> None:
    async with beside(asyncio.sleep(0, "done"), "beside") as task:
        assert await task == "done"


# in the background


async def test_what_runs_in_the_background_ends_when_its_owner_closes() -> None:
    works = [Lingering(), Lingering()]
    async with Background() as background:
        tasks = [background.start(work(), "one") for work in works]
        await asyncio.sleep(0)
        assert len(background) == 2
        assert tasks[0].get_name() == "one"
    assert len(background) == 0
    assert all(work.ended for work in works)
    await background.close()


async def test_what_is_started_while_the_owner_closes_ends_too() -> None:
    background, late = Background(), Lingering()

    async def starts_another() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            background.start(late(), "late")
            await asyncio.sleep(0)

    background.start(starts_another(), "early")
    await asyncio.sleep(0)
    await background.close()
    assert late.ended


async def test_what_has_ended_by_itself_is_not_kept() -> None:
    background = Background()
    task = background.start(asyncio.sleep(0, "done"), "short")
    await background.wait()
    assert len(background) == 0
    assert task.result() == "done"


async def test_waiting_for_the_background_cancels_nothing() -> None:
    clock, background = ManualClock(), Background()
    task = background.start(clock.sleep_ms(100), "long")
    waiting = await begun(background.wait())
    await clock.advance(99)
    assert not waiting.done()
    await clock.advance(1)
    await waiting
    assert task.done()
    assert not task.cancelled()


@pytest.mark.parametrize("log_failure", [True, False])
def test_a_failure_in_the_background_is_logged_once_and_by_name(
    caplog: pytest.LogCaptureFixture, log_failure: bool
) -> None:
    async def fail() -> None:
        raise ValueError("no")

    async def story() -> None:
        async with Background() as background:
            task = background.start(fail(), "pictures", log_failure=log_failure)
            await asyncio.wait({task})
            await asyncio.sleep(0)
            if not log_failure:
                assert str(task.exception()) == "no"

    with caplog.at_level(logging.DEBUG):
        run(story())
    said = [(one.levelname, one.getMessage()) for one in caplog.records if one.name != "asyncio"]
    assert said == ([("ERROR", "pictures: ended by a failure")] if log_failure else [])
    assert all(one.exc_info for one in caplog.records if one.name != "asyncio")


async def test_the_end_of_the_owner_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    async with Background() as background:
        background.start(Lingering()(), "pictures")
        await asyncio.sleep(0)
    assert not caplog.records


# to the end


async def test_uninterrupted_work_goes_to_its_end_however_often_its_caller_is_cancelled() -> None:
    clock = ManualClock()

    async def work() -> str:
        await clock.sleep_ms(100)
        return "written"

    writing = await begun(uninterrupted(work()))
    for _ in range(3):
        writing.cancel()
        await clock.advance(10)
    assert not writing.done()
    await clock.advance(70)
    assert await writing == "written"


async def test_a_failure_of_uninterrupted_work_is_raised() -> None:
    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await uninterrupted(fail())
