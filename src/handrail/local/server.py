"""Serves the sessions of a runtime on the local socket. Opens no phone: what is not open is done elsewhere.

Whoever can connect is the user of this home, as the file's mode says; they are a person at a terminal.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from handrail import __version__
from handrail.android.choose import match
from handrail.android.found import Found
from handrail.engine.approval import Approval, Notify
from handrail.engine.caller import Caller
from handrail.engine.session import Session
from handrail.errors import Cancelled, HandrailError, InvalidAction
from handrail.local.place import make_folder, only_server, socket_path
from handrail.local.wire import MOST_ASKED, Message, hang_up, receive, send
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.read import action_from
from handrail.runtime import Runtime

_asker: ContextVar[asyncio.StreamWriter | None] = ContextVar("asker", default=None)
"""Who is at the other end, for everything that is done because of their action."""


@asynccontextmanager
async def serve_local(runtime: Runtime) -> AsyncIterator[Path | None]:
    """The socket's path while the block runs; None when another process serves this home already."""
    with only_server(runtime.config.home) as is_only:
        if not is_only:
            yield None
            return
        async with _listening(runtime) as path:
            yield path


@asynccontextmanager
async def _listening(runtime: Runtime) -> AsyncIterator[Path]:
    path, door = socket_path(runtime.config.home), _Door(runtime)
    make_folder(path)
    path.unlink(missing_ok=True)  # left behind by a process that died: the lock says that nobody listens
    before, runtime.approvals.notify = runtime.approvals.notify, door.ask_or(runtime.approvals.notify)
    server = await asyncio.start_unix_server(door.welcome, path, limit=MOST_ASKED)
    try:
        path.chmod(0o600)
        yield path
    finally:
        server.close()
        await door.close()
        runtime.approvals.notify = before
        path.unlink(missing_ok=True)


class _Door:
    """All connections of one server."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._visits: set[asyncio.Task[None]] = set()

    def welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visit = asyncio.create_task(self._visit(reader, writer), name="local door")
        self._visits.add(visit)
        visit.add_done_callback(self._visits.discard)

    async def close(self) -> None:
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _asker.set(writer)
        try:
            with suppress(OSError):  # they went away before they had their answer; the journal has it
                await send(writer, {"handrail": __version__})
                if (asked := await receive(reader)) is not None:
                    await send(writer, await self._answer(asked, reader))
        finally:
            await hang_up(writer)

    async def _answer(self, asked: Message, reader: asyncio.StreamReader) -> Message:
        try:
            session = self._session(asked.get("device"))
            if session is None:
                return {"elsewhere": True}
            action, caller = action_from(_object(asked, "action")), _caller(_object(asked, "caller"))
            envelope = await _until_stopped(session, action, caller, reader)
        except HandrailError as error:
            return {"error": error.to_dict()}
        screen = self._runtime.secrets.redact(session.sight.registry.text)
        return {"envelope": envelope.to_dict(), "screen": screen}

    def _session(self, name: Any) -> Session | None:
        """The open phone that is meant; None where it is none of these."""
        sessions = self._runtime.sessions
        found = [Found(serial, model=one.facts.model) for serial, one in sessions.items()]
        meant = match(found, name) if isinstance(name, str) else found
        return sessions[meant[0].serial] if len(meant) == 1 else None

    def ask_or(self, otherwise: Notify | None) -> Notify:
        """Questions go to the terminal that an action came from, all others where they went before."""

        async def notify(one: Approval, token: str | None) -> None:
            if (writer := _asker.get()) is not None:
                with suppress(OSError):
                    await send(writer, {"question": one.id})
            elif otherwise is not None:
                await otherwise(one, token)

        return notify


async def _until_stopped(
    session: Session, action: AnyAction, caller: Caller, reader: asyncio.StreamReader
) -> Envelope:
    """A stop or an end of the line ends this action and no other; its envelope is the answer all the same."""
    work = asyncio.create_task(_run(session, action, caller), name=f"local {action.type}")
    heard = asyncio.create_task(receive(reader), name="local stop")
    try:
        await asyncio.wait({work, heard}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        heard.cancel()
        work.cancel()
        await asyncio.wait({heard, work})
    if work.cancelled():
        raise Cancelled(f"{action.type} was stopped before it began")
    return work.result()


async def _run(session: Session, action: AnyAction, caller: Caller) -> Envelope:
    life = session.events()  # nothing is awaited in between: the first that it hears of is this action
    try:
        return await session.run(action, caller=caller)
    except asyncio.CancelledError:
        first = await anext(life)
        async for event in life:
            if event.action_id == first.action_id and event.envelope is not None:
                return event.envelope
        raise


def _object(asked: Message, name: str) -> dict[str, Any]:
    value = asked.get(name)
    if not isinstance(value, dict):
        raise InvalidAction(f"{name} is no object", path=name)
    return value


def _caller(told: Mapping[str, Any]) -> Caller:
    """A person, as at their own terminal: the id and the login session are theirs to tell."""
    terminal = told.get("terminal")
    known = terminal if isinstance(terminal, int) else None
    return Caller(str(told.get("id", "")), "person", "cli", terminal=known)
