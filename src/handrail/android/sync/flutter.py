"""A Flutter app's VM service: idle when its UI isolate answers and no frame was drawn for a while."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.android.logs import FORMAT, LogLine, read_lines
from handrail.android.packages import processes_of
from handrail.android.sync.debugger import Calls, ChannelLost, IdleOutcome, Json, open_websocket
from handrail.cdp.connection import StreamWire
from handrail.clock import Clock
from handrail.errors import AdbCommandError, Timeout
from handrail.waiting import Deadline, Expired

OPEN_MS = 1_000.0
CALL_MS = 2_000.0
WINDOW_MS = 200.0
"""Frames are reported in batches of 100 ms, so a shorter silence proves nothing."""
ISOLATE_TRIES, ISOLATE_PAUSE_MS = 8, 100.0
SEMANTICS_TRIES, SEMANTICS_PAUSE_MS = 5, 120.0
ANSWER_MS = 150.0
"""Minimum time for a probe."""
DUMP = "ext.flutter.debugDumpSemanticsTreeInTraversalOrder"
HARMLESS = (
    "ext.flutter.didSendFirstFrameEvent",
    "ext.flutter.didSendFirstFrameRasterizedEvent",
    "ext.flutter.platformOverride",
)
"""Read-only extensions that the isolate's own event loop answers; `getVM` is answered outside of it."""
_BINDINGS = {
    "package:flutter/src/semantics/binding.dart": "SemanticsBinding.instance.ensureSemantics()",
    "package:flutter/src/rendering/binding.dart": "RendererBinding.instance.ensureSemantics()",
}


async def open_dart(device: AdbDevice, package: str, clock: Clock) -> DartVm:
    """Finds the VM by the log, connects and listens to frames. Raises `DeviceError` or `Timeout`."""
    # Raises `ChannelLost` if the app has announced nothing.
    command = ["logcat", "-d", *FORMAT, "-s", "flutter:I"]
    running, log = await asyncio.gather(
        processes_of(device.shell, package), device.shell.run(command, timeout_ms=LOG_MS, check=False)
    )
    address = newest_address(read_lines(log.stdout), running)
    if address is None:
        raise ChannelLost(f"no running process of {package} has logged the address of its Dart VM")
    try:
        async with Deadline(clock, OPEN_MS):
            wire = await open_websocket(device, address.service, address.uri)
    except Expired:
        raise ChannelLost(f"{address.service} opened no WebSocket within {OPEN_MS:.0f} ms") from None
    vm = DartVm(wire, clock)
    try:
        await vm.begin()
    except BaseException:
        await vm.close()
        raise
    return vm


@dataclass(frozen=True, slots=True)
class Isolate:
    """The needed part of an isolate's description."""

    id: str = ""
    name: str = ""
    extensions: frozenset[str] = frozenset()
    libraries: dict[str, str] = field(default_factory=dict)
    """Ids by URI."""


class DartVm:
    """Channel to one VM and the isolate that draws."""

    def __init__(self, wire: StreamWire, clock: Clock) -> None:
        self._clock = clock
        self._calls = Calls(wire, clock, self._hear, jsonrpc="2.0")
        self._isolate = Isolate()
        self._last_frame_ms = clock.monotonic_ms()

    @property
    def isolate_name(self) -> str:
        return self._isolate.name

    async def begin(self) -> None:
        await self._call("streamListen", streamId="Extension")
        await self._find_isolate()

    async def wait_idle(self, timeout_ms: float) -> IdleOutcome:
        end = self._clock.monotonic_ms() + timeout_ms
        waited: tuple[str, ...] = ()
        while True:
            try:
                await self._ping(max(ANSWER_MS, end - self._clock.monotonic_ms()))
            except Timeout:
                return IdleOutcome(False, (*waited, "Dart"))
            now = self._clock.monotonic_ms()
            quiet_in = self._last_frame_ms + WINDOW_MS - now
            if quiet_in <= 0:
                return IdleOutcome(True, waited)
            waited = ("frames",)
            if now >= end:
                return IdleOutcome(False, waited)
            await self._clock.sleep_ms(min(quiet_in, end - now))

    async def build_semantics(self) -> tuple[bool, str]:
        """Whether there is a semantics tree, and how it came about."""
        if await self._has_semantics():
            return True, "they were there"
        how = await self._ensure_semantics()
        for _ in range(SEMANTICS_TRIES):
            if await self._has_semantics():
                return True, how
            await self._clock.sleep_ms(SEMANTICS_PAUSE_MS)
        return False, how

    async def close(self) -> None:
        await self._calls.close()

    # the isolate

    async def _find_isolate(self) -> None:
        """The isolate named main that has Flutter's extensions, which are registered shortly after its
        start."""
        for _ in range(ISOLATE_TRIES):
            vm = await self._call("getVM")
            for ref in sorted(_dicts(vm.get("isolates")), key=lambda entry: entry.get("name") != "main"):
                described = await self._call("getIsolate", isolateId=str(ref.get("id")))
                offered = described.get("extensionRPCs")
                extensions = frozenset(map(str, offered)) if isinstance(offered, list) else frozenset[str]()
                if any(name.startswith("ext.flutter.") for name in extensions):
                    libraries = _dicts(described.get("libraries"))
                    ids = {str(library.get("uri")): str(library.get("id")) for library in libraries}
                    self._isolate = Isolate(str(ref.get("id")), str(ref.get("name")), extensions, ids)
                    return
            await self._clock.sleep_ms(ISOLATE_PAUSE_MS)
        raise ChannelLost("the Dart VM has no isolate with Flutter's extensions")

    async def _ping(self, timeout_ms: float) -> None:
        """After a hot restart the isolate is another one; the VM reports that in one of two ways."""
        method = next((name for name in HARMLESS if name in self._isolate.extensions), None)
        if method is None:
            return
        try:
            reply = await self._call(method, timeout_ms, isolateId=self._isolate.id)
            is_gone = reply.get("type") == "Sentinel"
        except AdbCommandError:
            is_gone = True
        if is_gone:
            await self._find_isolate()

    async def _has_semantics(self) -> bool:
        if DUMP not in self._isolate.extensions:
            return False
        reply = await self._call(DUMP, isolateId=self._isolate.id)
        return "SemanticsNode#" in str(reply.get("data", reply))

    async def _ensure_semantics(self) -> str:
        """Evaluates in the framework's library, which debug builds allow and profile builds do not."""
        for uri, expression in _BINDINGS.items():
            if library := self._isolate.libraries.get(uri):
                where = self._isolate.id
                try:
                    reply = await self._call(
                        "evaluate", isolateId=where, targetId=library, expression=expression
                    )
                except AdbCommandError as error:
                    return error.message
                return "asked for" if reply.get("type") != "@Error" else str(reply.get("message"))[:120]
        return "the app has no Flutter binding that can be asked"

    async def _call(self, method: str, timeout_ms: float = CALL_MS, **params: Any) -> Json:
        return await self._calls.call(method, params, timeout_ms=timeout_ms)

    def _hear(self, message: Json) -> None:
        params = message.get("params")
        event = params.get("event") if isinstance(params, dict) else None
        if isinstance(event, dict) and event.get("extensionKind") == "Flutter.Frame":
            self._last_frame_ms = self._clock.monotonic_ms()


def _dicts(value: Any) -> list[Json]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


LOG_MS = 2_000.0
_ADDRESS_LINE = re.compile(
    r"(?:Dart VM [Ss]ervice|Observatory)\b.*? listening on https?://[^/:\s]+:(?P<port>\d{1,5})(?P<path>/\S*)?"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A port of the phone and the secret path of its service."""

    port: int
    path: str

    @property
    def service(self) -> str:
        return f"tcp:{self.port}"

    @property
    def uri(self) -> str:
        return f"ws://127.0.0.1:{self.port}{self.path.rstrip('/')}/ws"


def newest_address(lines: Iterable[LogLine], pids: Container[int]) -> Address | None:
    """The latest announcement of a process that is still running."""
    address = None
    for line in lines:
        if line.pid in pids and (match := _ADDRESS_LINE.search(line.text)):
            address = Address(int(match["port"]), match["path"] or "/")
    return address
