"""What an answer brings along: stored, or kept as secrets and handed over by a Unix socket."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from handrail.engine.approval.request import Request
from handrail.engine.approval.row import AskedApproval
from handrail.errors import ActionRejected, InvalidAction

KeepSecret = Callable[[str, str], str]
"""Takes a name and a value, gives the placeholder that stands for it."""

_MOST_DATA = 64 * 1024
_LIMIT = 256 * 1024
_SECONDS = 5.0


class Handover:
    """Where the data of answers goes. Without `keep_secret` a process can answer, and not ask for secrets."""

    def __init__(self, keep_secret: KeepSecret | None) -> None:
        self._keep_secret = keep_secret

    @asynccontextmanager
    async def mailbox(self, id_: str, request: Request) -> AsyncIterator[str | None]:
        """Open while the question is; None for a question that brings no secret."""
        if request.kind != "human_auth" or not request.is_secret or self._keep_secret is None:
            yield None
            return
        with tempfile.TemporaryDirectory(prefix="handrail-") as folder:  # mode 0700
            path = f"{folder}/answer"
            server = await asyncio.start_unix_server(partial(self._serve, id_), path, limit=_LIMIT)
            try:
                yield path
            finally:
                server.close()

    async def _serve(self, id_: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Whoever writes nonsense gets no placeholders, and so can't answer."""
        try:
            async with asyncio.timeout(_SECONDS):
                kept = self._keep(id_, json.loads(await reader.readline()))
                writer.write(json.dumps(kept).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError, TimeoutError, RecursionError):
            pass
        finally:
            await _hang_up(writer)

    async def storable(self, known: AskedApproval, data: Any, approved: bool, *, is_here: bool) -> Any:
        """The data as it may be stored. `is_here`: the question is asked in this very process."""
        if known.request.kind != "human_auth" or not approved:
            raise InvalidAction("Only a yes to request_human_auth brings data", path="data")
        if len(json.dumps(data)) > _MOST_DATA:
            raise InvalidAction(f"The data is larger than {_MOST_DATA:,} bytes", path="data")
        if not known.request.is_secret:
            return data
        return self._keep(known.id, data) if is_here else await deliver(known.mailbox, data)

    def _keep(self, name: str, data: Any) -> Any:
        """The same data with a placeholder for every text and number in it."""
        if self._keep_secret is None:
            raise InvalidAction(
                "This process has no place for secrets", path="data", hint="Answer without data."
            )
        if isinstance(data, dict):
            return {key: self._keep(f"{name}_{key}", value) for key, value in data.items()}
        if isinstance(data, list):
            return [self._keep(f"{name}_{at}", value) for at, value in enumerate(data)]
        if data is None or isinstance(data, bool):
            return data
        # Two people may answer at once: the loser's value must not replace the winner's.
        unique = re.sub(r"\W", "_", f"{name}_{secrets.token_hex(2)}", flags=re.ASCII).upper()
        return self._keep_secret(unique, str(data))


async def deliver(path: str | None, data: Any) -> Any:
    """The answerer's side: hand the data over; the same with placeholders comes back.

    Without a path, as with one behind which nobody listens, the process that asked is gone.
    """
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
        raise ActionRejected(
            "The process that asked is not there any more, so it can't be given a secret",
            hint="Reject the request, or start the task again and answer the new one.",
        ) from None


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
