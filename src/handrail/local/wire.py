"""Lines of JSON over a Unix socket: one object each, with a limit.

server: {"handrail": VERSION}                                     who answers
client: {"action": {…}, "device": NAME | null, "caller": {…}}     one action per connection
server: {"question": ID}                                          a person is asked; as often as it takes
client: {"stop": true}                                            hanging up means the same
server: {"envelope": {…}, "text": TEXT} | {"error": {…}} | {"elsewhere": true}

client: {"desk": [{…}], "caller": {…}}           the desk's actions, as one change → {"envelopes": […]}
client: {"heard": CALLER, "timeout_ms": MS}      what people did for it            → {"events": […]}
client: {"left": CALLER}                         it has gone, its locks are free   → {}
client: {"desk_state": true}                     the desk as browsers are told it  → {"state": {…}}
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

MOST_ASKED = 4 * 1024 * 1024
"""Bytes of a request: a script or a long text fits."""
MOST_ANSWERED = 256 * 1024 * 1024
"""Bytes of an answer: a picture or a whole log fits."""

Message = dict[str, Any]


async def send(writer: asyncio.StreamWriter, message: Message) -> None:
    """One line. Raises `OSError` when nobody is there any more."""
    writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    await writer.drain()


async def receive(reader: asyncio.StreamReader) -> Message | None:
    """The next line; None at the end, and for what is no message: whoever talks like that is not heard."""
    try:
        message = json.loads(await reader.readline())
    except (ValueError, OSError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close, and wait until it is."""
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
