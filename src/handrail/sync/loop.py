"""One thread with one event loop, for code that can't await. Knows nothing of what runs on it.

The thread lives while something is kept open on it. It ends with the last of that, and with the program.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, TypeVar

from handrail.errors import Cancelled, HandrailError, Misused

T = TypeVar("T")


class Loop:
    """The thread, and what is kept open on it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.blocks: list[KeptBlock[Any]] = []
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._live, name="handrail.sync", daemon=True)
        self._thread.start()
        self._ready.wait()

    def _live(self) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._stay())

    async def _stay(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._leave = asyncio.Event()
        self._ready.set()
        await self._leave.wait()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it to its end; the calling thread waits, whatever loop runs there.

        Ctrl-C, or any other exception that a signal brings, cancels the work and waits until that has ended:
        what the phone was doing is stopped. A second one is not waited for.
        """
        __tracebackhide__ = True
        self._check(work)
        begun: list[asyncio.Task[T]] = []
        ended = threading.Event()

        def begin() -> None:
            begun.append(self._loop.create_task(work))
            begun[0].add_done_callback(lambda _: ended.set())

        def cancel() -> None:
            begun[0].cancel()  # it has begun by then: both go to the loop in order

        self._loop.call_soon_threadsafe(begin)
        try:
            ended.wait()
        except BaseException:
            self._loop.call_soon_threadsafe(cancel)
            ended.wait()
            raise
        try:
            return begun[0].result()
        except HandrailError as error:  # without the frames of the loop's thread
            raise error.with_traceback(None) from None
        except asyncio.CancelledError:
            raise Cancelled("It was stopped: what it ran on was closed") from None

    def _check(self, work: Coroutine[Any, Any, Any]) -> None:
        why = ""
        if threading.current_thread() is self._thread:
            why = "This was called by code that Handrail itself runs, which would wait for itself"
        elif os.getpid() != self.pid:
            why = "This was opened in another process, before the fork"
        elif not self._thread.is_alive():
            why = "This is closed"
        if why:
            work.close()
            raise Misused(f"{why}; nothing was done", hint="Open another one here: `with phone() as p:`.")

    def end(self) -> None:
        """Stop the loop: no block is open on it any more."""
        self._loop.call_soon_threadsafe(self._leave.set)
        self._thread.join()


class KeptBlock(Generic[T]):
    """A block that is open on the loop until it is closed: one task enters it and leaves it."""

    def __init__(self, block: AbstractAsyncContextManager[T]) -> None:
        self._block = block
        self.loop = _taken_by(self)
        try:
            self.value: T = self.loop.call(self._open())
        except BaseException:
            _let_go(self)
            raise
        self._is_open = True

    async def _open(self) -> T:
        self._leave = asyncio.Event()
        entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._stay(entered), name="a block of handrail.sync")
        try:
            await asyncio.wait({self._task, entered}, return_when=asyncio.FIRST_COMPLETED)
            return self._task.result() if self._task.done() else entered.result()
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait({self._task})
            raise

    async def _stay(self, entered: asyncio.Future[T]) -> T:
        async with self._block as value:
            entered.set_result(value)
            await self._leave.wait()
            return value

    def close(self) -> None:
        """Leave the block. Closing it again does nothing."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            self.loop.call(self._left())
        finally:
            _let_go(self)

    async def _left(self) -> None:
        self._leave.set()
        try:
            await asyncio.shield(self._task)
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait({self._task})
            raise


_lock = threading.Lock()
_running: list[Loop] = []


def _taken_by(block: KeptBlock[Any]) -> Loop:
    """The loop of this process: one that a fork has left behind is another process's."""
    with _lock:
        if not _running or _running[0].pid != os.getpid():
            _running[:] = [Loop()]
        _running[0].blocks.append(block)
        return _running[0]


def _let_go(block: KeptBlock[Any]) -> None:
    """The last block that closes ends the loop."""
    with _lock:
        block.loop.blocks.remove(block)
        is_last = not block.loop.blocks
        if is_last and block.loop in _running:
            _running.remove(block.loop)
    if is_last:
        block.loop.end()


def _end() -> None:
    """At the end of the program: close everything, newest first."""
    for loop in _running.copy():
        if loop.pid == os.getpid():
            for block in reversed(loop.blocks.copy()):
                block.close()


# Before threads are joined and executors refuse work, as `concurrent.futures` does it; `atexit` is too late.
getattr(threading, "_register_atexit", atexit.register)(_end)
