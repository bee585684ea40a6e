"""The u2 server as a channel: each touch is one JSON-RPC call, so that no finger is ever left down.

Reads bring a dead server back once; input never does.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from typing import Any, Literal

from handrail.adb.device import AdbDevice
from handrail.android.channel import Channel
from handrail.android.constants import CHANNEL_DOUBLE_TAP_GAP_MS, U2_STARTUP_TIMEOUT_MS
from handrail.android.http_over_adb import ServerGone
from handrail.android.input import read_again
from handrail.android.screen import SIZE_GUESSED, LastScreen, fit
from handrail.android.u2.server import CALL_TIMEOUT_MS, ServiceLost, U2Server, find_jar
from handrail.clock import Clock
from handrail.errors import AdbCommandError, HandrailError
from handrail.tree.node import Node, Screen
from handrail.tree.parse import parse
from handrail.tree.parse.build import STACK_GUESSED, put_in_front

STEP_MS = 5
"""One step of a gesture, as androidx.test.uiautomator makes it."""
TAP_STEPS = 2
"""Down, one pause of 5 ms, up. Android's own `input tap` leaves no time at all between the two."""
MAX_DEPTH, SAFE_DEPTH = 100, 50
"""Levels of a dump. Cross-platform toolkits nest deeper than 50; on some phones Java's stack does not."""
RESTART_TIMEOUT_MS = 10_000
Orientation = Literal["natural", "left", "right", "upsidedown"]


class U2Channel(Channel):
    """One phone's u2 server."""

    name = "u2"

    def __init__(self, server: U2Server, clock: Clock) -> None:
        self._server = server
        self._clock = clock
        self._last = LastScreen()
        self._settled: tuple[Screen, Screen] | None = None  # as it was read, and with its active window
        self._depth = MAX_DEPTH

    async def look(self) -> Screen:
        """Every window of the screen. Between two screens there may be none for a frame: it looks again."""
        known = self._server.turns

        async def attempt(_left_ms: float) -> Screen:
            return await self._look(known)

        return await read_again(attempt, self._clock)

    async def _look(self, known: int) -> Screen:
        dump = str(await self._dump(known))
        screen = await self._last.read(dump.encode("utf-8", "replace"))
        if STACK_GUESSED in screen.warnings:
            screen = await self._with_active(screen, known)
        if any(warning.startswith(SIZE_GUESSED) for warning in screen.warnings):
            told = await self._info(known)
            fit(screen, (told.get("displayWidth", screen.width), told.get("displayHeight", screen.height)))
        return screen

    async def _with_active(self, screen: Screen, known: int) -> Screen:
        """Of two windows of one size nothing in the dump tells which is above: the server is asked."""
        if self._settled is None or self._settled[0] is not screen:
            alone = await self._read("dumpWindowHierarchy", False, self._depth, True, known=known)
            self._settled = (screen, with_active(screen, parse(str(alone))))
        return self._settled[1]

    async def get_clipboard(self) -> str:
        return str(await self._read("getClipboard") or "")

    async def device_info(self) -> dict[str, Any]:
        """Package in front, size, rotation, screen on, SDK."""
        return await self._info(self._server.turns)

    async def _info(self, known: int) -> dict[str, Any]:
        told = await self._read("deviceInfo", known=known)
        if not isinstance(told, dict):
            raise AdbCommandError(f"the u2 server told {told!r} of the phone", command="deviceInfo")
        return told

    async def jpeg(self, *, scale: float = 1.0, quality: int = 80) -> bytes:
        """A small picture for people; what is compared or kept is the PNG of another channel."""
        text = await self._read("takeScreenshot", scale, quality)
        try:
            picture = b64decode(text or "")
        except (TypeError, ValueError):
            picture = b""
        if not picture:
            raise AdbCommandError("the u2 server got no picture of this screen", command="takeScreenshot")
        return picture

    async def tap(self, x: int, y: int) -> None:
        """A swipe that goes nowhere: the server's own click holds the finger down for 100 ms."""
        await self._do("swipe", x, y, x, y, TAP_STEPS)

    async def double_tap(self, x: int, y: int) -> None:
        await self.tap(x, y)
        try:
            await self._clock.sleep_ms(CHANNEL_DOUBLE_TAP_GAP_MS)
            await self.tap(x, y)
        except HandrailError as error:
            error.details["delivery"] = "unknown"
            raise

    async def long_press(self, x: int, y: int, duration_ms: int) -> None:
        await self._do("click", x, y, duration_ms, lasts_ms=duration_ms)

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        await self._do("swipe", x1, y1, x2, y2, _steps(duration_ms), lasts_ms=duration_ms)

    async def drag(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        await self._do("drag", x1, y1, x2, y2, _steps(duration_ms), lasts_ms=duration_ms)

    async def pinch(self, cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: int) -> None:
        points = [{"x": cx + side * r, "y": cy} for r in (start_radius, end_radius) for side in (-1, 1)]
        await self._do("gesture", ANYTHING, *points, _steps(duration_ms), lasts_ms=duration_ms)

    async def key(self, code: int) -> None:
        await self._do("pressKeyCode", code)

    async def set_text(self, text: str) -> None:
        await self._do("setText", FOCUSED, text)

    async def clear_field(self) -> None:
        await self._do("clearInputText")

    async def set_clipboard(self, text: str) -> None:
        await self._do("setClipboard", None, text)

    async def paste(self) -> None:
        await self._do("pasteClipboard")

    async def set_orientation(self, way: Orientation) -> None:
        await self._do("setOrientation", way)

    async def stop(self) -> None:
        """Ends the server: adb's own dump works only while it is down."""
        await self._server.stop()

    async def close(self) -> None:
        """The server stays for the next session, which is spared the start."""
        self._server.leave()

    async def _dump(self, known: int) -> Any:
        try:
            return await self._read("dumpWindowHierarchy", False, self._depth, known=known)
        except AdbCommandError as error:
            if "StackOverflowError" not in error.message or self._depth == SAFE_DEPTH:
                raise
        self._depth = SAFE_DEPTH
        return await self._read("dumpWindowHierarchy", False, self._depth, known=known)

    async def _read(self, method: str, *params: Any, known: int | None = None) -> Any:
        """`known` is the server's turn when the read began: it starts one at most, and none after `close`."""
        known = self._server.turns if known is None else known
        try:
            return await self._server.rpc.call(method, *params)
        except ServerGone as error:
            await self._server.restart(known, RESTART_TIMEOUT_MS, useless=isinstance(error, ServiceLost))
        return await self._server.rpc.call(method, *params)

    async def _do(self, method: str, *params: Any, lasts_ms: float = 0) -> None:
        result = await self._server.rpc.call(method, *params, timeout_ms=CALL_TIMEOUT_MS + lasts_ms)
        if result is False:  # void methods answer null
            raise AdbCommandError(f"the u2 server could not do {method}", command=method, delivery="unknown")


def _steps(duration_ms: int) -> int:
    return max(2, duration_ms // STEP_MS)


def with_active(screen: Screen, alone: Screen) -> Screen:
    """The screen with the window in front that was dumped alone; as it was where none is surely that one."""
    faces = [(window, _face(screen, window)) for window in screen.windows]
    found = [window for window, face in faces if face == _face(alone, alone.root)]
    return put_in_front(screen, found[0]) if len(found) == 1 else screen


def _face(screen: Screen, window: Node) -> list[object]:
    inside = [(node.class_name, node.text, node.description) for node in screen.inside(window)]
    return [window.package_name, window.bounds, window.class_name, inside]


_FOCUSED, _INSTANCE = 0x20000, 0x1000000


def _selector(mask: int, **fields: Any) -> dict[str, Any]:
    return {"mask": mask, "childOrSibling": [], "childOrSiblingSelector": [], **fields}


FOCUSED = _selector(_FOCUSED | _INSTANCE, focused=True, instance=0)
"""With an instance it is searched as it is; without one the server taps the field before it types."""
ANYTHING = _selector(_INSTANCE, instance=0)
"""The first node there is: a two-finger gesture wants an object, and takes its points from us."""


async def open_u2(
    device: AdbDevice,
    *,
    clock: Clock,
    say: Callable[[str], None],
    startup_timeout_ms: float = U2_STARTUP_TIMEOUT_MS,
) -> U2Channel | None:
    """A channel whose server answers; None, with a reason said, where it can't be had."""
    jar = find_jar()
    if jar is None:
        say("no u2: its server comes with the Python package uiautomator2, which is not installed")
        return None
    server = U2Server(device, jar, clock)
    try:
        await server.start(startup_timeout_ms)
    except (HandrailError, OSError) as error:
        say(f"no u2: {error}")
        return None
    return U2Channel(server, clock)
