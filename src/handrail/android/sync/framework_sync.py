"""Detects the framework of an app and waits on its channels: Hermes, the Dart VM, the idling bridge."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass

from handrail.adb.device import AdbDevice
from handrail.adb.shell import DeviceShell, Script, quote
from handrail.android.packages import NAME, check_package
from handrail.android.sync import class_signals, is_custom_drawn
from handrail.android.sync.debugger import METRO, PRIORITY, AppChannel, ChannelLost, IdleOutcome, Metro
from handrail.android.sync.flutter import DartVm, open_dart
from handrail.android.sync.react_native import FiberLabels, Hermes, metro_signals, open_hermes
from handrail.clock import Clock
from handrail.config import switch
from handrail.errors import DeviceError, Timeout
from handrail.screen.node import Screen
from handrail.surface.values import Framework

WAIT_MS = 3_000.0
HURRIED_MS = 500.0
"""Budget of a channel whose last wait timed out: an endless animation costs the full wait only once."""
KEPT_LINES = 100
HERMES, DART, BRIDGE = "hermes", "dart vm", "idling bridge"
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
        self._hermes: Hermes | None = None
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

    async def attach(self) -> None:
        """Opens every channel that this framework can have; further calls do nothing."""
        if self._is_attached or self.kind == "native":
            return
        self._is_attached = True
        if switch(self._env, DISABLE_SYNC):
            self._say(f"not in use: {DISABLE_SYNC}=1")
            return
        openers = {BRIDGE: self._open_bridge}
        if self.kind == "react_native":
            openers[HERMES] = self._open_hermes
        if self.kind == "flutter":
            openers[DART] = self._open_dart

        async def attempt(name: str, opener: Callable[[], Awaitable[str]]) -> None:
            try:
                self._say(f"{name}: {await opener()}")
            except (DeviceError, Timeout) as error:
                self._say(f"{name}: not there: {error.message}")

        await asyncio.gather(*(attempt(name, opener) for name, opener in openers.items()))

    async def wait_for_sync(self, timeout_ms: float = WAIT_MS) -> bool:
        """Waits until every channel is idle. False only if one was still busy after its time."""
        self.waited_for = ()
        end = self._clock.monotonic_ms() + timeout_ms
        rested = True
        for name in (HERMES, DART, BRIDGE):
            if channel := self._channels.get(name):
                left = max(1.0, end - self._clock.monotonic_ms())
                budget = min(left, HURRIED_MS) if name in self._restless else left
                rested &= await self._wait(name, channel, budget)
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
            if self._hermes is not None and self._hermes.cdp.lost is not None:
                await self._lose(HERMES, error)
                return {}
            self._say(f"fibers: {error.message}")
            if not isinstance(error, Timeout):  # a busy thread may answer next time
                self._labels = None
            return {}

    async def close(self) -> None:
        """Restores the app; may be called repeatedly."""
        for name in tuple(self._channels):
            await self._quietly(self._take(name))

    # channels

    async def _open_hermes(self) -> str:
        hermes = await open_hermes(self._device, self.package, self._clock, self._metro)
        self._channels[HERMES] = self._hermes = hermes
        self._labels = FiberLabels(hermes.cdp, self._device, self.package, self._clock, self._say)
        return f"attached to {hermes.title}"

    async def _open_dart(self) -> str:
        dart = await open_dart(self._device, self.package, self._clock)
        self._channels[DART] = self._dart = dart
        return f"attached to isolate {dart.isolate_name}"

    async def _open_bridge(self) -> str:
        self._channels[BRIDGE], problem = await open_bridge(self._device.shell, self.package, self._clock)
        return problem

    async def _wait(self, name: str, channel: AppChannel, budget_ms: float) -> bool:
        began = self._clock.monotonic_ms()
        try:
            rest = await channel.wait_idle(budget_ms)
        except (DeviceError, Timeout) as error:
            await self._lose(name, error)
            return True
        self.waited_for += rest.waited_for
        took_ms = self._clock.monotonic_ms() - began
        if rest.waited_for:
            outcome = "waited" if rest.idle else "still busy after"
            self._say(f"{name}: {outcome} {took_ms:.0f} ms for {', '.join(rest.waited_for)}")
        (self._restless.discard if rest.idle else self._restless.add)(name)
        return rest.idle

    async def _lose(self, name: str, error: DeviceError | Timeout) -> None:
        self._say(f"{name}: lost: {error.message}")
        await self._quietly(self._take(name))

    def _take(self, name: str) -> AppChannel:
        if name == HERMES:
            self._hermes = self._labels = None
        elif name == DART:
            self._dart = None
        return self._channels.pop(name)

    async def _quietly(self, channel: AppChannel) -> None:
        try:
            await channel.close()
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
        if not self.busy:
            return ()
        return self.names or (f"{self.busy} idling resources",)


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
    names = [] if columns.get("idle_names") in (None, "NULL") else columns["idle_names"].split(",")
    version = columns.get("version", "")
    return IdlingState(
        int(columns["idle_count"]),
        tuple(name.strip() for name in names if name.strip()),
        int(version) if version.isdigit() else 0,
    )


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
