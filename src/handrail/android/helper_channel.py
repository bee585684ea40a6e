"""The channel to Handrail's own helper: a dex jar that app_process runs as the shell user.

Its sources and its protocol are in `helper/` (`Protocol.java`). It listens on an abstract socket,
speaks HTTP/1.1 with JSON on one connection that is kept, and ends when that connection ends.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import zlib
from base64 import b64decode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import urlencode

from handrail.adb.device import AdbDevice
from handrail.adb.link import Stream
from handrail.adb.shell import Command, DeviceShell, Script
from handrail.android.channel import Channel, LastScreen
from handrail.android.constants import CHANNEL_DOUBLE_TAP_GAP_MS, LONG_PRESS_TIMEOUT_MS
from handrail.android.input import last_line, retry_read
from handrail.clock import Clock
from handrail.errors import (
    AdbCommandError,
    AdbConnectionError,
    DeviceError,
    HandrailError,
    Timeout,
    Unsupported,
)
from handrail.http_exchange import MAX_BODY, HttpExchange, HungUp, NotHttp
from handrail.screen.node import Screen
from handrail.surface.gesture import TOUCHES, Gesture
from handrail.surface.values import IdleResult
from handrail.waiting import Background, Deadline, Expired, wait_for_end

JAR_NAME = "handrail-helper.jar"
JAR_SHA256 = "07ac72f3225c5458935b424daa75af0775e719ab0a3e937195f22e26f38e7271"
"""A test compares it with the file; the sources make the same bytes again."""
REMOTE = f"/data/local/tmp/{JAR_NAME}"
MAIN = "dev.handrail.helper.Main"
PROTOCOL_VERSION = 1
DALVIK_HOME = "/data/local/tmp"
START = Script(
    f"[ $(getprop ro.build.version.sdk) -ge 21 ] || [ -w /data/dalvik-cache ] || {{ "
    f"mkdir -p {DALVIK_HOME}/dalvik-cache; export ANDROID_DATA={DALVIK_HOME}; }}; "
    f"export CLASSPATH={REMOTE}; exec app_process / {MAIN}"
)
"""Dalvik keeps a compiled copy of every jar, and the shell may not write where it keeps them. Root may, and
elsewhere it would compile the whole framework once more; Android's `uiautomator` does the same."""
STARTUP_TIMEOUT_MS = 30_000
"""app_process loads 80 kB and registers with the accessibility service, which waits 5 s at most. A real
Android 4.4 on an emulated processor needed 5 to 8 s for `uiautomator dump`, which does the same."""
CALL_TIMEOUT_MS = 20_000
"""An app that does not answer accessibility costs 5 s for each of its windows."""
MAX_OUTPUT = 65_536
REST_MS = 250
"""How long a gesture's answer waits at most for the screen to rest."""
REST_COUNTS_MS = 100
"""So long a look that came with a gesture stands for a new one, if the screen was at rest."""
LOOK_KEYS = ("display", "top", "windows", "toasts", "cycles", "missing", "unreadable")
"""What makes a look another one; other fields count events."""
STOP_TIMEOUT_MS = 2_000
"""Time in which the helper lets go of UiAutomation after it was asked to end."""
PNG_MAGIC = b"\x89PNG"
DISABLING = ("HANDRAIL_DISABLE_HELPER", "AGENTEST_DISABLE_HELPER")


class UiAutomationHeld(AdbCommandError):
    """Another program on the phone holds UiAutomation, which has one user. It is never ended by Handrail."""


class HelperProcess:
    """The helper's process on the phone. Its standard input stays open: the end of it ends the helper."""

    def __init__(self, shell: DeviceShell, command: Command, token: str) -> None:
        self.is_asked_to_end = self.has_died = False
        self._tasks = Background()
        self.announced: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """The line of JSON in which it names its socket, or all that it said before it ended."""
        self._task = self._tasks.start(self._run(shell, command, token), "the helper on the phone")

    @property
    def has_ended(self) -> bool:
        return self._task.done()

    async def ends(self, clock: Clock, timeout_ms: float) -> bool:
        """Whether it ended by itself in time."""
        return await wait_for_end(clock, self._task, timeout_ms)

    async def stop(self) -> None:
        """May be called repeatedly."""
        await self._tasks.close()

    async def _run(self, shell: DeviceShell, command: Command, token: str) -> None:
        output = b""
        try:
            async with shell.start(command) as process:
                with suppress(DeviceError):  # one that ended at once says why in its output
                    await process.write(f"{token}\n".encode())
                async for piece in process:
                    output = (output + piece)[-MAX_OUTPUT:]
                    # Linkers warn before it, and a terminal repeats the token.
                    for line in output.splitlines(keepends=True):
                        if line.startswith(b"{") and line.endswith(b"\n"):
                            self._announce(line.decode("utf-8", "replace"))
                output += (await process.wait()).stderr
                self.has_died = not self.is_asked_to_end
        except HandrailError as error:
            output += error.message.encode()
        self._announce(output.decode("utf-8", "replace").replace(token, "…"))

    def _announce(self, line: str) -> None:
        if not self.announced.done():
            self.announced.set_result(line)


class HelperConnection:
    """One kept connection; requests go one after the other. A broken one is not opened again."""

    def __init__(
        self, stream: Stream, token: str, clock: Clock, process: HelperProcess | None = None
    ) -> None:
        self._stream = stream
        self._process = process
        self._token = token
        self._clock = clock
        self._http = HttpExchange(keep_alive=True)
        self._lock = asyncio.Lock()

    async def ask(
        self, method: str, path: str, body: object = None, *, lasts_ms: float = 0
    ) -> dict[str, Any]:
        """The answer's JSON object. A refusal raises `AdbCommandError` with its code and `delivery`."""
        timeout_ms = CALL_TIMEOUT_MS + lasts_ms
        delivery = "not_delivered"
        try:
            async with self._lock, Deadline(self._clock, timeout_ms):
                has_ended = self._process is not None and self._process.has_ended
                if has_ended or not self._http.renew():
                    raise AdbConnectionError("the connection to the helper is broken")
                delivery = "unknown"
                return _reply(path, await self._exchange(method, path, body))
        except DeviceError as error:
            error.details.setdefault("delivery", delivery)
            raise
        except HungUp:
            reason = f"the helper hung up before it had answered {path}"
            raise AdbConnectionError(reason, delivery=delivery) from None
        except NotHttp as error:
            reason = f"the helper's answer to {path} is not HTTP: {error}"
            raise AdbConnectionError(reason, delivery=delivery) from None
        except Expired:
            reason = f"the helper did not answer {path} within {timeout_ms:.0f} ms"
            raise Timeout(reason, retryable=False, delivery=delivery) from None

    async def _exchange(self, method: str, path: str, body: object) -> bytes:
        content = b"" if body is None else json.dumps(body).encode()
        more = [("Authorization", f"Bearer {self._token}")]
        more += [("Accept-Encoding", "gzip")] if not path.startswith("/screenshot") else []
        await self._stream.write(self._http.request(method, path, "localhost", content, *more))
        answer = await self._http.answer(self._stream)
        is_zipped = answer.headers.get("content-encoding") == "gzip"
        return unzipped(answer.body) if is_zipped else answer.body

    async def close(self) -> None:
        await self._stream.close()


def unzipped(answer: bytes) -> bytes:
    """Raises `AdbConnectionError` for what is broken or too large."""
    stream = zlib.decompressobj(wbits=31)
    try:
        content = stream.decompress(answer, MAX_BODY)
    except zlib.error as error:
        raise AdbConnectionError(f"the helper's answer is not gzip: {error}") from None
    if not stream.eof:
        raise AdbConnectionError("the helper's answer breaks off or is too large")
    return content


def _reply(path: str, answer: bytes) -> dict[str, Any]:
    try:
        reply = json.loads(answer)
    except ValueError:
        reply = None
    if not isinstance(reply, dict):
        raise AdbCommandError(f"the helper's answer to {path} is not a JSON object", command=path)
    if reply.get("ok") is not True:
        delivery = "not_delivered" if reply.get("delivered") is False else "unknown"
        reason = f"the helper refused {path} ({reply.get('code')}): {str(reply.get('error'))[:200]}"
        passing: dict[str, Any] = {"passing": True} if reply.get("code") == "NO_ACTIVE_WINDOW" else {}
        raise AdbCommandError(reason, command=path, delivery=delivery, **passing)
    return reply


@dataclass(frozen=True, slots=True)
class HelperStatus:
    """Answer of `/status`."""

    ok: bool
    name: str
    version: str
    protocol_version: int
    sdk_int: int
    device: str
    manufacturer: str


@dataclass(frozen=True, slots=True)
class FrameworkInfo:
    """Answer of `/framework`: the framework of the app in front."""

    ok: bool
    package_name: str
    primary: str
    """flutter, react_native, compose or native."""
    frameworks: tuple[str, ...]
    signals: tuple[str, ...]
    """Evidence: `class:…`, `lib:…`."""


T = TypeVar("T")


def _field(reply: Mapping[str, Any], key: str, kind: type[T]) -> T:
    """Empty if it is missing or of another type."""
    field = reply.get(key)
    return field if isinstance(field, kind) else kind()


def read_status(reply: Mapping[str, Any]) -> HelperStatus:
    name, version, device, maker = (
        _field(reply, key, str) for key in ("name", "version", "device", "manufacturer")
    )
    protocol_version, sdk_int = (_field(reply, key, int) for key in ("protocolVersion", "sdkInt"))
    return HelperStatus(reply.get("ok") is True, name, version, protocol_version, sdk_int, device, maker)


class HelperClient:
    """Seed 003's client: its calls, by the names that the seed gives them, over one kept connection."""

    def __init__(self, connection: HelperConnection) -> None:
        self.ask = connection.ask

    async def status(self) -> HelperStatus | None:
        """Returns None once the helper does not answer any more."""
        with suppress(HandrailError):
            return read_status(await self.ask("GET", "/status"))
        return None

    async def wait_for_ready(self, expected_protocol_version: int = PROTOCOL_VERSION) -> HelperStatus:
        """It is ready once it has named its socket, so this only compares the protocol's version."""
        status = read_status(await self.ask("GET", "/status"))
        if status.protocol_version != expected_protocol_version:
            raise Unsupported(
                f"the helper {status.version} speaks protocol {status.protocol_version}, "
                f"not {expected_protocol_version}"
            )
        return status

    async def tree(self, *, compact: bool = False, package: str = "") -> dict[str, Any]:
        """The active window alone, in the seed's form."""
        return await self._get("/tree", compact="1" if compact else "", package=package)

    async def framework(self, package: str = "") -> FrameworkInfo:
        reply = await self._get("/framework", package=package)
        return FrameworkInfo(
            True,
            _field(reply, "packageName", str),
            _field(reply, "primary", str) or "native",
            tuple(map(str, _field(reply, "frameworks", list))),
            tuple(map(str, _field(reply, "signals", list))),
        )

    async def wait_idle(self, timeout_ms: float = 10_000, *, package: str = "") -> IdleResult:
        """Waits until no accessibility event arrives for a moment; `idle` is false after a timeout."""
        reply = await self._get(
            "/wait-idle", lasts_ms=timeout_ms, timeoutMs=f"{timeout_ms:.0f}", package=package
        )
        events = tuple(map(str, _field(reply, "events", list)))
        return IdleResult(True, reply.get("idle") is True, _field(reply, "reason", str), events)

    async def screenshot(self) -> bytes:
        """PNG; an answer without one raises."""
        reply = await self._get("/screenshot")
        picture = b""
        with suppress(ValueError):
            picture = b64decode(str(reply.get("base64", "")))
        if not picture.startswith(PNG_MAGIC):
            raise AdbCommandError("the helper could not take a screenshot", command="/screenshot")
        return picture

    async def tap(self, x: int, y: int) -> None:
        await self.post("/tap", x=x, y=y)

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        await self.post("/swipe", lasts_ms=duration_ms, x1=x1, y1=y1, x2=x2, y2=y2, durationMs=duration_ms)

    async def long_press(self, x: int, y: int, duration_ms: int) -> None:
        await self.post("/long-press", lasts_ms=duration_ms, x=x, y=y, durationMs=duration_ms)

    async def key(self, code: int) -> None:
        await self.post("/key", keycode=code)

    async def text(self, text: str) -> None:
        """Sends key events at the cursor. Text with characters that have no key is refused."""
        await self.post("/text", text=text)

    async def shutdown(self) -> None:
        await self.post("/shutdown")

    async def post(self, path: str, *, lasts_ms: float = 0, **fields: Any) -> dict[str, Any]:
        return await self.ask("POST", path, fields, lasts_ms=lasts_ms)

    async def _get(self, path: str, *, lasts_ms: float = 0, **query: str) -> dict[str, Any]:
        words = urlencode({name: text for name, text in query.items() if text})
        return await self.ask("GET", f"{path}?{words}" if words else path, lasts_ms=lasts_ms)


@dataclass(frozen=True, slots=True)
class HelperHandle:
    """A helper that runs. It ends with `shutdown`, with its connection, or with this process."""

    client: HelperClient
    status: HelperStatus
    connection: HelperConnection
    process: HelperProcess
    device: AdbDevice
    clock: Clock

    async def shutdown(self, uninstall: bool = False) -> None:
        """Returns once it has let go of UiAutomation. A missing phone is not an error; may be repeated."""
        with suppress(Expired):
            async with Deadline(self.clock, STOP_TIMEOUT_MS):
                with suppress(HandrailError):
                    await self.client.shutdown()
                    self.process.is_asked_to_end = True
                await self.process.ends(self.clock, STOP_TIMEOUT_MS)
        try:
            await self.connection.close()
        finally:
            await self.process.stop()
        if uninstall:
            with suppress(HandrailError):
                await self.device.shell.run(["rm", "-f", REMOTE], check=False)


class HelperChannel(Channel):
    """Channel to our own helper."""

    name = "helper"
    gestures = TOUCHES

    def __init__(self, handle: HelperHandle) -> None:
        self.client = handle.client
        self._handle = handle
        self._last = LastScreen()
        self._rested: tuple[float, dict[str, Any]] | None = None
        self._takes_rested = False

    async def look(self) -> Screen:
        """The look that came with the last gesture, once, for whoever asked `is_rested`. Else it is read, and
        retried, because between two screens there may be no window for a frame."""
        rested, self._rested = self._rested, None
        takes_it, self._takes_rested = self._takes_rested, False
        if takes_it and rested is not None and "windows" in rested[1]:
            return await self._read(rested[1])

        async def read(_left_ms: float) -> Screen:
            return await self._read(await self.client.ask("GET", "/look"))

        return await retry_read(read, self._handle.clock)

    async def _read(self, reply: dict[str, Any]) -> Screen:
        return await self._last.read(json.dumps({key: reply.get(key) for key in LOOK_KEYS}).encode())

    def is_rested(self) -> bool:
        now = self._handle.clock.monotonic_ms()
        self._takes_rested = self._rested is not None and now - self._rested[0] <= REST_COUNTS_MS
        return self._takes_rested

    async def screenshot(self) -> bytes:
        return await self.client.screenshot()

    async def wait_idle(self, timeout_ms: float) -> IdleResult:
        return await self.client.wait_idle(timeout_ms)

    async def perform(self, gesture: Gesture) -> None:
        """One exchange: the answer comes when the screen rests, with the look that may prove the gesture."""
        self._rested = None
        strokes = [{"points": points} for points in timed_strokes(gesture)]
        lasts_ms = gesture.duration_ms + REST_MS
        reply = await self.client.post(
            "/gesture", lasts_ms=lasts_ms, strokes=strokes, rest={"timeoutMs": REST_MS}
        )
        if isinstance(rest := reply.get("rest"), dict) and rest.get("idle") is True:
            self._rested = self._handle.clock.monotonic_ms(), reply

    async def key(self, code: int) -> None:
        self._rested = None
        await self.client.key(code)

    async def type_ascii(self, text: str) -> None:
        self._rested = None
        self._need_keys(text)
        await self.client.text(text)

    async def set_text(self, text: str) -> None:
        self._rested = None
        await self.client.post("/text", text=text, way="set")

    async def clear_field(self) -> None:
        await self.set_text("")

    async def get_clipboard(self) -> str:
        return str((await self.client.ask("GET", "/clipboard"))["text"])

    async def set_clipboard(self, text: str) -> None:
        await self.client.post("/clipboard", text=text)

    async def close(self) -> None:
        await self._handle.shutdown()


def timed_strokes(gesture: Gesture) -> list[list[list[float]]]:
    """`[x, y, ms]` of each finger. A drag holds before it moves; a double tap is two strokes."""
    start = gesture.start_point
    match gesture.kind:
        case "tap":
            return [[[*start, 0]]]
        case "double_tap":
            return [[[*start, 0]], [[*start, CHANNEL_DOUBLE_TAP_GAP_MS]]]
        case "long_press":
            return [[[*start, 0], [*start, max(1, gesture.duration_ms)]]]
        case "drag":
            end_ms = max(gesture.duration_ms, LONG_PRESS_TIMEOUT_MS + 1)
            return [[[*start, 0], [*start, LONG_PRESS_TIMEOUT_MS], [*gesture.end_point, end_ms]]]
        case _:  # points at even times, the last at the end of the gesture
            return [
                [
                    [*point, round(max(gesture.duration_ms, len(stroke)) * leg / max(1, len(stroke) - 1))]
                    for leg, point in enumerate(stroke)
                ]
                for stroke in gesture.strokes
            ]


async def open_helper(device: AdbDevice, clock: Clock) -> HelperHandle:
    """Starts the helper and makes one round trip that does nothing. Raises with the helper's own words."""
    await put_jar(device, await asyncio.to_thread(jar_bytes), REMOTE)
    token = secrets.token_hex(16)
    process = HelperProcess(device.shell, START, token)
    connection: HelperConnection | None = None
    try:
        async with Deadline(clock, STARTUP_TIMEOUT_MS):
            socket = read_announcement(await process.announced)
        stream = await device.open(f"localabstract:{socket}")
        connection = HelperConnection(stream, token, clock, process)
        client = HelperClient(connection)
        return HelperHandle(client, await client.wait_for_ready(), connection, process, device, clock)
    except BaseException as error:
        if connection is not None:
            await connection.close()
        await process.stop()
        if isinstance(error, Expired):
            reason = f"the helper did not start within {STARTUP_TIMEOUT_MS / 1000:g} s"
            raise Timeout(reason, retryable=False, delivery="not_delivered") from None
        raise


async def ensure_helper(
    device: AdbDevice, *, env: Mapping[str, str], clock: Clock, say: Callable[[str], None]
) -> HelperHandle | None:
    """Seed 003's `ensureHelper`: None, with a reported reason, if no helper can be started."""
    if switch := next((name for name in DISABLING if env.get(name) == "1"), None):
        say(f"the helper is switched off by {switch}=1")
        return None
    try:
        return await open_helper(device, clock)
    except HandrailError as error:
        say(f"no helper: {error.message}")
        return None


def read_announcement(line: str) -> str:
    """The socket's name. Raises with the helper's own words if it has none."""
    try:
        announcement = json.loads(line)
    except ValueError:
        announcement = None
    if not isinstance(announcement, dict):
        raise AdbCommandError(f"the helper ended: {last_line(line)}", command=MAIN)
    if isinstance(socket := announcement.get("socket"), str):
        return socket
    code, words = str(announcement.get("code", "")), str(announcement.get("error", line))[:200]
    if code == "UIAUTOMATION_HELD":
        hint = "Another program on the phone holds UiAutomation: stop it, or let it finish."
        raise UiAutomationHeld(f"another program on the phone holds UiAutomation: {words}", hint=hint)
    raise AdbCommandError(f"the helper ended: {code} {words}".replace("  ", " "), command=MAIN)


def jar_bytes() -> bytes:
    return files("handrail.android").joinpath(JAR_NAME).read_bytes()


async def put_jar(device: AdbDevice, jar: bytes, remote: str) -> None:
    """Pushes the jar only if the phone's copy differs. Old phones have no md5sum and get it each time."""
    digest = hashlib.md5(jar, usedforsecurity=False).hexdigest()
    checksum = await device.shell.run(["md5sum", remote], check=False)
    if digest not in checksum.text:
        await device.files.push(jar, remote, mode=0o644)
