"""The life of the u2 server on the phone: started once, found again by whoever comes next, ended on request.

Knows how to tell that it is alive; knows no method beyond that.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.adb.shell import Script
from handrail.android.constants import U2_PORT, U2_STARTUP_TIMEOUT_MS
from handrail.android.http_over_adb import HttpAnswer, HttpPort, ServerGone
from handrail.clock import Clock
from handrail.errors import AdbCommandError, HandrailError, Timeout, Unsupported
from handrail.waiting import uninterrupted

REMOTE = "/data/local/tmp/u2.jar"
LOG = "/data/local/tmp/u2-server.log"
PID = "/data/local/tmp/u2-server.pid"
MODE = 0o644
KNOWN_JARS = {
    "1bd7c57fe019d0275a66b936ed5d7ea5f244d98e5e3ba3d1ccf4a14e721ef94f": "of uiautomator2 3.3 and 3.4",
    "ea100004a76e821f4bff4f9d674165562752af101943d2a65959a5f2ee7fb892": "of uiautomator2 3.5",
    "c59218666df624c295ccc9906b4f7abe72cc92d6559c3fe493ec41a8c72cd4e3": "0.3.1",
    "0b74e83c55f443539a9f76f5ce023a51466b764b1100e4097a897053fdfc0eb6": "0.4.0",
    "87c8ac9505970d42aa5922baa90114808fda6f47f9e5fbd4caa0f621c2c8d30d": "0.4.1",
}
"""SHA-256 of the jars that may go to a phone. It can do there whatever the person can: no other is pushed."""


def find_jar() -> Path | None:
    """The jar of the installed package; None when there is none."""
    spec = find_spec("uiautomator2")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        jar = Path(folder) / "assets" / "u2.jar"
        if jar.is_file():
            return jar
    return None


def read_jar(jar: Path) -> bytes:
    """Its bytes, if they are those of a known version."""
    data = jar.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest not in KNOWN_JARS:
        raise Unsupported(
            f"the u2.jar that is installed is none that Handrail knows (sha256 {digest[:12]}…)",
            hint="pip install 'uiautomator2>=3.3,<3.8'. A newer one needs a newer Handrail.",
        )
    return data


async def put_jar(device: AdbDevice, jar: Path) -> None:
    """Make the phone's copy this one; sent only when it differs."""
    data = await asyncio.to_thread(read_jar, jar)
    digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
    found = await device.shell.run(["md5sum", REMOTE], check=False)
    if digest not in found.text:
        await device.files.push(data, REMOTE, mode=MODE)


MAIN = "com.wetest.uia2.Main"
START = Script(
    f"CLASSPATH={REMOTE} nohup app_process / {MAIN} -p {U2_PORT} >{LOG} 2>&1 </dev/null & echo $! >{PID}"
)
"""It has no terminal and no pipe of ours: it outlives the command, the line and this program."""
IS_ALIVE = Script(f"kill -0 $(cat {PID}) 2>/dev/null && echo alive")
STOP = Script(f"kill -9 $(cat {PID}) 2>/dev/null; rm -f {PID}")
"""Only the one that Handrail started: a server of somebody else is theirs."""
PING_TIMEOUT_MS = 1_000
POLL_MS = 100
PROGRESS = logging.getLogger("handrail.progress")
"""What takes a person's time while it happens. A command in a terminal shows it; nobody else need listen."""


class U2Server:
    """One at most on a phone, whoever started it. `turns` counts how often one came up or was ended by us."""

    def __init__(self, device: AdbDevice, jar: Path, clock: Clock) -> None:
        self.rpc = Rpc(HttpPort(device, U2_PORT, clock))
        self.turns = 0
        self._device = device
        self._jar = jar
        self._clock = clock
        self._lock = asyncio.Lock()

    async def start(self, timeout_ms: float = U2_STARTUP_TIMEOUT_MS) -> None:
        """Until it answers. One that runs already is used: the phone can't have two."""
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
                await self._begin(known, timeout_ms)
            if self.turns == known:
                self.turns += 1

    async def _begin(self, known: int, timeout_ms: float) -> None:
        PROGRESS.info("starting the u2 helper on %s; later sessions find it running", self._device.serial)
        await self._end()
        await put_jar(self._device, self._jar)
        if self.turns == known:
            await self._device.shell.run(START)
            await self._wait(known, timeout_ms)

    async def stop(self) -> None:
        """Ends the one that Handrail started. Waits for nobody: a start that is under way ends too."""
        self.turns += 1
        await self._end()

    def leave(self) -> None:
        """Whoever used it goes; nothing that is still under way may start another."""
        self.turns += 1

    async def _end(self) -> None:
        await self._device.shell.run(STOP, check=False)

    async def _wait(self, known: int, timeout_ms: float) -> None:
        end = self._clock.monotonic_ms() + timeout_ms
        try:
            while not await self._answers():
                if self.turns != known or not await self._is_alive():
                    raise AdbCommandError(f"the u2 server ended: {await self._last_words()}", command=MAIN)
                if self._clock.monotonic_ms() >= end:
                    raise Timeout(f"the u2 server did not answer within {timeout_ms:.0f} ms")
                await self._clock.sleep_ms(POLL_MS)
        except BaseException:
            await uninterrupted(self._end())
            raise

    async def _is_alive(self) -> bool:
        return "alive" in (await self._device.shell.run(IS_ALIVE, check=False)).text

    async def _last_words(self) -> str:
        """The last line of its log that says something; at most 200 characters."""
        log = (await self._device.shell.run(["tail", "-c", "4096", LOG], check=False)).text
        lines = [line.strip() for line in log.splitlines()]
        telling = [line for line in lines if line and not line.startswith(("at ", "... "))]  # no stack frames
        return telling[-1][:200] if telling else "it said nothing"

    async def _answers(self) -> bool:
        try:
            return await self.rpc.ping(PING_TIMEOUT_MS)
        except HandrailError:
            return False


async def is_up(device: AdbDevice, clock: Clock) -> bool:
    """Whether a server answers on this phone, whoever started it. Starts nothing."""
    try:
        return await Rpc(HttpPort(device, U2_PORT, clock)).ping(PING_TIMEOUT_MS)
    except HandrailError:
        return False


async def release(device: AdbDevice) -> bool:
    """Ends the server that Handrail left on this phone; whether there was one."""
    found = await device.shell.run(IS_ALIVE, check=False)
    await device.shell.run(STOP, check=False)
    return "alive" in found.text


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
