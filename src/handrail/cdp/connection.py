"""Calls and their answers over one wire, and a session for each target on it.

A call ends by its answer, its deadline, its caller's cancellation, the end of its session or of the wire:
nothing waits for ever. Events are handled in the order in which they come, before the next message is read,
so that no queue grows; a handler must not wait. Errors say by `delivery` whether the browser may have acted.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from handrail.cdp.wire import Wire, WireClosed
from handrail.clock import Clock
from handrail.errors import BrowserCommandError, BrowserConnectionError, HandrailError, Timeout
from handrail.waiting import Background, Deadline, Expired

CALL_MS = 10_000.0
"""For a call that names no deadline of its own."""
Params = Mapping[str, Any]
Answer = dict[str, Any]
Handler = Callable[[Answer], None]

_log = logging.getLogger("handrail.cdp")


class CdpSession:
    """One target of a connection; the browser itself has the session without an id."""

    def __init__(self, connection: Connection, session_id: str = "", target_id: str = "") -> None:
        self.id = session_id
        self.target_id = target_id
        self._connection = connection
        self._handlers: dict[str, list[Handler]] = {}
        self.ended: HandrailError | None = None
        """Why nothing can be asked any more: it crashed, or it is gone."""

    async def call(self, method: str, params: Params | None = None, *, timeout_ms: float = CALL_MS) -> Answer:
        """The answer. Raises `BrowserCommandError`, `BrowserConnectionError`, `Timeout`, or what ended it."""
        return await self._connection.call(self, method, params or {}, timeout_ms)

    def on(self, method: str, handler: Handler) -> None:
        """Called with the parameters of every such event."""
        self._handlers.setdefault(method, []).append(handler)

    def heard(self, method: str, params: Answer) -> None:
        """An event has come."""
        for handler in self._handlers.get(method, ()):
            handler(params)

    def fail(self, error: HandrailError, *, for_good: bool = True) -> None:
        """All that is being waited for fails now; with `for_good`, also what is asked later."""
        if for_good:
            self.ended = error
        self._connection.fail(error, self.id)


class Connection:
    """One browser, or one page of a phone."""

    def __init__(self, wire: Wire, clock: Clock) -> None:
        self._wire = wire
        self._clock = clock
        self._numbers = itertools.count(1)
        self._pending: dict[int, tuple[str, str, asyncio.Future[Answer]]] = {}
        self._sessions: dict[str, CdpSession] = {}
        self._closed: str = ""
        self._tasks = Background()
        self.root = CdpSession(self)
        """The browser itself."""
        self.root.on("Target.detachedFromTarget", self._detached)
        self._sessions[""] = self.root
        self._tasks.start(self._read(), "browser messages")

    @property
    def is_open(self) -> bool:
        return not self._closed

    def session(self, session_id: str, target_id: str) -> CdpSession:
        """The session that the browser has announced under this id."""
        made = self._sessions[session_id] = CdpSession(self, session_id, target_id)
        made.on("Target.detachedFromTarget", self._detached)
        return made

    def _detached(self, params: Answer) -> None:
        gone = self._sessions.pop(str(params.get("sessionId")), None)
        if gone is not None:
            gone.fail(_lost("The page is gone"))

    async def call(self, session: CdpSession, method: str, params: Params, timeout_ms: float) -> Answer:
        """See `CdpSession.call`."""
        if session.ended is not None:
            raise _refused(session.ended)
        if self._closed:
            raise _lost(self._closed, delivery="not_delivered")
        number = next(self._numbers)
        message: Answer = {"id": number, "method": method, "params": params}
        if session.id:
            message["sessionId"] = session.id
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._pending[number] = (session.id, method, answer)
        try:
            async with Deadline(self._clock, timeout_ms):
                await self._send(message)
                return await answer
        except Expired:
            raise Timeout(
                f"The page did not answer {method} within {timeout_ms:g} ms",
                hint="A script of the page may keep it busy; look again later.",
                delivery="unknown",
            ) from None
        finally:
            self._pending.pop(number, None)
            if answer.done() and not answer.cancelled():
                answer.exception()  # heard here, or by nobody

    async def _send(self, message: Answer) -> None:
        try:
            await self._wire.send(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        except WireClosed as error:
            raise _lost(str(error), delivery="not_delivered") from None

    async def _read(self) -> None:
        why = "the browser has ended"
        try:
            while True:
                self._take(await self._wire.receive())
        except WireClosed as error:
            why = str(error)
        except ValueError as error:
            why = f"the browser sent what is no message: {error}"
        finally:
            self._end(why)

    def _end(self, why: str) -> None:
        self._closed = self._closed or why
        for session in list(self._sessions.values()):
            session.heard("closed", {"why": why})
        self.fail(_lost(why), None)

    def _take(self, data: bytes) -> None:
        message = json.loads(data)
        if not isinstance(message, dict):
            raise ValueError("a message is an object")
        if "id" in message:
            self._answered(message)
            return
        session = self._sessions.get(message.get("sessionId", ""))
        if session is None:
            return
        try:
            session.heard(str(message.get("method")), message.get("params") or {})
        except Exception:  # one bad event must not deafen everybody
            _log.exception("an event of the browser could not be handled")

    def _answered(self, message: Answer) -> None:
        _, method, answer = self._pending.get(message["id"], ("", "", None))
        if answer is None or answer.done():
            return
        if "error" in message:
            said = message["error"].get("message", "no reason")
            answer.set_exception(
                BrowserCommandError(f"{method}: {said}", method=method, delivery="not_delivered")
            )
        else:
            answer.set_result(message.get("result") or {})

    def fail(self, error: HandrailError, session: str | None) -> None:
        """Ends what is pending: of one session, or of all."""
        for asked, _, answer in list(self._pending.values()):
            if not answer.done() and session in (None, asked):
                answer.set_exception(type(error)(error.message, hint=error.hint, **error.details))

    async def close(self) -> None:
        self._closed = self._closed or "the connection was closed"
        await self._wire.close()
        await self._tasks.close()
        self._end(self._closed)


def _lost(why: str, delivery: str = "unknown") -> BrowserConnectionError:
    return BrowserConnectionError(f"The browser can't be reached: {why}", delivery=delivery)


def _refused(error: HandrailError) -> HandrailError:
    """The same failure, of a call that was never sent."""
    return type(error)(error.message, hint=error.hint, **{**error.details, "delivery": "not_delivered"})
