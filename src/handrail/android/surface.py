"""A phone as a surface: its capabilities, each filled by the driver or by functions over a shell.

What few actions need is imported by the capability that needs it: a command line pays for every import.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from handrail.adb.device import AdbDevice
from handrail.adb.sending import tells_delivery
from handrail.adb.shell import Command, Script
from handrail.android import apps
from handrail.android.driver import Driver
from handrail.android.packages import cleared_by, grant, is_installed, pid_of, revoke
from handrail.android.text.field import readable
from handrail.android.video import ScreenVideo
from handrail.clock import Clock
from handrail.errors import HandrailError, Unsupported
from handrail.protocol.traits import Capability
from handrail.surface.capabilities import WindowsCapability
from handrail.surface.values import (
    CommandOutput,
    Facts,
    IdleResult,
    InstalledApp,
    LastWords,
    NetworkChange,
    Synced,
    Told,
    Typed,
)
from handrail.tree.node import Screen
from handrail.tree.windows import SYSTEM_DIALOGS, SYSTEM_UI, app_windows

if TYPE_CHECKING:
    from handrail.android.app_labels import LabelMemory

SYSTEM_PACKAGES = SYSTEM_DIALOGS | {SYSTEM_UI}
"""Who draws the dialogs that are not the app's own: prompts, crashes, choosers, the installer."""
_ONE_COMMAND = re.compile(r"[\w. \t-]*")
"""A script that is nothing but one command in plain words."""
_HOME = ["-a", "android.intent.action.MAIN", "-c", "android.intent.category.HOME"]


class AndroidSurface:
    """One phone. `windows` is the desk beside it, where there is one; `labels` keeps what apps are called."""

    is_exclusive = True
    entry = ""

    def __init__(
        self,
        device: AdbDevice,
        driver: Driver,
        clock: Clock,
        windows: WindowsCapability | None = None,
        labels: Path | None = None,
    ) -> None:
        self.device = device
        self.driver = driver
        self.name = driver.serial
        parts = _Parts(device, driver, clock)
        self._filled: dict[Capability, object] = dict.fromkeys(Capability, parts)
        for one in (Capability.LOOK, Capability.TOUCH, Capability.KEYS, Capability.CLIPBOARD):
            self._filled[one] = driver
        self._filled[Capability.VIDEO] = ScreenVideo(driver.shell, driver.display, clock)
        self._filled[Capability.APPS] = _Apps(device, driver, labels)
        self._filled[Capability.WINDOWS] = windows

    def capability(self, which: Capability) -> object:
        filled = self._filled[which]
        if which is Capability.VALUES:
            raise Unsupported("A phone's controls are set by fingers")
        if filled is None:
            raise Unsupported("This session has no desk", hint="Start `handrail serve` to get one.")
        return filled

    async def facts(self) -> Facts:
        return await self.driver.facts()

    async def check(self) -> None:
        await self.device.link.check()

    def diagnostics(self) -> list[str]:
        return self.driver.diagnostics()

    def channels(self) -> dict[str, str]:
        return self.driver.channels()

    async def close(self) -> None:
        await self.driver.close()


class _Apps:
    """Programs on the phone."""

    def __init__(self, device: AdbDevice, driver: Driver, labels: Path | None) -> None:
        self._device = device
        self._shell = driver.shell
        self._labels = labels
        self._memory: LabelMemory | None = None

    async def installed(self) -> Sequence[InstalledApp]:
        from handrail.android.app_labels import LabelMemory, installed_apps  # noqa: PLC0415

        self._memory = self._memory or LabelMemory(self._labels)
        return await installed_apps(self._shell, self._memory)

    @tells_delivery
    async def start(
        self, package: str, activity: str | None, extras: Mapping[str, bool | float | str] | None = None
    ) -> None:
        await apps.start(self._shell, package, activity, extras)

    @tells_delivery
    async def stop(self, package: str) -> str:
        user = await apps.stop(self._shell, package)
        pid = await pid_of(self._shell, package, user)
        return "stopped" if pid is None else f"process {pid}"

    @tells_delivery
    async def restart(self, package: str) -> None:
        await apps.restart(self._shell, package)

    @tells_delivery
    async def reset(self, package: str) -> None:
        await apps.reset(self._shell, package)

    @tells_delivery
    async def install(self, path: Path) -> None:
        from handrail.android.install import install  # noqa: PLC0415

        await install(self._device, path.expanduser())

    @tells_delivery
    async def uninstall(self, package: str) -> None:
        from handrail.android.install import uninstall  # noqa: PLC0415

        await uninstall(self._shell, package)

    @tells_delivery
    async def grant(self, package: str, permission: str) -> str:
        return await grant(self._shell, package, permission)

    @tells_delivery
    async def revoke(self, package: str, permission: str) -> str:
        return await revoke(self._shell, package, permission)

    @tells_delivery
    async def open_url(self, url: str) -> str | None:
        from handrail.android.apps import open_url  # noqa: PLC0415

        return (await open_url(self._shell, url)).component or None


class _Parts:
    """Text, settings, data, logs, health, rest and shell: functions over one phone's shell and driver."""

    def __init__(self, device: AdbDevice, driver: Driver, clock: Clock) -> None:
        self._device = device
        self._driver = driver
        self._clock = clock
        self._shell = driver.shell

    # text

    async def type_text(self, text: str, *, blind: bool = False, into: str | None = None) -> Typed:
        if into is not None and "://" in into:  # a page can be asked; an app does not tell whose field it is
            if self._driver.webs is None:
                raise Unsupported(
                    f"Nobody can be asked whether the focus is in {into}", delivery="not_delivered"
                )
            await self._driver.webs.require_focus(into)
        return await self._driver.type_text(text, blind=blind)

    async def require_way(self, text: str) -> None:
        await self._driver.require_way(text)

    async def clear_text(self) -> Typed:
        return await self._driver.clear_text()

    def reads_back_as(self, text: str) -> str:
        return readable(text)

    # settings

    async def state(self) -> Told:
        from handrail.android.state import paragraph, read_state  # noqa: PLC0415

        state = await read_state(self._shell, clipboard=await self._clipboard())
        return Told(paragraph(state), state.to_dict())

    async def _clipboard(self) -> str | None:
        """What is on it, where a channel can tell."""
        try:
            return await self._driver.get_clipboard()
        except HandrailError:
            return None

    @tells_delivery
    async def set_orientation(self, orientation: Literal["portrait", "landscape", "auto"]) -> str:
        from handrail.android.settings import set_orientation  # noqa: PLC0415

        return (await set_orientation(self._shell, orientation, self._clock)).orientation

    @tells_delivery
    async def set_network(self, change: NetworkChange) -> Told:
        from handrail.android.settings import set_network  # noqa: PLC0415

        applied = await set_network(self._shell, self._driver.serial, change, self._clock)
        return Told(applied.message, applied.to_dict())

    @tells_delivery
    async def set_appearance(self, appearance: Literal["dark", "light"]) -> str:
        from handrail.android.surroundings import set_appearance  # noqa: PLC0415

        return await set_appearance(self._shell, appearance)

    @tells_delivery
    async def set_location(self, latitude: float, longitude: float) -> str:
        from handrail.android.surroundings import set_location  # noqa: PLC0415

        return await set_location(self._shell, latitude, longitude)

    @tells_delivery
    async def add_media(self, path: Path) -> str:
        from handrail.android.surroundings import add_media  # noqa: PLC0415

        return await add_media(self._device, self._shell, path.expanduser())

    # an app's own data

    async def preferences(self, package: str, file: str) -> Mapping[str, Any]:
        from handrail.android.app_data import read_prefs  # noqa: PLC0415

        return (await read_prefs(self._shell, package, file)).to_dict()

    @tells_delivery
    async def query(self, package: str, database: str, query: str, *, write: bool) -> Mapping[str, Any]:
        from handrail.android.app_data import query as ask  # noqa: PLC0415

        return (await ask(self._shell, package, database, query, write=write)).to_dict()

    # logs and health

    async def log_lines(
        self, package: str | None, level: str | None, since: str | None, max_lines: int
    ) -> Sequence[str]:
        from handrail.android import logs  # noqa: PLC0415

        lines = await logs.read(
            self._shell,
            package=package,
            level=cast("logs.Level | None", level),
            since=since,
            max_lines=max_lines,
        )
        return [str(line) for line in lines]

    def app_in_front(self, screen: Screen) -> str:
        if screen.package not in SYSTEM_PACKAGES:
            return screen.package
        under = [window.package_name for window in app_windows(screen)]
        return next((name for name in reversed(under) if name not in SYSTEM_PACKAGES), "")

    async def has_died(self, app: str) -> bool:
        if await pid_of(self._shell, app) is not None or not await is_installed(self._shell, app):
            return False
        return not await self._is_launcher(app)  # the launcher is started anew whenever it is needed

    async def is_home(self, screen: Screen) -> bool:
        app = self.app_in_front(screen)
        return bool(app) and await self._is_launcher(app)

    async def _is_launcher(self, app: str) -> bool:
        home = await self._shell.run(["cmd", "package", "resolve-activity", "--brief", *_HOME], check=False)
        return f"{app}/" in home.text

    async def last_words(self, app: str, within_ms: float | None) -> LastWords | None:
        from handrail.android.logs import crash_lines, device_now  # noqa: PLC0415

        since = None
        if within_ms is not None:  # by the phone's own clock
            since = (await device_now(self._shell)).epoch_ms - int(within_ms)
        crash = await crash_lines(self._shell, app, since)
        return LastWords(crash.summary, tuple(crash.lines)) if crash else None

    # rest

    async def wait_idle(self, timeout_ms: float) -> IdleResult | None:
        return await self._driver.wait_idle(timeout_ms)

    def notice(self, screen: Screen) -> None:
        if self._driver.syncs is not None:
            self._driver.syncs.notice(screen)

    async def sync(self, screen: Screen, timeout_ms: float) -> Synced | None:
        syncs = self._driver.syncs
        return await syncs.wait(screen, timeout_ms) if syncs is not None else None

    async def labels(self, screen: Screen) -> Mapping[str, str] | None:
        syncs = self._driver.syncs
        return await syncs.labels(screen) if syncs is not None else None

    async def refresh(self, screen: Screen) -> bool:
        syncs = self._driver.syncs
        return syncs is not None and await syncs.refresh(screen)

    # shell

    @tells_delivery
    async def command(self, tokens: Sequence[str]) -> CommandOutput:
        return await self._run(list(tokens), tokens)

    @tells_delivery
    async def script(self, text: str) -> CommandOutput:
        return await self._run(Script(text), text.split() if _ONE_COMMAND.fullmatch(text) else ())

    async def _run(self, command: Command, words: Sequence[str]) -> CommandOutput:
        output = await self._shell.run(command, check=False)
        said = output.stderr.decode("utf-8", "replace")
        return CommandOutput(output.exit_code, output.text, said, cleared_by(words, output.text))
