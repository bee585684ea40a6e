"""The HTTP helper: two APKs, run by `am instrument`, that answer on device port 8765."""

from __future__ import annotations

import asyncio
import json
import re
import struct
import zipfile
import zlib
from base64 import b64decode
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

from handrail.adb.device import AdbDevice
from handrail.adb.shell import Command, DeviceShell
from handrail.android.app_labels import manifest_tags
from handrail.android.apps import install
from handrail.android.apps import uninstall as remove_package
from handrail.android.channel import SIZE_GUESSED, Channel, LastScreen, fit
from handrail.android.constants import (
    HELPER_PORT,
    HELPER_PROTOCOL_VERSION,
    HELPER_STARTUP_TIMEOUT_MS,
    READ_DEADLINE_MS,
)
from handrail.android.dumpsys import read_display
from handrail.android.http_over_adb import HttpAnswer, HttpPort, Opens
from handrail.android.input import last_line, retry_read
from handrail.clock import Clock
from handrail.errors import AdbCommandError, HandrailError, Timeout, Unsupported
from handrail.screen.node import Screen
from handrail.surface.gesture import Gesture
from handrail.surface.values import IdleResult
from handrail.waiting import Background, first

CALL_TIMEOUT_MS = 10_000
SCREENSHOT_TIMEOUT_MS = 20_000
STATUS_TIMEOUT_MS = 1_000
IDLE_GRACE_MS = 5_000
"""Added to the timeout that `/wait-idle` itself gets."""
STOP_TIMEOUT_MS = 2_000
PNG_MAGIC = b"\x89PNG"
STATUS_POLL_MS = 250
BEFORE_INPUT = ("NOT_FOUND", "JSONException")
"""Refusals that the helper makes before any input."""


class HelperClient:
    """Stateless client: a restarted helper needs no new client."""

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
        """The first answer of `/status`. Raises `Unsupported` at once for another protocol version."""
        end = self._clock.monotonic_ms() + timeout_ms
        while True:
            left = end - self._clock.monotonic_ms()
            status = await self.status(min(STATUS_TIMEOUT_MS, max(1.0, left)))
            if status is not None and status.ok:
                if status.protocol_version != expected_protocol_version:
                    raise Unsupported(
                        f"the helper {status.version} speaks protocol {status.protocol_version}, "
                        f"not {expected_protocol_version}",
                        hint="Put helper APKs of the right version into HANDRAIL_HELPER_DIR.",
                    )
                return status
            if self._clock.monotonic_ms() + STATUS_POLL_MS >= end:
                raise Timeout(f"the helper was not ready within {timeout_ms:.0f} ms")
            await self._clock.sleep_ms(STATUS_POLL_MS)

    async def tree(self, *, compact: bool = False, package: str = "") -> bytes:
        """The active window's tree in the helper's JSON."""
        query = {"compact": "1"} if compact else {}
        answer = await self._ask_get("/tree", self._timeout_ms, **query, **_about(package))
        _object(answer, "/tree")
        return answer.body

    async def framework(self, package: str = "") -> FrameworkInfo:
        return read_framework(await self._get("/framework", self._timeout_ms, **_about(package)))

    async def wait_idle(self, timeout_ms: float = 10_000, *, package: str = "") -> IdleResult:
        """Waits until no accessibility event arrives for a moment; `idle` is false after a timeout."""
        query = {"timeoutMs": f"{timeout_ms:.0f}", **_about(package)}
        return read_idle(await self._get("/wait-idle", timeout_ms + IDLE_GRACE_MS, **query))

    async def screenshot(self) -> bytes:
        """PNG; an answer without one raises."""
        reply = await self._get("/screenshot", SCREENSHOT_TIMEOUT_MS)
        picture = b""
        with suppress(ValueError):
            picture = b64decode(str(reply.get("base64", "")))
        if not picture.startswith(PNG_MAGIC):
            raise AdbCommandError("the helper could not take a screenshot", command="/screenshot")
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
        """Sends key events. The phone silently drops characters without a key."""
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


def _about(package: str) -> dict[str, str]:
    return {"package": package} if package else {}


def _object(answer: HttpAnswer, path: str) -> dict[str, Any]:
    """The answer's JSON object; `ok: false` raises."""
    try:
        reply = json.loads(answer.body)
    except ValueError:
        reply = None
    if isinstance(reply, dict) and reply.get("ok") is True:
        return reply
    code, words = "", answer.body[:120].decode("utf-8", "replace")
    if isinstance(reply, dict):
        code, words = str(reply.get("code", "")), str(reply.get("error", words))[:200]
    delivery = "not_delivered" if code in BEFORE_INPUT else "unknown"
    reason = f"the helper refused {path} (HTTP {answer.status}, {code or 'no code'}): {words}"
    raise AdbCommandError(reason, command=path, delivery=delivery)


class HelperChannel(Channel):
    """Uses the shell for the screen's size, because a tree contains only the active window."""

    name = "helper"
    gestures = frozenset({"tap", "double_tap", "long_press", "swipe"})

    def __init__(self, handle: HelperHandle, shell: DeviceShell, clock: Clock) -> None:
        self.client: HelperClient = handle.client
        self._handle = handle
        self._clock = clock
        self._shell = shell
        self._last = LastScreen()

    async def look(self) -> Screen:
        """Retries, because between two screens there may be no active window for a frame."""
        return await retry_read(self._look, self._clock)

    async def _look(self, _left_ms: float) -> Screen:
        screen = await self._last.read(await self.client.tree())
        if any(warning.startswith(SIZE_GUESSED) for warning in screen.warnings):
            display = await read_display(self._shell, READ_DEADLINE_MS)
            fit(screen, (display.width, display.height))
            screen.rotation = display.rotation
        return screen

    async def wait_idle(self, timeout_ms: float) -> IdleResult:
        return await self.client.wait_idle(timeout_ms)

    async def screenshot(self) -> bytes:
        return await self.client.screenshot()

    async def perform(self, gesture: Gesture) -> None:
        client, start = self.client, gesture.start
        match gesture.kind:
            case "tap":
                await client.tap(*start)
            case "double_tap":
                await self._tap_twice(lambda: client.tap(*start), self._clock)
            case "long_press":
                await client.long_press(*start, gesture.duration_ms)
            case "swipe":
                await client.swipe(*start, *gesture.end, gesture.duration_ms)
            case kind:
                self._refuse(kind)

    async def key(self, code: int) -> None:
        await self.client.key(code)

    async def type_ascii(self, text: str) -> None:
        self._need_keys(text)
        await self.client.text(text)

    async def close(self) -> None:
        await self._handle.shutdown()


async def open_helper(
    device: AdbDevice, *, env: Mapping[str, str], clock: Clock, say: Say
) -> HelperChannel | None:
    """None, with a reported reason, if no helper answers."""
    handle = await ensure_helper(device, env=env, clock=clock, say=say)
    return None if handle is None else HelperChannel(handle, device.shell, clock)


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


Json = Mapping[str, Any]
T = TypeVar("T")


def read_status(reply: Json) -> HelperStatus:
    name, version, device, maker = (
        _field(reply, key, str) for key in ("name", "version", "device", "manufacturer")
    )
    protocol_version, sdk_int = (_field(reply, key, int) for key in ("protocolVersion", "sdkInt"))
    return HelperStatus(reply.get("ok") is True, name, version, protocol_version, sdk_int, device, maker)


def read_framework(reply: Json) -> FrameworkInfo:
    return FrameworkInfo(
        reply.get("ok") is True,
        _field(reply, "packageName", str),
        _field(reply, "primary", str) or "native",
        tuple(map(str, _field(reply, "frameworks", list))),
        tuple(map(str, _field(reply, "signals", list))),
    )


def read_idle(reply: Json) -> IdleResult:
    events = tuple(map(str, _field(reply, "events", list)))
    ok, idle = reply.get("ok") is True, reply.get("idle") is True
    return IdleResult(ok, idle, _field(reply, "reason", str), events)


def _field(reply: Json, key: str, kind: type[T]) -> T:
    """Empty if it is missing or of another type."""
    field = reply.get(key)
    return field if isinstance(field, kind) else kind()


MOST_MANIFEST = 16_000_000
_NOT_AN_APK = (
    OSError, zipfile.BadZipFile, zlib.error, struct.error, LookupError, ValueError, RuntimeError,
    StopIteration,
)  # fmt: skip
_VERSION_CODE = 0x0101021B
"""android.R.attr.versionCode: shrinkers remove an attribute's name, never its id."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Package and version of an APK."""

    package: str
    version_code: int


def read_manifest(apk: Path) -> Manifest | None:
    """None if it is not an APK."""
    try:
        with zipfile.ZipFile(apk) as archive:
            if archive.getinfo("AndroidManifest.xml").file_size > MOST_MANIFEST:
                return None  # a zip bomb
            data = archive.read("AndroidManifest.xml")
        if data.lstrip().startswith(b"<"):
            # Phones need a compiled manifest; build trees and simulators have plain XML.
            package = re.search(r'\bpackage="([^"]*)"', data.decode())
            version = re.search(r'\bversionCode="(\d+)"', data.decode())
            return Manifest(package[1] if package else "", int(version[1]) if version else 1)
        _, attributes = next(manifest_tags(data))
    except _NOT_AN_APK:
        return None
    code = attributes.get(_VERSION_CODE)
    return Manifest(str(attributes.get("package", "")), code if isinstance(code, int) else 1)


PACKAGE = "com.agentest.helper"
PACKAGES = (PACKAGE, f"{PACKAGE}.test")
FOLDERS = ("HANDRAIL_HELPER_DIR", "AGENTEST_HELPER_APK_DIR")
"""The first variable that is set names the folder."""

_VERSION = re.compile(r"\bversionCode=(\d+)")


RUNNER = f"{PACKAGES[1]}/androidx.test.runner.AndroidJUnitRunner"
COMMAND = ["am", "instrument", "-w", "-r", RUNNER]
SWITCHES = ("HANDRAIL_DISABLE_HELPER", "AGENTEST_DISABLE_HELPER")
PROBE_TIMEOUT_MS = 500
INSTALL_POLL_MS = 100

Say = Callable[[str], None]


class NoHelper(Exception):
    """No helper is available; the message says why."""


@dataclass(frozen=True, slots=True)
class HelperHandle:
    """A helper that answers. `resident` is its instrumentation; None if it was already running."""

    client: HelperClient
    status: HelperStatus
    device: AdbDevice
    resident: RunningCommand | None

    async def shutdown(self, uninstall: bool = False) -> None:
        """Ends it on the phone; a missing helper or phone is not an error. May be called repeatedly."""
        await _quietly(self.client.shutdown())
        if self.resident is not None:
            await self.resident.stop()
        for package in reversed(PACKAGES) if uninstall else ():
            await _quietly(remove_package(self.device.shell, package))


async def ensure_helper(
    device: AdbDevice,
    *,
    env: Mapping[str, str],
    clock: Clock,
    say: Say,
    startup_timeout_ms: float = HELPER_STARTUP_TIMEOUT_MS,
) -> HelperHandle | None:
    """Installs and starts the helper if needed; None, with a reported reason, if that fails."""
    try:
        await _installed(device, env)
        client = HelperClient(device, clock)
        status = await _running(device, client, clock, startup_timeout_ms)
        if status is not None:
            return HelperHandle(client, status, device, None)
        resident = RunningCommand(device.shell, COMMAND)
        try:
            # Whichever comes first: an answer, the end of the instrumentation, or a timeout.
            ready, _ = await first(client.wait_for_ready(startup_timeout_ms), resident.wait())
            if ready.cancelled():
                raise NoHelper(f"am instrument failed: {resident.last_words}")
            status = ready.result()
        except BaseException as error:
            await resident.stop()
            if isinstance(error, HandrailError):
                raise NoHelper(error.message) from None
            raise
        return HelperHandle(client, status, device, resident)
    except NoHelper as reason:
        say(str(reason))
        return None


async def _installed(device: AdbDevice, env: Mapping[str, str]) -> None:
    if switch := next((name for name in SWITCHES if env.get(name) == "1"), None):
        raise NoHelper(f"the helper is switched off by {switch}=1")
    folder = next((env[name] for name in FOLDERS if env.get(name)), "")
    if not folder:
        raise NoHelper(f"no helper APKs: {FOLDERS[0]} is not set")
    apks: dict[str, tuple[Path, Manifest]] = {}
    for path in sorted(Path(folder).glob("*.apk")):
        manifest = read_manifest(path)
        if manifest is not None and manifest.package in PACKAGES:
            apks[manifest.package] = (path, manifest)
    if missing := [package for package in PACKAGES if package not in apks]:
        raise NoHelper(f"no helper APKs: {' and '.join(missing)} not found in {folder}")
    try:
        for package, (path, manifest) in apks.items():
            dump = await device.shell.run(["dumpsys", "package", package], check=False)
            version = _VERSION.search(dump.text)
            if version is None or int(version[1]) < manifest.version_code:
                await install(device, path)
    except HandrailError as error:
        raise NoHelper(f"the helper could not be installed: {error.message}") from None


async def _running(
    device: AdbDevice, client: HelperClient, clock: Clock, timeout_ms: float
) -> HelperStatus | None:
    """A helper of an earlier session, if it speaks our protocol; another one is ended."""
    try:
        await (await device.open(f"tcp:{HELPER_PORT}")).close()
    except AdbCommandError:
        return None  # refused: nothing listens
    except HandrailError as error:
        raise NoHelper(f"no stream to port {HELPER_PORT} of the phone: {error.message}") from None
    status = await client.status(PROBE_TIMEOUT_MS)
    if status is None or status.protocol_version == HELPER_PROTOCOL_VERSION:
        return status
    await _quietly(client.shutdown())
    end = clock.monotonic_ms() + timeout_ms
    while await client.status(PROBE_TIMEOUT_MS) is not None and clock.monotonic_ms() < end:
        await clock.sleep_ms(INSTALL_POLL_MS)
    return None


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    with suppress(HandrailError):
        await work


KEPT_BYTES = 4096


class RunningCommand:
    """A command that keeps running on the phone, held by its own task."""

    def __init__(self, shell: DeviceShell, command: Command) -> None:
        self._output = b""
        self._tasks = Background()
        self._task = self._tasks.start(self._run(shell, command), "a command that stays on the phone")

    @property
    def ended(self) -> bool:
        return self._task.done()

    @property
    def last_words(self) -> str:
        """The last meaningful line of output or the error; at most 200 characters."""
        return last_line(self._output.decode("utf-8", "replace"))

    async def wait(self) -> None:
        await asyncio.wait({self._task})

    async def stop(self) -> None:
        """Ends it on the phone; may be called repeatedly."""
        await self._tasks.close()

    async def _run(self, shell: DeviceShell, command: Command) -> None:
        try:
            async with shell.start(command) as process:
                async for piece in process:
                    self._keep(piece)
                self._keep((await process.wait()).stderr)
        except HandrailError as error:
            self._keep(error.message.encode())

    def _keep(self, piece: bytes) -> None:
        self._output = (self._output + piece)[-KEPT_BYTES:]
