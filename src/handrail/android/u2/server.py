"""The life of the u2 server on the phone: started as a command of ours, ended with it, started again.

Knows how to tell that it is alive; knows no method beyond that.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.android.constants import U2_PORT, U2_STARTUP_TIMEOUT_MS
from handrail.android.http_over_adb import HttpAnswer, HttpPort, ServerGone
from handrail.android.resident import Resident
from handrail.clock import Clock
from handrail.errors import AdbCommandError, HandrailError, Timeout

REMOTE = "/data/local/tmp/u2.jar"
MODE = 0o644


def find_jar() -> Path | None:
    """The jar of the installed package; None when there is none."""
    spec = find_spec("uiautomator2")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        jar = Path(folder) / "assets" / "u2.jar"
        if jar.is_file():
            return jar
    return None


async def put_jar(device: AdbDevice, jar: Path) -> None:
    """Make the phone's copy this one; sent only when it differs."""
    data = await asyncio.to_thread(jar.read_bytes)
    digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
    found = await device.shell.run(["md5sum", REMOTE], check=False)
    if digest not in found.text:
        await device.files.push(data, REMOTE, mode=MODE)


MAIN = "com.wetest.uia2.Main"
COMMAND = ["env", f"CLASSPATH={REMOTE}", "app_process", "/", MAIN, "-p", str(U2_PORT)]
"""`env` becomes app_process itself: hanging up the command reaches the server, not a shell above it."""
PING_TIMEOUT_MS = 1_000
POLL_MS = 100


class U2Server:
    """At most one command on the phone. `turns` counts how often the server came up or was ended by us."""

    def __init__(self, device: AdbDevice, jar: Path, clock: Clock) -> None:
        self.rpc = Rpc(HttpPort(device, U2_PORT, clock))
        self.turns = 0
        self._device = device
        self._jar = jar
        self._clock = clock
        self._resident: Resident | None = None
        self._lock = asyncio.Lock()

    async def start(self, timeout_ms: float = U2_STARTUP_TIMEOUT_MS) -> None:
        """Until it answers. One that somebody else runs is used: the phone can't have two."""
        await self.restart(self.turns, timeout_ms)

    async def restart(
        self, known: int, timeout_ms: float = U2_STARTUP_TIMEOUT_MS, *, useless: bool = False
    ) -> None:
        """A server that answers: a new one if there is none, or if ours answers and is useless.

        Nothing is done if one came up, or was ended by us, since the caller saw turn `known`.
        """
        async with self._lock:
            if self.turns != known:
                return
            if useless:
                await self._end()
            if not await self._answers():
                await self._end()
                await put_jar(self._device, self._jar)
                if self.turns != known:
                    return
                self._resident = Resident(self._device.shell, COMMAND)
                await self._wait(self._resident, timeout_ms)
            self.turns += 1

    async def stop(self) -> None:
        """Ends the command, and with it the server. Waits for nobody: a start that is under way ends too."""
        self.turns += 1
        await self._end()

    async def _end(self) -> None:
        resident, self._resident = self._resident, None
        if resident is not None:
            await resident.stop()

    async def _wait(self, resident: Resident, timeout_ms: float) -> None:
        end = self._clock.monotonic_ms() + timeout_ms
        try:
            while not await self._answers():
                if resident.ended:
                    raise AdbCommandError(f"the u2 server ended: {resident.last_words}", command=MAIN)
                if self._clock.monotonic_ms() >= end:
                    raise Timeout(f"the u2 server did not answer within {timeout_ms:.0f} ms")
                await self._clock.sleep_ms(POLL_MS)
        except BaseException:
            await self._end()
            raise

    async def _answers(self) -> bool:
        try:
            return await self.rpc.ping(PING_TIMEOUT_MS)
        except HandrailError:
            return False


CALL_TIMEOUT_MS = 10_000
DEAD = ("UiAutomation not connected", "android.os.DeadObjectException")
"""The server still answers, and has lost the accessibility service: only a new one helps."""
NEVER_RAN = (-32700, -32600, -32601, -32602)
"""JSON-RPC's own codes: the request was refused before any method ran."""
NO_SUCH_OBJECT = "UiObjectNotFoundException"


class ServiceLost(ServerGone):
    """The server answers, and can neither see nor touch any more."""


@dataclass(frozen=True, slots=True)
class Rpc:
    """Calls methods of the server behind a port."""

    http: HttpPort

    async def ping(self, timeout_ms: float) -> bool:
        """Whether the server is up; raises as `call` does when there is none."""
        return (await self.http.get("/ping", timeout_ms=timeout_ms)).body == b"pong"

    async def call(self, method: str, *params: Any, timeout_ms: float = CALL_TIMEOUT_MS) -> Any:
        """The method's result."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params) or {}}
        body = json.dumps(request).encode()
        return _result(method, await self.http.post("/jsonrpc/0", body, timeout_ms=timeout_ms))


def _result(method: str, answer: HttpAnswer) -> Any:
    try:
        told = json.loads(answer.body) if answer.status == 200 else {}
    except ValueError:
        told = {}
    if isinstance(told, dict) and "result" in told:
        return told["result"]
    raise _failure(method, answer, told.get("error") if isinstance(told, dict) else None)


def _failure(method: str, answer: HttpAnswer, error: Any) -> AdbCommandError | ServiceLost:
    words = answer.body.decode("utf-8", "replace")
    if any(mark in words for mark in DEAD):
        hint = "The server is started again at the next read."
        reason = f"the u2 server has lost the accessibility service ({method})"
        return ServiceLost(reason, hint=hint, delivery="unknown")
    if not isinstance(error, dict):
        reason = f"the u2 server answered {method} with HTTP {answer.status}: {words[:120]!r}"
        return AdbCommandError(reason, command=method, delivery="unknown")
    message = str(error.get("message", ""))
    refused = error.get("code") in NEVER_RAN or NO_SUCH_OBJECT in message
    delivery = "not_delivered" if refused else "unknown"
    return AdbCommandError(
        f"the u2 server refused {method}: {message[:200]}", command=method, delivery=delivery
    )
