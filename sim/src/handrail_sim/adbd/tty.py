"""The keyboard of an interactive shell: keys are taken while commands run, so that Ctrl-C reaches them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from handrail_sim.shell.io import Source
from handrail_sim.shell.processes import processes_of
from handrail_sim.stream import PIPE_SIZE

if TYPE_CHECKING:
    from handrail_sim.phone import Phone

CTRL_C = b"\x03"
SIGINT = 2


class Tty:
    """A source of keys for the shell that runs in the current task."""

    def __init__(self, phone: Phone, keys: Source) -> None:
        self._phone = phone
        self._keys = keys
        self._held = bytearray()
        self._ended = False
        self._changed = asyncio.Event()
        self._shell = asyncio.current_task()
        self._pump = asyncio.ensure_future(self._take())

    async def read(self, n: int = -1, /) -> bytes:
        """What was typed, up to n bytes; a terminal never waits for more than there is."""
        while not self._held and not self._ended:
            await self._wait()
        data = bytes(self._held if n < 0 else self._held[:n])
        del self._held[: len(data)]
        self._changed.set()
        return data

    def close(self) -> None:
        self._pump.cancel()

    async def _take(self) -> None:
        while keys := await self._keys.read(4096):
            if CTRL_C in keys and self._interrupt():
                self._held.clear()
                keys = keys.rpartition(CTRL_C)[2]
            self._held += keys
            self._changed.set()
            while len(self._held) > PIPE_SIZE:
                await self._wait()
        self._ended = True
        self._changed.set()

    def _interrupt(self) -> bool:
        """SIGINT for the commands in front; False when the shell itself waits for a line."""
        table = processes_of(self._phone)
        running = list(table.running.values())
        pid = next((process.pid for process in running if process.task is self._shell), None)
        front = [process for process in running if process.parent == pid and process.task not in table.jobs]
        for process in front:
            table.send(process, SIGINT)
        return bool(front)

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()
