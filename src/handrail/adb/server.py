"""The adb server: its program, its devices, and a `Link` to one of them.

For USB and shared phones. Each request has its own socket.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar, cast

from handrail.adb.direct import UNREAD_MAX, ByteQueue, too_long
from handrail.adb.link import ACCEPT_HINT
from handrail.clock import Clock, SystemClock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceError, DeviceOffline
from handrail.waiting import Deadline, Expired

PORT = 5037
START_MS = 15_000
"""Time for `adb start-server`, which scans USB first."""
ANSWER_MS = 15_000
"""Time for the server's own answers; services on a device have the caller's limit."""

T = TypeVar("T")
Revive = Callable[[], Awaitable[str | None]]
"""The current serial of a device that the server has lost, or None."""
_PAIRED = re.compile(r"Successfully paired to .*\[guid=([^\]]+)\]")

UNREACHABLE_HINT = "Check address and port; the phone must be on the same network with `adb tcpip` on."
TAKEN_HINT = (
    "Something listens there and does not answer this adb server. If the phone is still booting, wait for "
    "its lock screen. If another adb server has it, name that one by ANDROID_ADB_SERVER_PORT."
)
LISTENS_S = 2.0


class Server:
    """An adb server on `host:port`, started if it is on this machine."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = PORT,
        *,
        env: Mapping[str, str] = os.environ,
        clock: Clock | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self._env = env
        self._clock = clock or SystemClock()

    @classmethod
    def from_env(cls, env: Mapping[str, str] = os.environ, clock: Clock | None = None) -> Server:
        """Reads what adb reads: ADB_SERVER_SOCKET, else ANDROID_ADB_SERVER_ADDRESS and _PORT."""
        host = env.get("ANDROID_ADB_SERVER_ADDRESS") or "127.0.0.1"
        port = env.get("ANDROID_ADB_SERVER_PORT") or str(PORT)
        if address := env.get("ADB_SERVER_SOCKET"):
            kind, _, rest = address.partition(":")
            before, _, port = rest.rpartition(":")
            host = before or "127.0.0.1"
            port = port if kind == "tcp" else ""
        if not port.isdigit() or not 0 < int(port) < 65536:
            raise AdbConnectionError(
                "the environment names an adb server that can't be reached by TCP",
                hint="Set ANDROID_ADB_SERVER_PORT to a port, or ADB_SERVER_SOCKET to tcp:HOST:PORT.",
                delivery="not_delivered",
            )
        return cls("127.0.0.1" if host == "localhost" else host, int(port), env=env, clock=clock)

    # the server itself

    async def start(self) -> None:
        """Does nothing if a server answers; else the adb binary starts one, which stays."""
        if await self.running():
            return
        adb = find_adb(self._env)
        if adb is None or self.host != "127.0.0.1":
            raise AdbConnectionError(
                f"no adb server answers at {self.host}:{self.port}"
                + ("" if adb else ", and there is no adb program to start one"),
                hint="Install adb (`pip install adbutils` brings one), or set HANDRAIL_ADB to its path.",
                delivery="not_delivered",
            )
        # The program returns when its server listens, or fails if another was faster.
        env = {**self._env, "ANDROID_ADB_SERVER_PORT": str(self.port)}
        env.pop("ADB_SERVER_SOCKET", None)
        nowhere = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            adb, "start-server", stdin=nowhere, stdout=nowhere, stderr=nowhere, env=env
        )
        try:
            async with Deadline(self._clock, START_MS):
                code = await process.wait()
        except Expired:
            code = None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if code != 0 and not await self.running():
            raise AdbConnectionError(
                f"`{adb} start-server` for port {self.port} "
                + (f"ended with {code}" if code else f"took more than {START_MS} ms"),
                hint=f"Run it by hand to see why: ANDROID_ADB_SERVER_PORT={self.port} {adb} start-server",
                delivery="not_delivered",
            )

    async def running(self) -> bool:
        try:
            await self.version()
        except AdbConnectionError:
            return False
        return True

    async def version(self) -> int:
        """Protocol version: 41 for all adb programs of the last years."""
        return int(await self.ask("host:version"), 16)

    # devices

    async def devices(self) -> list[Listed]:
        return parse_devices(await self.ask("host:devices-l"))

    async def track(self) -> AsyncIterator[list[Listed]]:
        """All devices now and after every change; raises when the server ends."""
        for request in ("host:track-devices-l", "host:track-devices"):
            try:
                stream = await self.dial([request])
            except AdbCommandError:
                continue
            try:
                while True:
                    yield parse_devices(await stream.text())
            finally:
                await stream.close()
        raise AdbConnectionError(f"the adb server at {self.host}:{self.port} can't watch devices")

    async def connect(self, address: str) -> None:
        """Adds a device by TCP. The server also answers a failure with OKAY, so its text decides."""
        answer = await self.ask(f"host:connect:{address}")
        if not answer.startswith(("connected to", "already connected to")):
            if "authenticate" in answer:
                raise refusal(answer, "host:connect", address)
            hint, (host, _, port) = UNREACHABLE_HINT, address.rpartition(":")
            with suppress(OSError, ValueError):
                async with asyncio.timeout(LISTENS_S):
                    _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
                writer.close()
                hint = TAKEN_HINT
            why = f"adb could not connect to {address}: {answer}"
            raise AdbConnectionError(why, hint=hint, delivery="not_delivered")

    async def pair(self, address: str, code: str) -> str:
        """Pairs with the code that a phone shows or has read; returns the name that it announces from now on.

        Errors omit the code: a wrong one may be right for another phone.
        """
        try:
            answer = await self.ask(f"host:pair:{code}:{address}")
        except DeviceError as error:
            error.message = error.message.replace(code, "******")
            error.details.pop("command", None)
            raise error from None
        if match := _PAIRED.search(answer):
            return match[1]
        raise AdbConnectionError(
            f"{address} was not paired: {answer.replace(code, '******')}",
            hint="Open the pairing dialog on the phone again: it shows another code and another port.",
            delivery="not_delivered",
        )

    async def disconnect(self, address: str) -> None:
        """Removes a device that was added by TCP; a missing one is not an error."""
        with suppress(AdbCommandError, AdbConnectionError):
            await self.ask(f"host:disconnect:{address}")

    def link(self, serial: str, revive: Revive | None = None) -> ServerLink:
        return ServerLink(self, serial, revive)

    # sockets

    async def ask(self, request: str, serial: str = "") -> str:
        try:
            async with Deadline(self._clock, ANSWER_MS):
                stream = await self.dial([request], serial)
                try:
                    return await stream.text()
                finally:
                    await stream.close()
        except Expired:
            raise AdbConnectionError(
                f"the adb server did not answer {request!r} within {ANSWER_MS} ms",
                hint="`adb kill-server` ends a server that hangs.",
                delivery="not_delivered",
            ) from None

    async def dial(self, requests: Sequence[str], serial: str = "") -> SmartSocket:
        """A socket on which all requests were granted; the caller closes it."""
        stream = SmartSocket(requests, serial)
        try:
            await asyncio.get_running_loop().create_connection(lambda: stream, self.host, self.port)
            await stream.granted
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            raise AdbConnectionError(
                f"no adb server answers at {self.host}:{self.port}: {why}",
                hint="`handrail doctor` shows what is missing.",
                delivery="not_delivered",
            ) from None
        except (DeviceError, asyncio.CancelledError):
            await stream.close()
            raise
        return stream


class ServerLink:
    """A `Link` to one device of a server: a socket per service.

    A wireless phone may return under another name: `revive` finds it, and the link continues.
    """

    def __init__(self, server: Server, serial: str, revive: Revive | None = None) -> None:
        self._server = server
        self.serial = serial
        self._now = serial
        self._revive = revive
        self._features: frozenset[str] | None = None

    async def features(self) -> frozenset[str]:
        """Asked once, because they come from the device's build."""
        if self._features is None:
            answer = await self._again(lambda now: self._server.ask(f"host-serial:{now}:features", now))
            self._features = frozenset(answer.split(","))
        return self._features

    async def open(self, service: str) -> SmartSocket:
        if (size := len(service.encode("utf-8", "surrogateescape"))) > REQUEST_MAX:
            raise too_long(size, REQUEST_MAX)
        return await self._again(lambda now: self._server.dial([f"host:transport:{now}", service], now))

    async def check(self) -> None:
        state = await self._server.ask(f"host-serial:{self._now}:get-state", self._now)
        if state != "device":
            raise refusal(f"device {state}", "get-state", self._now)

    async def _again(self, ask: Callable[[str], Awaitable[T]]) -> T:
        """Retries with the phone's current name if nothing can have reached it before."""
        try:
            return await ask(self._now)
        except (AdbConnectionError, DeviceOffline) as error:
            undelivered = error.details.get("delivery") == "not_delivered"
            if not undelivered or self._revive is None or (now := await self._revive()) is None:
                raise
            self._now = now
        return await ask(self._now)

    async def close(self) -> None:
        """Does nothing: every request has a connection of its own."""


_PROPS = frozenset({"usb", "product", "model", "device", "features", "transport_id"})
_TWO_WORDS = "no permissions"


@dataclass(frozen=True, slots=True)
class Listed:
    """A device as the server lists it; only state `device` can be used."""

    serial: str
    state: str
    props: dict[str, str] = field(default_factory=dict)


def parse_devices(text: str) -> list[Listed]:
    """`SERIAL STATE key:value …` per line; the state of two words includes an explanation."""
    devices = []
    for serial, rest in (parts for line in text.splitlines() if len(parts := line.split(None, 1)) == 2):
        state = _TWO_WORDS if rest.startswith(_TWO_WORDS) else rest.split(maxsplit=1)[0]
        words = [word.partition(":") for word in rest.removeprefix(state).split()]
        props = {key: value for key, colon, value in words if key in _PROPS and colon}
        devices.append(Listed(serial, state, props))
    return devices


def find_adb(env: Mapping[str, str] = os.environ) -> Path | None:
    """Only HANDRAIL_ADB if it is set; else PATH, the Android SDK, the adbutils wheel."""
    if chosen := env.get("HANDRAIL_ADB"):
        return Path(chosen) if _runs(Path(chosen)) else None
    on_path, wheel = shutil.which("adb", path=env.get("PATH", "")), find_spec("adbutils")
    sdks = (env[name] for name in ("ANDROID_HOME", "ANDROID_SDK_ROOT") if env.get(name))
    places = [Path(on_path)] if on_path else []
    places += [Path(sdk) / "platform-tools" / "adb" for sdk in sdks]
    folders = (wheel.submodule_search_locations or []) if wheel else []
    places += [Path(folder) / "binaries" / "adb" for folder in folders]
    return next((path for path in places if _runs(path)), None)


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


REQUEST_MAX = 0xFFFF


class SmartSocket(asyncio.Protocol):
    """Sends its requests one by one; becomes a `Stream` once the last one is granted.

    Answers are handled as they arrive, without another turn of the event loop.
    """

    def __init__(self, requests: Sequence[str], serial: str = "") -> None:
        self.granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.sent_count = 0
        self._requests = requests
        self._serial = serial
        self._answer = b""
        self._inbox = ByteQueue()
        self._held = b""
        self._transport: asyncio.Transport | None = None
        self._writing = asyncio.Lock()
        self._writable = asyncio.Event()
        self._writable.set()

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        raw = self._transport.get_extra_info("socket")
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._ask()

    def data_received(self, data: bytes) -> None:
        if not self.granted.done():
            self._answer += data
            data = self._read_answers()
        self._inbox.put(data)
        if self._inbox.size > UNREAD_MAX and self._transport is not None:
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        self._over(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._over(None if exc is None else lost_connection(f"the adb server hung up: {exc}"))
        self.resume_writing()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # the stream

    async def read(self) -> bytes:
        data = await self._inbox.get()
        if self._inbox.size <= UNREAD_MAX and self._transport is not None:
            self._transport.resume_reading()
        return data

    async def write(self, data: bytes) -> None:
        async with self._writing:
            await self._writable.wait()
            if self._transport is None or self._inbox.ended:
                raise lost_connection(
                    "the device or the adb server closed the stream and accepts no more input"
                )
            self._transport.write(data)

    async def close(self) -> None:
        self._inbox.end()
        self._inbox.drop()
        if self._transport is not None:
            self._transport.close()

    # requests

    def _ask(self) -> None:
        data = self._requests[self.sent_count].encode("utf-8", "surrogateescape")
        self.sent_count += 1
        if self._transport is not None:
            self._transport.write(b"%04x" % len(data) + data)

    def _read_answers(self) -> bytes:
        """OKAY sends the next request; what follows the last one belongs to the service."""
        while self._answer.startswith(b"OKAY"):
            self._answer = self._answer[4:]
            if self.sent_count == len(self._requests):
                self.granted.set_result(None)
                return self._answer
            self._ask()
        # FAIL, four hex digits, that many bytes of text; part of it may still be missing.
        word, digits, rest = self._answer[:4], self._answer[4:8], self._answer[8:]
        try:
            if len(word) == 4 and word != b"FAIL":
                raise no_server(word)
            if len(digits) == 4 and len(rest) >= (size := hex_number(digits)):
                reason = rest[:size].decode("utf-8", "replace")
                raise refusal(reason, self._requests[self.sent_count - 1], self._serial)
        except DeviceError as error:
            self._fail(error)
        return b""

    def _over(self, error: DeviceError | None) -> None:
        """Fails what is pending. Before the last request was sent, nothing can have reached a device."""
        early = error or lost_connection("the adb server closed the connection in the middle of its answer")
        if self.sent_count < len(self._requests):
            early.details["delivery"] = "not_delivered"
        self._fail(early)
        self._inbox.end(error)

    def _fail(self, error: DeviceError) -> None:
        if not self.granted.done():
            self.granted.set_exception(error)
            self.granted.exception()  # marks it as retrieved: the caller may have been cancelled

    # answers of the server itself

    async def text(self) -> str:
        """A string prefixed by its length."""
        return (await self._exactly(hex_number(await self._exactly(4)))).decode("utf-8", "replace")

    async def _exactly(self, size: int) -> bytes:
        while len(self._held) < size:
            data = await self._inbox.get()
            if not data:
                raise lost_connection("the adb server closed the connection in the middle of its answer")
            self._held += data
        taken, self._held = self._held[:size], self._held[size:]
        return taken


def hex_number(digits: bytes) -> int:
    try:
        return int(digits, 16)
    except ValueError:
        raise no_server(digits) from None


def no_server(answer: bytes) -> DeviceError:
    return lost_connection(f"what listens there is not an adb server: it answered {answer!r}")


def lost_connection(why: str) -> DeviceError:
    """The connection is lost; whether the device received something is unknown."""
    return AdbConnectionError(
        why, hint="`handrail devices` shows whether the phone is still there.", delivery="unknown"
    )


def refusal(text: str, request: str, serial: str) -> DeviceError:
    """The server answered FAIL, so nothing of the request ran on a device."""
    reason = " ".join(text.split())
    name = serial or "the adb server"
    if "unauthorized" in reason or "authorizing" in reason or "failed to authenticate" in reason:
        why = f"{name} has not authorised this host: {reason}"
        return DeviceOffline(why, hint=ACCEPT_HINT, state="unauthorized", delivery="not_delivered")
    if "permissions" in reason:
        why = f"{name} can't be opened by the adb server: {reason}"
        hint = "Give your user access to the USB device (udev rules, the plugdev group), then reconnect it."
        return DeviceOffline(why, hint=hint, state="no permissions", delivery="not_delivered")
    if "offline" in reason or "still connecting" in reason:
        return DeviceOffline(f"{name} is offline: {reason}", state="offline", delivery="not_delivered")
    if "not found" in reason or "no devices" in reason or "more than one" in reason:
        return AdbConnectionError(f"{name}: {reason}", delivery="not_delivered")
    return AdbCommandError(
        f"{name} refused {request[:80]!r}: {reason}",
        hint="`closed` means that nothing on the phone serves it."
        if reason == "closed"
        else "Read the text after the colon.",
        command=request[:80],
        delivery="not_delivered",
    )
