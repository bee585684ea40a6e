"""`/ws`: the desk's frames to one client, and its own back, no faster than `Pace` allows.

A client that is slow or wrong harms only itself.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from typing import Any

from pydantic import ValidationError
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from handrail.clock import Clock
from handrail.errors import ERRORS, ActionRejected, HandrailError, InvalidAction
from handrail.http import phone
from handrail.http.activity import PERSON as SPEAKER
from handrail.http.approvals import DIALOG
from handrail.http.auth import Visitor
from handrail.http.context import Context
from handrail.http.guard import address_of
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
from handrail.protocol.read import invalid_action, read_json
from handrail.waiting import first

MOST_TEXT = 1_048_576
"""Bytes of a frame; only a picture that was asked for may be larger."""
MOST_BAD = 10
SEND_S = 30.0
"""A client that takes nothing for so long is gone."""
FAREWELL_S = 1.0
HELLO_S = 5.0
"""A page has so long for its first frame."""
NOT_LOGGED_IN = 4401
"""Close code: no token, or one that is not known here."""
FRAMES_PER_SECOND = 200.0
"""A browser that drags sends sixty."""
BURST = 400.0


class DeskConnection:
    """One client, from its joining to its end."""

    def __init__(self, websocket: WebSocket, context: Context, visitor: Visitor, since: int | None) -> None:
        self._websocket = websocket
        self._context = context
        self._visitor = visitor
        self._pace = Pace(context.runtime.clock)
        self._bad = 0
        self._farewell = (1001, "")
        """Code of RFC 6455, and why."""
        self._since = since
        self._client = context.desk.join(f"ws-{secrets.token_hex(6)}", self._since)

    async def run(self) -> None:
        """Ends when either side does; the other is told, if it still listens."""
        self._context.on_log_out.append(self._hang_up)
        try:
            ways = await first(self._read(), self._send())
        finally:
            self._context.on_log_out.remove(self._hang_up)
            self._context.phones.leave(self._client)
            self._client.close()
        for way in ways:
            _raise_unforeseen(way)
        with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):  # RuntimeError: it is closed already
            async with asyncio.timeout(FAREWELL_S):
                await self._websocket.close(*self._farewell)

    def _hang_up(self, login: str) -> None:
        """Somebody has revoked a device."""
        if self._visitor.page == login:
            self._farewell = (NOT_LOGGED_IN, "this device was revoked")
            self._client.close()

    # to the client

    async def _send(self) -> None:
        """Until the desk sends this client away, or it takes nothing any more."""
        while not self._client.is_closed:
            async for frame in self._client:
                async with asyncio.timeout(SEND_S):
                    if isinstance(frame, str):
                        await self._websocket.send_text(frame)
                    else:
                        await self._websocket.send_bytes(frame)

    def _tell(self, error: HandrailError) -> None:
        path = str(error.details.get("path", ""))
        told = {"code": error.code, "path": path, "message": error.message, "hint": error.hint}
        self._context.desk.send(self._client, "ERROR", **told)

    # from the client

    async def _read(self) -> None:
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            if text is not None and self._is_too_big(text):
                self._farewell = (1009, "the frame is too large")
                return
            await self._take(text)
            if self._bad >= MOST_BAD:
                self._farewell = (1008, "too many bad frames")
                return

    async def _take(self, text: str | None) -> None:
        """What is no frame counts against the client; what can't be done just now does not."""
        try:
            frame = self._frame(text)
        except InvalidAction as error:
            self._bad += 1
            self._tell(error)
            return
        try:
            await self._handle(frame)
        except HandrailError as error:
            self._tell(error)

    def _is_too_big(self, text: str) -> bool:
        return len(text) > MOST_TEXT and not self._context.desk.awaits_capture(self._client)

    def _frame(self, text: str | None) -> Any:
        if not self._pace.allows():
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
            self._greet(frame)
        elif isinstance(frame, UserInteraction) and not visitor.is_person:
            await self._act(frame)
        elif not visitor.is_person:
            raise ActionRejected(
                f"{frame.type} is for people; {visitor.name!r} came with a program's token",
                hint="Send USER_INTERACTION, or open the desk in a browser.",
            )
        elif isinstance(frame, DialogFeedback) and frame.dialog_id.startswith(DIALOG):
            await context.approvals.hear(frame, visitor)
        elif isinstance(frame, PhoneInput):
            await phone.handle(context, self._client, frame, visitor.caller())
        elif isinstance(frame, Interrupt):
            await context.interrupt(visitor)
        else:
            if isinstance(frame, UserMessage):
                context.console.said(SPEAKER, frame.content, frame.message_id)
            await context.desk.interact(self._client, frame)

    async def _act(self, frame: UserInteraction) -> None:
        """A program's actions go through the engine; how they end is told to all, a failure also to it."""
        desk = self._context.runtime.desk_session()
        for one in await desk.run_all(frame.interactions, caller=self._visitor.caller("ws")):
            if not one.success:
                kind = ERRORS.get(one.failure_code or "", HandrailError)
                self._tell(kind(one.message or "", hint=one.hint, **(one.details or {})))

    def _greet(self, frame: Hello) -> None:
        """A client that could not name its last number in the address may do it now."""
        if self._since is not None or frame.since is None:
            return
        self._since = frame.since
        before, self._client = self._client, self._context.desk.join(self._client.id, frame.since)
        before.close()


def _raise_unforeseen(way: asyncio.Task[None]) -> None:
    """The other side may leave or take nothing; anything else is a mistake of ours, for the log."""
    error = None if way.cancelled() else way.exception()
    if error is not None and not isinstance(error, TimeoutError | WebSocketDisconnect):
        raise error


def _since(given: str | None) -> int | None:
    return int(given) if given and given.isascii() and given.isdecimal() and len(given) < 16 else None


async def socket(websocket: WebSocket) -> None:
    """The desk, live: frames both ways."""
    await websocket.accept()
    context: Context = websocket.app.state.context
    visitor, since = websocket.state.visitor, _since(websocket.query_params.get("since"))
    with suppress(WebSocketDisconnect):
        if visitor is None:
            hello = await _hello(websocket)
            visitor = _behind(hello, websocket, context)
            since = since if since is not None or hello is None else hello.since
        if visitor is None:
            await websocket.close(NOT_LOGGED_IN, "log in first")
        else:
            await DeskConnection(websocket, context, visitor, since).run()


async def _hello(websocket: WebSocket) -> Hello | None:
    """A page says who it is in its first frame; browsers add nothing to a socket that would be believed."""
    try:
        async with asyncio.timeout(HELLO_S):
            message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message["code"])
        frame = CLIENT_MESSAGE.validate_json(message.get("text") or "")
    except (TimeoutError, ValidationError):
        return None
    return frame if isinstance(frame, Hello) else None


def _behind(hello: Hello | None, websocket: WebSocket, context: Context) -> Visitor | None:
    if hello is None or hello.token is None:
        return None
    found = context.auth.page(hello.token, websocket.headers, address_of(websocket.scope))
    return found if isinstance(found, Visitor) else None


class Pace:
    """One client's bucket."""

    def __init__(self, clock: Clock, rate: float = FRAMES_PER_SECOND, burst: float = BURST) -> None:
        self._clock = clock
        self._rate = rate / 1000
        self._burst = burst
        self._left = burst
        self._at = clock.monotonic_ms()

    def allows(self) -> bool:
        """Whether one more is in order."""
        now = self._clock.monotonic_ms()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


ROUTES = [WebSocketRoute("/ws", socket)]
