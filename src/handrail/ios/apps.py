"""Apps of an iPhone, the phone around them, and their files: by WebDriverAgent, `simctl` or go-ios.

What Apple lets nobody do is refused with the reason; nothing is approximated.
"""

from __future__ import annotations

import json
import plistlib
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from handrail.clock import Clock
from handrail.errors import (
    AppNotInstalled,
    DeviceError,
    HandrailError,
    InvalidAction,
    IosCommandError,
    Unsupported,
)
from handrail.ios.programs import INSTALL_MS, GoIos, Simctl, service_of
from handrail.ios.screen_reader import IosScreenReader
from handrail.ios.wda import Wda, mark_delivery
from handrail.screen.node import Screen
from handrail.screen.windows import SPRINGBOARD
from handrail.surface.values import DeviceReport, InstalledApp, LastWords, NetworkChange

NOT_RUNNING, IN_FRONT = 1, 4
START_MS = 60_000.0
_STATES = {
    0: "unknown",
    NOT_RUNNING: "not running",
    2: "suspended",
    3: "in the background",
    IN_FRONT: "in front",
}
_ORIENTATIONS = {"portrait": "PORTRAIT", "landscape": "LANDSCAPE"}
_LONGEST_ROWS = 500


class IosApps:
    """Serves `Apps` and `AppHealth`."""

    def __init__(
        self, wda: Wda, reader: IosScreenReader, simctl: Simctl | None, go_ios: GoIos, version: str
    ) -> None:
        self._wda = wda
        self._reader = reader
        self._simctl = simctl
        self._go_ios = go_ios
        self._version = version

    async def installed(self) -> Sequence[InstalledApp]:
        return await (self._simctl.installed() if self._simctl else self._go_ios.installed())

    async def start(
        self, package: str, activity: str | None, extras: Mapping[str, bool | float | str] | None = None
    ) -> None:
        if activity is not None:
            raise Unsupported("An app of an iPhone has no activities", delivery="not_delivered")
        body: dict[str, Any] = {"bundleId": package, "shouldWaitForQuiescence": False}
        if extras:
            with mark_delivery("not_delivered"):
                state = await self.state_of(package)
            if state != NOT_RUNNING:
                raise Unsupported(
                    "Arguments reach an app of an iPhone only when it starts, and it runs already",
                    hint="stop_app first.",
                    delivery="not_delivered",
                )
            body["arguments"] = [part for name, value in extras.items() for part in (f"-{name}", str(value))]
        await self._launch(package, body)

    async def _launch(self, package: str, body: Mapping[str, Any]) -> None:
        try:
            await self._wda.send("/wda/apps/launch", body, timeout_ms=START_MS)
        except IosCommandError as error:
            if await self._is_missing(package):
                raise AppNotInstalled(f"{package} is not on this iPhone", delivery="not_delivered") from None
            raise error

    async def _is_missing(self, package: str) -> bool:
        try:
            return package not in [app.package for app in await self.installed()]
        except HandrailError:
            return False  # nobody can tell

    async def stop(self, package: str) -> str:
        await self._wda.send("/wda/apps/terminate", {"bundleId": package})
        with mark_delivery("delivered"):
            state = await self.state_of(package)
        return "stopped" if state in (0, NOT_RUNNING) else _STATES.get(state, f"state {state}")

    async def restart(self, package: str) -> None:
        await self.stop(package)
        with mark_delivery("unknown"):
            await self.start(package, None)

    async def state_of(self, package: str) -> int:
        """XCTest's number: 1 not running, 2 and 3 in the background, 4 in front."""
        state = await self._wda.read("/wda/apps/state", {"bundleId": package})
        return state if isinstance(state, int) else 0

    async def reset(self, package: str) -> None:
        simctl = self._need_simctl("Data of an app can only be deleted on a simulator")
        folder = await simctl.data_folder(package)
        await self.stop(package)
        for child in folder.iterdir():
            if not child.name.startswith(".com.apple"):
                shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
        await simctl.run("privacy", "reset", "all", package)

    async def install(self, path: Path) -> None:
        if not path.expanduser().exists():
            raise InvalidAction(f"{path} does not exist", path="path", delivery="not_delivered")
        if self._simctl is not None:
            await self._simctl.run("install", str(path.expanduser()), timeout_ms=INSTALL_MS)
        else:
            await self._go_ios.run("install", f"--path={path.expanduser()}", timeout_ms=INSTALL_MS)

    async def uninstall(self, package: str) -> None:
        if self._simctl is not None:
            await self._simctl.run("uninstall", package)
        else:
            await self._go_ios.run("uninstall", package)

    async def require_changeable_permission(self, package: str, permission: str) -> None:
        del package
        service_of(permission)
        self._need_simctl("Permissions of an iPhone are given on its screen, not by a program")

    async def grant(self, package: str, permission: str) -> str:
        return await self._permit("grant", package, permission)

    async def revoke(self, package: str, permission: str) -> str:
        return await self._permit("revoke", package, permission)

    async def _permit(self, verb: str, package: str, permission: str) -> str:
        service = service_of(permission)
        simctl = self._need_simctl("Permissions of an iPhone are given on its screen, not by a program")
        await simctl.run("privacy", verb, service, package)
        return service

    async def open_url(self, url: str) -> str | None:
        if self._simctl is not None:
            await self._simctl.run("openurl", url)
        elif _number(self._version) < (16, 4):
            raise Unsupported(
                f"iOS {self._version} opens addresses only by speaking to Siri",
                hint="Open them in Safari by tapping and typing.",
                delivery="not_delivered",
            )
        else:
            await self._wda.send("/url", {"url": url}, timeout_ms=START_MS)
        return None

    def _need_simctl(self, why: str) -> Simctl:
        if self._simctl is None:
            raise Unsupported(
                why, hint="Use a simulator: --device ios:simulator-NAME.", delivery="not_delivered"
            )
        return self._simctl

    # health

    def app_in_front(self, screen: Screen) -> str:
        """Under an alert of the system it is the app that was in front before."""
        has_alert = len(screen.windows) > 1
        return self._reader.app if screen.package == SPRINGBOARD and has_alert else screen.package

    async def has_died(self, app: str) -> bool:
        if app in ("", SPRINGBOARD):
            return False
        return await self.state_of(app) == NOT_RUNNING and not await self._is_missing(app)

    async def is_home(self, screen: Screen) -> bool:
        return screen.package == SPRINGBOARD and len(screen.windows) == 1

    async def last_words(self, app: str, within_ms: float | None) -> LastWords | None:
        """The log has none: crash reports of iOS are files, whose times are not the phone's now."""
        del app, within_ms
        return None


class IosSettings:
    """Serves `DeviceSettings` and `ClipboardAccess`."""

    def __init__(self, wda: Wda, reader: IosScreenReader, simctl: Simctl | None) -> None:
        self._wda = wda
        self._reader = reader
        self._simctl = simctl

    async def state(self) -> DeviceReport:
        details: dict[str, Any] = {"locked": await self._reader.is_locked()}
        for name, ask, path in (
            ("orientation", self._wda.get, "/orientation"),
            ("device", self._wda.get, "/wda/device/info"),
            ("battery", self._wda.read, "/wda/batteryInfo"),
        ):
            try:
                details[name] = await ask(path)
            except (DeviceError, Unsupported) as error:
                details[name] = None
                self._wda.lines.append(f"state: {error.message}")
        device = details.pop("device")
        style = device.get("userInterfaceStyle") if isinstance(device, dict) else None
        level = details["battery"].get("level") if isinstance(details["battery"], dict) else None
        details["appearance"], details["battery"] = style, level
        details["dark_mode"] = {"dark": True, "light": False}.get(str(style))
        percent = f"{round(level * 100)} %" if isinstance(level, int | float) else "unknown"
        locked = {True: "locked", False: "unlocked", None: "locked or not: unknown"}[details["locked"]]
        text = (
            f"The iPhone is {locked}, {details['orientation'] or 'of unknown orientation'}, battery {percent}"
        )
        return DeviceReport(f"{text}, appearance {style or 'unknown'}.", details)

    async def set_orientation(self, orientation: Literal["portrait", "landscape", "auto"]) -> str:
        if orientation not in _ORIENTATIONS:
            raise Unsupported("An iPhone can't be set to turn by itself", delivery="not_delivered")
        wanted = _ORIENTATIONS[orientation]
        await self._wda.send("/orientation", {"orientation": wanted})
        with mark_delivery("delivered"):
            stands = str(await self._wda.get("/orientation"))
        return "landscape" if "LANDSCAPE" in stands else "portrait" if "PORTRAIT" in stands else stands

    async def set_network(self, change: NetworkChange) -> DeviceReport:
        del change
        raise Unsupported("iOS lets no program switch its networks", delivery="not_delivered")

    async def set_appearance(self, appearance: Literal["dark", "light"]) -> str:
        if self._simctl is not None:
            await self._simctl.run("ui", "appearance", appearance)
            return (await self._simctl.run("ui", "appearance")).decode().strip()
        await self._wda.post("/wda/device/appearance", {"name": appearance})
        with mark_delivery("delivered"):
            info = await self._wda.get("/wda/device/info")
        return str(info.get("userInterfaceStyle", appearance)) if isinstance(info, dict) else appearance

    async def set_location(self, latitude: float, longitude: float) -> str:
        if self._simctl is not None:
            await self._simctl.run("location", "set", f"{latitude},{longitude}")
            return f"{latitude:g}, {longitude:g}"
        await self._wda.send("/wda/simulatedLocation", {"latitude": latitude, "longitude": longitude})
        with mark_delivery("delivered"):
            place = await self._wda.get("/wda/simulatedLocation")
        if not isinstance(place, dict) or place.get("latitude") is None:
            raise Unsupported("This iPhone does not report its simulated location", delivery="unknown")
        return f"{place['latitude']:g}, {place['longitude']:g}"

    async def add_media(self, path: Path) -> str:
        if self._simctl is None:
            raise Unsupported("Photos of an iPhone can't be added by a program", delivery="not_delivered")
        await self._simctl.run("addmedia", str(path.expanduser()))
        return path.name

    async def get_clipboard(self) -> str:
        return (await self._pasteboard().run("pbpaste")).decode("utf-8", "replace")

    async def set_clipboard(self, text: str) -> None:
        await self._pasteboard().run("pbcopy", stdin=text.encode())

    def _pasteboard(self) -> Simctl:
        if self._simctl is None:
            raise Unsupported(
                "iOS gives an iPhone's clipboard only to the app in front",
                hint="Type the text, or use a simulator.",
                delivery="not_delivered",
            )
        return self._simctl


class SimulatorFiles:
    """`AppData` and `LogAccess` of a simulator, whose files are files of the Mac."""

    def __init__(self, simctl: Simctl, clock: Clock) -> None:
        self._simctl = simctl
        self._clock = clock

    async def preferences(self, package: str, file: str) -> Mapping[str, Any]:
        folder = await self._simctl.data_folder(package)
        name = _plain_name(file or package).removesuffix(".plist")
        path = folder / "Library" / "Preferences" / f"{name}.plist"
        if not path.is_file():
            raise IosCommandError(f"{package} has no preferences {name}", command=["preferences"])
        values = plistlib.loads(path.read_bytes())
        return {
            "package": package,
            "file": path.name,
            "preferences": json.loads(json.dumps(values, default=str)),
        }

    async def query(self, package: str, database: str, query: str, *, write: bool) -> Mapping[str, Any]:
        folder = await self._simctl.data_folder(package)
        name = _plain_name(database)
        paths = [path for path in folder.rglob(name) if path.is_file() and folder in path.resolve().parents]
        if len(paths) != 1:
            raise IosCommandError(f"{package} has {len(paths)} databases {name}", command=["query"])
        mode = "rw" if write else "ro"
        try:
            with sqlite3.connect(f"{paths[0].as_uri()}?mode={mode}", uri=True) as connection:
                cursor = connection.execute(query)
                names = [column[0] for column in cursor.description or ()]
                rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchmany(_LONGEST_ROWS)]
        except sqlite3.Error as error:
            raise IosCommandError(f"{name}: {error}", command=["query"], delivery="unknown") from None
        shown = json.loads(json.dumps(rows, default=str))
        return {"package": package, "database": name, "query": query, "rows": shown}

    async def log_lines(
        self, package: str | None, level: str | None, since: str | None, max_lines: int
    ) -> Sequence[str]:
        words = ["log", "show", "--style", "compact", "--last", since or "5m"]
        words += ["--predicate", f'subsystem == "{_plain_name(package)}"'] if package else []
        words += ["--debug"] if level in ("debug", "verbose") else []
        lines = (await self._simctl.run("spawn", *words)).decode("utf-8", "replace").splitlines()
        return lines[-max_lines:]


def _plain_name(name: str) -> str:
    if not name or name in (".", "..") or any(mark in name for mark in '/\\"*?['):
        raise InvalidAction(
            f"{name[:60]!r} is not a plain name", hint="Name no folders.", delivery="not_delivered"
        )
    return name


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())
