"""The HTTP helper's routes, one method each, over an adb stream to the port it has on the phone."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any
from urllib.parse import urlencode

from handrail.android.constants import HELPER_PORT, HELPER_PROTOCOL_VERSION, HELPER_STARTUP_TIMEOUT_MS
from handrail.android.helper.answers import (
    FrameworkInfo,
    HelperStatus,
    read_framework,
    read_idle,
    read_status,
)
from handrail.android.http_over_adb import HttpAnswer, HttpPort, Opens
from handrail.clock import Clock
from handrail.errors import AdbCommandError, HandrailError, Timeout, Unsupported
from handrail.surface.values import IdleResult

CALL_TIMEOUT_MS = 10_000
SCREENSHOT_TIMEOUT_MS = 20_000
STATUS_TIMEOUT_MS = 1_000
IDLE_GRACE_MS = 5_000
"""On top of the time that `/wait-idle` itself is given."""
STOP_TIMEOUT_MS = 2_000
PNG_MAGIC = b"\x89PNG"
POLL_MS = 250
BEFORE_INPUT = ("NOT_FOUND", "JSONException")
"""Refusals that the helper makes before it touches anything."""


class HelperClient:
    """Speaks to one helper. It is stateless: a helper that was started again is the same to it."""

    def __init__(self, device: Opens, clock: Clock, *, timeout_ms: float = CALL_TIMEOUT_MS) -> None:
        self._http = HttpPort(device, HELPER_PORT, clock)
        self._clock = clock
        self._timeout_ms = timeout_ms

    async def status(self, timeout_ms: float = STATUS_TIMEOUT_MS) -> HelperStatus | None:
        """None while nothing answers."""
        try:
            return read_status(await self._get("/status", timeout_ms))
        except HandrailError:
            return None

    async def wait_for_ready(
        self,
        timeout_ms: float = HELPER_STARTUP_TIMEOUT_MS,
        expected_protocol_version: int = HELPER_PROTOCOL_VERSION,
    ) -> HelperStatus:
        """The first answer of `/status`. `Unsupported` at once when it speaks another protocol."""
        end = self._clock.monotonic_ms() + timeout_ms
        while True:
            left = end - self._clock.monotonic_ms()
            status = await self.status(min(STATUS_TIMEOUT_MS, max(1.0, left)))
            if status is not None and status.ok:
                return check_protocol(status, expected_protocol_version)
            if self._clock.monotonic_ms() + POLL_MS >= end:
                raise Timeout(f"the helper was not ready within {timeout_ms:.0f} ms")
            await self._clock.sleep_ms(POLL_MS)

    async def tree(self, *, compact: bool = False, package: str = "") -> bytes:
        """The active window's tree, in the helper's JSON."""
        query = {"compact": "1"} if compact else {}
        answer = await self._ask_get("/tree", self._timeout_ms, **query, **_about(package))
        _object(answer, "/tree")
        return answer.body

    async def framework(self, package: str = "") -> FrameworkInfo:
        return read_framework(await self._get("/framework", self._timeout_ms, **_about(package)))

    async def wait_idle(self, timeout_ms: float = 10_000, *, package: str = "") -> IdleResult:
        """Until no accessibility event came for a moment; `idle` is false when the time was up before."""
        query = {"timeoutMs": f"{timeout_ms:.0f}", **_about(package)}
        return read_idle(await self._get("/wait-idle", timeout_ms + IDLE_GRACE_MS, **query))

    async def screenshot(self) -> bytes:
        """PNG; an answer without one is an error."""
        told = await self._get("/screenshot", SCREENSHOT_TIMEOUT_MS)
        try:
            picture = b64decode(str(told.get("base64", "")))
        except ValueError:
            picture = b""
        if not picture.startswith(PNG_MAGIC):
            raise AdbCommandError("the helper got no picture of this screen", command="/screenshot")
        return picture

    async def tap(self, x: int, y: int) -> None:
        await self._post("/tap", x=x, y=y)

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        await self._post("/swipe", duration_ms, x1=x1, y1=y1, x2=x2, y2=y2, durationMs=duration_ms)

    async def long_press(self, x: int, y: int, duration_ms: int) -> None:
        await self._post("/long-press", duration_ms, x=x, y=y, durationMs=duration_ms)

    async def key(self, code: int) -> None:
        await self._post("/key", keycode=code)

    async def text(self, text: str) -> None:
        """Key events. What has no key on a keyboard is dropped by the phone without a word."""
        await self._post("/text", text=text)

    async def shutdown(self) -> None:
        await self._http.post("/shutdown", b"{}", timeout_ms=STOP_TIMEOUT_MS)

    async def _get(self, path: str, timeout_ms: float, **query: str) -> dict[str, Any]:
        return _object(await self._ask_get(path, timeout_ms, **query), path)

    async def _ask_get(self, path: str, timeout_ms: float, **query: str) -> HttpAnswer:
        where = f"{path}?{urlencode(query)}" if query else path
        return await self._http.get(where, timeout_ms=timeout_ms)

    async def _post(self, path: str, lasts_ms: float = 0, **fields: Any) -> None:
        body = json.dumps(fields).encode()
        _object(await self._http.post(path, body, timeout_ms=self._timeout_ms + lasts_ms), path)


def check_protocol(status: HelperStatus, expected: int) -> HelperStatus:
    """The status itself, if this client can speak to that helper."""
    if status.protocol_version != expected:
        reason = f"the helper {status.version} speaks protocol {status.protocol_version}, not {expected}"
        raise Unsupported(reason, hint="Put helper APKs of the right version into HANDRAIL_HELPER_DIR.")
    return status


def _about(package: str) -> dict[str, str]:
    return {"package": package} if package else {}


def _object(answer: HttpAnswer, path: str) -> dict[str, Any]:
    """The answer's JSON object; one that says `ok: false` is an error."""
    try:
        told = json.loads(answer.body)
    except ValueError:
        told = None
    if isinstance(told, dict) and told.get("ok") is True:
        return told
    code, words = "", answer.body[:120].decode("utf-8", "replace")
    if isinstance(told, dict):
        code, words = str(told.get("code", "")), str(told.get("error", words))[:200]
    delivery = "not_delivered" if code in BEFORE_INPUT else "unknown"
    reason = f"the helper refused {path} (HTTP {answer.status}, {code or 'no code'}): {words}"
    raise AdbCommandError(reason, command=path, delivery=delivery)
