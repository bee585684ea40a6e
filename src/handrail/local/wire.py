"""The local socket: where it is, who may put one there, and the lines of JSON that go over it.

A lock decides who serves. The kernel drops it with its process, so a socket that was left behind is known for
what it is and replaced; nobody has to guess from a process id. A line is one object, with a limit:

server: {"handrail": VERSION}                                     who answers
client: {"action": {…}, "device": NAME | null, "caller": {…}, "trace": TRACEPARENT | null}
                                                                  one action per connection
server: {"question": ID}                                          a person is asked; as often as it takes
client: {"stop": true}                                            hanging up means the same
server: {"envelope": {…}, "text": TEXT} | {"error": {…}} | {"elsewhere": true}

client: {"phones": true}                         what is open here                 → {"phones": [{…}]}
client: {"desk": [{…}], "caller": {…}}           the desk's actions, as one change → {"envelopes": […]}
client: {"heard": CALLER, "timeout_ms": MS}      what people did for it            → {"events": […]}
client: {"left": CALLER}                         it has gone, its locks are free   → {}
client: {"desk_state": true}                     the desk as browsers are told it  → {"state": {…}}
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from handrail.errors import InvalidAction
from handrail.places import socket_file

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


DoorName = Literal["local", "desk", "daemon"]
"""`local`: whoever has phones open. `desk`: whoever has the desk. `daemon`: whoever runs others' commands."""


def socket_path(home: Path, name: DoorName = "local") -> Path:
    """Where the socket of a home is."""
    return Path(socket_file(str(home), name))


def make_folder(path: Path) -> None:
    """The socket's folder, there and nobody else's: a stranger may have made it first in a shared place."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if not is_ours(path.parent):
        raise InvalidAction(
            f"{path.parent} belongs to somebody else, or others may write to it",
            hint="Remove it, or set HANDRAIL_HOME to a shorter path.",
            path="HANDRAIL_HOME",
        )


def is_ours(folder: Path) -> bool:
    """A real folder of this user, closed to all others."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


@contextmanager
def only_server(home: Path, name: DoorName = "local") -> Iterator[bool]:
    """Whether this process is the one that serves this home, while the block runs."""
    handle = os.open(home / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(handle)
