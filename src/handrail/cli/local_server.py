"""Serves the sessions of a runtime on the local socket. Opens no phone: what is not open is done elsewhere.

Whoever can connect is the user of this home, as the file's mode says; they are a person at a terminal.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from handrail import __version__
from handrail.android.discovery import DiscoveredDevice, Listing, merge
from handrail.cli.local_client import (
    MOST_ASKED,
    DoorName,
    LocalDesk,
    Message,
    hang_up,
    receive,
    send,
    socket_path,
)
from handrail.config import Config, is_browser
from handrail.engine.desk_runner import DeskRunner
from handrail.engine.envelope_text import envelope_text
from handrail.engine.events import read_traceparent, within_trace
from handrail.engine.session import Session
from handrail.errors import Cancelled, HandrailError, InvalidAction, Unsupported
from handrail.invocation import Invocation, current
from handrail.local_socket import forget, is_same_user, listen, make_folder, take_lock
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.read import action_from
from handrail.runtime import Runtime
from handrail.safety.approval_store import AskedApproval
from handrail.safety.approvals import Notify
from handrail.safety.caller import Actor, Caller, Door
from handrail.waiting import Background, first

if TYPE_CHECKING:
    from handrail.adb.device import AdbDevice
    from handrail.android.driver import Helper
    from handrail.surface.capabilities import Surface


T = TypeVar("T")
RUN_IT_YOURSELF = b"N\0\0\0\0"
"""For a command: only a daemon runs those of others."""
ask_at_terminal: ContextVar[Callable[[str], Awaitable[None]] | None] = ContextVar("asker", default=None)
"""Takes the id of a question to the terminal that an action came from. Cancelled when it is answered."""


async def ask_whoever_called(approval: AskedApproval, _: str | None = None) -> None:
    if (ask := ask_at_terminal.get()) is not None:
        with suppress(OSError):
            await ask(approval.id)


@asynccontextmanager
async def serve_local(runtime: Runtime, name: DoorName = "daemon") -> AsyncIterator[Path | None]:
    """The socket's path while the block runs; None when another process serves this home already."""
    home = str(runtime.config.home)
    if (lock := take_lock(home, name)) is None:
        yield None
        return
    try:
        async with _listening(runtime, name) as path:
            yield path
    finally:
        os.close(lock)


@asynccontextmanager
async def _listening(runtime: Runtime, name: DoorName) -> AsyncIterator[Path]:
    home, door = str(runtime.config.home), LocalRequests(lambda: runtime)
    try:
        make_folder(home, name)
    except PermissionError as error:
        raise InvalidAction(
            f"{error.filename}: {error.strerror}",
            hint="Remove it, or set HANDRAIL_HOME to a shorter path.",
            path="HANDRAIL_HOME",
        ) from None
    before = runtime.approvals.notify
    if not runtime.is_shared:
        runtime.approvals.notify = _ask_or(before)
    line, token = listen(home, name)
    welcome = partial(door.welcome, token=token)
    server = await asyncio.start_server(welcome, sock=socket(fileno=line.detach()), limit=MOST_ASKED)
    try:
        yield socket_path(runtime.config.home, name)
    finally:
        server.close()
        await door.close()
        if not runtime.is_shared:
            runtime.approvals.notify = before
        forget(home, name)


def _ask_or(otherwise: Notify | None) -> Notify:
    """Questions go to the terminal that an action came from, all others to `otherwise`."""

    async def notify(approval: AskedApproval, token: str | None) -> None:
        if ask_at_terminal.get() is not None:
            await ask_whoever_called(approval)
        elif otherwise is not None:
            await otherwise(approval, token)

    return notify


class LocalRequests:
    """All connections of one server."""

    def __init__(self, runtime: Callable[[], Runtime | None]) -> None:
        self._runtime = runtime
        self._visits = Background()

    def welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: bytes) -> None:
        self._visits.start(self._serve(reader, writer, token), "local door")

    async def close(self) -> None:
        await self._visits.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: bytes) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                is_known = is_same_user(writer.get_extra_info("socket")) if not token else False
                if is_known or (token and await reader.readexactly(len(token)) == token):
                    await send(writer, {"handrail": __version__})
                    if (request := await receive(reader)) is not None:
                        await self.visit(request, reader, writer)
                    else:
                        writer.write(RUN_IT_YOURSELF)
        finally:
            await hang_up(writer)

    async def visit(
        self, request: Message, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Handles one request. The answer to a client that has gone is in the journal."""

        async def ask(approval_id: str) -> None:
            await send(writer, {"question": approval_id})

        ask_at_terminal.set(ask)
        with suppress(OSError):
            await send(writer, await self._answer(request, reader))

    async def _answer(self, request: Message, reader: asyncio.StreamReader) -> Message:
        try:
            if (runtime := self._runtime()) is None:
                return {"phones": []} if "phones" in request else {"elsewhere": True}
            if "phones" in request:
                return {"phones": [_phone(session) for session in runtime.sessions.values()]}
            if "action" not in request:
                return await _about_desk(runtime, request, reader)
            device = request.get("device")
            if (session := runtime.opened(device if isinstance(device, str) else None)) is None:
                return {"elsewhere": True}
            action, caller = action_from(_object(request, "action")), _caller(_object(request, "caller"))
            with within_trace(read_traceparent(request.get("trace"))):
                envelope = await _while_connected(run_until_stopped(session, action, caller), reader)
        except HandrailError as error:
            return {"error": error.to_dict()}
        screen = runtime.secrets.redact(session.screens.registry.text)
        return {"envelope": envelope.to_dict(), "text": envelope_text(action, envelope, screen)}


async def _about_desk(runtime: Runtime, request: Message, reader: asyncio.StreamReader) -> Message:
    """Answers for a desk of this process alone; requests are not forwarded."""
    desk = runtime.desk
    if desk is None:
        raise Unsupported("There is no desk", hint="Start `handrail serve` to get one.")
    session = runtime.desk_session()
    if "desk_state" in request:
        return {"state": desk.snapshot()}
    if "left" in request:
        await session.left(str(request["left"]))
        return {}
    if "heard" in request:
        patience = float(request.get("timeout_ms") or 0)
        events = await _while_connected(session.heard(str(request["heard"]), patience), reader)
        return {"events": events}
    actions = request.get("desk")
    if not isinstance(actions, list) or not actions:
        raise InvalidAction("desk is not a list of actions", path="desk")
    acts = [action_from(action) for action in actions]
    # Agents reach the desk through their own process, which belongs to the owner of this home.
    fields = _object(request, "caller")
    actor: Actor = "person" if fields.get("kind") == "person" else "agent"
    caller = Caller(str(fields.get("id", "")), actor, _door(fields.get("door")))
    work = session.run_all(acts, caller=caller)
    return {"envelopes": [envelope.to_dict() for envelope in await _while_connected(work, reader)]}


def _phone(session: Session) -> Message:
    facts = session.facts
    about = {"serial": session.serial, "model": facts.model, "android": facts.android_version}
    return {**about, "channels": session.surface.channels()}


async def _while_connected(work: Coroutine[Any, Any, T], reader: asyncio.StreamReader) -> T:
    """Hanging up or a stop message cancels the work."""
    task, _ = await first(work, receive(reader))
    if task.cancelled():
        raise Cancelled("It was stopped before it began")
    return task.result()


async def run_until_stopped(session: Session, action: AnyAction, caller: Caller) -> Envelope:
    """Cancelling stops this action and no other, and still returns its envelope."""
    life = session.events()  # nothing is awaited in between: the first that it hears of is this action
    try:
        return await session.run(action, caller=caller)
    except asyncio.CancelledError:
        first = await anext(life)
        async for event in life:
            if event.action_id == first.action_id and event.envelope is not None:
                return event.envelope
        raise


def _object(request: Message, name: str) -> dict[str, Any]:
    value = request.get(name)
    if not isinstance(value, dict):
        raise InvalidAction(f"{name} is not an object", path=name)
    return value


def _door(name: Any) -> Door:
    return next((door for door in get_args(Door) if door == name), "cli")


def _caller(fields: Mapping[str, Any]) -> Caller:
    """The person at a terminal whose id and login session the request names."""
    terminal = fields.get("terminal")
    session = terminal if isinstance(terminal, int) else None
    return Caller.of_terminal(str(fields.get("id", "")), session)


@asynccontextmanager
async def runtime_for(config: Config, *, caller: Caller, counts: bool = False) -> AsyncIterator[Runtime]:
    """A runtime of this process; in the daemon, the one that its clients share."""
    daemon = current.get().daemon
    if daemon is None:
        async with Runtime.open(config, caller=caller, counts=counts) as runtime:
            yield runtime
    else:
        yield await daemon.runtime(caller, counts=counts)


class SharedRuntime(Runtime):
    """Opens what is asked for once, and closes it when its last user has ended."""

    is_shared = True
    on_change: Callable[[], None] = staticmethod(lambda: None)
    """Called when a session was opened or closed."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        self._users: defaultdict[str, set[Invocation]] = defaultdict(set)
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]

    @property
    def config(self) -> Config:
        config: Config | None = current.get().config
        return config or self._config

    @config.setter
    def config(self, config: Config) -> None:
        self._config = config

    @property
    def caller(self) -> Caller:
        caller: Caller | None = current.get().caller
        return caller or self._caller

    @caller.setter
    def caller(self, caller: Caller) -> None:
        self._caller = caller

    def opened(self, name: str | None) -> Session | None:
        session = super().opened(name)
        return session and self._used(session)

    async def devices(self) -> Listing:
        listing = await super().devices()
        opened = [
            DiscoveredDevice(serial, via="handrail", model=session.facts.model)
            for serial, session in self._sessions.items()
        ]
        listed = {device.identity for device in listing.devices}
        more = [
            device for device in opened if device.identity not in listed and not is_browser(device.serial)
        ]
        return replace(listing, devices=tuple(merge([*listing.devices, *more])))

    async def session(self, serial: str | None = None, *, helper: Helper | None = None) -> Session:
        if session := self.opened(serial or self.config.device):
            return session
        return self._used(await super().session(serial, helper=helper))

    async def session_on(self, device: AdbDevice, *, helper: Helper | None = None) -> Session:
        return self._used(await super().session_on(device, helper=helper))

    async def session_with(self, surface: Surface) -> Session:
        return self._used(await super().session_with(surface))

    def _used(self, session: Session) -> Session:
        self._users[session.serial].add(current.get())
        self.on_change()
        return session

    async def release(self, user: Invocation) -> None:
        """Closes what nobody else uses. Refs are kept and devices are free when this returns."""
        for serial, users in [*self._users.items()]:
            users.discard(user)
            if users:
                if session := self._sessions.get(serial):
                    await session.release_for(user)
                continue
            async with self._opening[serial]:
                if not users and (session := self._sessions.pop(serial, None)) is not None:
                    await session.close()
        self.on_change()

    def use_desk_of(self, runner: DeskRunner) -> None:
        """Ignored: `desk_session` finds the desk of this process or of another."""

    def desk_session(self) -> DeskRunner:
        return self._desk_runner or LocalDesk(self.config.home, self.caller)
