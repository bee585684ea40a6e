"""uvicorn with deadlines for what clients send and a limit on their number.

A client has to send a head and a body in time, however busily it trickles. Answers may take as long as they
need. Signals are left to the program.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import h11
import uvicorn
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 5.0
"""From the opening of a line, or the first byte of a further request, to the end of the head."""
BODY_S = 20.0  # from the head to the end of the body
MOST_HEAD = 16_384  # bytes of a head: names, values and the query
MOST_CONNECTIONS = 500  # whoever comes beyond is hung up on; a process has some thousand files at most


class DoorServer(uvicorn.Server):
    """uvicorn without signal handlers: it would raise signals again after a clean end."""

    def stop(self) -> None:
        self.should_exit = True

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


def door_server(app: ASGIApp, **options: Any) -> DoorServer:
    """Passes `options` on to uvicorn."""
    shared = {
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "h11_max_incomplete_event_size": MOST_HEAD,
    }
    logging.getLogger("uvicorn.error").addFilter(_is_not_client_fault)
    return DoorServer(uvicorn.Config(HeadCheck(app), http=DeadlineProtocol, **{**shared, **options}))


def _is_not_client_fault(record: logging.LogRecord) -> bool:
    """Drops lines about what clients do wrong."""
    return not record.getMessage().startswith(("Invalid UTF-8", "ASGI callable returned without"))


class HeadCheck:
    """Refuses requests that servers read differently: with two lengths, or with very large heads."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [] if scope["type"] == "lifespan" else scope["headers"]
        app, names = self._app, {name for name, _ in headers}
        size = len(scope.get("query_string", b"")) + sum(len(n) + len(v) + 4 for n, v in headers)
        if b"content-length" in names and b"transfer-encoding" in names:
            app = _refuse_and_close(
                400, "TWO_LENGTHS", "Two lengths contradict each other.", "Send one of them."
            )
        elif size > MOST_HEAD:
            app = _refuse_and_close(
                431, "HEAD_TOO_LARGE", f"{size:,} bytes of head are too many.", "Send less."
            )
        with suppress(asyncio.CancelledError):  # only a server that ends does so: whoever waits is hung up on
            await app(scope, receive, send)


def _refuse_and_close(status: int, code: str, message: str, hint: str) -> JSONResponse:
    """Closes the connection: where the request ends is in doubt, so nothing after it is read."""
    error = {"code": code, "message": message, "hint": hint, "retryable": False}
    return JSONResponse(error, status, {"Connection": "close"})


class DeadlineProtocol(H11Protocol):
    """One connection. The next head or body of the client has one deadline, which single bytes do not
    move."""

    _awaited: str | None = None
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._set_deadline("head")

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update_deadline()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update_deadline()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._set_deadline(None)
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._set_deadline(None)
        super().connection_lost(exc)

    def _update_deadline(self) -> None:
        """Sets the deadline of what the client has to send now. uvicorn closes idle connections."""
        state = self.conn.their_state
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            self._set_deadline(None)
        elif state is h11.IDLE:
            self._set_deadline("head" if self.conn.trailing_data[0] else None)
        else:
            self._set_deadline("body" if state is h11.SEND_BODY else None)

    def _set_deadline(self, part: str | None) -> None:
        if part == self._awaited:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaited, self._deadline = part, None
        if part is not None:
            seconds = HEAD_S if part == "head" else BODY_S
            self._deadline = self.loop.call_later(seconds, self._on_deadline)

    def _on_deadline(self) -> None:
        """Answers 408 to a client that has sent something, if no answer has begun."""
        began = bool(self.conn.trailing_data[0]) or self._awaited == "body"
        if began and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [("connection", "close"), ("content-length", "0")]
            late = h11.Response(status_code=408, headers=headers, reason=b"Request Timeout")
            self.transport.write(self.conn.send(late) or b"")
        self.transport.close()
