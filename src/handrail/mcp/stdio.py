"""Standard input and output: until the client closes them, or a signal comes.

The library reads and writes in threads: a reader that no signal can wake, and two changes of thread for each
answer. Pipes are read and written by the event loop instead. It is also there before the library is: the
client's first words are answered meanwhile (`greeting`), so nothing here imports the library early.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from handrail.clock import Clock
from handrail.mcp.greeting import Greeter
from handrail.waiting import beside, cancel, wait_for_event

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LONGEST = 8_000_000
"""Bytes of one message, as everywhere."""
TOO_LONG = "{"
"""No JSON, so that the library answers with a parse error."""
PATIENCE_MS = 500.0
"""How long a client may take to list the tools before other work begins beside it."""


class ClientPipes:
    """A client's two pipes, from the first byte on."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, greeter: Greeter) -> None:
        self._reader = reader
        self._writer = writer
        self._greeter = greeter
        self._left: list[str] = []
        """The line that the greeter left to the library."""
        self.greeting: asyncio.Task[None]
        self.has_hung_up = False
        """The client went away and has left nothing to do."""
        self._greeted = asyncio.Event()
        self._is_doubled = False

    async def greet(self) -> None:
        """Answer for as long as the greeter knows what to say. Whoever cancels it loses no line."""
        try:
            while line := await self._next():
                answer = self._greeter.hear(line)
                if answer is None:
                    self._left.append(line)
                    return
                await self.write(answer)
                if self._greeter.has_listed:
                    self._greeted.set()
            self.has_hung_up = True
        finally:
            self._greeted.set()

    async def greeted(self, clock: Clock) -> None:
        """Until the client knows the tools, or asks for something else, or takes its time."""
        await wait_for_event(clock, self._greeted, PATIENCE_MS)

    async def prepared(self, prepare: Callable[[], None]) -> bool:
        """Do it in a thread, while the client is answered. False where the client does not wait for it."""
        ready = in_thread(prepare)
        await asyncio.wait({ready, self.greeting}, return_when=asyncio.FIRST_COMPLETED)
        if self.has_hung_up:
            return False
        await ready
        return True

    async def handed_over(self) -> AsyncIterator[str]:
        """Lines for the library: the handshake once more, and all that was not answered."""
        await cancel(self.greeting)
        self._is_doubled = self._greeter.opened_by is not None
        return self._lines()

    async def _lines(self) -> AsyncIterator[str]:
        for line in (*self._greeter.handshake, *self._left):
            yield line
        while line := await self._next():
            yield line

    async def _next(self) -> str:
        """Empty at the end."""
        try:
            return (await self._reader.readline()).decode("utf-8", "replace")
        except ValueError:  # longer than the limit; its beginning is dropped
            return TOO_LONG

    # what the library takes as its standard output

    async def write(self, text: str) -> None:
        if self._is_doubled and json.loads(text).get("id") == self._greeter.opened_by:
            self._is_doubled = False  # the handshake was answered already
            return
        self._writer.write(text.encode())
        with suppress(ConnectionError):  # nobody reads any more; the end of the input is what counts
            await self._writer.drain()

    async def flush(self) -> None:
        """Everything goes out as it is written."""


@asynccontextmanager
async def client_pipes(greeter: Greeter) -> AsyncIterator[ClientPipes | None]:
    """The client's pipes or sockets, greeted until `serve`; None where the library has to read and write.

    Whoever else reads standard input, a child for instance, gets none of the client's messages, and what
    anybody prints goes to standard error.
    """
    if not (_is_pipe(0) and _is_pipe(1)):
        yield None
        return
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST)
    reading, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader),
        os.fdopen(_take(0, os.open(os.devnull, os.O_RDONLY)), "rb"),
    )
    writing, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(_take(1, os.dup(2)), "wb")
    )
    writing.set_write_buffer_limits(high=0)  # what was written has left when `drain` says so
    opened = ClientPipes(reader, asyncio.StreamWriter(writing, protocol, None, loop), greeter)
    try:
        async with beside(opened.greet(), "greeting") as opened.greeting:
            yield opened
    finally:
        reading.close()
        writing.close()


def in_thread(work: Callable[[], None]) -> asyncio.Future[None]:
    """Its end. A thread that nobody waits for at the end of the program, unlike those of the event loop."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def tell(error: Exception | None) -> None:
        if not ended.done():
            ended.set_exception(error) if error else ended.set_result(None)

    def run() -> None:
        error = None
        try:
            work()
        except Exception as caught:
            error = caught
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(tell, error)

    threading.Thread(target=run, name="handrail-prepare", daemon=True).start()
    return ended


def _is_pipe(number: int) -> bool:
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _take(number: int, instead: int) -> int:
    """The file behind a standard descriptor, which stands for another one from now on."""
    taken = os.dup(number)
    os.dup2(instead, number)
    os.close(instead)
    return taken


async def serve(server: Server[Any], client: ClientPipes | None) -> None:
    """What is in flight at the end is stopped, and journalled so."""
    loop = asyncio.get_running_loop()
    async with beside(_serve(server, client), "stdio") as task:
        for number in SIGNALS:
            loop.add_signal_handler(number, task.cancel)
        try:
            await asyncio.wait({task})
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)
    if not task.cancelled():
        task.result()


async def _serve(server: Server[Any], client: ClientPipes | None) -> None:
    from mcp.server.stdio import stdio_server  # noqa: PLC0415  (the library comes after the greeting)

    lines: Any = await client.handed_over() if client else None
    output: Any = client
    async with stdio_server(lines, output) as (read, write):
        await server.run(read, write, server.create_initialization_options())
