"""A command that stays on the phone for as long as it is needed: its output is read and its end noticed."""

from __future__ import annotations

import asyncio

from handrail.adb.shell import Command, DeviceShell
from handrail.errors import HandrailError
from handrail.waiting import Background

KEPT_BYTES = 4096


class Resident:
    """Starts at once. A task of its own holds it, so that whoever needs it may come and go."""

    def __init__(self, shell: DeviceShell, command: Command) -> None:
        self._said = b""
        self._tasks = Background()
        self._task = self._tasks.start(self._stay(shell, command), "a command that stays on the phone")

    @property
    def ended(self) -> bool:
        return self._task.done()

    @property
    def last_words(self) -> str:
        """The last line that says something, or why it could not be started; at most 200 characters."""
        lines = [line.strip() for line in self._said.decode("utf-8", "replace").splitlines()]
        telling = [line for line in lines if line and not line.startswith(("at ", "... "))]  # no stack frames
        return telling[-1][:200] if telling else "it said nothing"

    async def wait(self) -> None:
        """Until it ends."""
        await asyncio.wait({self._task})

    async def stop(self) -> None:
        """Ends it on the phone; as often as one likes."""
        await self._tasks.close()

    async def _stay(self, shell: DeviceShell, command: Command) -> None:
        try:
            async with shell.start(command) as process:
                async for piece in process:
                    self._keep(piece)
                self._keep((await process.wait()).stderr)
        except HandrailError as error:
            self._keep(error.message.encode())

    def _keep(self, piece: bytes) -> None:
        self._said = (self._said + piece)[-KEPT_BYTES:]
