"""A browser as a surface: its capabilities, and how a session opens or attaches to one."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, cast

from handrail.browser.files import NO_FILES, Downloads, WebFiles
from handrail.browser.idle import PageIdle
from handrail.browser.input import INPUT_MS, PageInput, PageTextInput
from handrail.browser.page import WebPage
from handrail.browser.process import HEIGHT, WIDTH, open_lasting_browser
from handrail.browser.request_filter import IsListed, RequestFilter, refusal
from handrail.browser.screen_reader import PageScreenReader, origin_of, unless_dialog
from handrail.browser.tabs import Tabs
from handrail.cdp.connection import CdpSession, Connection, PipeWire, SocketWire, Wire
from handrail.clock import Clock
from handrail.config import Config, host_port, switch
from handrail.errors import (
    BrowserCommandError,
    BrowserConnectionError,
    ElementNotInteractable,
    InvalidAction,
    Unsupported,
)
from handrail.screen.node import Screen
from handrail.surface import capabilities as can
from handrail.surface.capabilities import C, DeskWindows
from handrail.surface.values import DeviceReport, Facts, InstalledApp, LastWords, NetworkChange

_NOT_HERE: Mapping[type, str] = {
    can.Video: "A browser is shown by pictures",
    can.ClipboardAccess: "A page's clipboard belongs to the person at the browser",
    can.AppData: "A browser gives no access to files of its pages",
    can.LogAccess: "A page's console is not read",
    can.ShellCommands: "A browser can't run commands",
}


class BrowserSurface:
    """One browser. `end` closes it, or detaches from it, after the session."""

    is_exclusive = True

    def __init__(
        self,
        name: str,
        connection: Connection,
        clock: Clock,
        windows: DeskWindows | None = None,
        *,
        is_listed: IsListed = lambda _: False,
        shows: Callable[[str], bool] | None = None,
        files: WebFiles = NO_FILES,
        end: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`is_listed`: hosts that the policy lists. `shows`: None for a browser of ours; for another, which
        tabs a person has allowed, by address: others are neither listed nor read."""
        self.name = name
        self._connection = connection
        self._is_ours = is_ours = shows is None
        self._end = end
        self.request_filter = RequestFilter(connection, clock, is_listed)
        self.tabs = Tabs(connection, clock, self.request_filter, shows)
        self.idle = PageIdle(self.tabs, clock)
        self.screen_reader = PageScreenReader(self.tabs, clock)
        touch = PageInput(self.tabs, self.screen_reader, self.idle, clock)
        folder = files.folder if is_ours else None
        self._downloads = Downloads(connection.root, files, folder) if folder is not None else None
        text = PageTextInput(
            self.tabs, self.screen_reader, self.idle, touch.judged_enter, files if is_ours else NO_FILES
        )
        parts = _BrowserCapabilities(self.tabs, self.idle)
        self._filled: dict[type, object] = {
            can.ScreenReader: self.screen_reader,
            can.Scrolling: self.screen_reader,
            can.Touch: touch,
            can.Mouse: touch,
            can.KeyPresses: touch,
            can.Activation: touch,
            can.TextInput: text,
            can.ControlValues: text,
            can.Apps: parts,
            can.DeviceSettings: parts,
            can.AppHealth: parts,
            can.IdleDetection: self.idle,
        }
        if windows is not None:
            self._filled[DeskWindows] = windows
        self._version = ""
        self.entry = ""

    async def open(self) -> None:
        """Attaches to the existing pages.

        Pages of our browser get no permission until it is granted to their origin, and send only files that
        the policy lists.
        """
        root = self._connection.root
        if self._is_ours:
            if self._downloads is not None:
                await self._downloads.open()
            else:
                await root.call("Browser.setDownloadBehavior", {"behavior": "deny"})
            await asyncio.gather(*(set_permission(root, name, "denied") for name in PERMISSIONS))
            version = await root.call("Browser.getVersion")
            if "Headless" in str(version.get("userAgent", "")):
                self.tabs.size = (WIDTH, HEIGHT)  # invisible bars of its window come and go
        else:
            self.entry = await self._whose()
        await self.request_filter.open()
        await self.tabs.open()

    async def _whose(self) -> str:
        """The question to the person, with the profile that an agent would use."""
        root = self._connection.root
        version = await root.call("Browser.getVersion")
        try:
            words = str((await root.call("SystemInfo.getInfo")).get("commandLine", ""))
        except BrowserCommandError:
            words = ""
        named = re.search(r"--user-data-dir=(\"[^\"]*\"|\S+)", words)
        profile = named[1].strip('"') if named else "the one it always has"
        return f"Let an agent into {version.get('product', 'the browser')} at {self.name}, profile {profile}"

    def need(self, kind: type[C]) -> C:
        filled = self._filled.get(kind)
        if filled is None:
            if kind is DeskWindows:
                raise Unsupported("This session has no desk", hint="Start `handrail serve` to get one.")
            raise Unsupported(_NOT_HERE[kind], hint="Send this action to a phone.")
        return cast("C", filled)

    async def facts(self) -> Facts:
        root = self._connection.root
        version = await root.call("Browser.getVersion")
        product, _, number = str(version.get("product", "")).partition("/")
        targets = (await root.call("Target.getTargets"))["targetInfos"]
        context = next(
            (str(target["browserContextId"]) for target in targets if "browserContextId" in target), ""
        )
        model = f"{product.removeprefix('Headless')} {number}".strip()
        return Facts(self.name, model, "", "", 0, context, platform="web")

    async def check(self) -> None:
        if not self._connection.is_open:
            raise BrowserConnectionError("The browser has ended")

    def diagnostics(self) -> list[str]:
        parts = [
            self.tabs.lines,
            self.request_filter.lines,
            *(page.lines for page in self.tabs.pages.values()),
        ]
        if self._downloads is not None:
            parts.append(self._downloads.lines)
        lines = [line for part in parts for line in part]
        for part in parts:
            part.clear()
        return lines

    def channels(self) -> dict[str, str]:
        return {"look": "script in the page", "input": "mouse and keys by DevTools"}

    async def close(self) -> None:
        if self._downloads is not None:
            await self._downloads.close()
        await self.request_filter.close()
        await self.tabs.close()
        await self._connection.close()
        if self._end is not None:
            await self._end()


class _BrowserCapabilities:
    """`Apps` (tabs), the browser's state, and whether a page has crashed."""

    def __init__(self, tabs: Tabs, idle: PageIdle) -> None:
        self._tabs = tabs
        self._idle = idle

    # apps: an app is an origin, which runs in the tabs that show it

    async def start(
        self, package: str, activity: str | None, extras: Mapping[str, bool | float | str] | None = None
    ) -> None:
        """Shows the newest tab of this origin, or opens one."""
        if extras:
            raise Unsupported(
                "A page does not accept extras: put them into its address", delivery="not_delivered"
            )
        page = next((tab for tab in reversed(self._of(package))), None)
        if page is not None and activity is None:
            await self._tabs.show(page)
            return
        _require_origin(package)
        url = package + (activity if activity and activity.startswith("/") else "/")
        self._tabs.request_filter.require(url)
        self._idle.acted()
        await self._go(await self._tabs.create(), url)

    async def stop(self, package: str) -> str:
        for page in self._of(package):
            await self._tabs.drop(page)
        return "stopped" if not self._of(package) else "open"

    async def restart(self, package: str) -> None:
        await self.stop(package)
        await self.start(package, None)

    async def reset(self, package: str) -> None:
        page = self._tabs.front
        params = {"origin": package, "storageTypes": "all"}
        await page.session.call("Storage.clearDataForOrigin", params)

    async def installed(self) -> Sequence[InstalledApp]:
        """Open pages by their titles."""
        pages = {origin_of(page.url): page.title for page in self._tabs.pages.values()}
        return [InstalledApp(origin, title or origin) for origin, title in pages.items() if origin]

    async def uninstall(self, package: str) -> None:
        raise Unsupported(f"A browser has no apps to remove, not even {package}", delivery="not_delivered")

    async def install(self, path: Path) -> None:
        raise Unsupported(f"A browser can't install apps: {path.name}", delivery="not_delivered")

    async def grant(self, package: str, permission: str) -> str:
        return await self._permit(package, permission, "granted")

    async def revoke(self, package: str, permission: str) -> str:
        return await self._permit(package, permission, "denied")

    async def require_changeable_permission(self, package: str, permission: str) -> None:
        _permission_name(permission)
        _require_origin(package)

    async def _permit(self, package: str, permission: str, setting: str) -> str:
        name = _permission_name(permission)
        _require_origin(package)
        await set_permission(self._tabs.connection.root, name, setting, package)
        return name

    async def open_url(self, url: str) -> str | None:
        self._tabs.request_filter.require(url)
        self._idle.acted()
        await self._go(self._tabs.front, url)
        return None

    async def _go(self, page: WebPage, url: str) -> None:
        """Raises `ActionRejected` if it leads to a page that no agent sees, for example by a redirect."""
        if page.dialog is not None:
            raise ElementNotInteractable(
                "A dialog of the page waits for an answer",
                hint="Tap one of its buttons; stop_app closes the tab without an answer.",
                reason="covered",
                delivery="not_delivered",
            )
        if not await page.answers():
            # A frozen page never navigates, so a new tab is opened.
            fresh = await self._tabs.create()
            await self._tabs.drop(page)
            page = fresh
        refused = self._tabs.request_filter.refused
        refused.pop(page.main.frame, None)
        reply = await unless_dialog(
            page, page.session.call("Page.navigate", {"url": url}, timeout_ms=INPUT_MS * 4)
        )
        if reply is not None and reply.get("errorText") and reply["errorText"] != "net::ERR_ABORTED":
            raise BrowserConnectionError(
                f"{url} can't be opened: {reply['errorText']}",
                hint="Check the address; the page says more.",
                delivery="delivered",
            )
        if reply is not None and (why := refused.pop(page.main.frame, "")):
            raise refusal(url, why)

    def _of(self, package: str) -> list[WebPage]:
        return [page for page in self._tabs.pages.values() if origin_of(page.url) == package]

    # state

    async def state(self) -> DeviceReport:
        tabs = [
            {"title": page.title, "url": page.url, "front": page is self._tabs.front}
            for page in self._tabs.pages.values()
        ]
        lines = [
            f"{'* ' if tab['front'] else '  '}{tab['title'] or tab['url']} ({tab['url']})" for tab in tabs
        ]
        return DeviceReport("Tabs, the one in front with a star:\n" + "\n".join(lines), {"tabs": tabs})

    async def set_orientation(self, orientation: Literal["portrait", "landscape", "auto"]) -> str:
        raise Unsupported(f"A browser's window is not turned {orientation}", delivery="not_delivered")

    async def set_network(self, change: NetworkChange) -> DeviceReport:
        raise Unsupported(f"The network is this machine's own: no {change.preset}", delivery="not_delivered")

    async def set_appearance(self, appearance: Literal["dark", "light"]) -> str:
        raise Unsupported(f"A page decides itself whether it is {appearance}", delivery="not_delivered")

    async def set_location(self, latitude: float, longitude: float) -> str:
        raise Unsupported(f"A browser is not moved to {latitude:g}, {longitude:g}", delivery="not_delivered")

    async def add_media(self, path: Path) -> str:
        raise Unsupported(f"A browser has no gallery for {path.name}", delivery="not_delivered")

    # health

    def app_in_front(self, screen: Screen) -> str:
        return screen.package

    async def has_died(self, app: str) -> bool:
        return any(page.crashed for page in self._of(app))

    async def is_home(self, screen: Screen) -> bool:
        del screen
        return False

    async def last_words(self, app: str, within_ms: float | None) -> LastWords | None:
        del app, within_ms
        return None


def _permission_name(permission: str) -> str:
    name = permission.removeprefix("android.permission.").replace("_", "-").lower()
    if name not in PERMISSIONS:
        raise InvalidAction(
            f"A browser has no permission {permission[:60]!r}",
            hint=f"It has {', '.join(PERMISSIONS)}.",
            path="permission",
            delivery="not_delivered",
        )
    return name


def _require_origin(package: str) -> None:
    if origin_of(package) != package:
        raise InvalidAction(
            f"{package!r} is not an origin",
            hint="Give scheme and host, such as https://example.org; open_url takes whole addresses.",
            path="package",
            delivery="not_delivered",
        )


PERMISSIONS = (
    "geolocation", "notifications", "camera", "microphone", "clipboard-read", "clipboard-write", "midi",
    "background-sync", "persistent-storage", "idle-detection", "local-fonts", "window-management",
    "storage-access", "screen-wake-lock",
)  # fmt: skip
"""Permissions that a page can ask for, by their web names."""


async def set_permission(root: CdpSession, name: str, setting: str, origin: str = "") -> None:
    """Sets it for one origin, or for all that have no setting of their own."""
    params = {"permission": {"name": name}, "setting": setting} | ({"origin": origin} if origin else {})
    try:
        await root.call("Browser.setPermission", params)
    except BrowserCommandError:
        if origin:
            raise  # pages can't ask for a permission that this browser does not know


DEFAULT = "default"
SHOWN = "HANDRAIL_BROWSER_SHOWN"
TABS = "HANDRAIL_BROWSER_TABS"
"""Address patterns, separated by spaces: the tabs of a running browser that are shown."""
ASK_S = 5.0
MOST_BYTES = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}")


async def open_browser(
    device: str,
    config: Config,
    clock: Clock,
    env: Mapping[str, str],
    windows: DeskWindows | None = None,
    is_listed: IsListed = lambda _: False,
    files: WebFiles = NO_FILES,
) -> BrowserSurface:
    """Our own browser by its name, with a profile that stays; or a running one by its address.

    Raises `BrowserConnectionError`.
    """
    _, _, name = device.partition(":")
    wire = await _wire(device, name or DEFAULT, config, clock, env)
    patterns = env.get(TABS, "").split()
    surface = BrowserSurface(
        device,
        Connection(wire, clock),
        clock,
        windows,
        is_listed=is_listed,
        shows=None
        if isinstance(wire, PipeWire)
        else lambda url: any(fnmatchcase(url, pattern) for pattern in patterns),
        files=replace(files, folder=_profile(config, name or DEFAULT) / "downloads"),
    )
    try:
        await surface.open()
    except BaseException:
        await surface.close()
        raise
    return surface


def _profile(config: Config, name: str) -> Path:
    return config.home / "browsers" / name


async def _wire(device: str, name: str, config: Config, clock: Clock, env: Mapping[str, str]) -> Wire:
    if place := host_port(name):
        return await SocketWire.open(await _socket_of(*place))
    if name.startswith(("ws://", "wss://")):
        return await SocketWire.open(name)
    if not _NAME.fullmatch(name):
        raise InvalidAction(
            f"{device!r} names no browser",
            hint="Give browser, browser:NAME, browser:HOST:PORT or browser:ws://…",
            path="device",
        )
    return await open_lasting_browser(_profile(config, name), clock, headless=not switch(env, SHOWN))


async def _socket_of(host: str, port: int) -> str:
    """The WebSocket address that the browser reports."""
    try:
        async with asyncio.timeout(ASK_S):
            body = await _fetch_version(host, port)
        return str(json.loads(body)["webSocketDebuggerUrl"])
    except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError, KeyError) as error:
        raise BrowserConnectionError(
            f"No browser answers at {host}:{port}: {error!r}",
            hint="Start it with --remote-debugging-port and a --user-data-dir of its own.",
        ) from None


async def _fetch_version(host: str, port: int) -> bytes:
    """Reads by length, because the browser keeps the connection open."""
    reader, writer = await asyncio.open_connection(host, port, limit=MOST_BYTES)
    try:
        writer.write(f"GET /json/version HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = re.search(r"content-length:\s*(\d+)", head)
        if " 200 " not in head.partition("\r\n")[0] or length is None:
            raise ValueError(head.partition("\r\n")[0])
        return await reader.readexactly(min(int(length[1]), MOST_BYTES))
    finally:
        writer.close()
