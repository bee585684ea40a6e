"""Chrome DevTools Protocol: calls, sessions and events, over a pipe or a WebSocket."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Protocol

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as connect_websocket
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed, InvalidURI, WebSocketException
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from handrail.clock import Clock
from handrail.errors import BrowserCommandError, BrowserConnectionError, HandrailError, Timeout
from handrail.waiting import Background, Deadline, Expired

CALL_MS = 10_000.0
"""Default deadline of a call."""
Params = Mapping[str, Any]
Answer = dict[str, Any]
Handler = Callable[[Answer], object]

_log = logging.getLogger("handrail.cdp")


class CdpSession:
    """One target of a connection; the browser itself has the session without an id."""

    def __init__(self, connection: Connection, session_id: str = "", target_id: str = "") -> None:
        self.id = session_id
        self.target_id = target_id
        self._connection = connection
        self._handlers: dict[str, list[Handler]] = {}
        self.ended: HandrailError | None = None
        """Why calls are no longer possible: it crashed or was closed."""

    async def call(self, method: str, params: Params | None = None, *, timeout_ms: float = CALL_MS) -> Answer:
        """Raises `BrowserCommandError`, `BrowserConnectionError`, `Timeout`, or what ended the session."""
        return await self._connection.call(self, method, params or {}, timeout_ms)

    def on(self, method: str, handler: Handler) -> None:
        """`handler` receives the parameters of every such event."""
        self._handlers.setdefault(method, []).append(handler)

    def dispatch(self, method: str, params: Answer) -> None:
        for handler in self._handlers.get(method, ()):
            handler(params)

    def fail(self, error: HandrailError, *, for_good: bool = True) -> None:
        """Fails all pending calls; with `for_good`, also later ones."""
        if for_good:
            self.ended = error
        self._connection.fail(error, self.id)


class Connection:
    """One browser, one page of a phone, or the debugger of an app, which speaks alike."""

    common: ClassVar[Params] = {}
    """Fields of every message."""
    close_ms: ClassVar[float] = 10_000.0
    """A peer that accepts no more bytes for longer is left without a farewell."""

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
        """A session that the browser has announced."""
        created = self._sessions[session_id] = CdpSession(self, session_id, target_id)
        created.on("Target.detachedFromTarget", self._detached)
        return created

    def _detached(self, params: Answer) -> None:
        session = self._sessions.pop(str(params.get("sessionId")), None)
        if session is not None:
            session.fail(self.lost("The page is gone"))

    async def call(self, session: CdpSession, method: str, params: Params, timeout_ms: float) -> Answer:
        """See `CdpSession.call`."""
        if session.ended is not None:
            # The same failure for a call that was never sent.
            raise type(session.ended)(
                session.ended.message,
                hint=session.ended.hint,
                **{**session.ended.details, "delivery": "not_delivered"},
            )
        if self._closed:
            raise self.lost(self._closed, delivery="not_delivered")
        number = next(self._numbers)
        message: Answer = {**self.common, "id": number, "method": method, "params": params}
        if session.id:
            message["sessionId"] = session.id
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._pending[number] = (session.id, method, answer)
        try:
            async with Deadline(self._clock, timeout_ms):
                text = json.dumps(message, ensure_ascii=False)
                await self._wire.send(text.encode("utf-8", "surrogatepass"))
                return await answer
        except WireClosed as error:
            raise self.lost(str(error), delivery="not_delivered") from None
        except Expired:
            raise Timeout(
                f"The page did not answer {method} within {timeout_ms:g} ms",
                hint="A script of the page may keep it busy; look again later.",
                delivery="unknown",
            ) from None
        finally:
            self._pending.pop(number, None)
            if answer.done() and not answer.cancelled():
                answer.exception()  # marks it as retrieved

    async def _read(self) -> None:
        why = "the browser has ended"
        try:
            while True:
                self._take(await self._wire.receive())
        except WireClosed as error:
            why = str(error)
        except ValueError as error:
            why = f"the browser's message does not parse: {error}"
        finally:
            self._end(why)

    def _end(self, why: str) -> None:
        self._closed = self._closed or why
        for session in list(self._sessions.values()):
            session.dispatch("closed", {"why": why})
        self.fail(self.lost(why), None)

    def _take(self, data: bytes) -> None:
        message = json.loads(data.decode("utf-8", "replace"))
        if not isinstance(message, dict):
            raise ValueError("a message is an object")
        if "id" in message:
            _, method, answer = self._pending.get(message["id"], ("", "", None))
            if answer is not None and not answer.done():
                if "error" in message:
                    answer.set_exception(self.refused(method, message["error"]))
                else:
                    fields = message.get("result")
                    answer.set_result(fields if isinstance(fields, dict) else {})
            return
        session = self._sessions.get(message.get("sessionId", ""))
        if session is None:
            return
        try:
            session.dispatch(str(message.get("method")), message.get("params") or {})
        except Exception:  # one bad event must not stop the reader
            _log.exception("an event of the browser could not be handled")

    def fail(self, error: HandrailError, session: str | None) -> None:
        """Fails pending calls of one session, or of all."""
        for method, _, answer in list(self._pending.values()):
            if not answer.done() and session in (None, method):
                answer.set_exception(type(error)(error.message, hint=error.hint, **error.details))

    async def close(self) -> None:
        self._closed = self._closed or "the connection was closed"
        with suppress(Expired):
            async with Deadline(self._clock, self.close_ms):
                await self._wire.close()
        await self._tasks.close()
        self._end(self._closed)

    def lost(self, why: str, delivery: str = "unknown") -> HandrailError:
        return BrowserConnectionError(f"The browser can't be reached: {why}", delivery=delivery)

    def refused(self, method: str, error: Any) -> HandrailError:
        reason = error.get("message", "no reason") if isinstance(error, dict) else error
        return BrowserCommandError(f"{method}: {reason}", method=method, delivery="not_delivered")


MOST_BYTES = 64 * 1024 * 1024
"""Of one message. A screenshot of a large screen needs less than a quarter."""
OPEN_S = 10.0


class WireClosed(Exception):
    """The wire is closed; the text says why."""


class Wire(Protocol):
    """A transport of messages to one browser."""

    async def send(self, message: bytes) -> None:
        """Waits while the browser reads slowly. Raises `WireClosed`."""

    async def receive(self) -> bytes:
        """The next complete message. Raises `WireClosed`."""

    async def close(self) -> None: ...


class PipeWire:
    """Messages that end in a zero byte, over two pipes of a browser that we started."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """`reader` has `MOST_BYTES` as its limit."""
        self._reader = reader
        self._writer = writer

    async def send(self, message: bytes) -> None:
        try:
            self._writer.write(message + b"\0")
            await self._writer.drain()
        except (OSError, RuntimeError) as error:
            raise WireClosed(f"the browser closed its pipe: {error}") from None

    async def receive(self) -> bytes:
        try:
            return (await self._reader.readuntil(b"\0"))[:-1]
        except asyncio.IncompleteReadError:
            raise WireClosed("the browser has ended") from None
        except asyncio.LimitOverrunError:
            raise WireClosed(f"a message of the browser is longer than {MOST_BYTES:,} bytes") from None
        except OSError as error:
            raise WireClosed(f"the pipe of the browser broke: {error}") from None

    async def close(self) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()


class SocketWire:
    """A WebSocket to a browser that somebody else started."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    @classmethod
    async def open(cls, url: str) -> SocketWire:
        """Sends no Origin, because browsers refuse those of web pages. Raises `BrowserConnectionError`."""
        try:
            socket = await connect_websocket(
                url,
                max_size=MOST_BYTES,
                compression=None,
                proxy=None,
                open_timeout=OPEN_S,
                ping_interval=None,
            )
        except (OSError, TimeoutError, WebSocketException, ValueError) as error:
            raise BrowserConnectionError(f"No browser answers at {url}: {error}") from None
        return cls(socket)

    async def send(self, message: bytes) -> None:
        try:
            await self._socket.send(message, text=True)
        except ConnectionClosed as error:
            raise WireClosed(f"the connection to the browser is closed: {error}") from None

    async def receive(self) -> bytes:
        try:
            return await self._socket.recv(decode=False)
        except ConnectionClosed as error:
            raise WireClosed(f"the connection to the browser is closed: {error}") from None

    async def close(self) -> None:
        await self._socket.close()


class ByteStream(Protocol):
    """A connected stream of bytes, such as a tunnel to a phone."""

    async def read(self) -> bytes:
        """b"" at the end."""

    async def write(self, data: bytes) -> None: ...

    async def close(self) -> None: ...


class StreamWire:
    """A WebSocket inside a byte stream: the library implements the protocol, the stream carries it."""

    def __init__(self, stream: ByteStream, protocol: ClientProtocol) -> None:
        self._stream = stream
        self._protocol = protocol
        self._parts: list[bytes] = []
        self._complete: list[bytes] = []
        self._writing = asyncio.Lock()

    @classmethod
    async def open(cls, stream: ByteStream, url: str, most_bytes: int = MOST_BYTES) -> StreamWire:
        """The caller sets the deadline, and closes the stream after a failure. Raises `WireClosed`."""
        try:
            protocol = ClientProtocol(parse_uri(url), max_size=most_bytes)
        except InvalidURI as error:
            raise WireClosed(f"{url[:120]!r} is not a WebSocket address: {error}") from None
        wire = cls(stream, protocol)
        protocol.send_request(protocol.connect())
        await wire._flush()
        while protocol.state is State.CONNECTING and protocol.handshake_exc is None:
            await wire._more()
        if protocol.handshake_exc is not None:
            raise WireClosed(f"the WebSocket was not opened: {protocol.handshake_exc}")
        return wire

    async def send(self, message: bytes) -> None:
        try:
            self._protocol.send_text(message)
        except WebSocketException as error:
            raise WireClosed(f"the WebSocket is closed: {error}") from None
        await self._flush()

    async def receive(self) -> bytes:
        while not self._complete:
            if self._protocol.state is not State.OPEN:
                why = self._protocol.parser_exc or self._protocol.close_rcvd
                raise WireClosed(f"the WebSocket ended: {why}")
            await self._more()
        return self._complete.pop(0)

    async def close(self) -> None:
        """Does not wait for the answer."""
        try:
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(1000)
                await self._flush()
        except WireClosed:
            pass
        finally:
            await self._stream.close()

    async def _more(self) -> None:
        """Reads complete messages; pings are answered."""
        try:
            data = await self._stream.read()
        except (HandrailError, OSError) as error:
            raise WireClosed(f"the stream broke: {error}") from None
        if not data:
            raise WireClosed("the other side hung up")
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take(event)
        await self._flush()

    def _take(self, frame: Frame) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            self._parts.append(bytes(frame.data))
            if frame.fin:
                self._complete.append(b"".join(self._parts))
                self._parts.clear()

    async def _flush(self) -> None:
        async with self._writing:  # frames of two senders must not interleave
            for data in self._protocol.data_to_send():
                if data:
                    try:
                        await self._stream.write(data)
                    except (HandrailError, OSError) as error:
                        raise WireClosed(f"the stream broke: {error}") from None
