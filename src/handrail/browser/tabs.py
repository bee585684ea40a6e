"""The pages of one browser: which there are, which is in front, and how they come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from handrail.browser.page import WebPage
from handrail.browser.strip import TabTitle
from handrail.browser.wall import SCHEMES, Wall
from handrail.cdp.connection import Answer, CdpSession, Connection
from handrail.clock import Clock
from handrail.errors import BrowserCommandError, BrowserConnectionError, DeviceError, HandrailError, Timeout
from handrail.page.rows import OWN_PAGE
from handrail.waiting import Background, Deadline, Expired, first

BLANK = "about:blank"
CLOSE_MS = 3_000.0
HOLD_NEW = {
    "autoAttach": True,
    "waitForDebuggerOnStart": True,
    "flatten": True,
    "filter": [{"type": "page"}],
}
"""A pop-up starts when it is listened to."""
ASK_MS = 2_000.0
"""For a tab that was there before to say whose it is. One that does not say is not shown."""

FOCUS_MS = 400.0
"""For the browser to say which tab has the focus."""
POLL_MS = 20.0


async def _has_focus(page: WebPage) -> bool:
    try:
        return bool(await page.evaluate("document.hasFocus()", timeout_ms=FOCUS_MS))
    except (Timeout, BrowserCommandError):  # a dialog is open there, or it has crashed
        return False


class Tabs:
    """Attached to every page of the browser; a page that a page opens comes to the front, as browsers do."""

    def __init__(
        self, connection: Connection, clock: Clock, wall: Wall, shows: Callable[[str], bool] | None = None
    ) -> None:
        """`shows`: which addresses of tabs that others opened are shown; None shows all."""
        self.connection = connection
        self.wall = wall
        self._shows = shows
        wall.is_persons = self.is_persons
        self._persons: set[str] = set()
        """Tabs that no agent sees."""
        self._clock = clock
        self.pages: dict[str, WebPage] = {}
        """By target, the oldest first."""
        self._fronts: list[str] = []
        """The last one is in front; behind it those that were."""
        self.size: tuple[int, int] | None = None
        """Of every page, where nobody sees the window; None leaves it to the window."""
        self._tasks = Background()
        self._releases = Background()
        self._holding: set[str] = set()
        """Tabs that have not begun yet."""
        self._ready = asyncio.Event()
        self.lines: list[str] = []
        """For diagnostics."""

    async def open(self) -> None:
        """Attach to what is there; a browser without a page gets one."""
        root = self.connection.root
        root.on("Target.targetCreated", self._created)
        root.on("Target.targetDestroyed", self._destroyed)
        root.on("Target.targetInfoChanged", self._changed)
        root.on("Target.attachedToTarget", self._held)
        await root.call("Target.setDiscoverTargets", {"discover": True})
        await root.call("Target.setAutoAttach", HOLD_NEW)
        found = (await root.call("Target.getTargets"))["targetInfos"]
        for info in found:
            if info["type"] == "page":
                await self._attach_if_shown(info)
        if not self.pages:
            await self.create()
        elif len(self.pages) > 1:
            await self._find_front()

    async def _find_front(self) -> None:
        """The tab that the last client left in front, as the browser has it: it alone has the focus.

        A browser takes a moment to move the focus, and one whose window is behind others has none to tell.
        """
        pages = list(self.pages.values())
        await self._emulate_focus(pages, is_on=False)  # or every one believes that it has it
        deadline = self._clock.monotonic_ms() + FOCUS_MS
        while True:
            answers = await asyncio.gather(*map(_has_focus, pages))
            focused = [page for page, has_focus in zip(pages, answers, strict=True) if has_focus]
            if len(focused) == 1:
                self._to_front(focused[0].id)
            if len(focused) == 1 or self._clock.monotonic_ms() > deadline:
                break
            await self._clock.sleep_ms(POLL_MS)
        await self._emulate_focus(pages, is_on=True)

    async def _emulate_focus(self, pages: Sequence[WebPage], *, is_on: bool) -> None:
        told = {"enabled": is_on}
        calls = (page.session.call("Emulation.setFocusEmulationEnabled", told) for page in pages)
        await asyncio.gather(*calls, return_exceptions=True)  # one may have crashed

    @property
    def front(self) -> WebPage:
        """The page that is worked on. Raises `DeviceError` where there is none."""
        for one in [one for one in self.pages.values() if self.wall.is_own(one.url)]:
            self.hide(one)  # it came back from the browser's memory, without a request
        known = [one for one in self._fronts if one in self.pages]
        page = self.pages[known[-1]] if known else next(reversed(self.pages.values()), None)
        if page is None:
            raise DeviceError(
                "The browser shows no page", hint="open_url opens one.", delivery="not_delivered"
            )
        return page

    async def create(self) -> WebPage:
        """Another tab, empty and in front: it is the agent's before it goes anywhere."""
        made = await self.connection.root.call("Target.createTarget", {"url": BLANK})
        self._persons.discard(made["targetId"])
        return await self._attach({"targetId": made["targetId"], "url": BLANK, "type": "page"})

    async def show(self, page: WebPage) -> None:
        """Bring it to the front."""
        self._to_front(page.id)
        await self.connection.root.call("Target.activateTarget", {"targetId": page.id})

    async def drop(self, page: WebPage) -> None:
        """Close it. Its page may ask before it goes: then its dialog is the screen. The last one stays open,
        empty: a browser without a page ends."""
        if len(self.pages) == 1:
            await self.create()
        is_stopped = page.dialog is not None and page.dialog.kind != "beforeunload"
        try:
            if page.crashed or is_stopped:
                raise Timeout("It can't be asked")
            await page.session.call("Page.close", timeout_ms=CLOSE_MS)
        except Timeout:  # nor is one that is frozen
            await self.connection.root.call("Target.closeTarget", {"targetId": page.id})
            is_stopped = True
        if is_stopped:
            page.dialog_closed()
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
        session.on("Network.responseReceivedExtraInfo", self.wall.told_address)
        page.title = str(info.get("title", ""))
        self._to_front(target)
        await page.prepare(self.size)
        return page

    def _held(self, told: Answer) -> None:
        """A new tab goes nowhere before it is listened to; this session holds it until then."""
        target = str(told["targetInfo"]["targetId"])
        if not told.get("waitingForDebugger") or target in self._holding:
            return  # it is there already, or this is the session by which it is listened to
        self._holding.add(target)
        session = self.connection.session(str(told["sessionId"]), target)
        self._releases.start(self._release(session), f"release of {session.target_id}")

    async def _release(self, session: CdpSession) -> None:
        """Listened to first, then let go: the browser takes both in this order, whenever it answers."""
        session.on("Network.responseReceivedExtraInfo", self.wall.told_address)
        with suppress(HandrailError):
            await asyncio.gather(
                session.call("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
                session.call("Runtime.runIfWaitingForDebugger"),
            )
            await self.settled()  # the tab has a session of its own now, which hears the same
            await self.connection.root.call("Target.detachFromTarget", {"sessionId": session.id})
        self._holding.discard(session.target_id)

    # whose a tab is

    def is_persons(self, frame: str) -> bool:
        """Whether it is the frame of a tab that is not shown."""
        return frame in self._persons

    def hide(self, page: WebPage) -> None:
        """It turned out to be none of the agent's business."""
        self.wall.note_own(page.url)
        self.pages.pop(page.id, None)
        self._persons.add(page.id)

    async def _attach_if_shown(self, info: Answer) -> None:
        """A tab that was there before, by what it says itself."""
        target = str(info["targetId"])
        is_shown = self._shows is None or self._shows(str(info.get("url", "")))
        if not is_shown or not _is_page(info) or self.wall.is_own(str(info["url"])):
            self._persons.add(target)
            return
        try:
            page = await self._attach(info)
            if await page.evaluate(OWN_PAGE, timeout_ms=ASK_MS):
                self.hide(page)
        except (Timeout, BrowserCommandError):
            self.pages.pop(target, None)
            self._persons.add(target)
            self.lines.append("[tabs] a tab that does not answer is not shown")

    def _created(self, told: Answer) -> None:
        info = told["targetInfo"]
        target = str(info["targetId"])
        if info["type"] != "page" or target in self.pages:
            return
        # What a page opens is the agent's. What others open is, in a browser that is the agent's.
        is_ours = info.get("openerId") in self.pages or (self._shows is None and not info.get("openerId"))
        if _is_page(info) and is_ours:
            self._tasks.start(self._attach_quietly(info), f"tab {target}")
        else:
            self._persons.add(target)

    async def _attach_quietly(self, info: Answer) -> None:
        try:
            await self._attach(info)
        except HandrailError as error:
            self.pages.pop(str(info["targetId"]), None)
            self.lines.append(f"[tabs] a page could not be attached to: {error.message}")

    def _destroyed(self, told: Answer) -> None:
        self._persons.discard(str(told.get("targetId")))
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
        await self._releases.close()


def _is_page(info: Answer) -> bool:
    """Not the browser's own pages, nor those of extensions and tools."""
    scheme = str(info.get("url", "")).partition(":")[0]  # none yet: a page has just been opened
    return info["type"] == "page" and (not scheme or scheme in SCHEMES or scheme == "chrome-error")
