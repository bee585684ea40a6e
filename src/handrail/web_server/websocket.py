"""`/ws`: the desk's frames to one client, and its own back, no faster than `RateLimit` allows.

A client that is slow or wrong harms only itself. `ActionFeed` publishes actions to all of them: of this
process as they happen, of other processes from the journal. `ConsoleMessages` keeps the last messages of
people and agents for browsers that come later.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from handrail.clock import Clock, iso_time
from handrail.engine.events import Listener
from handrail.engine.session import Session
from handrail.errors import ERRORS, ActionRejected, HandrailError, InvalidAction
from handrail.journal.query import UNFINISHED, ActionRow
from handrail.protocol.message import (
    CLIENT_MESSAGE,
    ClientMessage,
    DialogFeedback,
    Hello,
    Interrupt,
    PhoneInput,
    UserInteraction,
    UserMessage,
)
from handrail.protocol.model import camel
from handrail.protocol.read import invalid_action, read_json
from handrail.waiting import Background, first
from handrail.web_server import phone
from handrail.web_server.approvals import DIALOG
from handrail.web_server.auth import Visitor, client_address
from handrail.web_server.responses import JSON, DeskRequest, RouteTable

if TYPE_CHECKING:
    from handrail.web_server.server import DeskContext

ROUTES = RouteTable()
MOST_TEXT = 1_048_576  # bytes of a frame; only a picture that was asked for may be larger
MOST_BAD = 10
SEND_S = 30.0  # a client that receives nothing for this long is disconnected
CLOSE_S = 1.0
HELLO_S = 5.0  # the time that a page has for its first frame
NOT_LOGGED_IN = 4401  # close code: no token, or one that is not known here
FRAMES_PER_SECOND = 200.0  # a browser that drags sends sixty
BURST = 400.0
TICK_MS = 250.0
PAGE = 20
MOST_PUBLISHED = 2_000
"""Ids of this process's actions that are remembered, so that the journal does not publish them again."""
KEPT_MESSAGES = 200
MOST_AGENTS = 50
PERSON = "person"
STATUS_FRAME = "AGENT_STATUS"  # the frame that carries an agent's message
_PICTURES = ("screenshotBase64", "imageData")
_LONGEST = 20_000  # characters of one text in the details; the journal has all of it


class RateLimit:
    """Limits the frames of one client by a token bucket."""

    def __init__(self, clock: Clock, rate: float = FRAMES_PER_SECOND, burst: float = BURST) -> None:
        self._clock = clock
        self._rate = rate / 1000
        self._burst = burst
        self._left = burst
        self._at = clock.monotonic_ms()

    def allows(self) -> bool:
        """Takes one token, if there is one."""
        now = self._clock.monotonic_ms()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class DeskConnection:
    """The WebSocket of one client, from joining the desk to its end."""

    def __init__(
        self, websocket: WebSocket, context: DeskContext, visitor: Visitor, since: int | None
    ) -> None:
        self._websocket = websocket
        self._context = context
        self._visitor = visitor
        self._rate_limit = RateLimit(context.runtime.clock)
        self._bad = 0
        self._close_with = (1001, "")
        """RFC 6455's code, and the reason."""
        self._since = since
        self._client = context.desk.join(f"ws-{secrets.token_hex(6)}", self._since)

    async def run(self) -> None:
        """Ends when either side does; the other is told, if it still listens."""
        self._context.on_log_out.append(self._hang_up)
        try:
            tasks = await first(self._read(), self._send())
        finally:
            self._context.on_log_out.remove(self._hang_up)
            self._context.phones.leave(self._client)
            self._client.close()
        for task in tasks:
            error = None if task.cancelled() else task.exception()
            if error is not None and not isinstance(error, TimeoutError | WebSocketDisconnect):
                raise error
        with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):  # RuntimeError: it is closed already
            async with asyncio.timeout(CLOSE_S):
                await self._websocket.close(*self._close_with)

    def _hang_up(self, login: str) -> None:
        """Called when somebody has revoked a device."""
        if self._visitor.page == login:
            self._close_with = (NOT_LOGGED_IN, "this device was revoked")
            self._client.close()

    async def _send(self) -> None:
        """Sends frames until the desk closes this client or it stops receiving."""
        while not self._client.is_closed:
            async for frame in self._client:
                async with asyncio.timeout(SEND_S):
                    if isinstance(frame, str):
                        await self._websocket.send_text(frame)
                    else:
                        await self._websocket.send_bytes(frame)

    def _send_error(self, error: HandrailError) -> None:
        path = str(error.details.get("path", ""))
        fields = {"code": error.code, "path": path, "message": error.message, "hint": error.hint}
        self._context.desk.hub.send(self._client, "ERROR", fields)

    async def _read(self) -> None:
        """Reads frames until the client leaves or has sent too many malformed ones."""
        while self._bad < MOST_BAD:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            is_large = text is not None and len(text) > MOST_TEXT
            if is_large and not self._context.desk.pending.awaits_capture(self._client):
                self._close_with = (1009, "the frame is too large")
                return
            try:
                frame = self._parse_frame(text)
            except InvalidAction as error:
                self._bad += 1
                self._send_error(error)
                continue
            try:
                await self._handle(frame)
            except HandrailError as error:
                self._send_error(error)
        self._close_with = (1008, "too many bad frames")

    def _parse_frame(self, text: str | None) -> Any:
        if not self._rate_limit.allows():
            rate = f"{FRAMES_PER_SECOND:.0f} in a second"
            raise InvalidAction(f"Frames come faster than {rate}", path="", hint="Send fewer.")
        if text is None:
            raise InvalidAction("Only text frames are read", path="", hint="Send JSON as text.")
        try:
            return CLIENT_MESSAGE.validate_json(text)
        except ValidationError as error:
            raise invalid_action(error, read_json(text)) from None

    async def _handle(self, frame: ClientMessage) -> None:
        context, visitor = self._context, self._visitor
        if isinstance(frame, Hello):
            if self._since is None and frame.since is not None:  # it could not name it in the address
                self._since = frame.since
                before, self._client = self._client, self._context.desk.join(self._client.id, frame.since)
                before.close()
        elif isinstance(frame, UserInteraction) and not visitor.is_person:
            desk = self._context.runtime.desk_session()
            for envelope in await desk.run_all(frame.interactions, caller=self._visitor.caller("ws")):
                if not envelope.success:
                    kind = ERRORS.get(envelope.failure_code or "", HandrailError)
                    details = envelope.details or {}
                    self._send_error(kind(envelope.message or "", hint=envelope.hint, **details))
        elif not visitor.is_person:
            raise ActionRejected(
                f"{frame.type} is for people; {visitor.name!r} came with a program's token",
                hint="Send USER_INTERACTION, or open the desk in a browser.",
            )
        elif isinstance(frame, DialogFeedback) and frame.dialog_id.startswith(DIALOG):
            await context.approvals.answer_dialog(frame, visitor)
        elif isinstance(frame, PhoneInput):
            await phone.handle_phone_input(context.phones, self._client, frame, visitor.caller())
        elif isinstance(frame, Interrupt):
            await context.interrupt(visitor)
        else:
            if isinstance(frame, UserMessage):
                context.console.add(PERSON, frame.content, frame.message_id)
            await context.desk.interact(self._client, frame)


async def serve_websocket(websocket: WebSocket) -> None:
    """The desk, live: frames both ways."""
    await websocket.accept()
    context: DeskContext = websocket.app.state.context
    text = websocket.query_params.get("since") or ""
    since = int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None
    visitor: Visitor | None = websocket.state.visitor
    with suppress(WebSocketDisconnect):
        if visitor is None and (hello := await _read_hello(websocket)) is not None:
            since = hello.since if since is None else since
            if hello.token is not None:
                page = context.auth.visitor_of_page(
                    hello.token, websocket.headers, client_address(websocket.scope)
                )
                visitor = page if isinstance(page, Visitor) else None
        if visitor is None:
            await websocket.close(NOT_LOGGED_IN, "log in first")
        else:
            await DeskConnection(websocket, context, visitor, since).run()


async def _read_hello(websocket: WebSocket) -> Hello | None:
    """The first frame, in which a page sends its token; None if it is another frame or comes too late."""
    try:
        async with asyncio.timeout(HELLO_S):
            message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message["code"])
        frame = CLIENT_MESSAGE.validate_json(message.get("text") or "")
    except (TimeoutError, ValidationError):
        return None
    return frame if isinstance(frame, Hello) else None


ROUTES.append(WebSocketRoute("/ws", serve_websocket))


class ActionFeed:
    """Publishes an ENVELOPE frame for every step in the life of an action."""

    def __init__(self, context: DeskContext) -> None:
        self._context = context
        self._runtime = context.runtime
        self._tasks = Background()
        self._listeners: dict[int, asyncio.Task[None]] = {}
        self._published: dict[str, None] = {}
        self._seq = 0

    async def run(self) -> None:
        newest = self._runtime.journal.actions(1)
        self._seq = newest[0].seq if newest else 0
        async with self._tasks:
            while True:
                for number in [number for number, task in self._listeners.items() if task.done()]:
                    del self._listeners[number]
                desk = self._runtime.session_on_desk
                for session in [*self._runtime.sessions.values(), *([desk] if desk else [])]:
                    if id(session) not in self._listeners:
                        work = self._listen(session, session.events())
                        self._listeners[id(session)] = self._tasks.start(
                            work, f"listener on {session.serial}"
                        )
                for row in reversed(list(self._new_rows())):
                    self._seq = max(self._seq, row.seq)
                    if row.action_id not in self._published:
                        is_open = row.state == UNFINISHED
                        envelope = None if is_open else self._runtime.journal.show(row.action_id).envelope
                        fields = {"action_id": row.action_id, "device": row.device, "action_type": row.type}
                        state = "accepted" if is_open else row.state
                        self._publish({**fields, "lifecycle_state": state, "actor": row.actor}, envelope)
                await self._runtime.clock.sleep_ms(TICK_MS)

    async def _listen(self, session: Session, events: Listener) -> None:
        """Of the desk's own actions only the end is published: the change itself shows that they began.

        Holding the session keeps its `id()` from being reused.
        """
        is_phone = session is not self._runtime.session_on_desk
        async for event in events:
            self._published[event.action_id] = None
            while len(self._published) > MOST_PUBLISHED:
                del self._published[next(iter(self._published))]
            if event.terminal or is_phone:
                envelope = event.envelope.to_dict() if event.envelope else None
                fields: dict[str, Any] = {
                    "action_id": event.action_id,
                    "lifecycle_state": event.state,
                    "device": event.device,
                    "action_type": event.action_type,
                    "actor": {"kind": event.actor, "id": event.by} if event.actor else None,
                    "said": event.waits_for or None,
                    "bounds": event.bounds or None,
                }
                self._publish(fields, envelope)
            if is_phone:
                self._context.phones.on_event(session, event)

    def _publish(self, fields: dict[str, Any], envelope: dict[str, Any] | None) -> None:
        shown = slim_envelope(envelope) if envelope else None
        self._context.desk.publish("ENVELOPE", **fields, envelope=shown)

    def _new_rows(self) -> Iterator[ActionRow]:
        """Yields the newest first. Where nothing happened, only one row is read."""
        page, before = 1, None
        while True:
            rows = self._runtime.journal.actions(page, before)
            new = [row for row in rows if row.seq > self._seq]
            yield from new
            if len(new) < page:
                return
            page, before = PAGE, rows[-1].seq


def slim_envelope(envelope: dict[str, Any]) -> dict[str, Any]:
    """The envelope without pictures and with shortened texts: frames are kept for browsers that reconnect."""
    details = envelope.get("details")
    if not isinstance(details, dict):
        return envelope
    short = {
        name: detail[:_LONGEST] if isinstance(detail, str) else detail
        for name, detail in details.items()
        if name not in _PICTURES
    }
    return envelope | {"details": short}


class ConsoleMessages:
    """The desk's conversation, and what each agent is doing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._messages: deque[dict[str, Any]] = deque(maxlen=KEPT_MESSAGES)
        self._agents: dict[str, dict[str, Any]] = {}
        self._number = 0
        self.has_model = True
        """Whether a model answers what a person writes."""

    def add(
        self,
        speaker: str,
        text: str,
        id_: str | None = None,
        status: str | None = None,
        code: str | None = None,
    ) -> None:
        self._number += 1
        message = {"id": id_ or f"said-{self._number}", "from": speaker, "text": text, "at": self._now()}
        more = {"status": status, "code": code}
        self._messages.append(message | {name: field for name, field in more.items() if field})

    def on_publish(self, frame_type: str, published: Mapping[str, Any]) -> None:
        """Of the frames for every browser only agents' messages are kept. Publishers may write snake case."""
        if frame_type != STATUS_FRAME:
            return
        fields = {camel(name): field for name, field in published.items()}
        agent, status, text = fields["agentId"], fields["status"], fields.get("message")
        self._agents.pop(agent, None)
        self._agents[agent] = {"agentId": agent, "status": status, "message": text, "at": self._now()}
        while len(self._agents) > MOST_AGENTS:
            del self._agents[next(iter(self._agents))]
        if text:
            self.add(agent, text, status=status, code=fields.get("code"))

    def to_dict(self) -> dict[str, Any]:
        agents = list(self._agents.values())
        return {"messages": list(self._messages), "agents": agents, "hasModel": self.has_model}

    def _now(self) -> str:
        return iso_time(self._clock.now_ms())


@ROUTES("/api/console")
async def show_conversation(request: DeskRequest) -> JSON:
    """The last messages, oldest first, and what agents are doing."""
    return request.context.console.to_dict()
