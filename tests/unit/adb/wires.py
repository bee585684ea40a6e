"""The loop's end of a socket, without a socket: what a protocol writes is kept, nothing is sent."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class Socket:
    """Keeps the options that were set on it."""

    def __init__(self) -> None:
        self.options: list[tuple[int, int, int]] = []

    def setsockopt(self, level: int, name: int, value: int) -> None:
        self.options.append((level, name, value))


class Transport(asyncio.Transport):
    """What a protocol did to it, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.socket = Socket()
        self.writes: list[bytes] = []
        self.after_write: Callable[[], None] = lambda: None
        self.reading = True
        self.closed = False
        self.aborted = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self.socket if name == "socket" else default

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        self.writes.append(bytes(data))
        self.after_write()

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return self.closed or self.aborted

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True

    def took(self) -> bytes:
        """All that was written since the last time."""
        data, self.writes = b"".join(self.writes), []
        return data


async def now(work: Awaitable[Result]) -> Result:
    """What this gives, for which nothing else may be needed: one that would wait for ever fails at once."""
    task = asyncio.ensure_future(work)
    await turns()
    assert task.done(), "it still waits"
    return await task


def run_without_complaints(story: Coroutine[Any, Any, None]) -> None:
    """A story after which the loop has nothing to tell, such as an exception that nobody fetched."""
    complaints: list[dict[str, Any]] = []

    async def whole() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        await story
        gc.collect()

    gc.freeze()  # what was there before takes no part, which makes collecting quick
    try:
        asyncio.run(whole())
    finally:
        gc.unfreeze()
    assert not complaints


async def turns() -> None:
    """Let everything that can go on go on."""
    for _ in range(5):
        await asyncio.sleep(0)
