"""Serves the sessions of a runtime on the local socket. Opens no phone: what is not open is done elsewhere.

Whoever can connect is the user of this home, as the file's mode says; they are a person at a terminal.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from socket import socket
from typing import Any, TypeVar, get_args

from handrail import __version__
from handrail.adb.device import AdbDevice
from handrail.cli.local_client import (
    MOST_ASKED,
    LocalDesk,
    Message,
    SocketName,
    close_writer,
    receive,
    send,
    socket_path,
)
from handrail.config import Config, Helper
from handrail.engine.desk_runner import DeskRunner
from handrail.engine.envelope_text import envelope_text
from handrail.engine.events import read_traceparent, within_trace
from handrail.engine.session import Session
from handrail.errors import Cancelled, HandrailError, InvalidAction, Unsupported
from handrail.invocation import Invocation, current
from handrail.local_socket import is_same_user, listen, make_socket_folder, remove_address, take_lock
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.read import action_from
from handrail.runtime import Runtime
from handrail.safety.approval_store import AskedApproval
from handrail.safety.caller import Actor, Caller, Door
from handrail.surface.capabilities import Surface
from handrail.waiting import Background, first

T = TypeVar("T")
RUN_IT_YOURSELF = b"N\0\0\0\0"
"""The answer to a client that hands over a command: only a daemon runs commands."""
ask_at_terminal: ContextVar[Callable[[str], Awaitable[None]] | None] = ContextVar("asker", default=None)
"""Asks at the terminal that the current action came from; takes the request's id. Cancelled when it is
answered."""


async def ask_at_callers_terminal(approval: AskedApproval, _: str | None = None) -> None:
    if (ask := ask_at_terminal.get()) is not None:
        with suppress(OSError):
            await ask(approval.id)


@asynccontextmanager
async def serve_local(runtime: Runtime, name: SocketName = "daemon") -> AsyncIterator[Path | None]:
    """The socket's path while the block runs; None when another process serves this home already."""
    home, before = str(runtime.config.home), runtime.approvals.notify
    if (lock := take_lock(home, name)) is None:
        yield None
        return

    async def notify(approval: AskedApproval, token: str | None) -> None:
        """Asks at the terminal that the action came from; without one, by the earlier listener."""
        if ask_at_terminal.get() is not None:
            await ask_at_callers_terminal(approval)
        elif before is not None:
            await before(approval, token)

    async with AsyncExitStack() as ends:
        ends.callback(os.close, lock)
        try:
            make_socket_folder(home, name)
        except PermissionError as error:
            raise InvalidAction(
                f"{error.filename}: {error.strerror}",
                hint="Remove it, or set HANDRAIL_HOME to a shorter path.",
                path="HANDRAIL_HOME",
            ) from None
        line, token = listen(home, name)
        ends.callback(remove_address, home, name)
        if not runtime.is_shared:
            runtime.approvals.notify = notify
            ends.callback(setattr, runtime.approvals, "notify", before)
        visits = await ends.enter_async_context(Background())

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                with suppress(OSError, asyncio.IncompleteReadError):
                    if await authenticate(reader, writer, token):
                        if (request := await receive(reader)) is not None:
                            await serve_request(runtime, request, reader, writer)
                        else:
                            writer.write(RUN_IT_YOURSELF)
            finally:
                await close_writer(writer)

        def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            visits.start(serve(reader, writer), "local door")

        server = await asyncio.start_server(welcome, sock=socket(fileno=line.detach()), limit=MOST_ASKED)
        ends.callback(server.close)
        yield socket_path(runtime.config.home, name)


async def authenticate(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: bytes) -> bool:
    """Whether the client is the same user, or has the token where there is one. Sends it our version then."""
    if token:
        is_known = await reader.readexactly(len(token)) == token
    else:
        is_known = is_same_user(writer.get_extra_info("socket"))
    if is_known:
        await send(writer, {"handrail": __version__})
    return is_known


async def serve_request(
    runtime: Runtime | None, request: Message, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answers one request. If the client has gone, its answer is in the journal only."""

    async def ask(approval_id: str) -> None:
        await send(writer, {"question": approval_id})

    ask_at_terminal.set(ask)
    with suppress(OSError):
        await send(writer, await _answer_request(runtime, request, reader))


async def _answer_request(runtime: Runtime | None, request: Message, reader: asyncio.StreamReader) -> Message:
    try:
        if "phones" in request:
            phones = []
            for session in runtime.sessions.values() if runtime else ():
                about = {"serial": session.serial, "model": session.facts.model}
                about["android"] = session.facts.android
                phones.append({**about, "channels": session.surface.channels()})
            return {"phones": phones}
        if runtime is not None and "action" not in request:
            return await _answer_desk_request(runtime, request, reader)
        device = request.get("device")
        opened = runtime.opened(device if isinstance(device, str) else None) if runtime else None
        if runtime is None or opened is None:
            return {"elsewhere": True}
        action, who = action_from(_object_field(request, "action")), _object_field(request, "caller")
        terminal = who["terminal"] if isinstance(who.get("terminal"), int) else None
        caller = Caller.of_terminal(str(who.get("id", "")), terminal)  # a person with a login session
        with within_trace(read_traceparent(request.get("trace"))):
            envelope = await _while_connected(run_until_stopped(opened, action, caller), reader)
    except HandrailError as error:
        return {"error": error.to_dict()}
    screen = runtime.secrets.redact(opened.screens.registry.text)
    return {"envelope": envelope.to_dict(), "text": envelope_text(action, envelope, screen)}


async def _answer_desk_request(runtime: Runtime, request: Message, reader: asyncio.StreamReader) -> Message:
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
    fields = _object_field(request, "caller")
    actor: Actor = "person" if fields.get("kind") == "person" else "agent"
    door: Door = next((door for door in get_args(Door) if door == fields.get("door")), "cli")
    caller = Caller(str(fields.get("id", "")), actor, door)
    work = session.run_all(acts, caller=caller)
    return {"envelopes": [envelope.to_dict() for envelope in await _while_connected(work, reader)]}


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


def _object_field(request: Message, name: str) -> dict[str, Any]:
    value = request.get(name)
    if not isinstance(value, dict):
        raise InvalidAction(f"{name} is not an object", path=name)
    return value


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
    """The daemon's runtime: a device is opened once for all clients and closed after its last user."""

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
        return session and self._mark_used(session)

    async def session(self, serial: str | None = None, *, helper: Helper | None = None) -> Session:
        if session := self.opened(serial or self.config.device):
            return session
        return self._mark_used(await super().session(serial, helper=helper))

    async def session_on(self, device: AdbDevice, *, helper: Helper | None = None) -> Session:
        return self._mark_used(await super().session_on(device, helper=helper))

    async def session_with(self, surface: Surface) -> Session:
        return self._mark_used(await super().session_with(surface))

    def _mark_used(self, session: Session) -> Session:
        self._users[session.serial].add(current.get())
        self.on_change()
        return session

    async def release(self, user: Invocation) -> None:
        """Ends a client's use of all devices; closes those that nobody else uses."""
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
