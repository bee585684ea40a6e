"""Work on a loop of its own: its result, its failure and its end are those of whoever awaits it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from handrail_eval.own_loop import on_own_loop


def test_it_runs_on_another_loop_in_another_thread_and_tells_its_result() -> None:
    async def work() -> tuple[int, int]:
        return id(asyncio.get_running_loop()), threading.get_ident()

    async def story() -> None:
        loop, thread = await on_own_loop(work)
        assert loop != id(asyncio.get_running_loop())
        assert thread != threading.get_ident()

    asyncio.run(story())


def test_its_failure_is_raised_as_it_is() -> None:
    async def work() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        asyncio.run(on_own_loop(work))


@pytest.mark.parametrize("has_begun", [True, False])
def test_who_is_told_to_stop_stops_it_and_waits_for_its_end(has_begun: bool) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def story() -> None:
        task = asyncio.create_task(on_own_loop(work))
        await asyncio.sleep(0)
        if has_begun:
            await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set() == begun.is_set()

    asyncio.run(story())


def test_many_at_once_do_not_wait_for_one_another() -> None:
    """More than the threads that a loop has for everybody."""
    count = 48
    together = threading.Barrier(count, timeout=60)

    async def work() -> None:
        together.wait()

    async def story() -> None:
        await asyncio.gather(*(on_own_loop(work) for _ in range(count)))

    asyncio.run(story())
