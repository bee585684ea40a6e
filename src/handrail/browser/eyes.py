"""Looking: one screen over all frames of the page in front, pictures, and what is in front."""

from __future__ import annotations

import base64
from collections.abc import Coroutine
from typing import Any, TypeVar
from urllib.parse import urlsplit

from handrail.browser.page import WebPage
from handrail.browser.strip import TabPress, pressed, with_strip
from handrail.browser.synthetic import DrawnDialog, crash_screen, dialog_screen
from handrail.browser.tabs import Tabs
from handrail.clock import Clock
from handrail.errors import HandrailError
from handrail.page.reading import MOST_WORLDS, PagePart
from handrail.page.rows import OWN_PAGE, OwnPage, PageLook, PageViewport, nodes_of, screen_of
from handrail.surface.values import Display, Foreground
from handrail.tree.node import Screen
from handrail.waiting import first

T = TypeVar("T")
PICTURE_MS = 15_000.0
DPI = 96


class Eyes:
    """`LookCapability` of a browser."""

    waits_for_idle = False

    def __init__(self, tabs: Tabs, clock: Clock) -> None:
        self._tabs = tabs
        self._clock = clock
        self._last: tuple[object, Screen] | None = None
        self._size = (1280, 800)
        self.drawn: DrawnDialog | None = None
        """What the last look showed instead of a page."""
        self.typed: str | None = None
        """What was typed into the field of a prompt; None until it was touched."""
        self.places: dict[str, tuple[WebPage, PagePart, str]] = {}
        """Which document a world is in, by its token."""

    async def look(self) -> Screen:
        while True:
            await self._tabs.settled()
            try:
                return await self._look(self._tabs.front)
            except OwnPage:
                await self._leave(self._tabs.front)

    async def _leave(self, page: WebPage) -> None:
        """It is Handrail's own: from now on there is no such tab."""
        self._tabs.hide(page)
        if not self._tabs.pages:
            await self._tabs.create()

    async def _look(self, page: WebPage) -> Screen:
        if page.dialog is None and not page.crashed:
            try:
                looks = await unless_dialog(page, self._read(page))
            except HandrailError:
                if not page.crashed:
                    raise
                looks = None
            if looks is not None:
                if len(self._tabs.pages) > 1:
                    await self._tabs.refresh()
                self.drawn = self.typed = None
                return self._screen(looks)
        return self._instead(page)

    def _instead(self, page: WebPage) -> Screen:
        """The dialog, or the crash, that there is instead of a page."""
        origin, dialog = origin_of(page.url), page.dialog
        if dialog is not None:
            typed = dialog.default if self.typed is None else self.typed
            drawn = dialog_screen(dialog, origin_of(dialog.url) or origin, self._size, typed)
        else:
            drawn = crash_screen(page.url, origin, self._size)
        self.drawn = drawn
        key = (page.id, dialog, self.typed, page.crashed)
        if self._last is None or self._last[0] != key:
            self._last = (key, drawn.screen)
        return self._last[1]

    async def _read(self, page: WebPage) -> list[tuple[str, PageLook]]:
        looks = await page.read()
        for _, look in looks:
            self.places.pop(look.token, None)
            self.places[look.token] = (page, *page.looked[look.token])
        for token in list(self.places)[:-MOST_WORLDS]:
            del self.places[token]
        return looks

    def _screen(self, looks: list[tuple[str, PageLook]]) -> Screen:
        main = looks[0][1]
        tabs = self._tabs.titles() if len(self._tabs.pages) > 1 else []
        key = [(owner, look.token, look.rows, look.viewport) for owner, look in looks], tabs
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        self._size = (main.viewport.width, main.viewport.height)
        nodes = nodes_of(main, dict(looks[1:]))
        warnings = [f"{main.truncated} elements were left out"] if main.truncated else []
        if main.unasked:
            warnings.append(f"what covers {main.unasked} elements could not be asked in time")
        screen = screen_of(nodes, main.viewport, main.origin, warnings)
        if tabs:
            screen = with_strip(screen, tabs)
        self._last = (key, screen)
        return screen

    def tab_at(self, x: int, y: int) -> TabPress | None:
        """What the last look showed there below the page."""
        return pressed(self._last[1], x, y) if self._last is not None and y >= self._size[1] else None

    async def screenshot(self) -> bytes:
        """Of a page that is not Handrail's own, before and after the picture was taken."""
        page = self._tabs.front
        told = None
        if await unless_dialog(page, page.evaluate(OWN_PAGE)) is False:
            asked = {"format": "png", "optimizeForSpeed": True}
            told = await unless_dialog(
                page, page.session.call("Page.captureScreenshot", asked, timeout_ms=PICTURE_MS)
            )
            if await unless_dialog(page, page.evaluate(OWN_PAGE)):
                told = None
        if told is None or self._tabs.front is not page:
            return _blank(self._size)
        return base64.b64decode(told["data"])

    async def display(self) -> Display:
        view = await self.viewport()
        return Display(view.width, view.height, round(DPI * view.device_scale), 0)

    async def viewport(self) -> PageViewport:
        """Of the page in front."""
        page = self._tabs.front
        told = await unless_dialog(page, page.evaluate("[innerWidth, innerHeight, devicePixelRatio]"))
        if told is None:
            return PageViewport(*self._size)
        return PageViewport(int(told[0]), int(told[1]), float(told[2]))

    async def foreground(self) -> Foreground:
        page = self._tabs.front
        return Foreground(origin_of(page.url), urlsplit(page.url).path or "/")


async def unless_dialog(page: WebPage, work: Coroutine[Any, Any, T]) -> T | None:
    """Its result; None where a dialog is open, or opens meanwhile: the page answers nothing then."""
    if page.dialog is not None:
        work.close()
        return None
    doing, opened = await first(work, page.dialog_changed.wait())
    if not doing.cancelled():
        return doing.result()
    del opened
    return None


def origin_of(url: str) -> str:
    """As policy names a page: scheme, host and port; the scheme alone for what has no host."""
    parts = urlsplit(url)
    if parts.scheme in ("http", "https") and parts.netloc:
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"
    return f"{parts.scheme}:" if parts.scheme else ""


def _blank(size: tuple[int, int]) -> bytes:
    import io  # noqa: PLC0415

    from PIL import Image  # noqa: PLC0415  (30 ms that few pictures need)

    written = io.BytesIO()
    Image.new("RGB", size, (32, 33, 36)).save(written, "PNG", compress_level=1)
    return written.getvalue()


__all__ = ["Eyes", "origin_of", "unless_dialog"]
