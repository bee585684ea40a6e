"""Detects the framework of an app and waits on its channels: Hermes, the Dart VM, the idling bridge."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Container, Iterable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.adb.shell import DeviceShell, Script, quote
from handrail.android.logs import FORMAT, LogLine, read_lines
from handrail.android.packages import NAME, check_package, processes_of
from handrail.cdp.connection import Answer, StreamWire
from handrail.clock import Clock
from handrail.config import switch
from handrail.errors import AdbCommandError, DeviceError, Timeout
from handrail.screen.node import Screen
from handrail.surface.values import Framework
from handrail_frameworks import class_signals, is_custom_drawn
from handrail_frameworks.debugger import (
    METRO,
    PRIORITY,
    AppChannel,
    AppConnection,
    ChannelLost,
    IdleOutcome,
    Metro,
)
from handrail_frameworks.react_native import FiberLabels, metro_signals, open_hermes

WAIT_MS = 3_000.0
HURRIED_MS = 500.0
"""Budget of a channel whose last wait timed out: an endless animation costs the full wait only once."""
KEPT_LINES = 100
HERMES, DART, BRIDGE = "hermes", "dart vm", "idling bridge"
CHANNEL_NAMES = {HERMES: "hermes", DART: "dart_vm", BRIDGE: "idling"}
DISABLE_SYNC, DISABLE_FIBERS = "HANDRAIL_DISABLE_FRAMEWORK_SYNC", "HANDRAIL_DISABLE_FIBER_INFERENCE"


class FrameworkSync:
    """Framework channels of one app process; a new process needs a new instance."""

    def __init__(
        self,
        framework: Framework,
        package: str,
        *,
        device: AdbDevice,
        clock: Clock,
        env: Mapping[str, str],
        metro: Metro = METRO,
    ) -> None:
        self.kind: Framework = framework
        self.package = package
        self.diagnostics: list[str] = []
        """One line per event. The reader may remove them."""
        self.waited_for: tuple[str, ...] = ()
        """What the last `wait_for_sync` waited for."""
        self._device = device
        self._clock = clock
        self._env = env
        self._metro = metro
        self._is_attached = False
        self._channels: dict[str, AppChannel] = {}
        self._dart: DartVm | None = None
        self._labels: FiberLabels | None = None
        self._restless: set[str] = set()

    @property
    def has_backend(self) -> bool:
        return bool(self._channels)

    @property
    def has_hermes(self) -> bool:
        return HERMES in self._channels

    @property
    def has_dart_vm(self) -> bool:
        return DART in self._channels

    @property
    def has_idling_bridge(self) -> bool:
        return BRIDGE in self._channels

    @property
    def channels(self) -> tuple[str, ...]:
        """Open ones by the names that answers use."""
        return tuple(name for kind, name in CHANNEL_NAMES.items() if kind in self._channels)

    async def attach(self) -> None:
        """Opens every channel that this framework can have; further calls do nothing."""
        if self._is_attached or self.kind == "native":
            return
        self._is_attached = True
        if switch(self._env, DISABLE_SYNC):
            self._say(f"not in use: {DISABLE_SYNC}=1")
            return
        names = [BRIDGE, *{"react_native": [HERMES], "flutter": [DART]}.get(self.kind, [])]
        await asyncio.gather(*map(self._open, names))

    async def wait_for_sync(self, timeout_ms: float = WAIT_MS) -> bool:
        """Waits until every channel is idle. False only if one was still busy after its time."""
        self.waited_for = ()
        end = self._clock.monotonic_ms() + timeout_ms
        rested = True
        for name in CHANNEL_NAMES:
            if (channel := self._channels.get(name)) is None:
                continue
            began = self._clock.monotonic_ms()
            left = max(1.0, end - began)
            try:
                outcome = await channel.wait_idle(min(left, HURRIED_MS) if name in self._restless else left)
            except (DeviceError, Timeout) as error:
                await self._lose(name, error)
                continue
            self.waited_for += outcome.waited_for
            if outcome.waited_for:
                verb = "waited" if outcome.idle else "still busy after"
                took_ms = self._clock.monotonic_ms() - began
                self._say(f"{name}: {verb} {took_ms:.0f} ms for {', '.join(outcome.waited_for)}")
            (self._restless.discard if outcome.idle else self._restless.add)(name)
            rested &= outcome.idle
        return rested

    async def refresh_semantics(self) -> bool:
        """Makes Flutter build its semantics tree, which it does only on request."""
        if self._dart is None:
            return False
        try:
            built, how = await self._dart.build_semantics()
        except (DeviceError, Timeout) as error:
            await self._lose(DART, error)
            return False
        self._say(f"dart vm: semantics {'are there' if built else 'are not built'}: {how}")
        return built

    async def snapshot_fiber_labels(self, tree: Screen) -> dict[str, str]:
        """Labels for unnamed elements by node id, from the React components that drew them."""
        if self._labels is None or switch(self._env, DISABLE_FIBERS):
            return {}
        try:
            return await self._labels.of(tree)
        except (DeviceError, Timeout) as error:
            if not self._labels.cdp.is_open:
                await self._lose(HERMES, error)
                return {}
            self._say(f"fibers: {error.message}")
            if not isinstance(error, Timeout):  # a busy thread may answer next time
                self._labels = None
            return {}

    async def close(self) -> None:
        """Restores the app; may be called repeatedly."""
        for name in tuple(self._channels):
            await self._close(name)

    # channels

    async def _open(self, name: str) -> None:
        device, package, clock = self._device, self.package, self._clock
        try:
            if name == HERMES:
                hermes = await open_hermes(device, package, clock, self._metro)
                self._channels[HERMES] = hermes
                self._labels = FiberLabels(hermes.cdp, device, package, clock, self._say)
                outcome = f"attached to {hermes.title}"
            elif name == DART:
                self._channels[DART] = self._dart = await open_dart(device, package, clock)
                outcome = f"attached to isolate {self._dart.isolate_name}"
            else:
                self._channels[BRIDGE], outcome = await open_bridge(device.shell, package, clock)
            self._say(f"{name}: {outcome}")
        except (DeviceError, Timeout) as error:
            self._say(f"{name}: not there: {error.message}")

    async def _lose(self, name: str, error: DeviceError | Timeout) -> None:
        self._say(f"{name}: lost: {error.message}")
        await self._close(name)

    async def _close(self, name: str) -> None:
        if name == HERMES:
            self._labels = None
        elif name == DART:
            self._dart = None
        try:
            await self._channels.pop(name).close()
        except (DeviceError, Timeout) as error:
            self._say(f"left behind: {error.message}")

    def _say(self, line: str) -> None:
        self.diagnostics.append(line)
        del self.diagnostics[:-KEPT_LINES]


@dataclass(frozen=True, slots=True)
class Detected:
    """The framework and the evidence for it."""

    kind: Framework
    signals: tuple[str, ...] = ()


async def detect(
    device: AdbDevice,
    package: str,
    tree: Screen,
    *,
    metro: Metro,
    clock: Clock,
    libraries: MutableMapping[str, tuple[str, ...]],
) -> Detected:
    """`libraries` caches by package what a command has reported; pass the same one while a process lives."""
    if not NAME.fullmatch(package):  # it becomes part of commands
        return Detected("native")
    nodes = [node for node in tree.nodes if node.package_name == package]
    by_class = class_signals(nodes)
    if by_class:
        return _strongest(by_class, tuple(by_class.values()))
    if not is_custom_drawn(nodes):
        return Detected("native")
    if package not in libraries:
        listing, name = "", quote([check_package(package)])
        # Unpacked libraries lie beside the APK; others are listed in it or in its splits.
        script = Script(
            f"for p in $(pm path {name}); do p=${{p#package:}}; "
            'ls "${p%/*}"/lib/* 2>/dev/null; unzip -l "$p" 2>/dev/null | grep -E "lib/.*[.]so"; done; true'
        )
        with suppress(DeviceError, Timeout):
            listing = (await device.shell.run(script, timeout_ms=TIMEOUT_MS, check=False)).text
        libraries[package] = library_names(listing) or await metro_signals(device, package, clock, metro)
    signals = libraries[package]
    return _strongest(
        {("flutter" if signal == "lib:libflutter.so" else "react_native") for signal in signals}, signals
    )


def _strongest(kinds: Iterable[str], signals: tuple[str, ...]) -> Detected:
    present = set(kinds)
    return Detected(next((kind for kind in PRIORITY if kind in present), "native"), signals)


TIMEOUT_MS = 2_000.0
_TELLING = re.compile(r"\blib(?:flutter|hermes\w*|jsc\w*|reactnative\w*)\.so\b")


def library_names(listing: str) -> tuple[str, ...]:
    """Such as `lib:libhermes.so`; empty for a native app."""
    return tuple(sorted({f"lib:{name}" for name in _TELLING.findall(listing)}))


VERSION = 1
QUERY_MS = 2_000.0
PAUSE_MS = 50.0
_ROW = re.compile(r"Row: \d+ (?P<row>.*)", re.DOTALL)
_COLUMN = re.compile(r"(?:^|, )(?P<name>idle_count|idle_names|version)=")


@dataclass(frozen=True, slots=True)
class IdlingState:
    """The provider's row."""

    busy: int
    names: tuple[str, ...]
    version: int

    @property
    def busy_names(self) -> tuple[str, ...]:
        """A count if the app gives no names."""
        return (self.names or (f"{self.busy} idling resources",)) if self.busy else ()


def read_state(text: str) -> IdlingState | None:
    """None if there is no such row. Names may contain commas, so columns are found by their names."""
    match = _ROW.search(text)
    if match is None:
        return None
    row = match["row"].strip()
    marks = list(_COLUMN.finditer(row))
    ends = [mark.start() for mark in marks[1:]] + [len(row)]
    columns = {mark["name"]: row[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)}
    if not columns.get("idle_count", "").isdigit():
        return None
    listed = columns.get("idle_names", "NULL")
    names = () if listed == "NULL" else tuple(filter(None, map(str.strip, listed.split(","))))
    version = columns.get("version", "")
    return IdlingState(int(columns["idle_count"]), names, int(version) if version.isdigit() else 0)


async def open_bridge(shell: DeviceShell, package: str, clock: Clock) -> tuple[IdlingBridge, str]:
    """Raises `ChannelLost` if the app has no bridge, or one with another version."""
    bridge = IdlingBridge(shell, package, clock)
    state = await bridge.ask(QUERY_MS)
    if state.version != VERSION:
        raise ChannelLost(
            f"the app's bridge has version {state.version}, this one reads {VERSION}; "
            "rebuild the app with the bridge's present version"
        )
    return bridge, f"attached, version {state.version}"


class IdlingBridge:
    """The idling bridge: a content provider in the app's debug build that names what the app is waiting for.

    Each `content query` starts a process on the phone, which only apps with the provider pay for.
    """

    def __init__(self, shell: DeviceShell, package: str, clock: Clock) -> None:
        self._shell = shell
        self._uri = f"content://{check_package(package)}.agentest.idling/state"
        self._clock = clock

    async def ask(self, timeout_ms: float) -> IdlingState:
        command = ["content", "query", "--uri", self._uri]
        output = await self._shell.run(command, timeout_ms=timeout_ms, check=False)
        state = read_state(output.text)
        if state is None:
            raise ChannelLost(f"the app answers no query of {self._uri}")
        return state

    async def wait_idle(self, timeout_ms: float) -> IdleOutcome:
        end = self._clock.monotonic_ms() + timeout_ms
        waited: dict[str, None] = {}
        while True:
            try:
                state = await self.ask(QUERY_MS)
            except Timeout:
                return IdleOutcome(False, (*waited, "idling bridge"))
            waited |= dict.fromkeys(state.busy_names)
            if not state.busy:
                return IdleOutcome(True, tuple(waited))
            left = end - self._clock.monotonic_ms()
            if left <= 0:
                return IdleOutcome(False, tuple(waited))
            await self._clock.sleep_ms(min(PAUSE_MS, left))

    async def close(self) -> None: ...


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
    command = ["logcat", "-d", *FORMAT, "-s", "flutter:I"]
    running, log = await asyncio.gather(
        processes_of(device.shell, package), device.shell.run(command, timeout_ms=LOG_MS, check=False)
    )
    address = newest_address(read_lines(log.stdout), running)
    if address is None:
        raise ChannelLost(f"no running process of {package} has logged the address of its Dart VM")
    return await DartVm.open(device, address.service, address.uri, clock)


class DartVm(AppConnection):
    """A Flutter app's VM service: idle when its UI isolate answers and no frame was drawn for a while."""

    common = {"jsonrpc": "2.0"}

    def __init__(self, wire: StreamWire, clock: Clock) -> None:
        super().__init__(wire, clock)
        self.isolate_name = ""
        self._isolate_id = ""
        self._extensions = frozenset[str]()
        self._libraries: dict[str, str] = {}  # ids by URI
        self._last_frame_ms = clock.monotonic_ms()

    async def begin(self) -> None:
        def note_frame(params: Answer) -> None:
            event = params.get("event")
            if isinstance(event, dict) and event.get("extensionKind") == "Flutter.Frame":
                self._last_frame_ms = self._clock.monotonic_ms()

        self.root.on("streamNotify", note_frame)
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
        """Whether there is a semantics tree, and how it came about.

        Evaluates in the framework's library, which debug builds allow and profile builds do not.
        """
        if await self._has_semantics():
            return True, "they were there"
        how = "the app has no Flutter binding that can be asked"
        uri = next((uri for uri in _BINDINGS if uri in self._libraries), None)
        if uri is not None:
            isolate, library = self._isolate_id, self._libraries[uri]
            try:
                reply = await self._call(
                    "evaluate", isolateId=isolate, targetId=library, expression=_BINDINGS[uri]
                )
                how = "asked for" if reply.get("type") != "@Error" else str(reply.get("message"))[:120]
            except AdbCommandError as error:
                how = error.message
        for _ in range(SEMANTICS_TRIES):
            if await self._has_semantics():
                return True, how
            await self._clock.sleep_ms(SEMANTICS_PAUSE_MS)
        return False, how

    # the isolate

    async def _find_isolate(self) -> None:
        """The isolate named main with Flutter's extensions, which are registered shortly after its start."""
        for _ in range(ISOLATE_TRIES):
            vm = await self._call("getVM")
            for ref in sorted(_dicts(vm.get("isolates")), key=lambda entry: entry.get("name") != "main"):
                described = await self._call("getIsolate", isolateId=str(ref.get("id")))
                offered = described.get("extensionRPCs")
                self._extensions = frozenset(map(str, offered if isinstance(offered, list) else ()))
                if any(name.startswith("ext.flutter.") for name in self._extensions):
                    self._isolate_id, self.isolate_name = str(ref.get("id")), str(ref.get("name"))
                    libraries = _dicts(described.get("libraries"))
                    self._libraries = {str(entry.get("uri")): str(entry.get("id")) for entry in libraries}
                    return
            await self._clock.sleep_ms(ISOLATE_PAUSE_MS)
        raise ChannelLost("the Dart VM has no isolate with Flutter's extensions")

    async def _ping(self, timeout_ms: float) -> None:
        """After a hot restart the isolate is another one; the VM reports that in one of two ways."""
        method = next((name for name in HARMLESS if name in self._extensions), None)
        if method is None:
            return
        try:
            reply = await self._call(method, timeout_ms, isolateId=self._isolate_id)
            is_gone = reply.get("type") == "Sentinel"
        except AdbCommandError:
            is_gone = True
        if is_gone:
            await self._find_isolate()

    async def _has_semantics(self) -> bool:
        if DUMP not in self._extensions:
            return False
        reply = await self._call(DUMP, isolateId=self._isolate_id)
        return "SemanticsNode#" in str(reply.get("data", reply))

    async def _call(self, method: str, timeout_ms: float = CALL_MS, **params: Any) -> Answer:
        return await self.root.call(method, params, timeout_ms=timeout_ms)


def _dicts(value: Any) -> list[Answer]:
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
