"""Reads the page in front as a screen. An open dialog or a crashed page is drawn in place of the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from handrail.browser.page import OpenDialog, WebPage
from handrail.browser.tabs import TabPress, Tabs, strip_press, with_tab_strip
from handrail.clock import Clock
from handrail.errors import HandrailError
from handrail.page.reading import (
    MOST_WORLDS,
    OWN_PAGE,
    FramePlacement,
    OwnPage,
    PageLook,
    PagePart,
    PageViewport,
    nodes_of,
    screen_of,
)
from handrail.screen.node import CLICKABLE, ENABLED, FOCUSABLE, FOCUSED, SCROLLABLE, Bounds, Node, Screen
from handrail.surface.values import Display, Foreground
from handrail.waiting import first

T = TypeVar("T")
PICTURE_MS = 15_000.0
DPI = 96


class PageScreenReader:
    """`ScreenReader` of a browser."""

    waits_for_idle = False

    def __init__(self, tabs: Tabs, clock: Clock) -> None:
        self._tabs = tabs
        self._clock = clock
        self._last: tuple[object, Screen] | None = None
        self._size = (1280, 800)
        self.drawn: DrawnDialog | None = None
        """The dialog or crash of the last look."""
        self.typed: str | None = None
        """Text of a prompt's field; None until it was changed."""
        self.places: dict[str, tuple[WebPage, PagePart, str]] = {}
        """The document of each world, by its token."""

    async def look(self) -> Screen:
        while True:
            await self._tabs.settled()
            try:
                return await self._look(self._tabs.front)
            except OwnPage:  # its tab is hidden from now on
                self._tabs.hide(self._tabs.front)
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
        """The dialog or crash that is shown in place of the page."""
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

    async def _read(self, page: WebPage, ask: str = "look") -> list[tuple[str, PageLook]]:
        looks = await page.read(ask)
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
        screen.is_cut = any(look.cut for _, look in looks)
        if tabs:
            screen = with_tab_strip(screen, tabs)
        self._last = (key, screen)
        return screen

    async def everything(self) -> Screen | None:
        """`Scrolling`."""
        page = self._tabs.front
        looks = None if page.crashed else await unless_dialog(page, self._read(page, "everything"))
        if looks is None:
            return None
        main, inner = looks[0][1], dict(looks[1:])
        left, top = (min(node.bounds[side] for node in nodes_of(main, inner)) for side in (0, 1))
        nodes = nodes_of(main, inner, FramePlacement(-left, -top, 1.0, 0.0, 0.0))
        for node in nodes:
            node.flags &= ~SCROLLABLE  # nothing is clipped
        width, height = (max(node.bounds[side] for node in nodes) for side in (2, 3))
        return screen_of(nodes, PageViewport(width, height), main.origin)

    async def bring_into_view(self, native_id: str) -> bool:
        """`Scrolling`."""
        token, _, number = native_id.partition(".")
        place = self.places.get(token)
        if place is None or place[0] is not self._tabs.front or not number.isdigit():
            return False
        page = place[0]
        return bool(await unless_dialog(page, page.evaluate(f"handrail.reveal({number})", *place[1:])))

    def tab_at(self, x: int, y: int) -> TabPress | None:
        """The part of the tab strip at a point of the last look."""
        return strip_press(self._last[1], x, y) if self._last is not None and y >= self._size[1] else None

    async def screenshot(self) -> bytes:
        """Checks before and after that the page is not Handrail's own."""
        page = self._tabs.front
        answer = None
        if await unless_dialog(page, page.evaluate(OWN_PAGE)) is False:
            options = {"format": "png", "optimizeForSpeed": True}
            answer = await unless_dialog(
                page, page.session.call("Page.captureScreenshot", options, timeout_ms=PICTURE_MS)
            )
            if await unless_dialog(page, page.evaluate(OWN_PAGE)):
                answer = None
        if answer is None or self._tabs.front is not page:
            return _blank(self._size)
        return base64.b64decode(answer["data"])

    async def display(self) -> Display:
        view = await self.viewport()
        return Display(view.width, view.height, round(DPI * view.device_scale), 0)

    async def viewport(self) -> PageViewport:
        """Measures the page in front."""
        page = self._tabs.front
        size = await unless_dialog(page, page.evaluate("[innerWidth, innerHeight, devicePixelRatio]"))
        if size is None:
            return PageViewport(*self._size)
        return PageViewport(int(size[0]), int(size[1]), float(size[2]))

    async def foreground(self) -> Foreground:
        page = self._tabs.front
        return Foreground(origin_of(page.url), urlsplit(page.url).path or "/")


async def unless_dialog(page: WebPage, work: Coroutine[Any, Any, T]) -> T | None:
    """Returns None if a dialog is or becomes open: the page does not answer then."""
    if page.dialog is not None:
        work.close()
        return None
    doing, opened = await first(work, page.dialog_changed.wait())
    if not doing.cancelled():
        return doing.result()
    del opened
    return None


def origin_of(url: str) -> str:
    """The policy's name of a page: scheme, host and port; only the scheme without a host."""
    parts = urlsplit(url)
    if parts.scheme in ("http", "https") and parts.netloc:
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"
    return f"{parts.scheme}:" if parts.scheme else ""


def _blank(size: tuple[int, int]) -> bytes:
    from PIL import Image  # noqa: PLC0415  (30 ms that few pictures need)

    written = io.BytesIO()
    Image.new("RGB", size, (32, 33, 36)).save(written, "PNG", compress_level=1)
    return written.getvalue()


OK, CANCEL, FIELD, RELOAD_PAGE = "ok", "cancel", "field", "reload"
_WIDTH, _LINE, _PAD = 420, 36, 16
_BUTTONS = {
    "alert": ((OK, "OK"),),
    "beforeunload": ((CANCEL, "Stay"), (OK, "Leave")),
}
_ASK = ((CANCEL, "Cancel"), (OK, "OK"))
_TITLES = {"beforeunload": "Leave the page? Changes may be lost."}


@dataclass(frozen=True, slots=True)
class DrawnDialog:
    """A dialog as a screen, with the places of its buttons."""

    screen: Screen
    parts: dict[str, Bounds]

    def part_at(self, x: int, y: int) -> str:
        """ "" if there is none."""
        return next((name for name, box in self.parts.items() if box.holds(x, y)), "")


def dialog_screen(dialog: OpenDialog, origin: str, size: tuple[int, int], typed: str) -> DrawnDialog:
    """`typed` is the content of a prompt's field."""
    message = dialog.message or _TITLES.get(dialog.kind, "")
    has_field = dialog.kind == "prompt"
    buttons = _BUTTONS.get(dialog.kind, _ASK)
    return _drawn(dialog.kind, message, buttons, origin, size, typed if has_field else None)


def crash_screen(url: str, origin: str, size: tuple[int, int]) -> DrawnDialog:
    """Shown for a page whose process has died."""
    return _drawn("crash", f"The page {url} has crashed", ((RELOAD_PAGE, "Reload"),), origin, size, None)


def _drawn(
    kind: str,
    message: str,
    buttons: tuple[tuple[str, str], ...],
    origin: str,
    size: tuple[int, int],
    typed: str | None,
) -> DrawnDialog:
    width, height = size
    rows = 2 + (typed is not None)
    left, top = max(0, (width - _WIDTH) // 2), max(0, height // 5)
    box = Bounds(left, top, min(width, left + _WIDTH), top + rows * (_LINE + _PAD) + _PAD)
    root = Node(
        "dialog", kind, "", "", origin, box, ENABLED, "container", 0, pane_title=f"{kind} of the page"
    )
    parts: dict[str, Bounds] = {}
    y = top + _PAD
    inner = Bounds(box.left + _PAD, y, box.right - _PAD, y + _LINE)
    _under(root, Node("text", "message", message, "", origin, inner, ENABLED, "text_view", 0))
    if typed is not None:
        y += _LINE + _PAD
        parts[FIELD] = Bounds(inner.left, y, inner.right, y + _LINE)
        flags = ENABLED | CLICKABLE | FOCUSABLE | FOCUSED
        _under(root, Node("input", FIELD, typed, message, origin, parts[FIELD], flags, "text_field", 0))
    y += _LINE + _PAD
    wide = (inner.width - _PAD * (len(buttons) - 1)) // len(buttons)
    for at, (name, label) in enumerate(buttons):
        x = inner.left + at * (wide + _PAD)
        parts[name] = Bounds(x, y, x + wide, y + _LINE)
        flags = ENABLED | CLICKABLE | (FOCUSED if name == OK and typed is None else 0)  # Enter presses it
        node = Node("button", name, label, "", origin, parts[name], flags, "button", 0)
        node.tooltip_text = message if name == OK else ""  # what it says yes to
        _under(root, node)
    nodes = [root, *root.children]
    for order, node in enumerate(nodes):
        node.order, node.end = order, order + 1
    root.end = len(nodes)
    screen = Screen(root, nodes, width, height, origin, active=root, is_exact=True)
    return DrawnDialog(screen, parts)


def _under(parent: Node, node: Node) -> None:
    node.parent, node.position, node.index = parent, len(parent.children), len(parent.children)
    parent.children.append(node)
