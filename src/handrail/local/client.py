"""The other side of the local door: one action, done by the Handrail that runs already.

Nobody there, an old socket, another version: None, and the caller works by itself. Once an action was handed
over it is never done a second time, whatever becomes of the line.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from handrail import __version__
from handrail.errors import ERRORS, AdbConnectionError, HandrailError
from handrail.local.wire import MOST_ANSWERED, DoorName, Message, hang_up, is_ours, receive, send, socket_path
from handrail.waiting import Background

HELLO_S = 1.0
"""A server that has not said who it is by then is busy or no Handrail."""

OnQuestion = Callable[[str], Awaitable[None]]
"""Called with the id of a request that waits for a person; cancelled when the answer has come."""


@dataclass(frozen=True, slots=True)
class Replied:
    """The envelope as data, and as what a person reads of it."""

    envelope: dict[str, Any]
    text: str


class LocalDoor:
    """One connection, for one action."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, home: Path, name: DoorName = "local") -> LocalDoor | None:
        """None when nobody serves this home, or nobody who could be understood."""
        path = socket_path(home, name)
        if not is_ours(path.parent):
            return None
        try:
            async with asyncio.timeout(HELLO_S):
                reader, writer = await asyncio.open_unix_connection(path, limit=MOST_ANSWERED)
        except (OSError, TimeoutError):
            return None
        door = cls(reader, writer)
        if await door._is_understood():
            return door
        await door.close()
        return None

    async def _is_understood(self) -> bool:
        try:
            async with asyncio.timeout(HELLO_S):
                hello = await receive(self._reader)
        except TimeoutError:
            return False
        return hello is not None and hello.get("handrail") == __version__

    async def act(
        self,
        action: Mapping[str, Any],
        *,
        device: str | None,
        caller: Mapping[str, Any],
        on_question: OnQuestion,
        trace: str | None = None,
    ) -> Replied | None:
        """The answer; None when the device is not open there. A failure to begin raises.

        `trace`: what it is a part of, as W3C's `traceparent`.
        """
        asked = {"action": dict(action), "device": device, "caller": dict(caller), "trace": trace}
        try:
            async with Background() as asking:
                await send(self._writer, asked)
                while (message := await receive(self._reader)) is not None and "question" in message:
                    asking.start(_ask(on_question, str(message["question"])), "question in the terminal")
        except OSError:
            message = None
        return _read(message, str(action.get("type")))

    async def ask(self, message: Message) -> Message | None:
        """One request, one answer; None when the line broke."""
        try:
            await send(self._writer, message)
            return await receive(self._reader)
        except OSError:
            return None

    async def stop(self) -> None:
        """End the action; it still answers."""
        await send(self._writer, {"stop": True})

    async def close(self) -> None:
        await hang_up(self._writer)


async def _ask(on_question: OnQuestion, id_: str) -> None:
    await on_question(id_)


async def phones_of_running(home: Path) -> list[Message]:
    """What the Handrails that serve this home have open: serial, model, android, channels. Each once."""
    found: dict[str, Message] = {}
    for name in get_args(DoorName):
        if not socket_path(home, name).exists() or (door := await LocalDoor.open(home, name)) is None:
            continue
        try:
            told = await door.ask({"phones": True})
        finally:
            await door.close()
        found |= {str(one["serial"]): one for one in (told or {}).get("phones", ())}
    return list(found.values())


def _read(message: Message | None, kind: str) -> Replied | None:
    if message is None:
        raise gone(kind)
    if message.get("elsewhere"):
        return None
    if "error" in message:
        raise error_from(message["error"])
    return Replied(message["envelope"], message["text"])


def gone(kind: str) -> AdbConnectionError:
    """The server ended in the middle of it."""
    return AdbConnectionError(
        f"The Handrail that {kind} was given to went away before it answered",
        hint="It may have been done: look at the screen and `handrail journal list` before repeating it.",
        delivery="unknown",
    )


def error_from(told: Mapping[str, Any]) -> HandrailError:
    """A failure as the other side wrote it down."""
    known = ("code", "message", "hint", "retryable")
    more = {name: value for name, value in told.items() if name not in known}
    kind = ERRORS.get(told["code"], HandrailError)
    return kind(told["message"], hint=told["hint"], retryable=told["retryable"], **more)
