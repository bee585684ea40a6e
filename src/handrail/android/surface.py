"""A phone as a surface: its capabilities, implemented by the driver and by functions over a shell."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from handrail.adb.device import AdbDevice
from handrail.adb.sending import tells_delivery
from handrail.adb.shell import Command, Script
from handrail.android import app_data, apps, logs, settings
from handrail.android.app_labels import LabelMemory, installed_apps
from handrail.android.driver import Driver
from handrail.android.dumpsys import home_apps, paragraph, read_state
from handrail.android.packages import (
    cleared_by,
    grant,
    is_installed,
    pid_of,
    require_changeable_permission,
    revoke,
)
from handrail.android.text_field import dumped_text
from handrail.android.video import ScreenVideo
from handrail.clock import Clock
from handrail.errors import HandrailError, Unsupported
from handrail.screen.node import Screen
from handrail.screen.windows import SYSTEM_DIALOGS, SYSTEM_UI, app_windows
from handrail.surface.capabilities import (
    PROTOCOLS,
    Activation,
    Apps,
    C,
    ClipboardAccess,
    ControlValues,
    DeskWindows,
    KeyPresses,
    Mouse,
    ScreenReader,
    Scrolling,
    Touch,
    TypingWay,
    Video,
)
from handrail.surface.values import (
    CommandOutput,
    DeviceReport,
    Facts,
    InstalledApp,
    LastWords,
    NetworkChange,
    Synced,
    Typed,
)

SYSTEM_PACKAGES = SYSTEM_DIALOGS | {SYSTEM_UI}
"""Packages that draw dialogs for others: prompts, crashes, choosers, the installer."""
_ONE_COMMAND = re.compile(r"[\w. \t-]*")
"""A script that consists of one plain command."""
_HOME = ["-a", "android.intent.action.MAIN", "-c", "android.intent.category.HOME"]
T = TypeVar("T")
_NOT_HERE: dict[type, str] = {
    ControlValues: "A phone's controls are set by fingers",
    Mouse: "A finger can't hover, has one button and holds no keys",
    Scrolling: "An app scrolls for a finger only",
}


class AndroidSurface:
    """One phone. `windows` is the desk, if there is one; `labels` is the file that caches app labels."""

    is_exclusive = True
    entry = ""

    def __init__(
        self,
        device: AdbDevice,
        driver: Driver,
        clock: Clock,
        windows: DeskWindows | None = None,
        labels: Path | None = None,
    ) -> None:
        self.device = device
        self.driver = driver
        self.name = driver.serial
        parts = _PhoneCapabilities(device, driver, clock)
        self._filled: dict[type, object] = dict.fromkeys(PROTOCOLS.values(), parts)
        self._filled |= dict.fromkeys((ScreenReader, Touch, KeyPresses, Activation), driver)
        self._filled[ClipboardAccess] = driver.text
        self._filled[Video] = ScreenVideo(driver.shell, driver.display, clock)
        self._filled[Apps] = _Apps(device, driver, labels)
        self._filled[DeskWindows] = windows

    def need(self, kind: type[C]) -> C:
        if kind in _NOT_HERE:
            raise Unsupported(_NOT_HERE[kind], hint="Send this action to a browser.")
        if self._filled[kind] is None:
            raise Unsupported("This session has no desk", hint="Start `handrail serve` to get one.")
        return cast("C", self._filled[kind])

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
    """`Apps` of a phone: what takes no more than its shell is bound to it."""

    def __init__(self, device: AdbDevice, driver: Driver, labels: Path | None) -> None:
        self._device = device
        self._shell = driver.shell
        self._labels = labels
        self._memory: LabelMemory | None = None
        self.start = _bound(apps.start, driver)
        self.restart = _bound(apps.restart, driver)
        self.reset = _bound(apps.reset, driver)
        self.uninstall = _bound(apps.uninstall, driver)
        self.require_changeable_permission = _bound(require_changeable_permission, driver)
        self.grant = _bound(grant, driver)
        self.revoke = _bound(revoke, driver)

    async def installed(self) -> Sequence[InstalledApp]:
        self._memory = self._memory or LabelMemory(self._labels)
        return await installed_apps(self._shell, self._memory)

    @tells_delivery
    async def stop(self, package: str) -> str:
        user = await apps.stop(self._shell, package)
        pid = await pid_of(self._shell, package, user)
        return "stopped" if pid is None else f"process {pid}"

    @tells_delivery
    async def install(self, path: Path) -> None:
        await apps.install(self._device, path.expanduser())

    @tells_delivery
    async def open_url(self, url: str) -> str | None:
        return await apps.open_url(self._shell, url) or None


def _bound(function: Callable[..., Awaitable[T]], driver: Driver) -> Callable[..., Awaitable[T]]:
    """A function over a shell as a method of this phone, whose errors tell what the phone received."""
    return tells_delivery(partial(function, driver.shell))


class _PhoneCapabilities:
    """All other capabilities: text, settings, data, logs, health, idle detection and shell."""

    ways: frozenset[TypingWay] = frozenset()

    def __init__(self, device: AdbDevice, driver: Driver, clock: Clock) -> None:
        self._device = device
        self._driver = driver
        self._clock = clock
        self._shell = driver.shell
        self.require_way = driver.text.require_way
        self.clear_text = driver.text.clear_text
        self.reads_back_as = dumped_text
        self.set_appearance = _bound(settings.set_appearance, driver)
        self.set_location = _bound(settings.set_location, driver)
        self.wait_idle = driver.wait_idle
        self.is_rested = driver.is_rested

    async def type_text(
        self,
        text: str,
        *,
        blind: bool = False,
        into: str | None = None,
        how: TypingWay | None = None,  # noqa: ARG002
    ) -> Typed:
        if into is not None and "://" in into:  # only pages report whose field it is
            if self._driver.webs is None:
                raise Unsupported(
                    f"It can't be verified that the focus is in {into}", delivery="not_delivered"
                )
            await self._driver.webs.require_focus(into)
        return await self._driver.text.type_text(text, blind=blind)

    # settings

    async def state(self) -> DeviceReport:
        clipboard = None
        with suppress(HandrailError):
            clipboard = await self._driver.text.get_clipboard()
        state = await read_state(self._shell, clipboard=clipboard)
        return DeviceReport(paragraph(state), dict(state))

    @tells_delivery
    async def set_orientation(self, orientation: Literal["portrait", "landscape", "auto"]) -> str:
        return await settings.set_orientation(self._shell, orientation, self._clock)

    @tells_delivery
    async def set_network(self, change: NetworkChange) -> DeviceReport:
        applied = await settings.set_network(self._shell, self._driver.serial, change, self._clock)
        return DeviceReport(applied.message, applied.to_dict())

    @tells_delivery
    async def add_media(self, path: Path) -> str:
        return await settings.add_media(self._device, self._shell, path.expanduser())

    # an app's own data

    async def preferences(self, package: str, file: str) -> Mapping[str, Any]:
        return (await app_data.read_prefs(self._shell, package, file)).to_dict()

    @tells_delivery
    async def query(
        self, package: str, database: str, query: str, *, write: bool, redact: app_data.Redact | None = None
    ) -> Mapping[str, Any]:
        rows = await app_data.query(self._shell, package, database, query, write=write, redact=redact)
        return rows.to_dict()

    # logs and health

    async def log_lines(
        self, package: str | None, level: str | None, since: str | None, max_lines: int
    ) -> Sequence[str]:
        lines = await logs.read(self._shell, package, cast("logs.Level | None", level), since, max_lines)
        return [str(line) for line in lines]

    def app_in_front(self, screen: Screen) -> str:
        if screen.package not in SYSTEM_PACKAGES:
            return screen.package
        under = [window.package_name for window in app_windows(screen)]
        return next((name for name in reversed(under) if name not in SYSTEM_PACKAGES), "")

    async def has_died(self, app: str) -> bool:
        if await pid_of(self._shell, app) is not None or not await is_installed(self._shell, app):
            return False
        return not await self._is_launcher(app)  # the launcher restarts on demand

    async def is_home(self, screen: Screen) -> bool:
        app = self.app_in_front(screen)
        return bool(app) and await self._is_launcher(app)

    async def _is_launcher(self, app: str) -> bool:
        home = await self._shell.run(["cmd", "package", "resolve-activity", "--brief", *_HOME], check=False)
        if home.ok and "not found" not in home.complaint + home.text:
            return f"{app}/" in home.text
        tasks = await self._shell.run(["dumpsys", "activity", "activities"], check=False)
        return app in home_apps(tasks.text)

    async def last_words(self, app: str, within_ms: float | None) -> LastWords | None:
        since = None
        if within_ms is not None:  # by the phone's own clock
            since = (await logs.device_now(self._shell)).epoch_ms - int(within_ms)
        crash = await logs.crash_lines(self._shell, app, since)
        return LastWords(crash.summary, tuple(crash.lines)) if crash else None

    # idle detection

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
        cleared = cleared_by(words, output.text)
        return CommandOutput(output.exit_code, output.text, output.complaint, cleared)
