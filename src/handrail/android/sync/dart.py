"""A Flutter app's VM service: at rest when its UI isolate answers and no frame was drawn for a while."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.adb.shell import DeviceShell
from handrail.android.logs import FORMAT, Lines, LogLine
from handrail.android.packages import processes_of
from handrail.android.sync.answers import ChannelLost, Rest
from handrail.android.sync.calls import Calls, Json
from handrail.android.sync.websocket import WebSocket, open_websocket
from handrail.clock import Clock
from handrail.errors import AdbCommandError, Timeout
from handrail.waiting import Deadline, Expired

OPEN_MS = 1_000.0
CALL_MS = 2_000.0
WINDOW_MS = 200.0
"""Frames are told in batches of 100 ms: a shorter silence says nothing."""
ISOLATE_TRIES, ISOLATE_PAUSE_MS = 8, 100.0
SEMANTICS_TRIES, SEMANTICS_PAUSE_MS = 5, 120.0
ANSWER_MS = 150.0
"""The least that a probe gets, however little time is left."""
DUMP = "ext.flutter.debugDumpSemanticsTreeInTraversalOrder"
HARMLESS = (
    "ext.flutter.didSendFirstFrameEvent",
    "ext.flutter.didSendFirstFrameRasterizedEvent",
    "ext.flutter.platformOverride",
)
"""Extensions that only read, answered on the isolate's own event loop; `getVM` is answered beside it."""
_BINDINGS = {
    "package:flutter/src/semantics/binding.dart": "SemanticsBinding.instance.ensureSemantics()",
    "package:flutter/src/rendering/binding.dart": "RendererBinding.instance.ensureSemantics()",
}


async def open_dart(device: AdbDevice, package: str, clock: Clock) -> DartVm:
    """Finds the VM by the log, connects, listens to frames. `DeviceError` or `Timeout` when it can't."""
    address = await find_address(device.shell, package)
    try:
        async with Deadline(clock, OPEN_MS):
            socket = await open_websocket(device, address.service, address.uri)
    except Expired:
        raise ChannelLost(f"{address.service} opened no WebSocket within {OPEN_MS:.0f} ms") from None
    vm = DartVm(socket, clock)
    try:
        await vm.begin()
    except BaseException:
        await vm.close()
        raise
    return vm


@dataclass(frozen=True, slots=True)
class Isolate:
    """What is needed of one of the VM's isolates."""

    id: str = ""
    name: str = ""
    extensions: frozenset[str] = frozenset()
    libraries: dict[str, str] = field(default_factory=dict)
    """Ids by URI."""


class DartVm:
    """The channel to one VM and the isolate that draws."""

    def __init__(self, socket: WebSocket, clock: Clock) -> None:
        self._clock = clock
        self._calls = Calls(socket, clock, self._hear, jsonrpc="2.0")
        self._isolate = Isolate()
        self._last_frame_ms = clock.monotonic_ms()

    @property
    def isolate_name(self) -> str:
        return self._isolate.name

    async def begin(self) -> None:
        await self._call("streamListen", streamId="Extension")
        await self._find_isolate()

    async def wait_idle(self, timeout_ms: float) -> Rest:
        end = self._clock.monotonic_ms() + timeout_ms
        waited: tuple[str, ...] = ()
        while True:
            try:
                await self._ping(max(ANSWER_MS, end - self._clock.monotonic_ms()))
            except Timeout:
                return Rest(False, (*waited, "Dart"))
            now = self._clock.monotonic_ms()
            quiet_in = self._last_frame_ms + WINDOW_MS - now
            if quiet_in <= 0:
                return Rest(True, waited)
            waited = ("frames",)
            if now >= end:
                return Rest(False, waited)
            await self._clock.sleep_ms(min(quiet_in, end - now))

    async def build_semantics(self) -> tuple[bool, str]:
        """Whether there is a semantics tree in the end, and how that came about."""
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
        """The one named main that has Flutter's extensions; they are registered a moment after it starts."""
        for _ in range(ISOLATE_TRIES):
            vm = await self._call("getVM")
            for ref in sorted(_dicts(vm.get("isolates")), key=lambda one: one.get("name") != "main"):
                isolate = _isolate(ref, await self._call("getIsolate", isolateId=str(ref.get("id"))))
                if any(name.startswith("ext.flutter.") for name in isolate.extensions):
                    self._isolate = isolate
                    return
            await self._clock.sleep_ms(ISOLATE_PAUSE_MS)
        raise ChannelLost("the Dart VM has no isolate with Flutter's extensions")

    async def _ping(self, timeout_ms: float) -> None:
        """After a hot restart the isolate is another one, and the VM says so in one of two ways."""
        method = next((name for name in HARMLESS if name in self._isolate.extensions), None)
        if method is None:
            return
        try:
            told = await self._call(method, timeout_ms, isolateId=self._isolate.id)
            is_gone = told.get("type") == "Sentinel"
        except AdbCommandError:
            is_gone = True
        if is_gone:
            await self._find_isolate()

    async def _has_semantics(self) -> bool:
        if DUMP not in self._isolate.extensions:
            return False
        told = await self._call(DUMP, isolateId=self._isolate.id)
        return "SemanticsNode#" in str(told.get("data", told))

    async def _ensure_semantics(self) -> str:
        """An expression in the framework's own library: debug builds can evaluate, profile builds can't."""
        for uri, expression in _BINDINGS.items():
            if library := self._isolate.libraries.get(uri):
                where = self._isolate.id
                try:
                    told = await self._call(
                        "evaluate", isolateId=where, targetId=library, expression=expression
                    )
                except AdbCommandError as error:
                    return error.message
                return "asked for" if told.get("type") != "@Error" else str(told.get("message"))[:120]
        return "the app has no Flutter binding that can be asked"

    async def _call(self, method: str, timeout_ms: float = CALL_MS, **params: Any) -> Json:
        return await self._calls.call(method, params, timeout_ms=timeout_ms)

    def _hear(self, message: Json) -> None:
        params = message.get("params")
        event = params.get("event") if isinstance(params, dict) else None
        if isinstance(event, dict) and event.get("extensionKind") == "Flutter.Frame":
            self._last_frame_ms = self._clock.monotonic_ms()


def _isolate(ref: Json, told: Json) -> Isolate:
    offered = told.get("extensionRPCs")
    libraries = {str(one.get("uri")): str(one.get("id")) for one in _dicts(told.get("libraries"))}
    extensions = frozenset(map(str, offered)) if isinstance(offered, list) else frozenset[str]()
    return Isolate(str(ref.get("id")), str(ref.get("name")), extensions, libraries)


def _dicts(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


LOG_MS = 2_000.0
_SAID = re.compile(
    r"(?:Dart VM [Ss]ervice|Observatory)\b.*? listening on https?://[^/:\s]+:(?P<port>\d{1,5})(?P<path>/\S*)?"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A port of the phone, and the secret path under which it answers."""

    port: int
    path: str

    @property
    def service(self) -> str:
        return f"tcp:{self.port}"

    @property
    def uri(self) -> str:
        return f"ws://127.0.0.1:{self.port}{self.path.rstrip('/')}/ws"


def newest(lines: Iterable[LogLine], pids: Container[int]) -> Address | None:
    """The last one said by a process that still lives."""
    found = [_SAID.search(line.text) for line in lines if line.pid in pids]
    said = [one for one in found if one]
    return Address(int(said[-1]["port"]), said[-1]["path"] or "/") if said else None


async def find_address(shell: DeviceShell, package: str) -> Address:
    """Of the app as it runs now; `ChannelLost` where it said nothing."""
    command = ["logcat", "-d", *FORMAT, "-s", "flutter:I"]
    running, log = await asyncio.gather(
        processes_of(shell, package), shell.run(command, timeout_ms=LOG_MS, check=False)
    )
    found = newest(Lines().feed(log.stdout + b"\n"), running)
    if found is None:
        raise ChannelLost(f"no running process of {package} has told the log where its Dart VM listens")
    return found
