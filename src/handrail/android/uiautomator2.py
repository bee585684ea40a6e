"""The u2 channel: the server of the `uiautomator2` package, run by app_process without an APK."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.adb.shell import Script
from handrail.android.channel import SIZE_GUESSED, Channel, LastScreen, fit
from handrail.android.constants import U2_PORT, U2_STARTUP_TIMEOUT_MS
from handrail.android.helper_channel import put_jar
from handrail.android.http_over_adb import HttpPort, ServerGone
from handrail.android.input import last_line, retry_read
from handrail.clock import Clock
from handrail.errors import AdbCommandError, HandrailError, Timeout, Unsupported
from handrail.screen.node import Node, Screen, ScreenPoint
from handrail.screen.parse import parse
from handrail.screen.parse.build import STACK_GUESSED, put_in_front
from handrail.surface.gesture import Gesture
from handrail.waiting import uninterrupted

STEP_MS = 5
"""One step of a gesture in androidx.test.uiautomator."""
TAP_STEPS = 2
"""Down, a pause of 5 ms, up. Android's own `input tap` has no pause."""
MAX_DEPTH, SAFE_DEPTH = 100, 50
"""Levels of a dump. Cross-platform toolkits nest deeper than 50, which some phones' Java stack can't hold."""
RESTART_TIMEOUT_MS = 10_000


class U2Channel(Channel):
    """Channel to one phone's u2 server."""

    name = "u2"
    gestures = frozenset({"tap", "double_tap", "long_press", "swipe", "drag", "pinch"})

    def __init__(self, server: U2Server, clock: Clock) -> None:
        self._server = server
        self._clock = clock
        self._last = LastScreen()
        self._settled: tuple[Screen, Screen] | None = None  # as read, and with its active window in front
        self._depth = MAX_DEPTH

    async def look(self) -> Screen:
        """All windows. Retries, because between two screens there may be none for a frame."""
        turn = self._server.turns
        return await retry_read(lambda _left_ms: self._look(turn), self._clock)

    async def _look(self, turn: int) -> Screen:
        try:
            dump = await self._read("dumpWindowHierarchy", False, self._depth, turn=turn)
        except AdbCommandError as error:
            if "StackOverflowError" not in error.message or self._depth == SAFE_DEPTH:
                raise
            self._depth = SAFE_DEPTH
            dump = await self._read("dumpWindowHierarchy", False, self._depth, turn=turn)
        screen = await self._last.read(str(dump).encode("utf-8", "replace"))
        if STACK_GUESSED in screen.warnings:
            # The dump does not show which of two windows of equal size is on top, so the server is asked.
            if self._settled is None or self._settled[0] is not screen:
                alone = await self._read("dumpWindowHierarchy", False, self._depth, True, turn=turn)
                self._settled = (screen, with_active(screen, parse(str(alone))))
            screen = self._settled[1]
        if any(warning.startswith(SIZE_GUESSED) for warning in screen.warnings):
            info = await self._read("deviceInfo", turn=turn)
            if not isinstance(info, dict):
                raise AdbCommandError(f"the u2 server reported {info!r} of the phone", command="deviceInfo")
            fit(screen, (info.get("displayWidth", screen.width), info.get("displayHeight", screen.height)))
        return screen

    async def get_clipboard(self) -> str:
        return str(await self._read("getClipboard") or "")

    async def perform(self, gesture: Gesture) -> None:
        """A tap is a swipe without movement, because the server's click holds the finger for 100 ms."""
        start, end, lasts_ms = gesture.start_point, gesture.end_point, gesture.duration_ms
        steps = max(2, lasts_ms // STEP_MS)
        match gesture.kind:
            case "tap":
                await self._tap(start)
            case "double_tap":
                await self._tap_twice(lambda: self._tap(start), self._clock)
            case "long_press":
                await self._do("click", *start, lasts_ms, lasts_ms=lasts_ms)
            case "swipe" | "drag" as method:
                await self._do(method, *start, *end, steps, lasts_ms=lasts_ms)
            case "pinch":
                ends = [stroke[at] for at in (0, -1) for stroke in gesture.strokes]
                points = [{"x": point.x, "y": point.y} for point in ends]
                await self._do("gesture", ANYTHING, *points, steps, lasts_ms=lasts_ms)
            case kind:
                self._refuse(kind)

    async def _tap(self, point: ScreenPoint) -> None:
        await self._do("swipe", *point, *point, TAP_STEPS)

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

    async def stop(self) -> None:
        """Ends the server, because adb's own dump works only without it."""
        await self._server.stop()

    async def close(self) -> None:
        """The server stays, which saves the next session its start."""
        self._server.leave()

    async def _read(self, method: str, *params: Any, turn: int | None = None) -> Any:
        """`turn` is the server's when the read began: it starts at most one, and none after `close`."""
        turn = self._server.turns if turn is None else turn
        try:
            return await self._server.rpc.call(method, *params)
        except ServerGone as error:
            await self._server.restart(turn, RESTART_TIMEOUT_MS, useless=isinstance(error, ServiceLost))
        return await self._server.rpc.call(method, *params)

    async def _do(self, method: str, *params: Any, lasts_ms: float = 0) -> None:
        result = await self._server.rpc.call(method, *params, timeout_ms=CALL_TIMEOUT_MS + lasts_ms)
        if result is False:  # void methods answer null
            raise AdbCommandError(f"the u2 server could not do {method}", command=method, delivery="unknown")


def with_active(screen: Screen, alone: Screen) -> Screen:
    """Moves the window that was dumped alone to the front, if exactly one window matches it."""

    def face(shown: Screen, window: Node) -> list[object]:
        inside = [(node.class_name, node.text, node.description) for node in shown.inside(window)]
        return [window.package_name, window.bounds, window.class_name, inside]

    active = face(alone, alone.root)
    matches = [window for window in screen.windows if face(screen, window) == active]
    return put_in_front(screen, matches[0]) if len(matches) == 1 else screen


_FOCUSED, _INSTANCE = 0x20000, 0x1000000
_NO_CHILDREN: dict[str, Any] = {"childOrSibling": [], "childOrSiblingSelector": []}
FOCUSED = {"mask": _FOCUSED | _INSTANCE, **_NO_CHILDREN, "focused": True, "instance": 0}
"""With an instance the field is searched as it is; without one the server taps it before it types."""
ANYTHING = {"mask": _INSTANCE, **_NO_CHILDREN, "instance": 0}
"""The first node: a two-finger gesture needs an object, but uses our points."""


FIRST_WITH_MULTIDEX = 21
"""The API level from which a runtime reads more than the first dex file of a jar."""


async def open_u2(device: AdbDevice, clock: Clock, *, sdk: int = 0, android: str = "") -> U2Channel:
    """Uses a server that runs already, whoever started it. `sdk` is 0 where it is unknown."""
    jar = find_jar()
    if jar is None:
        reason = "its server comes with the Python package uiautomator2, which is not installed"
        raise Unsupported(reason, passing=True)
    server = U2Server(device, jar, clock)
    try:
        if 0 < sdk < FIRST_WITH_MULTIDEX and (count := dex_files(jar)) > 1:
            raise Unsupported(f"Android {android} reads one dex file of a jar, and u2's server has {count}")
        await server.start()
    except OSError as error:
        raise AdbCommandError(f"{jar} can't be read: {error.strerror}", command=MAIN) from None
    return U2Channel(server, clock)


REMOTE = "/data/local/tmp/u2.jar"
LOG = "/data/local/tmp/u2-server.log"
PID = "/data/local/tmp/u2-server.pid"
KNOWN_JARS = {
    "1bd7c57fe019d0275a66b936ed5d7ea5f244d98e5e3ba3d1ccf4a14e721ef94f": "of uiautomator2 3.3 and 3.4",
    "ea100004a76e821f4bff4f9d674165562752af101943d2a65959a5f2ee7fb892": "of uiautomator2 3.5",
    "c59218666df624c295ccc9906b4f7abe72cc92d6559c3fe493ec41a8c72cd4e3": "0.3.1",
    "0b74e83c55f443539a9f76f5ce023a51466b764b1100e4097a897053fdfc0eb6": "0.4.0",
    "87c8ac9505970d42aa5922baa90114808fda6f47f9e5fbd4caa0f621c2c8d30d": "0.4.1",
}
"""SHA-256 of the jars that are pushed. A jar can do everything on the phone, so no other is."""


def dex_files(jar: Path) -> int:
    with zipfile.ZipFile(jar) as archive:
        return sum(name.endswith(".dex") for name in archive.namelist())


def jar_version() -> str:
    """Returns the version of the package that brings the jar; "" where it is not installed."""
    with suppress(PackageNotFoundError):
        return version("uiautomator2")
    return ""


def find_jar() -> Path | None:
    """Returns None if uiautomator2 is not installed."""
    spec = find_spec("uiautomator2")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        jar = Path(folder) / "assets" / "u2.jar"
        if jar.is_file():
            return jar
    return None


def known_jar(jar: Path) -> bytes:
    """Raises `Unsupported` for an unknown version."""
    data = jar.read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 not in KNOWN_JARS:
        raise Unsupported(
            f"the u2.jar that is installed is unknown to Handrail (sha256 {sha256[:12]}…)",
            hint="pip install 'uiautomator2>=3.3,<3.8'. A newer one needs a newer Handrail.",
        )
    return data


MAIN = "com.wetest.uia2.Main"
START = Script(
    f"CLASSPATH={REMOTE} nohup app_process / {MAIN} -p {U2_PORT} >{LOG} 2>&1 </dev/null & echo $! >{PID}"
)
"""Without a terminal or pipe, so it outlives the command, the connection and this process."""
IS_ALIVE = Script(f"kill -0 $(cat {PID}) 2>/dev/null && echo alive")
STOP = Script(f"kill -9 $(cat {PID}) 2>/dev/null; rm -f {PID}")
"""Only the server that Handrail started."""
PING_TIMEOUT_MS = 1_000
POLL_MS = 100
PROGRESS = logging.getLogger("handrail.progress")
"""Progress that a command in a terminal shows."""


class U2Server:
    """At most one per phone, whoever started it. `turns` counts how often one started or was ended by us."""

    def __init__(self, device: AdbDevice, jar: Path, clock: Clock) -> None:
        self.rpc = Rpc(HttpPort(device, U2_PORT, clock))
        self.turns = 0
        self._device = device
        self._jar = jar
        self._clock = clock
        self._lock = asyncio.Lock()

    async def start(self, timeout_ms: float = U2_STARTUP_TIMEOUT_MS) -> None:
        """Uses a running server, because a phone can't have two."""
        await self.restart(self.turns, timeout_ms)

    async def restart(
        self, turn: int, timeout_ms: float = U2_STARTUP_TIMEOUT_MS, *, useless: bool = False
    ) -> None:
        """Starts a server if there is none, or replaces ours if it answers but is useless.

        Does nothing if one started, or was ended by us, since `turn`.
        """
        async with self._lock:
            if self.turns != turn:
                return
            if useless:
                await self._end()
            if not await self.rpc.ping():
                PROGRESS.info(
                    "starting the u2 helper on %s; later sessions find it running", self._device.serial
                )
                await self._end()
                await put_jar(self._device, await asyncio.to_thread(known_jar, self._jar), REMOTE)
                if self.turns == turn:
                    shell = self._device.shell
                    await shell.run(START)
                    end = self._clock.monotonic_ms() + timeout_ms
                    try:
                        while not await self.rpc.ping():
                            process = await shell.run(IS_ALIVE, check=False)
                            if self.turns != turn or "alive" not in process.text:
                                log = (await shell.run(["tail", "-c", "4096", LOG], check=False)).text
                                raise AdbCommandError(f"the u2 server ended: {last_line(log)}", command=MAIN)
                            if self._clock.monotonic_ms() >= end:
                                raise Timeout(f"the u2 server did not answer within {timeout_ms:.0f} ms")
                            await self._clock.sleep_ms(POLL_MS)
                    except BaseException:
                        await uninterrupted(self._end())
                        raise
            if self.turns == turn:
                self.turns += 1

    async def stop(self) -> None:
        """Ends the server that Handrail started, also one that is starting."""
        self.leave()
        await self._end()

    def leave(self) -> None:
        """Keeps whatever is pending from starting another server."""
        self.turns += 1

    async def _end(self) -> None:
        await self._device.shell.run(STOP, check=False)


async def is_up(device: AdbDevice, clock: Clock) -> bool:
    """Whether any server answers. Starts nothing."""
    return await Rpc(HttpPort(device, U2_PORT, clock)).ping()


async def release(device: AdbDevice) -> bool:
    """Ends the server that Handrail left on this phone; whether there was one."""
    process = await device.shell.run(IS_ALIVE, check=False)
    await device.shell.run(STOP, check=False)
    return "alive" in process.text


CALL_TIMEOUT_MS = 10_000
DEAD = ("UiAutomation not connected", "android.os.DeadObjectException")
"""The server answers but has lost the accessibility service, so only a new one helps."""
NEVER_RAN = (-32700, -32600, -32601, -32602)
"""JSON-RPC codes of requests that were refused before any method ran."""
NO_SUCH_OBJECT = "UiObjectNotFoundException"


class ServiceLost(ServerGone):
    """The server answers but can neither read nor touch the screen."""


@dataclass(frozen=True, slots=True)
class Rpc:
    """JSON-RPC client of the server."""

    http: HttpPort

    async def ping(self) -> bool:
        """Whether the server is up."""
        with suppress(HandrailError):
            return (await self.http.get("/ping", timeout_ms=PING_TIMEOUT_MS)).body == b"pong"
        return False

    async def call(self, method: str, *params: Any, timeout_ms: float = CALL_TIMEOUT_MS) -> Any:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params) or {}}
        body = json.dumps(request).encode()
        answer = await self.http.post("/jsonrpc/0", body, timeout_ms=timeout_ms)
        try:
            reply = json.loads(answer.body) if answer.status == 200 else {}
        except ValueError:
            reply = {}
        if isinstance(reply, dict) and "result" in reply:
            return reply["result"]
        words = answer.body.decode("utf-8", "replace")
        if any(mark in words for mark in DEAD):
            raise ServiceLost(
                f"the u2 server has lost the accessibility service ({method})",
                hint="The server is started again at the next read.",
                delivery="unknown",
            )
        error = reply.get("error") if isinstance(reply, dict) else None
        if not isinstance(error, dict):
            reason = f"the u2 server answered {method} with HTTP {answer.status}: {words[:120]!r}"
            raise AdbCommandError(reason, command=method, delivery="unknown")
        message = str(error.get("message", ""))
        refused = error.get("code") in NEVER_RAN or NO_SUCH_OBJECT in message
        delivery = "not_delivered" if refused else "unknown"
        reason = f"the u2 server refused {method}: {message[:200]}"
        raise AdbCommandError(reason, command=method, delivery=delivery)
