"""Standard input and output: until the client closes them, or a signal comes.

The library reads in a thread that no signal can wake, so a pipe is read by the event loop instead.
"""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp.server.stdio import stdio_server

from handrail.waiting import beside

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LONGEST = 8_000_000
"""Bytes of one message, as everywhere."""
TOO_LONG = "{"
"""No JSON, so that the library answers with a parse error."""


async def serve(server: Server[Any]) -> None:
    """What is in flight at the end is stopped, and journalled so."""
    loop = asyncio.get_running_loop()
    async with beside(_serve(server), "stdio") as task:
        for number in SIGNALS:
            loop.add_signal_handler(number, task.cancel)
        try:
            await asyncio.wait({task})
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)
    if not task.cancelled():
        task.result()


async def _serve(server: Server[Any]) -> None:
    async with _input() as lines, stdio_server(stdin=lines) as (read, write):
        await server.run(read, write, server.create_initialization_options())


@asynccontextmanager
async def _input() -> AsyncIterator[Any]:
    """The lines of a pipe or socket; None where the library has to read: a file, a terminal."""
    mode = os.fstat(0).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        yield None
        return
    wire = os.dup(0)
    _read_nothing()
    reader = asyncio.StreamReader(limit=LONGEST)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(wire, "rb")
    )
    try:
        yield _lines(reader)
    finally:
        transport.close()


def _read_nothing() -> None:
    """Whoever else reads standard input, a child for instance, gets none of the client's messages."""
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[str]:
    while True:
        try:
            line = await reader.readline()
        except ValueError:  # longer than the limit; its beginning is dropped
            yield TOO_LONG
            continue
        if not line:
            return
        yield line.decode("utf-8", "replace")
