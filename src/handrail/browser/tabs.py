"""The tabs of one browser and the strip of tabs that is shown above the page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from handrail.browser.page import FRAMES_TOO, WebPage
from handrail.browser.request_filter import SCHEMES, RequestFilter
from handrail.cdp.connection import Answer, CdpSession, Connection
from handrail.clock import Clock
from handrail.errors import BrowserCommandError, BrowserConnectionError, DeviceError, HandrailError, Timeout
from handrail.page.reading import OWN_PAGE
from handrail.screen.node import CLICKABLE, ENABLED, SELECTED, Bounds, Node, Screen
from handrail.screen.text import cut
from handrail.waiting import Background, Deadline, Expired, first

BLANK = "about:blank"
CLOSE_MS = 3_000.0
HOLD_NEW = {**FRAMES_TOO, "waitForDebuggerOnStart": True, "filter": [{"type": "page"}]}
"""A pop-up starts once its events are handled."""
ASK_MS = 2_000.0
"""Time for an existing tab to report whose it is. A tab that does not answer is not shown."""

FOCUS_MS = 400.0
"""Time for the browser to report the focused tab."""
POLL_MS = 20.0


class Tabs:
    """Attached to every page of the browser; a page that a page opens comes to the front."""

    def __init__(
        self,
        connection: Connection,
        clock: Clock,
        request_filter: RequestFilter,
        shows: Callable[[str], bool] | None = None,
    ) -> None:
        """`shows`: which addresses of tabs that others opened are shown; None shows all."""
        self.connection = connection
        self.request_filter = request_filter
        self._shows = shows
        request_filter.is_persons = self.is_persons
        self._persons: set[str] = set()
        """Tabs that no agent sees."""
        self._clock = clock
        self.pages: dict[str, WebPage] = {}
        """By target, the oldest first."""
        self._fronts: list[str] = []
        """Order of activation; the last one is in front."""
        self.size: tuple[int, int] | None = None
        """Of every page in an invisible window; None leaves it to the window."""
        self._tasks = Background()
        self._releases = Background()
        self._holding: set[str] = set()
        """Tabs that have not started yet."""
        self._ready = asyncio.Event()
        self.lines: list[str] = []
        """For diagnostics."""

    async def open(self) -> None:
        """A browser without a page gets one."""
        root = self.connection.root
        root.on("Target.targetCreated", self._created)
        root.on("Target.targetDestroyed", self._destroyed)
        root.on("Target.targetInfoChanged", self._changed)
        root.on("Target.attachedToTarget", self._held)
        await root.call("Target.setDiscoverTargets", {"discover": True})
        await root.call("Target.setAutoAttach", HOLD_NEW)
        targets = (await root.call("Target.getTargets"))["targetInfos"]
        for info in targets:
            if info["type"] == "page":
                await self._attach_if_shown(info)
        if not self.pages:
            await self.create()
        elif len(self.pages) > 1:
            await self._find_front()

    async def _find_front(self) -> None:
        """The tab that the last client left in front, which is the one with the focus.

        A browser takes a moment to move the focus, and a window behind others has none.
        """

        async def has_focus(page: WebPage) -> bool:
            with suppress(Timeout, BrowserCommandError):  # a dialog is open there, or it has crashed
                return bool(await page.evaluate("document.hasFocus()", timeout_ms=FOCUS_MS))
            return False

        pages = list(self.pages.values())
        await self._emulate_focus(pages, is_on=False)  # otherwise every page reports it
        deadline = self._clock.monotonic_ms() + FOCUS_MS
        while True:
            answers = await asyncio.gather(*map(has_focus, pages))
            focused = [page for page, is_focused in zip(pages, answers, strict=True) if is_focused]
            if len(focused) == 1:
                self._to_front(focused[0].id)
            if len(focused) == 1 or self._clock.monotonic_ms() > deadline:
                break
            await self._clock.sleep_ms(POLL_MS)
        await self._emulate_focus(pages, is_on=True)

    async def _emulate_focus(self, pages: Sequence[WebPage], *, is_on: bool) -> None:
        params = {"enabled": is_on}
        calls = (page.session.call("Emulation.setFocusEmulationEnabled", params) for page in pages)
        await asyncio.gather(*calls, return_exceptions=True)  # one may have crashed

    @property
    def front(self) -> WebPage:
        """Raises `DeviceError` if there is no page."""
        for tab in [tab for tab in self.pages.values() if self.request_filter.is_own(tab.url)]:
            self.hide(tab)  # restored from the back/forward cache, without a request
        open_fronts = [tab for tab in self._fronts if tab in self.pages]
        page = self.pages[open_fronts[-1]] if open_fronts else next(reversed(self.pages.values()), None)
        if page is None:
            raise DeviceError(
                "The browser shows no page", hint="open_url opens one.", delivery="not_delivered"
            )
        return page

    async def create(self) -> WebPage:
        """An empty tab in front, which belongs to the agent."""
        created = await self.connection.root.call("Target.createTarget", {"url": BLANK})
        self._persons.discard(created["targetId"])
        return await self._attach({"targetId": created["targetId"], "url": BLANK, "type": "page"})

    async def show(self, page: WebPage) -> None:
        self._to_front(page.id)
        await self.connection.root.call("Target.activateTarget", {"targetId": page.id})

    async def drop(self, page: WebPage) -> None:
        """Its page may ask before it closes: then its dialog is shown. The last tab stays open and empty,
        because a browser without a page ends."""
        if len(self.pages) == 1:
            await self.create()
        is_stopped = page.dialog is not None and page.dialog.kind != "beforeunload"
        try:
            if page.crashed or is_stopped:
                raise Timeout("It can't be asked")
            await page.session.call("Page.close", timeout_ms=CLOSE_MS)
        except Timeout:  # a frozen page
            await self.connection.root.call("Target.closeTarget", {"targetId": page.id})
            is_stopped = True
        if is_stopped:
            page.dialog_closed()
        with suppress(Expired):
            async with Deadline(self._clock, CLOSE_MS):
                await first(page.closed.wait(), page.dialog_changed.wait())

    def _to_front(self, target: str) -> None:
        self._fronts = [front for front in self._fronts if front != target and front in self.pages] + [target]

    async def refresh(self) -> None:
        """Reads the titles, because not every change is announced."""
        for info in (await self.connection.root.call("Target.getTargets"))["targetInfos"]:
            self._changed({"targetInfo": info})

    def titles(self) -> list[TabTitle]:
        front = self.front
        return [TabTitle(page.id, page.title or page.url, page is front) for page in self.pages.values()]

    async def settled(self) -> None:
        """Until every announced page is attached."""
        await self._tasks.wait()

    async def _attach(self, info: Answer) -> WebPage:
        existing = self.pages.get(info["targetId"])
        if existing is not None:
            return existing
        target = str(info["targetId"])
        attached = await self.connection.root.call(
            "Target.attachToTarget", {"targetId": target, "flatten": True}
        )
        if target in self.pages:  # attached meanwhile
            return self.pages[target]
        session = self.connection.session(str(attached["sessionId"]), target)
        page = self.pages[target] = WebPage(self.connection, session, self._clock, str(info.get("url", "")))
        session.on("Network.responseReceivedExtraInfo", self.request_filter.note_address_space)
        page.title = str(info.get("title", ""))
        self._to_front(target)
        await page.prepare(self.size)
        return page

    def _held(self, event: Answer) -> None:
        """Holds a new tab until its events are handled."""
        target = str(event["targetInfo"]["targetId"])
        if not event.get("waitingForDebugger") or target in self._holding:
            return  # already attached, or its own session
        self._holding.add(target)
        session = self.connection.session(str(event["sessionId"]), target)
        self._releases.start(self._resume_tab(session), f"release of {session.target_id}")

    async def _resume_tab(self, session: CdpSession) -> None:
        """Enables events before the tab continues; the browser keeps this order."""
        session.on("Network.responseReceivedExtraInfo", self.request_filter.note_address_space)
        with suppress(HandrailError):
            await asyncio.gather(
                session.call("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
                session.call("Runtime.runIfWaitingForDebugger"),
            )
            await self.settled()  # the tab has its own session now, with the same events
            await self.connection.root.call("Target.detachFromTarget", {"sessionId": session.id})
        self._holding.discard(session.target_id)

    # whose a tab is

    def is_persons(self, frame: str) -> bool:
        """Whether it is the frame of a hidden tab."""
        return frame in self._persons

    def hide(self, page: WebPage) -> None:
        self.request_filter.note_own(page.url)
        self.pages.pop(page.id, None)
        self._persons.add(page.id)

    async def _attach_if_shown(self, info: Answer) -> None:
        """An existing tab, by what it reports itself."""
        target = str(info["targetId"])
        is_shown = self._shows is None or self._shows(str(info.get("url", "")))
        if not is_shown or not _is_page(info) or self.request_filter.is_own(str(info["url"])):
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

    def _created(self, event: Answer) -> None:
        info = event["targetInfo"]
        target = str(info["targetId"])
        if info["type"] != "page" or target in self.pages:
            return

        async def attach() -> None:
            try:
                await self._attach(info)
            except HandrailError as error:
                self.pages.pop(target, None)
                self.lines.append(f"[tabs] a page could not be attached to: {error.message}")

        # Tabs that a page opens belong to the agent; other tabs only in the agent's own browser.
        is_ours = info.get("openerId") in self.pages or (self._shows is None and not info.get("openerId"))
        if _is_page(info) and is_ours:
            self._tasks.start(attach(), f"tab {target}")
        else:
            self._persons.add(target)

    def _destroyed(self, event: Answer) -> None:
        self._persons.discard(str(event.get("targetId")))
        page = self.pages.pop(str(event.get("targetId")), None)
        if page is not None:
            page.closed.set()
            page.session.fail(BrowserConnectionError("The page was closed", delivery="unknown"))
            self._tasks.start(page.close(), f"end of tab {page.id}")

    def _changed(self, event: Answer) -> None:
        info = event["targetInfo"]
        page = self.pages.get(str(info["targetId"]))
        if page is not None:
            page.url, page.title = str(info["url"]), str(info.get("title", ""))

    async def close(self) -> None:
        for page in list(self.pages.values()):
            await page.close()
        await self._tasks.close()
        await self._releases.close()


def _is_page(info: Answer) -> bool:
    """The browser's own pages, and those of extensions and tools, are none."""
    scheme = str(info.get("url", "")).partition(":")[0]  # empty for a page that was just opened
    return info["type"] == "page" and (not scheme or scheme in SCHEMES or scheme == "chrome-error")


HEIGHT = 32
_CLOSE = 28
_TITLE = 40
"""Characters of a title."""
PACKAGE = "browser"


class TabTitle(NamedTuple):
    """A tab in the strip."""

    id: str
    title: str
    is_front: bool


class TabPress(NamedTuple):
    """The meaning of a tap on the strip."""

    id: str
    closes: bool


def with_tab_strip(page: Screen, tabs: Sequence[TabTitle]) -> Screen:
    """The page's screen with its tabs below it."""
    width, top = page.width, page.height
    frame = Bounds(0, 0, width, top + HEIGHT)
    root = Node("", "", "", "", page.package, frame, 0, "container", 0)
    strip = Node("tabs", "", "", "", PACKAGE, Bounds(0, top, width, top + HEIGHT), ENABLED, "toolbar", 0)
    wide = max(_CLOSE * 2, min(220, width // max(1, len(tabs))))
    for number, tab in enumerate(tabs):
        box = Bounds(number * wide, top, (number + 1) * wide, top + HEIGHT)
        title = cut(tab.title, _TITLE)
        flags = ENABLED | CLICKABLE | (SELECTED if tab.is_front else 0)
        left = box._replace(right=box.right - _CLOSE)
        _under(strip, Node("tab", "", title, "", PACKAGE, left, flags, "tab", 0, native_id=f"tab.{tab.id}"))
        right = box._replace(left=box.right - _CLOSE)
        closing = f"Close tab {title}"
        _under(
            strip,
            Node(
                "close", "", "", closing, PACKAGE, right, ENABLED | CLICKABLE, "button", 0,
                native_id=f"close.{tab.id}",
            ),
        )  # fmt: skip
    _under(root, page.root)
    _under(root, strip)
    nodes = [root, *page.nodes, strip, *strip.children]
    for order, node in enumerate(nodes):
        node.order = order
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1
    return Screen(
        root,
        nodes,
        width,
        top + HEIGHT,
        page.package,
        warnings=page.warnings,
        active=page.root,
        is_exact=True,
    )


def strip_press(screen: Screen, x: int, y: int) -> TabPress | None:
    """The part of the strip at this point, if any."""
    for node in screen.nodes:
        kind, _, target = node.native_id.partition(".")
        if kind in ("tab", "close") and node.package_name == PACKAGE and node.bounds.holds(x, y):
            return TabPress(target, kind == "close")
    return None


def _under(parent: Node, node: Node) -> None:
    node.parent, node.position, node.index = parent, len(parent.children), len(parent.children)
    parent.children.append(node)
