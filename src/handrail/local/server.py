"""Serves the sessions of a runtime on the local socket. Opens no phone: what is not open is done elsewhere.

Whoever can connect is the user of this home, as the file's mode says; they are a person at a terminal.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar, get_args

from handrail import __version__
from handrail.android.choose import match
from handrail.android.discovery import Found
from handrail.engine.answer import answer_text
from handrail.engine.approval import AskedApproval, Notify
from handrail.engine.events import Caller, Door
from handrail.engine.session import Session
from handrail.engine.work import inside, read_traceparent
from handrail.errors import Cancelled, HandrailError, InvalidAction, Unsupported
from handrail.local.wire import (
    MOST_ASKED,
    DoorName,
    Message,
    hang_up,
    make_folder,
    only_server,
    receive,
    send,
    socket_path,
)
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.read import action_from
from handrail.runtime import Runtime
from handrail.waiting import Background, first

T = TypeVar("T")
_asker: ContextVar[asyncio.StreamWriter | None] = ContextVar("asker", default=None)
"""Who is at the other end, for everything that is done because of their action."""


@asynccontextmanager
async def serve_local(runtime: Runtime, name: DoorName = "local") -> AsyncIterator[Path | None]:
    """The socket's path while the block runs; None when another process serves this home already."""
    with only_server(runtime.config.home, name) as is_only:
        if not is_only:
            yield None
            return
        async with _listening(runtime, name) as path:
            yield path


@asynccontextmanager
async def _listening(runtime: Runtime, name: DoorName) -> AsyncIterator[Path]:
    path, door = socket_path(runtime.config.home, name), _Door(runtime)
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
        self._visits = Background()

    def welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._visits.start(self._visit(reader, writer), "local door")

    async def close(self) -> None:
        await self._visits.close()

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
            if "phones" in asked:
                return {"phones": [_phone(one) for one in self._runtime.sessions.values()]}
            if "action" not in asked:
                return await self._about_desk(asked, reader)
            session = self._session(asked.get("device"))
            if session is None:
                return {"elsewhere": True}
            action, caller = action_from(_object(asked, "action")), _caller(_object(asked, "caller"))
            with inside(read_traceparent(asked.get("trace"))):
                envelope = await _until_stopped(session, action, caller, reader)
        except HandrailError as error:
            return {"error": error.to_dict()}
        screen = self._runtime.secrets.redact(session.looks.registry.text)
        return {"envelope": envelope.to_dict(), "text": answer_text(action, envelope, screen)}

    async def _about_desk(self, asked: Message, reader: asyncio.StreamReader) -> Message:
        """Only a desk of this process: nobody is sent on to a third one."""
        desk = self._runtime.desk
        if desk is None:
            raise Unsupported("There is no desk", hint="Start `handrail serve` to get one.")
        session = self._runtime.desk_session()
        if "desk_state" in asked:
            return {"state": desk.snapshot()}
        if "left" in asked:
            await session.left(str(asked["left"]))
            return {}
        if "heard" in asked:
            patience = float(asked.get("timeout_ms") or 0)
            heard = await _while_connected(session.heard(str(asked["heard"]), patience), reader)
            return {"events": heard}
        actions = asked.get("desk")
        if not isinstance(actions, list) or not actions:
            raise InvalidAction("desk is no list of actions", path="desk")
        acts = [action_from(one) for one in actions]
        work = session.run_all(acts, caller=_desk_caller(_object(asked, "caller")))
        return {"envelopes": [one.to_dict() for one in await _while_connected(work, reader)]}

    def _session(self, name: Any) -> Session | None:
        """The open phone that is meant; None where it is none of these."""
        sessions = self._runtime.sessions
        found = [Found(serial, model=one.facts.model) for serial, one in sessions.items()]
        meant = match(found, name) if isinstance(name, str) else found
        return sessions[meant[0].serial] if len(meant) == 1 else None

    def ask_or(self, otherwise: Notify | None) -> Notify:
        """Questions go to the terminal that an action came from, all others where they went before."""

        async def notify(one: AskedApproval, token: str | None) -> None:
            if (writer := _asker.get()) is not None:
                with suppress(OSError):
                    await send(writer, {"question": one.id})
            elif otherwise is not None:
                await otherwise(one, token)

        return notify


def _phone(session: Session) -> Message:
    """One open session, for a list of devices."""
    facts = session.facts
    about = {"serial": session.serial, "model": facts.model, "android": facts.android_version}
    return {**about, "channels": session.surface.channels()}


async def _until_stopped(
    session: Session, action: AnyAction, caller: Caller, reader: asyncio.StreamReader
) -> Envelope:
    """A stop or an end of the line ends this action and no other; its envelope is the answer all the same."""
    return await _while_connected(_run(session, action, caller), reader)


async def _while_connected(work: Coroutine[Any, Any, T], reader: asyncio.StreamReader) -> T:
    """The work's result; whoever hangs up or says stop ends it."""
    task, _ = await first(work, receive(reader))
    if task.cancelled():
        raise Cancelled("It was stopped before it began")
    return task.result()


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


def _desk_caller(told: Mapping[str, Any]) -> Caller:
    """Agents reach the desk through their own process; its owner is the owner of this home."""
    is_person = told.get("kind") == "person"
    return Caller(str(told.get("id", "")), "person" if is_person else "agent", _door(told.get("door")))


def _door(told: Any) -> Door:
    return next((door for door in get_args(Door) if door == told), "cli")


def _caller(told: Mapping[str, Any]) -> Caller:
    """A person, as at their own terminal: the id and the login session are theirs to tell."""
    terminal = told.get("terminal")
    known = terminal if isinstance(terminal, int) else None
    return Caller.of_terminal(str(told.get("id", "")), known)
