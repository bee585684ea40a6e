"""Work on an event loop of its own, in a thread, awaited from another loop. Knows nothing of the work.

Virtual time goes on when its loop is quiet; a loop on which a fleet's host lives never is.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from handrail_eval.virtual_time import run_virtually

T = TypeVar("T")


async def on_own_loop(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """To its end. Cancelled, it cancels the work there, and waits until that has ended.

    The thread is none of the pool of this loop: that has few, and calls of others wait for them.
    """
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []
    stop = threading.Event()

    async def work() -> T:
        begun.append((asyncio.get_running_loop(), asyncio.current_task()))
        if stop.is_set():
            raise asyncio.CancelledError
        return await make()

    pool = ThreadPoolExecutor(1, "own loop")
    thread = asyncio.get_running_loop().run_in_executor(pool, lambda: run_virtually(work()))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        stop.set()
        for loop, task in begun:
            if task is not None:
                with suppress(RuntimeError):  # it has ended meanwhile
                    loop.call_soon_threadsafe(task.cancel)
        while not thread.done():
            await _waited(thread)
        if not thread.cancelled():
            thread.exception()  # it was heard of: nobody else will ask
        raise
    finally:
        pool.shutdown(wait=False)


async def _waited(thread: asyncio.Future[Any]) -> None:
    """However often whoever waits is told to stop."""
    with suppress(asyncio.CancelledError):
        await asyncio.wait([thread])
