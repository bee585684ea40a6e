"""One app's channels behind one face: opened once, asked at the end of every wait, never a reason to fail.

Which channels an app can have follows from its framework. What goes wrong is a line in `diagnostics`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from handrail.adb.device import AdbDevice
from handrail.android.sync.answers import METRO, AppChannel, Metro, Rest
from handrail.android.sync.dart import DartVm, open_dart
from handrail.android.sync.hermes import Hermes, open_hermes
from handrail.android.sync.idling import open_bridge
from handrail.android.sync.labels import FiberLabels
from handrail.clock import Clock
from handrail.config import switch
from handrail.errors import DeviceError, Timeout
from handrail.surface.values import Framework
from handrail.tree.node import Screen

WAIT_MS = 3_000.0
HURRIED_MS = 500.0
"""Budget of a channel that was not at rest at the end of its last wait: an endless animation costs once."""
KEPT_LINES = 100
HERMES, DART, BRIDGE = "hermes", "dart vm", "idling bridge"
DISABLE_SYNC, DISABLE_FIBERS = "HANDRAIL_DISABLE_FRAMEWORK_SYNC", "HANDRAIL_DISABLE_FIBER_INFERENCE"


class FrameworkSync:
    """Seed 003's FrameworkSync of one app in one process; a new process gets a new one."""

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
        """One line per event of a channel. Whoever shows them may take them out."""
        self.waited_for: tuple[str, ...] = ()
        """What the last `wait_for_sync` had to wait for."""
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
        """Open every channel that this framework can have. Only the first call does anything."""
        if self._is_attached or self.kind == "native":
            return
        self._is_attached = True
        if switch(self._env, DISABLE_SYNC):
            self._say(f"not in use: {DISABLE_SYNC}=1")
            return
        openers = [self._open(BRIDGE, self._open_bridge)]
        if self.kind == "react_native":
            openers.append(self._open(HERMES, self._open_hermes))
        if self.kind == "flutter":
            openers.append(self._open(DART, self._open_dart))
        await asyncio.gather(*openers)

    async def wait_for_sync(self, timeout_ms: float = WAIT_MS) -> bool:
        """Until every channel is at rest. False only when one was still busy when its time was up."""
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
        """Have Flutter build its semantics tree, which it does only when asked. True when there is one."""
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
        """Names for nameless elements, by node id, from the React components that drew them."""
        if self._labels is None or switch(self._env, DISABLE_FIBERS):
            return {}
        try:
            return await self._labels.of(tree)
        except (DeviceError, Timeout) as error:
            await self._give_up_labels(error)
            return {}

    async def close(self) -> None:
        """Leave the app as it was found. As often as one likes."""
        for name in tuple(self._channels):
            await self._quietly(self._take(name))

    # channels

    async def _open(self, name: str, opener: Callable[[], Awaitable[str]]) -> None:
        try:
            self._say(f"{name}: {await opener()}")
        except (DeviceError, Timeout) as error:
            self._say(f"{name}: not there: {error.message}")

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
        self._channels[BRIDGE], said = await open_bridge(self._device.shell, self.package, self._clock)
        return said

    async def _wait(self, name: str, channel: AppChannel, budget_ms: float) -> bool:
        began = self._clock.monotonic_ms()
        try:
            rest = await channel.wait_idle(budget_ms)
        except (DeviceError, Timeout) as error:
            await self._lose(name, error)
            return True
        self.waited_for += rest.waited_for
        self._report(name, rest, self._clock.monotonic_ms() - began)
        (self._restless.discard if rest.idle else self._restless.add)(name)
        return rest.idle

    def _report(self, name: str, rest: Rest, took_ms: float) -> None:
        if rest.waited_for:
            outcome = "waited" if rest.idle else "still busy after"
            self._say(f"{name}: {outcome} {took_ms:.0f} ms for {', '.join(rest.waited_for)}")

    async def _give_up_labels(self, error: DeviceError | Timeout) -> None:
        """A thread that is busy may answer the next time; an app that has no fibers to show never will."""
        if self._hermes is not None and self._hermes.cdp.lost is not None:
            await self._lose(HERMES, error)
            return
        self._say(f"fibers: {error.message}")
        if not isinstance(error, Timeout):
            self._labels = None

    async def _lose(self, name: str, error: DeviceError | Timeout) -> None:
        self._say(f"{name}: lost: {error.message}")
        await self._quietly(self._take(name))

    def _take(self, name: str) -> AppChannel:
        """Out of use from here on."""
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
