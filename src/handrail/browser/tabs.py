"""The pages of one browser: which there are, which is in front, and how they come and go."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from handrail.browser.page import WebPage
from handrail.browser.strip import TabTitle
from handrail.cdp.connection import Answer, Connection
from handrail.clock import Clock
from handrail.errors import BrowserConnectionError, DeviceError, HandrailError
from handrail.waiting import Background, Deadline, Expired, first

BLANK = "about:blank"
CLOSE_MS = 3_000.0


class Tabs:
    """Attached to every page of the browser; a page that a page opens comes to the front, as browsers do."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self.connection = connection
        self._clock = clock
        self.pages: dict[str, WebPage] = {}
        """By target, the oldest first."""
        self._fronts: list[str] = []
        """The last one is in front; behind it those that were."""
        self.size: tuple[int, int] | None = None
        """Of every page, where nobody sees the window; None leaves it to the window."""
        self._tasks = Background()
        self._ready = asyncio.Event()
        self.lines: list[str] = []
        """For diagnostics."""

    async def open(self) -> None:
        """Attach to what is there; a browser without a page gets one."""
        root = self.connection.root
        root.on("Target.targetCreated", self._created)
        root.on("Target.targetDestroyed", self._destroyed)
        root.on("Target.targetInfoChanged", self._changed)
        await root.call("Target.setDiscoverTargets", {"discover": True})
        found = (await root.call("Target.getTargets"))["targetInfos"]
        for info in found:
            if _is_page(info):
                await self._attach(info)
        if not self.pages:
            await self.create(BLANK)

    @property
    def front(self) -> WebPage:
        """The page that is worked on. Raises `DeviceError` where there is none."""
        known = [one for one in self._fronts if one in self.pages]
        page = self.pages[known[-1]] if known else next(reversed(self.pages.values()), None)
        if page is None:
            raise DeviceError(
                "The browser shows no page", hint="open_url opens one.", delivery="not_delivered"
            )
        return page

    async def create(self, url: str) -> WebPage:
        """Another tab, in front."""
        made = await self.connection.root.call("Target.createTarget", {"url": url})
        return await self._attach({"targetId": made["targetId"], "url": url, "type": "page"})

    async def show(self, page: WebPage) -> None:
        """Bring it to the front."""
        self._to_front(page.id)
        await self.connection.root.call("Target.activateTarget", {"targetId": page.id})

    async def drop(self, page: WebPage) -> None:
        """Close it. Its page may ask before it goes: then its dialog is the screen. The last one stays open,
        empty: a browser without a page ends."""
        if len(self.pages) == 1:
            await self.create(BLANK)
        if page.crashed:
            await self.connection.root.call("Target.closeTarget", {"targetId": page.id})
        else:
            await page.session.call("Page.close")
        with suppress(Expired):
            async with Deadline(self._clock, CLOSE_MS):
                await first(page.gone.wait(), page.dialog_changed.wait())

    def _to_front(self, target: str) -> None:
        self._fronts = [one for one in self._fronts if one != target and one in self.pages] + [target]

    async def refresh(self) -> None:
        """What the tabs are called now: not every change is announced."""
        for info in (await self.connection.root.call("Target.getTargets"))["targetInfos"]:
            self._changed({"targetInfo": info})

    def titles(self) -> list[TabTitle]:
        """All tabs, as they are shown."""
        front = self.front
        return [TabTitle(one.id, one.title or one.url, one is front) for one in self.pages.values()]

    async def settled(self) -> None:
        """Until every page that was announced has been attached to."""
        await self._tasks.wait()

    async def _attach(self, info: Answer) -> WebPage:
        known = self.pages.get(info["targetId"])
        if known is not None:
            return known
        target = str(info["targetId"])
        told = await self.connection.root.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        if target in self.pages:  # somebody else was quicker
            return self.pages[target]
        session = self.connection.session(str(told["sessionId"]), target)
        page = self.pages[target] = WebPage(self.connection, session, self._clock, str(info.get("url", "")))
        page.title = str(info.get("title", ""))
        self._to_front(target)
        await page.prepare(self.size)
        return page

    def _created(self, told: Answer) -> None:
        info = told["targetInfo"]
        if _is_page(info) and info["targetId"] not in self.pages:
            self._tasks.start(self._attach_quietly(info), f"tab {info['targetId']}")

    async def _attach_quietly(self, info: Answer) -> None:
        try:
            await self._attach(info)
        except HandrailError as error:
            self.pages.pop(str(info["targetId"]), None)
            self.lines.append(f"[tabs] a page could not be attached to: {error.message}")

    def _destroyed(self, told: Answer) -> None:
        page = self.pages.pop(str(told.get("targetId")), None)
        if page is not None:
            page.gone.set()
            page.session.fail(BrowserConnectionError("The page was closed", delivery="unknown"))
            self._tasks.start(page.close(), f"end of tab {page.id}")

    def _changed(self, told: Answer) -> None:
        info = told["targetInfo"]
        page = self.pages.get(str(info["targetId"]))
        if page is not None:
            page.url, page.title = str(info["url"]), str(info.get("title", ""))

    async def close(self) -> None:
        for page in list(self.pages.values()):
            await page.close()
        await self._tasks.close()


def _is_page(info: Answer) -> bool:
    """Not the browser's own pages, nor those of extensions and tools."""
    return info["type"] == "page" and not str(info.get("url", "")).startswith(
        ("chrome:", "chrome-extension:", "devtools:", "chrome-untrusted:", "chrome-search:")
    )
