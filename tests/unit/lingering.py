"""Work that shows who cancels it and does not wait for its end."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from handrail_sim.clock import ManualClock


def run(story: Coroutine[Any, Any, None]) -> None:
    """The story, after which nothing may run on."""

    async def whole() -> None:
        await story
        assert asyncio.all_tasks() == {asyncio.current_task()}, "a task was left behind"

    asyncio.run(whole())


class Lingering:
    """Work that never ends by itself, and takes its time to end when it is cancelled."""

    def __init__(self) -> None:
        self.ended = False

    async def __call__(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(10):
                await asyncio.sleep(0)
            self.ended = True


async def begun(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """A task that has come as far as it can."""
    task = asyncio.create_task(work)
    await ManualClock().advance(0)
    return task
