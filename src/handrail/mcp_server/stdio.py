"""Standard input and output: until the client closes them, or a signal comes.

The library reads and writes in threads: a reader that no signal can wake, and two changes of thread for each
answer. The event loop reads and writes instead: pipes of this process, or of a client of the daemon.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from handrail.invocation import current
from handrail.waiting import beside

LONGEST = 8_000_000  # bytes of one message, as everywhere
TOO_LONG = "{"  # invalid JSON, so that the library answers with a parse error


class ClientPipes:
    """What the library takes as its standard input and output."""

    def __init__(self, reader: asyncio.StreamReader, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._reader = reader
        self._write = write

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._next_line():
            yield line

    async def _next_line(self) -> str:
        try:
            return (await self._reader.readline()).decode("utf-8", "replace")
        except ValueError:  # longer than the limit; its beginning is dropped
            return TOO_LONG

    async def write(self, text: str) -> None:
        with suppress(OSError):  # nobody reads any more; the end of the input is what counts
            await self._write(text.encode())

    async def flush(self) -> None:
        """Everything goes out as it is written."""


@asynccontextmanager
async def client_pipes() -> AsyncIterator[ClientPipes | None]:
    """The client's pipes or sockets; None where the library has to read and write.

    Whoever else reads standard input, a child for instance, gets none of the client's messages, and what
    anybody prints goes to standard error.
    """
    invocation = current.get()
    if invocation.daemon is not None:
        yield ClientPipes(invocation.input(LONGEST), invocation.write_answer)
        return
    if not (_is_pipe(0) and _is_pipe(1)):
        yield None
        return
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST)
    reading, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader),
        os.fdopen(_replace_descriptor(0, os.open(os.devnull, os.O_RDONLY)), "rb"),
    )
    writing, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()),
        os.fdopen(_replace_descriptor(1, os.dup(2)), "wb"),
    )
    writing.set_write_buffer_limits(high=0)  # what was written has left when `drain` says so
    writer = asyncio.StreamWriter(writing, protocol, None, loop)

    async def write(data: bytes) -> None:
        writer.write(data)
        await writer.drain()

    try:
        yield ClientPipes(reader, write)
    finally:
        reading.close()
        writing.close()


def _is_pipe(number: int) -> bool:
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _replace_descriptor(number: int, instead: int) -> int:
    """The file behind a standard descriptor, which stands for another one from now on."""
    taken = os.dup(number)
    os.dup2(instead, number)
    os.close(instead)
    return taken


async def serve(server: Server[Any]) -> None:
    """Serves the client until it hangs up. Calls that still run then are stopped, and the journal says so."""
    async with beside(_serve_pipes(server), "stdio") as task:
        with current.get().on_stop(task.cancel, once=False):
            await asyncio.wait({task})
    if not task.cancelled():
        task.result()


async def _serve_pipes(server: Server[Any]) -> None:
    async with client_pipes() as client:
        pipes: Any = client
        lines: Any = aiter(pipes) if client else None
        async with stdio_server(lines, pipes) as (read, write):
            await server.run(read, write, server.create_initialization_options())
