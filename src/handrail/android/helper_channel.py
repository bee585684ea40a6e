"""The channel to Handrail's own helper: a dex jar that app_process runs as the shell user.

Its sources and its protocol are in `helper/` (`Protocol.java`). It listens on an abstract socket,
speaks HTTP/1.1 with JSON on one connection that is kept, and ends when that connection ends.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from typing import Any

import h11

from handrail.adb.device import AdbDevice
from handrail.adb.link import Stream
from handrail.adb.shell import Command, DeviceShell, Script
from handrail.android.channel import Channel, LastScreen
from handrail.android.constants import CHANNEL_DOUBLE_TAP_GAP_MS, LONG_PRESS_TIMEOUT_MS
from handrail.android.input import last_line, retry_read
from handrail.clock import Clock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceError, HandrailError, Timeout
from handrail.screen.node import Screen
from handrail.surface.gesture import Gesture
from handrail.surface.values import IdleResult
from handrail.waiting import Background, Deadline, Expired

JAR_NAME = "handrail-helper.jar"
JAR_SHA256 = "0648446489ba5328e76497a41d1754f3b525e205c076a2debc37010faaeb7b54"
"""A test compares it with the file; the sources make the same bytes again."""
REMOTE = f"/data/local/tmp/{JAR_NAME}"
MAIN = "dev.handrail.helper.Main"
PROTOCOL_VERSION = 1
START = Script(f"CLASSPATH={REMOTE} exec app_process / {MAIN}")
STARTUP_TIMEOUT_MS = 15_000
"""app_process loads 78 kB and registers with the accessibility service, which waits 5 s at most."""
CALL_TIMEOUT_MS = 10_000
QUIET_MS = 150
"""So long without an event that changes the picture means rest, as in the helper."""
MAX_OUTPUT = 65_536


class HelperProcess:
    """The helper's process on the phone. Its standard input stays open: the end of it ends the helper."""

    def __init__(self, shell: DeviceShell, command: Command, token: str) -> None:
        self._tasks = Background()
        self._announced: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._tasks.start(self._run(shell, command, token), "the helper on the phone")

    async def announced(self) -> str:
        """The line of JSON in which it names its socket, or all that it said before it ended."""
        return await self._announced

    async def stop(self) -> None:
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
        except HandrailError as error:
            output += error.message.encode()
        self._announce(output.decode("utf-8", "replace").replace(token, "…"))

    def _announce(self, line: str) -> None:
        if not self._announced.done():
            self._announced.set_result(line)


class HelperConnection:
    """One kept connection; requests go one after the other. A broken one is not opened again."""

    def __init__(self, stream: Stream, token: str, clock: Clock) -> None:
        self._stream = stream
        self._token = token
        self._clock = clock
        self._framing = h11.Connection(h11.CLIENT)
        self._lock = asyncio.Lock()

    async def ask(
        self, method: str, path: str, body: object = None, *, lasts_ms: float = 0
    ) -> dict[str, Any]:
        """The answer's JSON object. A refusal raises `AdbCommandError` with its code and `delivery`."""
        timeout_ms = CALL_TIMEOUT_MS + lasts_ms
        delivery = "not_delivered"
        try:
            async with self._lock, Deadline(self._clock, timeout_ms):
                delivery = "unknown"
                return _reply(path, await self._exchange(method, path, body))
        except DeviceError as error:
            error.details.setdefault("delivery", delivery)
            raise
        except (h11.RemoteProtocolError, h11.LocalProtocolError) as error:
            reason = f"the helper's answer to {path} is not HTTP: {error}"
            raise AdbConnectionError(reason, delivery=delivery) from None
        except Expired:
            reason = f"the helper did not answer {path} within {timeout_ms:.0f} ms"
            raise Timeout(reason, retryable=False, delivery=delivery) from None

    async def _exchange(self, method: str, path: str, body: object) -> bytes:
        """Head and body leave in one write."""
        content = b"" if body is None else json.dumps(body).encode()
        headers = [("Host", "localhost"), ("Authorization", f"Bearer {self._token}")]
        headers += [("Content-Length", str(len(content)))] if content else []
        events = (h11.Request(method=method, target=path, headers=headers), h11.Data(data=content))
        sent = b"".join(self._framing.send(event) or b"" for event in (*events, h11.EndOfMessage()))
        await self._stream.write(sent)
        answer = bytearray()
        while True:
            event = self._framing.next_event()
            if event is h11.NEED_DATA:
                received = await self._stream.read()
                if not received:
                    raise AdbConnectionError(f"the helper hung up before it had answered {path}")
                self._framing.receive_data(received)
            elif isinstance(event, h11.Data):
                answer += event.data
            elif isinstance(event, h11.EndOfMessage):
                break
        if self._framing.our_state is h11.DONE and self._framing.their_state is h11.DONE:
            self._framing.start_next_cycle()
        return bytes(answer)

    async def close(self) -> None:
        await self._stream.close()


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
        raise AdbCommandError(reason, command=path, delivery=delivery)
    return reply


class HandrailChannel(Channel):
    """Channel to our own helper."""

    name = "handrail"
    gestures = frozenset({"tap", "double_tap", "long_press", "swipe", "drag", "path", "pinch", "rotate"})

    def __init__(self, process: HelperProcess, connection: HelperConnection, clock: Clock) -> None:
        self._process = process
        self._connection = connection
        self._clock = clock
        self._last = LastScreen()

    async def look(self) -> Screen:
        """Retries, because between two screens there may be no window for a frame."""

        async def read(_left_ms: float) -> Screen:
            return await self._last.read(json.dumps(await self._connection.ask("GET", "/look")).encode())

        return await retry_read(read, self._clock)

    async def screenshot(self) -> bytes:
        return b64decode(str((await self._connection.ask("GET", "/screenshot"))["base64"]))

    async def wait_idle(self, timeout_ms: float) -> IdleResult:
        path = f"/wait-idle?timeoutMs={timeout_ms:.0f}"
        reply = await self._connection.ask("GET", path, lasts_ms=timeout_ms)
        return IdleResult(True, reply["idle"] is True, str(reply["reason"]), tuple(reply["events"]))

    async def perform(self, gesture: Gesture) -> None:
        strokes = [{"points": points} for points in timed_strokes(gesture)]
        await self._post("/gesture", {"strokes": strokes}, lasts_ms=gesture.duration_ms)

    async def key(self, code: int) -> None:
        await self._post("/key", {"keycode": code})

    async def type_ascii(self, text: str) -> None:
        self._need_keys(text)
        await self._post("/text", {"text": text})

    async def set_text(self, text: str) -> None:
        await self._post("/text", {"text": text, "way": "set"})

    async def clear_field(self) -> None:
        await self.set_text("")

    async def get_clipboard(self) -> str:
        return str((await self._connection.ask("GET", "/clipboard"))["text"])

    async def set_clipboard(self, text: str) -> None:
        await self._post("/clipboard", {"text": text})

    async def close(self) -> None:
        """The helper ends with its connection and its standard input."""
        try:
            await self._connection.close()
        finally:
            await self._process.stop()

    async def _post(self, path: str, body: dict[str, Any], *, lasts_ms: float = 0) -> None:
        await self._connection.ask("POST", path, body, lasts_ms=lasts_ms)


def timed_strokes(gesture: Gesture) -> list[list[list[float]]]:
    """`[x, y, ms]` of each finger. A drag holds before it moves; a double tap is two strokes."""
    start = gesture.start
    match gesture.kind:
        case "tap":
            return [[[*start, 0]]]
        case "double_tap":
            return [[[*start, 0]], [[*start, CHANNEL_DOUBLE_TAP_GAP_MS]]]
        case "long_press":
            return [[[*start, 0], [*start, max(1, gesture.duration_ms)]]]
        case "drag":
            end_ms = max(gesture.duration_ms, LONG_PRESS_TIMEOUT_MS + 1)
            return [[[*start, 0], [*start, LONG_PRESS_TIMEOUT_MS], [*gesture.end, end_ms]]]
        case _:  # points at even times, the last at the end of the gesture
            return [
                [
                    [*point, round(max(gesture.duration_ms, len(stroke)) * leg / max(1, len(stroke) - 1))]
                    for leg, point in enumerate(stroke)
                ]
                for stroke in gesture.strokes
            ]


async def open_handrail(
    device: AdbDevice, *, clock: Clock, say: Callable[[str], None]
) -> HandrailChannel | None:
    """None, with a reported reason, if the helper does not start."""
    process: HelperProcess | None = None
    try:
        await put_jar(device)
        token = secrets.token_hex(16)
        process = HelperProcess(device.shell, START, token)
        async with Deadline(clock, STARTUP_TIMEOUT_MS):
            socket = read_announcement(await process.announced())
        connection = HelperConnection(await device.open(f"localabstract:{socket}"), token, clock)
        status = await connection.ask("GET", "/status")
        if status.get("protocolVersion") != PROTOCOL_VERSION:
            raise AdbCommandError(f"it speaks protocol {status.get('protocolVersion')}", command=MAIN)
        return HandrailChannel(process, connection, clock)
    except (HandrailError, Expired) as error:
        reason = (
            f"it did not start within {STARTUP_TIMEOUT_MS} ms" if isinstance(error, Expired) else str(error)
        )
        say(f"no handrail helper: {reason}")
        if process is not None:
            await process.stop()
        return None


def read_announcement(line: str) -> str:
    """The socket's name. Raises `AdbCommandError` with the helper's own words if it has none."""
    try:
        announcement = json.loads(line)
    except ValueError:
        announcement = {"error": last_line(line)}
    socket = announcement.get("socket") if isinstance(announcement, dict) else None
    if isinstance(socket, str):
        return socket
    code, words = str(announcement.get("code", "")), str(announcement.get("error", line))[:200]
    hint = "Another program on the phone holds UiAutomation: stop it, or let it finish." if code else ""
    raise AdbCommandError(f"the helper ended: {code} {words}".replace("  ", " "), command=MAIN, hint=hint)


def jar_bytes() -> bytes:
    return files("handrail.android").joinpath(JAR_NAME).read_bytes()


async def put_jar(device: AdbDevice) -> None:
    """Pushes the jar only if the phone's copy differs. Old phones have no md5sum and get it each time."""
    jar = await asyncio.to_thread(jar_bytes)
    digest = hashlib.md5(jar, usedforsecurity=False).hexdigest()
    checksum = await device.shell.run(["md5sum", REMOTE], check=False)
    if digest not in checksum.text:
        await device.files.push(jar, REMOTE, mode=0o644)
