"""The adb server: where its program is, which devices it knows, and a `Link` to one of them.

For USB and shared phones. One socket per request; nothing is kept open but what somebody reads.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from handrail.adb.connection import too_long
from handrail.adb.smart_socket import REQUEST_MAX, SmartSocket, refusal
from handrail.clock import Clock, SystemClock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceError, DeviceOffline
from handrail.waiting import Deadline, Expired

PORT = 5037
START_MS = 15_000
"""How long `adb start-server` may take; it looks at USB first."""
ANSWER_MS = 15_000
"""How long the server may take for an answer of its own; services on a device have the caller's limit."""


T = TypeVar("T")
Revive = Callable[[], Awaitable[str | None]]
"""Gives the present name of a device that the server has lost, or None."""
_PAIRED = re.compile(r"Successfully paired to .*\[guid=([^\]]+)\]")


class Server:
    """An adb server on `host:port`, which is started when it is ours to start."""

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
        """Where adb itself would look: ADB_SERVER_SOCKET, else ANDROID_ADB_SERVER_ADDRESS and _PORT."""
        host = env.get("ANDROID_ADB_SERVER_ADDRESS") or "127.0.0.1"
        port = env.get("ANDROID_ADB_SERVER_PORT") or str(PORT)
        if given := env.get("ADB_SERVER_SOCKET"):
            kind, _, rest = given.partition(":")
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
        """Nothing to do when somebody answers; else the adb binary starts a server, which stays."""
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
        await self._launch(adb)

    async def running(self) -> bool:
        try:
            await self.version()
        except AdbConnectionError:
            return False
        return True

    async def version(self) -> int:
        """Of the protocol: 41 for all adb programs of the last years."""
        return int(await self.ask("host:version"), 16)

    async def _launch(self, adb: Path) -> None:
        """The program returns when its server listens, or with a code; then another may have been faster."""
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

    # devices

    async def devices(self) -> list[Listed]:
        return parse_devices(await self.ask("host:devices-l"))

    async def track(self) -> AsyncIterator[list[Listed]]:
        """All devices, now and after every change; an error when the server ends. Old servers tell less."""
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
        """Add a device by TCP. The server says OKAY to a failure as well: only its words tell."""
        said = await self.ask(f"host:connect:{address}")
        if not said.startswith(("connected to", "already connected to")):
            raise _not_connected(said, address)

    async def pair(self, address: str, code: str) -> str:
        """With the code that a phone shows, or that it read; the name that it announces from now on.

        The code is in no error: a wrong one may be right for another phone.
        """
        try:
            said = await self.ask(f"host:pair:{code}:{address}")
        except DeviceError as error:
            error.message = error.message.replace(code, "******")
            error.details.pop("command", None)
            raise error from None
        if found := _PAIRED.search(said):
            return found[1]
        raise AdbConnectionError(
            f"{address} was not paired: {said.replace(code, '******')}",
            hint="Open the pairing dialog on the phone again: it shows another code and another port.",
            delivery="not_delivered",
        )

    async def disconnect(self, address: str) -> None:
        """Forget a device that was added by TCP; one that isn't there is no failure."""
        with suppress(AdbCommandError, AdbConnectionError):
            await self.ask(f"host:disconnect:{address}")

    def link(self, serial: str, revive: Revive | None = None) -> ServerLink:
        return ServerLink(self, serial, revive)

    # sockets

    async def ask(self, request: str, serial: str = "") -> str:
        """One request and its answer."""
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
        """A socket on which all requests are granted; the caller closes it."""
        stream = SmartSocket(requests, serial)
        try:
            await asyncio.get_running_loop().create_connection(lambda: stream, self.host, self.port)
            await stream.granted
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            raise AdbConnectionError(
                f"no adb server answers at {self.host}:{self.port}: {why}",
                hint="`handrail doctor` tells what is missing.",
                delivery="not_delivered",
            ) from None
        except (DeviceError, asyncio.CancelledError):
            await stream.close()
            raise
        return stream


def _not_connected(said: str, address: str) -> DeviceError:
    if "authenticate" in said:
        return refusal(said, "host:connect", address)
    return AdbConnectionError(
        f"adb could not connect to {address}: {said}",
        hint="Check address and port; the phone must be on the same network with `adb tcpip` switched on.",
        delivery="not_delivered",
    )


class ServerLink:
    """A `Link` to one device of a server: a socket per service.

    A phone without a cable may come back under another name: `revive` finds it, and its link goes on.
    """

    def __init__(self, server: Server, serial: str, revive: Revive | None = None) -> None:
        self._server = server
        self.serial = serial
        self._now = serial
        self._revive = revive
        self._features: frozenset[str] | None = None

    async def features(self) -> frozenset[str]:
        """Asked once: they come from the device's build."""
        if self._features is None:
            said = await self._again(lambda now: self._server.ask(f"host-serial:{now}:features", now))
            self._features = frozenset(said.split(","))
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
        """Once more by the name that the phone has now, where nothing can have reached it before."""
        try:
            return await ask(self._now)
        except (AdbConnectionError, DeviceOffline) as error:
            gone = error.details.get("delivery") == "not_delivered"
            if not gone or self._revive is None or (now := await self._revive()) is None:
                raise
            self._now = now
        return await ask(self._now)

    async def close(self) -> None:
        """Nothing is kept open."""


_PROPS = frozenset({"usb", "product", "model", "device", "features", "transport_id"})
_TWO_WORDS = "no permissions"


@dataclass(frozen=True, slots=True)
class Listed:
    """A device as the server lists it; only those in state `device` can be used."""

    serial: str
    state: str
    props: dict[str, str] = field(default_factory=dict)


def parse_devices(text: str) -> list[Listed]:
    """`SERIAL STATE key:value …` a line; the one state of two words brings its explanation along."""
    return [_listed(*line.split(None, 1)) for line in text.splitlines() if len(line.split(None, 1)) == 2]


def _listed(serial: str, rest: str) -> Listed:
    state = _TWO_WORDS if rest.startswith(_TWO_WORDS) else rest.split(maxsplit=1)[0]
    words = [word.partition(":") for word in rest.removeprefix(state).split()]
    return Listed(serial, state, {key: value for key, colon, value in words if key in _PROPS and colon})


def find_adb(env: Mapping[str, str] = os.environ) -> Path | None:
    """HANDRAIL_ADB and nothing else where it is set; else PATH, the Android SDK, the adbutils wheel."""
    if chosen := env.get("HANDRAIL_ADB"):
        return Path(chosen) if _runs(Path(chosen)) else None
    return next((path for path in _places(env) if _runs(path)), None)


def _places(env: Mapping[str, str]) -> Iterator[Path]:
    if on_path := shutil.which("adb", path=env.get("PATH", "")):
        yield Path(on_path)
    for name in ("ANDROID_HOME", "ANDROID_SDK_ROOT"):
        if env.get(name):
            yield Path(env[name]) / "platform-tools" / "adb"
    wheel = find_spec("adbutils")
    for folder in (wheel.submodule_search_locations or []) if wheel else []:
        yield Path(folder) / "binaries" / "adb"


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
