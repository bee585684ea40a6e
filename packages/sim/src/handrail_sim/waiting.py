"""Tasks with an owner, which cancels them and waits for their end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Self, TypeVar

_log = logging.getLogger(__name__)
T = TypeVar("T")
Work = Coroutine[Any, Any, T]


async def end(*tasks: asyncio.Future[Any]) -> None:
    """Cancel them and wait until they have ended; a cancellation from outside is passed on afterwards."""
    for task in tasks:
        task.cancel()
    interrupted: asyncio.CancelledError | None = None
    while running := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(running)
        except asyncio.CancelledError as cancelled:
            interrupted = cancelled
    if interrupted:
        raise interrupted


async def first(*works: Work[Any]) -> tuple[asyncio.Task[Any], ...]:
    """Side by side until one of them ends; the others are ended too. All tasks, in order."""
    tasks = tuple(asyncio.create_task(work) for work in works)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end(*tasks)
    return tasks


@asynccontextmanager
async def beside(work: Work[T], name: str) -> AsyncIterator[asyncio.Task[T]]:
    """The work runs for as long as the block."""
    task = asyncio.create_task(work, name=name)
    try:
        yield task
    finally:
        await end(task)


class Background:
    """Tasks that outlive the calls that start them; `close` ends them."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._running)

    def start(self, work: Work[T], name: str, *, reported: bool = False) -> asyncio.Task[T]:
        """`heard`: somebody awaits the task and hears of its failure; otherwise that is logged."""
        task = asyncio.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        if not reported:
            task.add_done_callback(_log_failure)
        return task

    async def wait(self) -> None:
        while self._running:
            await asyncio.wait(self._running)

    async def close(self) -> None:
        while running := [task for task in self._running if not task.done()]:
            await end(*running)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _log_failure(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (error := task.exception()):
        _log.error("%s failed", task.get_name(), exc_info=error)
