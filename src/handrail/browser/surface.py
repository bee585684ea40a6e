"""A browser as a surface: its capabilities, each filled by what reads or drives the page in front."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from handrail.browser.eyes import Eyes, origin_of, unless_dialog
from handrail.browser.files import NO_FILES, Downloads, WebFiles
from handrail.browser.launch import HEIGHT, WIDTH
from handrail.browser.mouse import INPUT_MS, Mouse
from handrail.browser.page import WebPage
from handrail.browser.rest import PageRest
from handrail.browser.tabs import Tabs
from handrail.browser.typist import PageTypist
from handrail.browser.wall import Known, Wall, refusal
from handrail.cdp.connection import CdpSession, Connection
from handrail.clock import Clock
from handrail.errors import (
    BrowserCommandError,
    BrowserConnectionError,
    ElementNotInteractable,
    InvalidAction,
    Unsupported,
)
from handrail.protocol.traits import Capability
from handrail.surface.capabilities import WindowsCapability
from handrail.surface.values import Facts, InstalledApp, LastWords, NetworkChange, Told
from handrail.tree.node import Screen

_NOT_HERE = {
    Capability.VIDEO: "A browser is shown by pictures",
    Capability.CLIPBOARD: "A page's clipboard belongs to the person at the browser",
    Capability.DATA: "A browser gives no files of its pages",
    Capability.LOGS: "A page's console is not read",
    Capability.SHELL: "A browser runs no commands",
}


class BrowserSurface:
    """One browser. `end` ends it, or lets go of it, when the session is over."""

    is_exclusive = True

    def __init__(
        self,
        name: str,
        connection: Connection,
        clock: Clock,
        windows: WindowsCapability | None = None,
        *,
        known: Known = lambda _: False,
        shows: Callable[[str], bool] | None = None,
        files: WebFiles = NO_FILES,
        end: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`known`: hosts that the owner of the policy has listed. `shows`: None for a browser of ours; for
        another, which tabs a person has named, by address: others are neither listed nor looked at."""
        self.name = name
        self._connection = connection
        self._is_ours = is_ours = shows is None
        self._end = end
        self.wall = Wall(connection, clock, known)
        self.tabs = Tabs(connection, clock, self.wall, shows)
        self.rest = PageRest(self.tabs, clock)
        self.eyes = Eyes(self.tabs, clock)
        mouse = Mouse(self.tabs, self.eyes, self.rest, clock)
        folder = files.folder if is_ours else None
        self._downloads = Downloads(connection.root, files, folder) if folder is not None else None
        typist = PageTypist(self.tabs, self.eyes, self.rest, files if is_ours else NO_FILES)
        parts = _Parts(self.tabs, self.rest)
        self._filled: dict[Capability, object] = {
            Capability.LOOK: self.eyes,
            Capability.TOUCH: mouse,
            Capability.KEYS: mouse,
            Capability.TEXT: typist,
            Capability.VALUES: typist,
            Capability.APPS: parts,
            Capability.SETTINGS: parts,
            Capability.HEALTH: parts,
            Capability.REST: self.rest,
        }
        if windows is not None:
            self._filled[Capability.WINDOWS] = windows
        self._version = ""
        self.entry = ""

    async def open(self) -> None:
        """Attach to the pages that are there.

        A page of a browser of ours gets no permission until one is given to its origin, and sends no file
        but what policy lists.
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
                self.tabs.size = (WIDTH, HEIGHT)  # its window has bars that nobody sees, and that come and go
        else:
            self.entry = await self._whose()
        await self.wall.open()
        await self.tabs.open()

    async def _whose(self) -> str:
        """What its person is asked, with the profile that an agent would have."""
        root = self._connection.root
        version = await root.call("Browser.getVersion")
        try:
            words = str((await root.call("SystemInfo.getInfo")).get("commandLine", ""))
        except BrowserCommandError:
            words = ""
        named = re.search(r"--user-data-dir=(\"[^\"]*\"|\S+)", words)
        profile = named[1].strip('"') if named else "the one it always has"
        return f"Let an agent into {version.get('product', 'the browser')} at {self.name}, profile {profile}"

    def capability(self, which: Capability) -> object:
        filled = self._filled.get(which)
        if filled is None:
            if which is Capability.WINDOWS:
                raise Unsupported("This session has no desk", hint="Start `handrail serve` to get one.")
            raise Unsupported(_NOT_HERE[which], hint="Send this action to a phone.")
        return filled

    async def facts(self) -> Facts:
        root = self._connection.root
        version = await root.call("Browser.getVersion")
        product, _, number = str(version.get("product", "")).partition("/")
        targets = (await root.call("Target.getTargets"))["targetInfos"]
        context = next((str(one["browserContextId"]) for one in targets if "browserContextId" in one), "")
        model = f"{product.removeprefix('Headless')} {number}".strip()
        return Facts(self.name, model, "", "", 0, context, platform="web")

    async def check(self) -> None:
        if not self._connection.is_open:
            raise BrowserConnectionError("The browser has ended")

    def diagnostics(self) -> list[str]:
        parts = [self.tabs.lines, self.wall.lines, *(page.lines for page in self.tabs.pages.values())]
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
        await self.wall.close()
        await self.tabs.close()
        await self._connection.close()
        if self._end is not None:
            await self._end()


class _Parts:
    """Tabs as programs, the browser's state, and whether a page has died."""

    def __init__(self, tabs: Tabs, rest: PageRest) -> None:
        self._tabs = tabs
        self._rest = rest

    # programs: an app is an origin, and runs in the tabs that show it

    async def start(
        self, package: str, activity: str | None, extras: Mapping[str, bool | float | str] | None = None
    ) -> None:
        """The newest tab of this origin comes to the front; where there is none, one is opened."""
        if extras:
            raise Unsupported("A page takes no extras: put them into its address", delivery="not_delivered")
        page = next((one for one in reversed(self._of(package))), None)
        if page is not None and activity is None:
            await self._tabs.show(page)
            return
        url = _address(package, activity)
        self._tabs.wall.require(url)
        self._rest.acted()
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
        told = {"origin": package, "storageTypes": "all"}
        await page.session.call("Storage.clearDataForOrigin", told)

    async def installed(self) -> Sequence[InstalledApp]:
        """Pages that are open, by their titles."""
        pages = {origin_of(page.url): page.title for page in self._tabs.pages.values()}
        return [InstalledApp(origin, title or origin) for origin, title in pages.items() if origin]

    async def uninstall(self, package: str) -> None:
        raise Unsupported(f"A browser has no apps to remove, not even {package}", delivery="not_delivered")

    async def install(self, path: Path) -> None:
        raise Unsupported(f"A browser installs no apps: {path.name}", delivery="not_delivered")

    async def grant(self, package: str, permission: str) -> str:
        return await self._permit(package, permission, "granted")

    async def revoke(self, package: str, permission: str) -> str:
        return await self._permit(package, permission, "denied")

    async def _permit(self, package: str, permission: str, setting: str) -> str:
        name = permission.removeprefix("android.permission.").replace("_", "-").lower()
        if name not in PERMISSIONS:
            raise InvalidAction(
                f"A browser has no permission {permission[:60]!r}",
                hint=f"It has {', '.join(PERMISSIONS)}.",
                path="permission",
                delivery="not_delivered",
            )
        _require_origin(package)
        await set_permission(self._tabs.connection.root, name, setting, package)
        return name

    async def open_url(self, url: str) -> str | None:
        self._tabs.wall.require(url)
        self._rest.acted()
        await self._go(self._tabs.front, url)
        return None

    async def _go(self, page: WebPage, url: str) -> None:
        """Raises `ActionRejected` where it leads to what no agent sees, by a redirect for example."""
        if page.dialog is not None:
            raise ElementNotInteractable(
                "A dialog of the page waits for an answer",
                hint="Tap one of its buttons; stop_app closes the tab without an answer.",
                reason="covered",
                delivery="not_delivered",
            )
        if not await page.answers():
            page = await self._instead_of(page)
        refused = self._tabs.wall.refused
        refused.pop(page.main.frame, None)
        told = await unless_dialog(
            page, page.session.call("Page.navigate", {"url": url}, timeout_ms=INPUT_MS * 4)
        )
        if told is not None and told.get("errorText") and told["errorText"] != "net::ERR_ABORTED":
            raise BrowserConnectionError(
                f"{url} can't be opened: {told['errorText']}",
                hint="Check the address; the page says more.",
                delivery="delivered",
            )
        if told is not None and (why := refused.pop(page.main.frame, "")):
            raise refusal(url, why)

    async def _instead_of(self, page: WebPage) -> WebPage:
        """A tab for a page that is frozen: it would never let another one in."""
        fresh = await self._tabs.create()
        await self._tabs.drop(page)
        return fresh

    def _of(self, package: str) -> list[WebPage]:
        return [page for page in self._tabs.pages.values() if origin_of(page.url) == package]

    # state

    async def state(self) -> Told:
        tabs = [
            {"title": page.title, "url": page.url, "front": page is self._tabs.front}
            for page in self._tabs.pages.values()
        ]
        lines = [
            f"{'* ' if one['front'] else '  '}{one['title'] or one['url']} ({one['url']})" for one in tabs
        ]
        return Told("Tabs, the one in front with a star:\n" + "\n".join(lines), {"tabs": tabs})

    async def set_orientation(self, orientation: Literal["portrait", "landscape", "auto"]) -> str:
        raise Unsupported(f"A browser's window is not turned {orientation}", delivery="not_delivered")

    async def set_network(self, change: NetworkChange) -> Told:
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


def _address(package: str, activity: str | None) -> str:
    _require_origin(package)
    return package + (activity if activity and activity.startswith("/") else "/")


def _require_origin(package: str) -> None:
    if origin_of(package) != package:
        raise InvalidAction(
            f"{package!r} is no origin",
            hint="Give scheme and host, such as https://example.org; open_url takes whole addresses.",
            path="package",
            delivery="not_delivered",
        )


PERMISSIONS = (
    "geolocation", "notifications", "camera", "microphone", "clipboard-read", "clipboard-write", "midi",
    "background-sync", "persistent-storage", "idle-detection", "local-fonts", "window-management",
    "storage-access", "screen-wake-lock",
)  # fmt: skip
"""Those that a page can ask for, by the names of the web."""


async def set_permission(root: CdpSession, name: str, setting: str, origin: str = "") -> None:
    """For one origin, or for all that have none of their own."""
    told = {"permission": {"name": name}, "setting": setting} | ({"origin": origin} if origin else {})
    try:
        await root.call("Browser.setPermission", told)
    except BrowserCommandError:
        if origin:
            raise  # one that this browser does not know is asked for by nobody
