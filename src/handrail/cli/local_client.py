"""The other side of the local door: one action, done by the Handrail that runs already.

Nobody there, an old socket, another version: None, and the caller works by itself. Once an action was handed
over it is never done a second time, whatever becomes of the line. Messages are lines of JSON:

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
client: {"daemon": "status" | "stop"}            of a daemon only                  → {"pid": …}
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from socket import socket
from typing import Any, Literal

from handrail import __version__
from handrail.engine.desk_runner import DeskRunner
from handrail.errors import ERRORS, AdbConnectionError, HandrailError, Unsupported
from handrail.local_socket import dial, socket_file
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.safety.caller import Caller
from handrail.waiting import Background

HELLO_S = 10.0  # how long a server may take to name its version: it lives, but the machine may be busy
OnQuestion = Callable[[str], Coroutine[Any, Any, None]]
"""Called with the id of a request that waits for a person; cancelled when the answer has come."""
Answer = tuple[dict[str, Any], str]
"""An envelope as data, and as what a person reads of it."""


class LocalConnection:
    """A connection to a running Handrail of this home, for one request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, home: Path, name: SocketName = "daemon") -> LocalConnection | None:
        """None when nobody serves this home, or only another version."""
        if (line := dial(str(home), name, HELLO_S)) is None:
            return None
        line.setblocking(False)
        opened = socket(fileno=line.detach())
        door = cls(*await asyncio.open_connection(sock=opened, limit=MOST_ANSWERED))
        hello = None
        with suppress(TimeoutError):
            async with asyncio.timeout(HELLO_S):
                hello = await receive(door._reader)
        if hello is not None and hello.get("handrail") == __version__:
            return door
        await door.close()
        return None

    async def act(self, action: Mapping[str, Any], *, on_question: OnQuestion, **about: Any) -> Answer | None:
        """None when the device is not open there. Raises when the action could not begin.

        `about`: `device`, `caller`, and `trace`: what it is a part of, as W3C's `traceparent`.
        """
        try:
            async with Background() as asking:
                await send(self._writer, {"action": dict(action), **about})
                while (message := await receive(self._reader)) is not None and "question" in message:
                    asking.start(on_question(str(message["question"])), "question in the terminal")
        except OSError:
            message = None
        message = answer_or_raise(message, str(action.get("type")))
        return None if message.get("elsewhere") else (message["envelope"], message["text"])

    async def ask(self, message: Message) -> Message | None:
        """None when the connection broke."""
        try:
            await send(self._writer, message)
            return await receive(self._reader)
        except OSError:
            return None

    async def stop(self) -> None:
        """Ends the action, which still answers."""
        await send(self._writer, {"stop": True})

    async def close(self) -> None:
        await close_writer(self._writer)


def connection_lost(kind: str) -> AdbConnectionError:
    return AdbConnectionError(
        f"The Handrail that {kind} was given to went away before it answered",
        hint="It may have been done: read the screen and `handrail journal list` before repeating it.",
        delivery="unknown",
    )


def answer_or_raise(answer: Message | None, kind: str) -> Message:
    """Raises the failure in the answer, or `connection_lost` if there is no answer."""
    if answer is None:
        raise connection_lost(kind)
    if "error" in answer:
        raise error_from(answer["error"])
    return answer


def error_from(failure: Mapping[str, Any]) -> HandrailError:
    fixed = ("code", "message", "hint", "retryable")
    more = {name: value for name, value in failure.items() if name not in fixed}
    kind = ERRORS.get(failure["code"], HandrailError)
    return kind(failure["message"], hint=failure["hint"], retryable=failure["retryable"], **more)


MOST_ASKED = 4 * 1024 * 1024  # bytes of a request: a script or a long text fits
MOST_ANSWERED = 256 * 1024 * 1024  # bytes of an answer: a picture or a whole log fits
Message = dict[str, Any]


async def send(writer: asyncio.StreamWriter, message: Message) -> None:
    """Raises `OSError` when the other side has gone."""
    writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    await writer.drain()


async def receive(reader: asyncio.StreamReader) -> Message | None:
    """The next line; None at the end and for what is not a message."""
    try:
        message = json.loads(await reader.readline())
    except (ValueError, OSError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


async def close_writer(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


SocketName = Literal["daemon", "desk"]
"""`daemon`: the process that has the home's phones open. `desk`: the process that has its desk."""


def socket_path(home: Path, name: SocketName = "daemon") -> Path:
    return Path(socket_file(str(home), name))


class LocalDesk(DeskRunner):
    """The desk of another process of this home. Each request opens a connection, so a restarted server is
    found again."""

    def __init__(self, home: Path, caller: Caller) -> None:
        self._home = home
        self._caller = caller

    async def carry_out(self, acts: Sequence[AnyAction], caller: Caller | None) -> list[Envelope]:
        who = (caller or self._caller).to_dict()
        reply = await self._ask({"desk": [act.to_dict() for act in acts], "caller": who})
        return [Envelope.model_validate(fields) for fields in reply["envelopes"]]

    async def heard(self, by: str, timeout_ms: float) -> list[dict[str, Any]]:
        reply = await self._ask({"heard": by, "timeout_ms": timeout_ms})
        return list(reply["events"])

    async def left(self, by: str) -> None:
        """Releases the caller's locks; without a desk there are none."""
        with suppress(Unsupported):
            await self._ask({"left": by})

    async def state(self) -> dict[str, Any]:
        return dict((await self._ask({"desk_state": True}))["state"])

    async def _ask(self, message: Message) -> Message:
        door = await LocalConnection.open(self._home, "desk")
        if door is None:
            raise Unsupported("There is no desk", hint="Start `handrail serve` to get one.")
        try:
            return answer_or_raise(await door.ask(message), "the desk's action")
        finally:
            await door.close()
