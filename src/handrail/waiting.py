"""Waiting: for what comes first, for a limited time, and for work that runs beside something else.

Every task of the program is started here, so that somebody owns it: cancels it and waits for its end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Self, TypeVar, cast, overload

from handrail.clock import Clock, SystemClock
from handrail.errors import Misused, Timeout

_log = logging.getLogger(__name__)
T = TypeVar("T")
S = TypeVar("S")
Work = Coroutine[Any, Any, T]


class Expired(Exception):
    """The block did not end in time. Whoever set the limit turns it into an error with a name."""


class Deadline:
    """`async with Deadline(clock, ms):` interrupts the block after `ms` and raises `Expired` from it.

    A cancellation from outside wins over the limit: it is passed on.
    """

    def __init__(self, clock: Clock, duration_ms: float) -> None:
        self._clock = clock
        self._duration_ms = duration_ms
        self._struck = False

    async def __aenter__(self) -> None:
        self._task = cast("asyncio.Task[object]", asyncio.current_task())
        self._cancelling = self._task.cancelling()
        self._timer: asyncio.TimerHandle | asyncio.Task[None]
        if isinstance(self._clock, SystemClock):  # a task for each command would cost a tenth of it
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._duration_ms / 1000, self._strike)
        else:
            self._timer = asyncio.create_task(self._sleep(), name="deadline")

    async def _sleep(self) -> None:
        await self._clock.sleep_ms(self._duration_ms)
        self._strike()

    def _strike(self) -> None:
        self._struck = True
        self._task.cancel()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(self._timer, asyncio.Task):
            await cancel(self._timer)
        else:
            self._timer.cancel()
        if self._struck and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise Expired from error


async def within(clock: Clock, timeout_ms: float | None, work: Awaitable[T]) -> T:
    """The work's result, or `Timeout` at the deadline; None waits for as long as it takes."""
    if timeout_ms is None:
        return await work
    try:
        async with Deadline(clock, timeout_ms):
            return await work
    except Expired:
        hint = "Give it a longer timeout_ms, or find out what it waits for."
        raise Timeout(f"It was not done after {timeout_ms:g} ms", hint=hint) from None


async def wait_for_event(clock: Clock, event: asyncio.Event, timeout_ms: float) -> bool:
    """Whether it was set in time."""
    with suppress(Expired):
        async with Deadline(clock, timeout_ms):
            await event.wait()
    return event.is_set()


async def wait_for_end(clock: Clock, task: asyncio.Future[Any], timeout_ms: float) -> bool:
    """Whether it ended in time, in whatever way. It is not cancelled."""
    with suppress(Expired):
        async with Deadline(clock, timeout_ms):
            await asyncio.wait({task})
    return task.done()


async def cancel(*tasks: asyncio.Future[Any]) -> None:
    """Cancels them and waits for their ends. A cancellation of the caller is raised after that."""
    own: asyncio.CancelledError | None = None
    for task in tasks:
        task.cancel()
    while running := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(running)
        except asyncio.CancelledError as error:
            own = error
    if own is not None:
        raise own


@overload
async def first(left: Work[T], right: Work[S], /) -> tuple[asyncio.Task[T], asyncio.Task[S]]: ...
@overload
async def first(
    work: Work[T], second: Work[T], third: Work[T], /, *more: Work[T]
) -> tuple[asyncio.Task[T], ...]: ...
async def first(*works: Work[Any]) -> tuple[asyncio.Task[Any], ...]:
    """Run them side by side until one ends; the others are cancelled.

    The tasks, in order, all of them ended: one that lost was `cancelled()`, or it ended all the same.
    """
    tasks = tuple(asyncio.create_task(work) for work in works)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await cancel(*tasks)
    return tasks


@asynccontextmanager
async def beside(work: Work[T], name: str) -> AsyncIterator[asyncio.Task[T]]:
    """Runs the work while the block runs; it is cancelled at the block's end, and has ended then.

    The block may await it. A failure that nobody asked for is logged by asyncio, as of any task.
    """
    task = asyncio.create_task(work, name=name)
    try:
        yield task
    finally:
        await cancel(task)


class Background:
    """Tasks that outlive the calls that start them. Whoever has one closes it, or uses it as a block."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Work[T], name: str, *, log_failure: bool = True) -> asyncio.Task[T]:
        """Logs a failure once, unless whoever awaits the task handles it."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if log_failure:
            task.add_done_callback(_log_failure)
        return task

    async def wait(self) -> None:
        """Waits until everything has ended by itself."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Cancels everything and waits for its end, also of what is started meanwhile."""
        while running := [task for task in self._tasks if not task.done()]:
            await cancel(*running)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _log_failure(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("%s: ended by a failure", task.get_name(), exc_info=error)


async def uninterrupted(work: Work[T]) -> T:
    """Runs to its end although the caller is cancelled. Only for callers that are ending anyway."""
    task = asyncio.create_task(work)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            continue
    return task.result()


class UseGuard:
    """Guards an object that may be used until it is closed, and on one event loop only."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = False

    def check(self) -> None:
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if self._ended or self._loop is not loop:
            state = "is closed" if self._ended else "belongs to another event loop"
            raise Misused(
                f"{self._what} {state}, so nothing was done",
                hint="Use it inside the `async with Runtime.open()` that it comes from, in one "
                "`asyncio.run(main())`. Code without await uses handrail.sync: "
                "`from handrail.sync import phone`.",
            )

    def end(self) -> None:
        self._ended = True
