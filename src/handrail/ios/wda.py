"""WebDriverAgent: one request at a time to one iPhone, its session, and what its errors mean for an input.

WebDriverAgent does everything on one queue of the phone, `/status` too, so requests never overlap. It has one
session, which ends when anybody opens another one.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from handrail.clock import Clock
from handrail.errors import (
    DeviceBusy,
    DeviceError,
    HandrailError,
    IosCommandError,
    IosConnectionError,
    Timeout,
    Unsupported,
)
from handrail.http_exchange import HttpAnswer, HttpExchange, NotHttp
from handrail.protocol.envelope import Delivery
from handrail.waiting import Deadline, Expired

STATUS_MS, INPUT_MS, READ_MS = 5_000.0, 30_000.0, 20_000.0
LOOK_MS = 90_000.0
"""Large trees take half a minute; XCTest itself gives up after a minute."""
KEPT_LINES = 100
_MESSAGE = 300
"""Characters of WebDriverAgent's own message in an error."""
_CHUNK = 1 << 16
CAPABILITIES = {
    "shouldWaitForQuiescence": False,
    "waitForIdleTimeout": 0,
    "shouldTerminateApp": False,
    "disableAutomaticScreenshots": True,
}
"""Without `bundleId` no app is started, restarted or ended; without `defaultAlertAction` none is answered."""
SETTINGS = {"waitForIdleTimeout": 0, "animationCoolOffTimeout": 0, "respectSystemAlerts": True}
_NOT_DELIVERED = frozenset(
    {
        "invalid session id", "unknown command", "unknown method", "invalid argument", "invalid selector",
        "invalid coordinates", "element not visible", "element not interactable", "no such element",
        "stale element reference", "no such alert", "unsupported operation",
    }
)  # fmt: skip
"""Errors that WebDriverAgent answers before it touches anything. After every other one it may have."""
_MISSING = frozenset({"unknown command", "unknown method", "unsupported operation"})
_OLD_STATUS = {
    "6": "invalid session id", "7": "no such element", "9": "unknown command", "11": "element not visible",
    "10": "stale element reference", "21": "timeout", "27": "no such alert", "32": "invalid selector",
}  # fmt: skip
"""WebDriverAgent before 2019 answered 200 with a number of the JSON wire protocol beside the value."""


@contextmanager
def mark_delivery(delivery: Delivery) -> Iterator[None]:
    """Errors inside the block get this delivery: what fails before or after an input says nothing of it."""
    try:
        yield
    except HandrailError as error:
        error.details["delivery"] = delivery
        raise


Dial = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class _Connection:
    """A connection stays open between requests."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.exchange = HttpExchange(keep_alive=True)

    @property
    def is_open(self) -> bool:
        return not self._reader.at_eof() and not self._writer.is_closing()

    async def read(self) -> bytes:
        return await self._reader.read(_CHUNK)

    async def write(self, data: bytes, /) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()


class Wda:
    """The client of one iPhone. `dial` opens a connection to its WebDriverAgent."""

    def __init__(self, dial: Dial, clock: Clock, name: str) -> None:
        self._dial = dial
        self._clock = clock
        self.name = name
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        """What a person should know, for the surface's diagnostics."""
        self.session = ""
        """Ours; "" before it is opened and after it has ended."""
        self._lost = ""
        """Our session that has ended although we did not end it."""
        self._current = ""
        self._turn = asyncio.Lock()
        self._pipe: _Connection | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a request is on its way: whoever asks now waits for it."""
        return self._turn.locked()

    async def close(self) -> None:
        """Ends our session: the app in front stays as it is."""
        if self.session and self._pipe is not None:
            try:
                await self._request("DELETE", f"/session/{self.session}", None, STATUS_MS)
            except HandrailError as error:
                self.lines.append(f"session: not ended: {error.message}")
        self._drop()

    async def status(self, timeout_ms: float = STATUS_MS) -> dict[str, Any]:
        """What WebDriverAgent tells of itself without asking the phone; `sessionId` is whosever session."""
        answer = await self._request("GET", "/status", None, timeout_ms)
        value = answer.get("value")
        return {**(value if isinstance(value, dict) else {}), "sessionId": answer.get("sessionId")}

    async def get(self, path: str, *, timeout_ms: float = READ_MS) -> Any:
        """A read that needs no session. It is repeated once where the connection was lost."""
        try:
            return (await self._request("GET", path, None, timeout_ms)).get("value")
        except IosConnectionError:
            return (await self._request("GET", path, None, timeout_ms)).get("value")

    async def post(self, path: str, body: Mapping[str, Any], *, timeout_ms: float = INPUT_MS) -> Any:
        """An input whose address has no session, sent once."""
        return (await self._request("POST", path, body, timeout_ms)).get("value")

    async def read(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """A read in our session: where it has ended, a new one is opened, once."""
        method = "GET" if body is None else "POST"
        for is_last in (False, True):
            session = self.session or await self.open_session()
            try:
                return (await self._request(method, f"/session/{session}{path}", body, READ_MS)).get("value")
            except DeviceError as error:
                if error.details.get("error") != "invalid session id" or is_last:
                    raise
                self._forget_session()
        raise AssertionError  # the second round returns or raises

    async def send(self, path: str, body: Mapping[str, Any], *, timeout_ms: float = INPUT_MS) -> Any:
        """An input in our session, sent once. Errors tell its delivery."""
        with mark_delivery("not_delivered"):
            session = self.session or await self.open_session()
        try:
            return (await self._request("POST", f"/session/{session}{path}", body, timeout_ms)).get("value")
        except DeviceError as error:
            if error.details.get("error") != "invalid session id":
                raise
            self._forget_session()
            with mark_delivery("not_delivered"):
                await self._refuse_if_taken()
            raise IosCommandError(
                "The session of WebDriverAgent had ended, so nothing was sent",
                hint="Send it again: the next action opens a new session.",
                retryable=True,
                command=path,
                delivery="not_delivered",
            ) from None

    async def open_session(self) -> str:
        """Opens our session. Raises `DeviceBusy` where another program has ended ours and has its own now."""
        if self._lost:
            await self._refuse_if_taken()
        other = (await self.status()).get("sessionId")
        if other and other != self.session:
            self.lines.append(f"session: that of another program was ended, {str(other)[:40]}")
        answer = await self._request(
            "POST", "/session", {"capabilities": {"alwaysMatch": CAPABILITIES}}, INPUT_MS
        )
        value = answer.get("value")
        session = value.get("sessionId") if isinstance(value, dict) else None
        session = session or answer.get("sessionId")
        if not isinstance(session, str) or not session or quote(session, safe="") != session:
            raise IosCommandError(
                "WebDriverAgent opened no session", command="/session", delivery="not_delivered"
            )
        self.session = self._current = session
        self._lost = ""
        await self.configure(SETTINGS)
        return session

    async def configure(self, settings: Mapping[str, Any]) -> None:
        """Settings that this WebDriverAgent does not have are left alone."""
        try:
            await self._request(
                "POST", f"/session/{self.session}/appium/settings", {"settings": dict(settings)}, READ_MS
            )
        except (Unsupported, IosCommandError) as error:
            self.lines.append(f"settings: {error.message}")

    def _forget_session(self) -> None:
        self._lost, self.session = self.session, ""

    async def _refuse_if_taken(self) -> None:
        """Two programs that open sessions in turns would end each other's work."""
        other = (await self.status()).get("sessionId")
        if other and other != self._lost:
            self.lines.append("session: another program has opened its own and ended ours")
            raise DeviceBusy(
                "Another program works with WebDriverAgent on this iPhone and has ended Handrail's session",
                hint="End the other program (Appium, another Handrail), or its session, then act again.",
                device=self.name,
                session=str(other)[:40],
                delivery="not_delivered",
            )

    async def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None, timeout_ms: float
    ) -> dict[str, Any]:
        data = b"" if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        what = f"{method} {path.replace(self.session, 'ID') if self.session else path}"
        async with self._turn:
            delivery = "not_delivered"
            try:
                async with Deadline(self._clock, timeout_ms):
                    pipe = await self._connected()
                    request = pipe.exchange.request(method, path, "localhost", data)
                    delivery = "unknown"
                    await pipe.write(request)
                    answer = await pipe.exchange.answer(pipe)
            except Expired:
                self._drop()
                raise self._silent(what, timeout_ms, delivery) from None
            except (OSError, NotHttp) as error:
                self._drop()
                raise IosConnectionError(
                    f"{what}: the connection to WebDriverAgent broke: {error}",
                    hint="Look again; if it stays so, start WebDriverAgent again.",
                    delivery=delivery,
                ) from None
            except BaseException:
                self._drop()
                raise
            if not pipe.exchange.renew():
                self._drop()
        document = _decoded(answer, what)
        self._current = document.get("sessionId") or self._current
        return document

    @property
    def is_taken(self) -> bool:
        """Whether the last answer named another program's session: its settings hold then, not ours."""
        return bool(self.session) and self._current not in ("", self.session)

    async def _connected(self) -> _Connection:
        if self._pipe is None or not self._pipe.is_open:
            self._drop()
            self._pipe = _Connection(*await self._dial())
        return self._pipe

    def _drop(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None

    @staticmethod
    def _silent(what: str, timeout_ms: float, delivery: str) -> Timeout:
        return Timeout(
            f"{what}: WebDriverAgent did not answer within {timeout_ms / 1000:g} s",
            hint="It may hang: `handrail doctor` asks it, and starting it again helps.",
            retryable=delivery == "not_delivered",
            delivery=delivery,
        )


def _decoded(answer: HttpAnswer, what: str) -> dict[str, Any]:
    """The answer as data. Raises what WebDriverAgent's error means."""
    try:
        document = json.loads(answer.body.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or "value" not in document:
        raise IosConnectionError(
            f"{what}: the answer, HTTP {answer.status}, is not WebDriver JSON",
            hint="Another program may listen there: `handrail doctor` shows it.",
            delivery="unknown",
        )
    value, old = document["value"], document.get("status", 0)
    details = value if isinstance(value, dict) else {"message": value}
    message = str(details.get("message") or f"HTTP {answer.status}, status {old}")
    if details.get("error") is not None:
        raise failure(what, str(details["error"]), message)
    if str(old) != "0" or not 200 <= answer.status < 300:
        raise failure(what, _OLD_STATUS.get(str(old), "unknown error"), message)
    return document


def failure(what: str, error: str, message: str) -> HandrailError:
    """What one of WebDriverAgent's errors means: whether anything can have arrived, and what to do."""
    delivery = "not_delivered" if error in _NOT_DELIVERED else "unknown"
    says = f"{what}: {message[:_MESSAGE]}"
    if error in _MISSING:
        hint = "A newer WebDriverAgent or iOS may have it: docs/devices.md."
        return Unsupported(says, hint=hint, error=error, delivery=delivery)
    if error == "timeout":
        return Timeout(says, retryable=False, error=error, delivery=delivery)
    return IosCommandError(says, command=what, error=error, delivery=delivery)
