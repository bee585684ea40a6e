"""How a code or password reaches the process that asked for it: over a Unix socket, never over a disk.

The asker listens in a folder of its own (mode 0700, outside HANDRAIL_HOME, so that the path stays short). The
process that answers sends the values there, gets placeholders back, and stores only those. When the asker is
gone, so is the socket: the value has nowhere to go and is not kept.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from handrail.errors import ActionRejected

Keep = Callable[[Any], Any]
"""Takes data, keeps every text in it as a secret, and gives the same data with placeholders."""

_LIMIT = 256 * 1024
_SECONDS = 5.0


class Mailbox:
    """The asker's side."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self._folder = Path(tempfile.mkdtemp(prefix="handrail-"))  # mode 0700
        self._server: asyncio.Server | None = None

    @property
    def path(self) -> str:
        return str(self._folder / "answer")

    async def __aenter__(self) -> Mailbox:
        self._server = await asyncio.start_unix_server(self._serve, self.path, limit=_LIMIT)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                kept = self._keep(json.loads(await reader.readline()))
                writer.write(json.dumps(kept).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError, TimeoutError, RecursionError):
            pass  # whoever wrote this gets no placeholders, and so can't answer
        finally:
            await _hang_up(writer)


async def deliver(path: str | None, data: Any) -> Any:
    """The answerer's side: hand the data over; the same with placeholders comes back."""
    gone = ActionRejected(
        "The process that asked is not there any more, so it can't be given a secret",
        hint="Reject the request, or start the task again and answer the new one.",
    )
    if path is None:
        raise gone
    try:
        async with asyncio.timeout(_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path, limit=_LIMIT)
            try:
                writer.write(json.dumps(data).encode() + b"\n")
                await writer.drain()
                return json.loads(await reader.readline())
            finally:
                await _hang_up(writer)
    except (OSError, ValueError, TimeoutError):
        raise gone from None


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
