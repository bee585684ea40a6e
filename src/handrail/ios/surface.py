"""An iPhone as a surface: its capabilities, and how a name becomes one.

Experimental: not run on Apple hardware by us.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from handrail.clock import Clock
from handrail.errors import DeviceError, Timeout, Unsupported
from handrail.ios.apps import IosApps, IosSettings, SimulatorFiles
from handrail.ios.discovery import EXPERIMENTAL, IosPlace, place_of
from handrail.ios.input import IosInput, IosText
from handrail.ios.programs import GoIos, Simctl
from handrail.ios.screen_reader import IosScreenReader
from handrail.ios.wda import Wda
from handrail.screen.windows import SPRINGBOARD
from handrail.surface import capabilities as can
from handrail.surface.capabilities import C, DeskWindows
from handrail.surface.values import Facts

_NOT_HERE: Mapping[type, str] = {
    can.Video: "An iPhone is shown by pictures",
    can.Mouse: "A finger can't hover, has one button and holds no keys",
    can.Scrolling: "An app scrolls for a finger only",
    can.AppData: "Files of apps can only be read on a simulator",
    can.LogAccess: "The log can only be read on a simulator; `ios syslog` of go-ios shows an iPhone's",
    can.IdleDetection: "An iPhone does not report when its screen is at rest; it is checked",
    can.ShellCommands: "An iPhone runs no commands",
}


class IosSurface:
    """One iPhone or simulator. `windows` is the desk, if there is one."""

    is_exclusive = True
    entry = ""

    def __init__(
        self,
        place: IosPlace,
        wda: Wda,
        status: Mapping[str, Any],
        clock: Clock,
        env: Mapping[str, str],
        windows: DeskWindows | None = None,
    ) -> None:
        self.name = place.name
        self.place = place
        self.wda = wda
        self._status = status
        system = status.get("os")
        version = str(system.get("version", "")) if isinstance(system, dict) else ""
        self._version = version
        simctl = Simctl(place.udid, clock) if place.simulator is not None else None
        reader = IosScreenReader(wda)
        touch, text = IosInput(wda, reader), IosText(wda, reader, clock)
        apps = IosApps(wda, reader, simctl, GoIos(place.udid, env, clock), version)
        settings = IosSettings(wda, reader, simctl)
        self._filled: dict[type, object] = {
            can.ScreenReader: reader,
            can.Touch: touch,
            can.KeyPresses: touch,
            can.Activation: touch,
            can.TextInput: text,
            can.ControlValues: text,
            can.ClipboardAccess: settings,
            can.Apps: apps,
            can.DeviceSettings: settings,
            can.AppHealth: apps,
        }
        if simctl is not None:
            self._filled |= dict.fromkeys((can.AppData, can.LogAccess), SimulatorFiles(simctl, clock))
        if windows is not None:
            self._filled[DeskWindows] = windows

    def need(self, kind: type[C]) -> C:
        filled = self._filled.get(kind)
        if filled is not None:
            return cast("C", filled)
        if kind is DeskWindows:
            raise Unsupported("This session has no desk", hint="Start `handrail serve` to get one.")
        raise Unsupported(_NOT_HERE[kind], hint="docs/devices.md says what iPhones can.")

    async def facts(self) -> Facts:
        try:
            info = await self.wda.get("/wda/device/info")
        except Unsupported:  # an older WebDriverAgent
            info = None
        kind = info.get("model") if isinstance(info, dict) else None
        simulator = self.place.simulator
        model = (
            simulator.name if simulator is not None else str(kind or self._status.get("device") or "iPhone")
        )
        return Facts(self.name, model, "Apple", self._version, 0, await self._boot_id(), platform="ios")

    async def _boot_id(self) -> str:
        """When the simulator was booted; of an iPhone the process of its home screen, which lives as long."""
        if self.place.simulator is not None and self.place.simulator.booted_at:
            return f"{self.place.udid} {self.place.simulator.booted_at}"
        try:
            apps = await self.wda.read("/wda/apps/list")
        except (DeviceError, Unsupported, Timeout):
            apps = None
        pids = [
            app.get("pid")
            for app in (apps if isinstance(apps, list) else ())
            if isinstance(app, dict) and app.get("bundleId") == SPRINGBOARD
        ]
        build = self._status.get("build")
        built = build.get("time", "") if isinstance(build, dict) else ""
        return f"{self.name} {pids[0] if pids else built}"

    async def check(self) -> None:
        if not self.wda.is_busy:  # whoever works on it finds out by itself
            await self.wda.status()

    def diagnostics(self) -> list[str]:
        lines = list(self.wda.lines)
        self.wda.lines.clear()
        return lines

    def channels(self) -> dict[str, str]:
        way = {"usb": "usbmux", "simulator": "this Mac", "http": "the network"}[self.place.kind]
        programs = {"apps": "simctl"} if self.place.simulator is not None else {}
        by = f"WebDriverAgent by {way}"
        return {"look": by, "input": by, **programs, "note": EXPERIMENTAL}

    async def close(self) -> None:
        await self.wda.close()


async def open_iphone(
    name: str, clock: Clock, env: Mapping[str, str], windows: DeskWindows | None = None
) -> IosSurface:
    """Raises `IosConnectionError` where no WebDriverAgent answers."""
    place = await place_of(name, clock, env)
    wda = Wda(place.dial, clock, place.name)
    try:
        status = await wda.status()
        await wda.open_session()
    except BaseException:
        await wda.close()
        raise
    return IosSurface(place, wda, status, clock, env, windows)
