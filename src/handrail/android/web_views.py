"""Web pages inside apps, found by their DevTools sockets and read like pages of a browser.

The nodes of a page replace those that accessibility reports for its WebView.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.android.http_over_adb import HttpPort
from handrail.cdp.connection import Connection, StreamWire, WireClosed
from handrail.clock import Clock
from handrail.errors import ActionRejected, AdbConnectionError, BrowserConnectionError, HandrailError, Timeout
from handrail.page.activation import PageActivation
from handrail.page.reading import FramePlacement, OwnPage, PageLook, PageReader, Place, nodes_of
from handrail.screen.node import CLIPPED, FOCUSED, Bounds, Node, Screen, ScreenPoint
from handrail.surface.values import Activated
from handrail.waiting import Background, Deadline, Expired, wait_for_end

LOOK_MS = 250.0
"""Time for all pages of a screen. Accessibility serves slower ones."""
OPEN_MS = 1_000.0
"""Time that the first look waits for a page's connection, which continues in the background."""
AGAIN_MS = 2_000.0
"""Pause before an app whose pages could not be asked is tried again in the background."""
BUSY_MS = 60_000.0
"""A page that is busy for longer is reconnected."""
MOST_PAGES = 8
"""Connections that are kept; the least recently used is dropped."""
NO_BROWSER = (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError)
"""Errors from answers that no browser gives."""
Say = Callable[[str], None]


class _Page:
    def __init__(self, listed: ListedPage, connection: Connection) -> None:
        self.listed = listed
        self.connection = connection
        self.reader = PageReader(connection.root, listed.id)
        self.reader.dots = True
        self.is_busy = False
        """It did not answer in time, and has not since."""
        self.is_trusted = False
        """It was compared with accessibility."""

    async def prepare(self) -> None:
        call = self.connection.root.call
        await call("Page.enable")
        tree = (await call("Page.getFrameTree"))["frameTree"]
        self.reader.main.frame = str(tree["frame"]["id"])
        await self.reader.world(self.reader.main, self.reader.main.frame)

    async def read(self) -> PageLooks:
        try:
            return PageLooks(await self.reader.read())
        except OwnPage:
            return PageLooks((), is_own=True)


@dataclass(slots=True)
class _App:
    """One package with WebViews."""

    sockets: list[str] = field(default_factory=list)
    contact: asyncio.Task[None] | None = None
    began_ms: float = 0.0
    again_at_ms: float = 0.0
    has_failed: bool = False
    """No look waits for it any more."""

    def put_off(self, now_ms: float) -> None:
        self.sockets, self.has_failed = [], True
        self.again_at_ms = now_ms + AGAIN_MS


class WebViews:
    """Connected pages of one phone."""

    def __init__(self, device: AdbDevice, clock: Clock, say: Say, *, look_ms: float = LOOK_MS) -> None:
        self.look_ms = look_ms
        self._sockets = Sockets(device, clock)
        self._clock = clock
        self._say = say
        self._reported: set[str] = set()
        self._apps: dict[str, _App] = {}
        self._pages: dict[str, _Page] = {}
        self._tasks = Background()
        self._plain: Screen | None = None
        self._last: tuple[Screen, object, Screen] | None = None
        self._shown: list[tuple[_Page, Node, FramePlacement]] = []
        """Pages that tell what they show, with their view and where they are drawn in it."""

    async def fill(self, screen: Screen) -> Screen:
        """The screen with the nodes of its pages, as far as they can be asked."""
        if screen is self._plain:
            return screen
        roots = web_roots(screen)
        if not roots:
            self._plain = screen
            return screen
        by_package: dict[str, list[Node]] = {}
        for root in roots:
            by_package.setdefault(root.package_name or screen.package, []).append(root)
        pages: dict[int, PageLooks] = {}
        self._shown = []
        try:
            for package, views in by_package.items():
                pages |= await self._of_app(screen, package, views)
            return self._merged(screen, pages) if pages else screen
        except NO_BROWSER as error:
            for package in by_package:
                self._give_up(package, error)
            return screen

    def _merged(self, screen: Screen, pages: dict[int, PageLooks]) -> Screen:
        """Returns the same object while nothing has changed, because callers compare by identity."""
        key = {order: page.key for order, page in pages.items()}
        if self._last is None or self._last[0] is not screen or self._last[1] != key:
            self._last = (screen, key, graft_pages(screen, pages))
        return self._last[2]

    # one app

    async def _of_app(self, screen: Screen, package: str, views: Sequence[Node]) -> dict[int, PageLooks]:
        app = self._apps.setdefault(package, _App())
        for _ in range(2):  # again if it shows other pages by now
            if not await self._is_contacted(app, package, views):
                return {}
            answers = await self._read_pages(screen, app, package, views)
            if answers is not None:
                return answers
            self._begin_contact(app, package, views)
        return {}

    async def _is_contacted(self, app: _App, package: str, views: Sequence[Node]) -> bool:
        """Whether its pages can be asked now. Slow or failed attempts continue in the background."""
        if app.contact is None and app.sockets:
            return True
        if app.contact is None and self._clock.monotonic_ms() < app.again_at_ms:
            return False
        task = app.contact or self._begin_contact(app, package, views)
        if not task.done():
            left = app.began_ms + OPEN_MS - self._clock.monotonic_ms()
            if app.has_failed or left <= 0 or not await wait_for_end(self._clock, task, left):
                return False
        app.contact = None
        return bool(app.sockets)

    def _begin_contact(self, app: _App, package: str, views: Sequence[Node]) -> asyncio.Task[None]:
        app.began_ms = self._clock.monotonic_ms()
        app.contact = self._tasks.start(self._connect_pages(app, package, views), f"pages of {package}")
        return app.contact

    async def _connect_pages(self, app: _App, package: str, views: Sequence[Node]) -> None:
        """Finds its sockets and connects to the pages that its views show."""
        try:
            app.sockets = await self._sockets.of(package)
            if not app.sockets:
                self._tell(
                    package,
                    f"web: {package} shows a web page that can't be debugged: "
                    "it is read by accessibility, which may report covered elements as free",
                )
                app.put_off(self._clock.monotonic_ms())
                return
            app.has_failed = False
            for listed in (await self._matched(app, views)).values():
                if listed.id not in self._pages or not self._pages[listed.id].connection.is_open:
                    page = _Page(listed, await self._sockets.connect(listed))
                    try:
                        await page.prepare()
                    except BaseException:
                        await page.connection.close()
                        raise
                    await self._drop(listed.id)
                    self._pages[listed.id] = page
                    while len(self._pages) > MOST_PAGES:
                        await self._drop(next(iter(self._pages)))
        except HandrailError as error:
            self._tell(package, f"web: the pages of {package} can't be asked: {error.message}")
            app.put_off(self._clock.monotonic_ms())
        except NO_BROWSER as error:
            self._give_up(package, error)

    def _give_up(self, package: str, error: Exception) -> None:
        """Any app may open a socket of this name, so something other than a browser may listen."""
        self._tell(package, f"web: what answers for {package} is not a browser: {error!r:.80}")
        self._apps[package].put_off(self._clock.monotonic_ms())

    async def _drop(self, page_id: str) -> None:
        page = self._pages.pop(page_id, None)
        if page is not None:
            await page.connection.close()

    async def _matched(self, app: _App, views: Sequence[Node]) -> dict[int, ListedPage]:
        """The page of each view, by the view's number."""
        listings = await asyncio.gather(*(self._sockets.pages(socket) for socket in app.sockets))
        pages = {page.id: page for listing in listings for page in listing}
        return match_pages([(view.bounds, title_of(view)) for view in views], list(pages.values()))

    async def _read_pages(
        self, screen: Screen, app: _App, package: str, views: Sequence[Node]
    ) -> dict[int, PageLooks] | None:
        """Looks of the pages by the order of their views; None if others must be connected."""
        pages: dict[int, _Page] = {}
        try:
            async with Deadline(self._clock, self.look_ms):
                for number, listed in (await self._matched(app, views)).items():
                    page = self._pages.get(listed.id)
                    if page is None or not page.connection.is_open:
                        return None
                    if not page.is_busy:
                        pages[number] = page
                answers = await asyncio.gather(*(page.read() for page in pages.values()))
        except (Expired, Timeout):
            reason = f"no answer within {self.look_ms:g} ms"
            self._tell(package, f"web: {package} is read by accessibility: {reason}")
            for page in pages.values():
                page.is_busy = True
                self._tasks.start(self._wait_for(page), "a busy page")
            if not pages:
                app.put_off(self._clock.monotonic_ms())
            return {}
        except HandrailError as error:
            self._tell(package, f"web: {package} is read by accessibility for now: {error.message}")
            app.put_off(self._clock.monotonic_ms())
            return {}
        by_view: dict[int, PageLooks] = {}
        for (number, page), answer in zip(pages.items(), answers, strict=True):
            view = views[number]
            if answer.is_own:
                by_view[view.order] = answer
                continue
            # Compared once with accessibility: a page of another view would be elsewhere.
            page.is_trusted = page.is_trusted or is_trusted(screen, view, answer.main)
            frame = frame_of(view, answer.main)
            if page.is_trusted and frame is not None:
                by_view[view.order] = answer
                self._shown.append((page, view, frame))
            else:
                line = f"web: {title_of(view)!r} and the page {answer.main.title!r} do not fit together"
                self._tell(page.listed.id, line)
        return by_view

    async def _wait_for(self, page: _Page) -> None:
        """Until it answers again; looks do not wait for it meanwhile."""
        try:
            await page.reader.evaluate("1", timeout_ms=BUSY_MS)
        except HandrailError:
            await page.connection.close()
        page.is_busy = False

    # what an input would activate

    async def activated_by_keys(self, keys: Sequence[str], native_id: str) -> Activated | None:
        """Returns None if no page has the focus."""
        for page, _, _ in self._shown:
            try:
                activated = await self._question(page).activated_by_keys(keys, native_id)
            except HandrailError:
                activated = Activated(is_unknown=True)  # it is busy
            if activated is not None:
                return activated
        return None

    async def activated_by_points(self, points: Sequence[ScreenPoint]) -> Activated | None:
        """Returns None if there is no page at any of them."""
        parts: list[Activated] = []
        for page, view, frame in self._shown:
            inside = [
                ((x - frame.x) / frame.scale, (y - frame.y) / frame.scale)
                for x, y in points
                if view.bounds.holds(x, y)
            ]
            if inside:
                try:
                    parts.append(await self._question(page).activated_by_points(inside))
                except HandrailError:
                    parts.append(Activated(is_unknown=True))
        return Activated.joined(parts) if parts else None

    def _question(self, page: _Page) -> PageActivation:
        def evaluate(script: str, place: Place) -> Awaitable[Any]:
            return page.reader.evaluate(script, *place, timeout_ms=self.look_ms)

        return PageActivation(page.reader, evaluate)

    # typing

    async def require_focus(self, place: str) -> None:
        """Raises `ActionRejected` unless a field of this origin has the focus, according to its page."""
        for page, _, _ in self._shown:
            for frame in list(page.reader.main.worlds):
                script = "document.hasFocus() ? handrail.aim() : null"
                with suppress(HandrailError):
                    aim = await page.reader.evaluate(script, page.reader.main, frame, timeout_ms=self.look_ms)
                    if aim is not None and aim.get("origin") == place:
                        return
        raise ActionRejected(
            f"The focus is not in a field of {place}",
            hint="Tap the field again: the page may have changed.",
            delivery="not_delivered",
        )

    def _tell(self, about: str, line: str) -> None:
        """Reports each line once."""
        if (key := f"{about} {line[:40]}") not in self._reported:
            self._reported.add(key)
            self._say(line)

    async def close(self) -> None:
        await self._tasks.close()
        for page_id in list(self._pages):
            await self._drop(page_id)


LIST_COMMAND = ["cat", "/proc/net/unix"]
_NAME = re.compile(r"@([\w.]*devtools_remote(?:_[\w.]+)?)\s*$", re.MULTILINE)
MOST_SOCKETS = 12
MOST_LISTED = 64
MOST_BODY = 1 << 20
ASK_MS = 1_000.0


@dataclass(frozen=True, slots=True)
class ListedPage:
    """One page as its socket lists it."""

    socket: str
    id: str
    title: str
    is_shown: bool
    """False if it reports that it is detached or invisible."""
    place: Bounds | None
    """Its view on the screen; None if the app does not report it, as browsers."""


def read_names(listing: str) -> list[str]:
    """Socket names in the kernel's list, each once."""
    return list(dict.fromkeys(_NAME.findall(listing)))[:MOST_SOCKETS]


class Sockets:
    """DevTools sockets of one phone."""

    def __init__(self, device: AdbDevice, clock: Clock) -> None:
        self._device = device
        self._clock = clock

    async def of(self, package: str) -> list[str]:
        """The sockets that name this app as theirs. Raises `DeviceError` or `Timeout`."""
        output = await self._device.shell.run(LIST_COMMAND, timeout_ms=ASK_MS, check=False)
        sockets = []
        for name in read_names(output.text):
            with suppress(HandrailError):  # it is not a page, or has just ended
                version = await self._ask(name, "/json/version")
                if isinstance(version, dict) and version.get("Android-Package") == package:
                    sockets.append(name)
        return sockets

    async def pages(self, socket: str) -> list[ListedPage]:
        """Raises `DeviceError` or `Timeout`."""
        listing = await self._ask(socket, "/json/list")
        if not isinstance(listing, list):
            raise AdbConnectionError(f"{socket} lists no pages")
        entries = [entry for entry in listing[:MOST_LISTED] if isinstance(entry, dict)]
        return [page for entry in entries if (page := _listed(socket, entry)) is not None]

    async def _ask(self, socket: str, path: str) -> Any:
        port = HttpPort(self._device, f"localabstract:{socket}", self._clock, MOST_BODY)
        answer = await port.get(path, timeout_ms=ASK_MS)
        try:
            return json.loads(answer.body) if answer.status == 200 else None
        except ValueError:
            raise AdbConnectionError(f"{socket}{path} is not JSON") from None

    async def connect(self, page: ListedPage) -> Connection:
        """Raises `DeviceError` or `BrowserConnectionError`."""
        stream = await self._device.open(f"localabstract:{page.socket}")
        try:
            async with Deadline(self._clock, ASK_MS):
                wire = await StreamWire.open(stream, f"ws://localhost/devtools/page/{page.id}")
        except BaseException as error:
            await stream.close()
            if isinstance(error, WireClosed | Expired):
                raise BrowserConnectionError(f"The page {page.title!r} can't be asked: {error}") from None
            raise
        return Connection(wire, self._clock)


def _listed(socket: str, entry: Mapping[str, Any]) -> ListedPage | None:
    if entry.get("type") != "page" or not re.fullmatch(r"[\w-]{1,80}", str(entry.get("id", ""))):
        return None
    try:
        place = json.loads(entry.get("description") or "null")
    except (TypeError, ValueError):
        place = None
    if not isinstance(place, dict):
        place = {}
    is_shown = all(place.get(name, True) for name in ("attached", "visible")) and not place.get("empty")
    sides: list[Any] = [place.get(name) for name in ("screenX", "screenY", "width", "height")]
    bounds = None
    if all(isinstance(side, int | float) for side in sides):
        left, top, width, height = sides
        bounds = Bounds(round(left), round(top), round(left + width), round(top + height))
    return ListedPage(socket, str(entry["id"]), str(entry.get("title", "")), is_shown, bounds)


def overlap(box: Bounds, other: Bounds) -> float:
    """The common area as a share of the larger box."""
    return box.intersect(other).area / max(box.area, other.area, 1)


ENOUGH = 0.9


def match_pages(views: Sequence[tuple[Bounds, str]], pages: Sequence[ListedPage]) -> dict[int, ListedPage]:
    """The page that each view shows, by the view's number; views by their box and title.

    A page that reports its place must be there. One that does not must be the only one, or the only one with
    this title. A view with two candidates gets none.
    """
    shown = [page for page in pages if page.is_shown]
    by_view: dict[int, ListedPage] = {}
    for number, (view, _) in enumerate(views):
        placed = [page for page in shown if page.place is not None and overlap(page.place, view) >= ENOUGH]
        if len(placed) == 1:
            by_view[number] = placed[0]
    untold = [page for page in shown if page.place is None]
    if len(views) == 1 and not by_view and untold:
        named = [page for page in untold if page.title == views[0][1]] if len(untold) > 1 else untold
        by_view = {0: named[0]} if len(named) == 1 else {}
    return by_view


APART_PX = 24
"""Tolerance between two readings: rounding, and borders that only one of them counts."""
ANCHORS = 3
WIDE, NARROW = 1.03, 0.97
"""How much wider or narrower than its view a page may be, by rounding."""
_OWN_PLACES = ("file:", "about:")
"""Documents that belong to the app."""
NOT_SHOWN = "Handrail's own page is not shown"


@dataclass(frozen=True, slots=True)
class PageLooks:
    """Looks of one page: its own first, then those of frames that it can't see into."""

    looks: Sequence[tuple[str, PageLook]]
    is_own: bool = False
    """Handrail's own page, which no agent sees: no looks, and no accessibility nodes."""

    @property
    def main(self) -> PageLook:
        return self.looks[0][1]

    @property
    def key(self) -> object:
        """Equal for looks that show the same."""
        return self.is_own, [(frame, look.token, look.rows, look.viewport) for frame, look in self.looks]


def web_roots(screen: Screen) -> list[Node]:
    """The outermost visible WebViews; an app's view contains the page's own, of the same class."""
    roots: list[Node] = []
    for node in screen.nodes:
        if node.role == "web_view" and node.bounds.area and not (roots and node.order < roots[-1].end):
            roots.append(node)
    return roots


def title_of(root: Node) -> str:
    inner = root.children[0] if root.children else root
    return root.text or (inner.text if inner.role == "web_view" else "")


def frame_of(root: Node, look: PageLook) -> FramePlacement | None:
    """Where the page is drawn, in device pixels; None if its width is not the view's."""
    view = look.viewport
    scale = view.device_scale * view.zoom
    shown = view.shown_width * scale
    if not root.bounds.width or not NARROW <= shown / root.bounds.width <= WIDE:
        return None
    left, top = root.bounds.left - view.left * scale, root.bounds.top - view.top * scale
    return FramePlacement(left, top, scale, 0.0, 0.0)


def is_trusted(screen: Screen, root: Node, look: PageLook) -> bool:
    """Whether elements that both readings name are at the same place. With none in common it is trusted."""
    at = frame_of(root, look)
    if at is None:
        return False
    by_name = _named(screen.inside(root))
    apart = []
    for name, node in _named(nodes_of(look, at=at)).items():
        other = by_name.get(name)
        if other is not None and root.bounds.covers(node.bounds):
            pairs = (node.bounds[:2], other.bounds[:2]), (node.bounds.center, other.bounds.center)
            apart.append(min(max(abs(x - y) for x, y in zip(*pair, strict=True)) for pair in pairs))
    return len(apart) < ANCHORS or median(apart) <= APART_PX


def _named(nodes: Sequence[Node]) -> dict[tuple[str, str], Node]:
    """Keys the nodes by id, else by text and role; ambiguous names are left out."""
    by_name: dict[tuple[str, str], Node | None] = {}
    for node in nodes:
        name = ("id", node.resource_id) if node.resource_id else (node.role, node.text)
        if name[1] and node.bounds.area:
            by_name[name] = None if name in by_name else node
    return {name: node for name, node in by_name.items() if node is not None}


def graft_pages(screen: Screen, pages: Mapping[int, PageLooks]) -> Screen:
    """A new screen; `pages` by the order of their WebView."""
    nodes: list[Node] = []
    root = _copied(screen, screen.root, None, pages)
    stack = [root]
    active: Node | None = None
    while stack:
        node = stack.pop()
        if screen.active is not None and node.order == screen.active.order and not node.native_id:
            active = node
        node.order = len(nodes)
        nodes.append(node)
        stack.extend(reversed(node.children))
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1
    is_cut = any(look.cut for page in pages.values() for _, look in page.looks)
    return replace(
        screen, root=root, nodes=nodes, active=active, is_cut=is_cut, warnings=list(screen.warnings)
    )


def _copied(screen: Screen, node: Node, parent: Node | None, pages: Mapping[int, PageLooks]) -> Node:
    copy = replace(node, parent=parent, children=[])
    page = pages.get(node.order)
    if page is None:
        copy.children = [_copied(screen, child, copy, pages) for child in node.children]
    elif page.is_own:
        copy.text, copy.description = "", NOT_SHOWN
    else:
        has_focus = any(inner.flags & FOCUSED for inner in (node, *screen.inside(node)))
        copy.text = ""
        copy.children = _page(copy, page, has_focus)
    return copy


def _page(root: Node, looks: PageLooks, has_focus: bool) -> list[Node]:
    """The page's nodes under their WebView, clipped to it; nodes outside are left out."""
    at = frame_of(root, looks.main)
    if at is None:
        return []
    nodes = nodes_of(looks.main, dict(looks.looks[1:]), at)
    visible: set[int] = set()
    for node in reversed(nodes):
        part = node.bounds.intersect(root.bounds)
        node.place = "" if node.package_name in _OWN_PLACES else node.package_name
        node.package_name = root.package_name
        if not has_focus:
            node.flags &= ~FOCUSED
        if node.touch_at is not None and not root.bounds.holds(*node.touch_at):
            node.touch_at, node.covered_by = None, CLIPPED
        node.children = [child for child in node.children if id(child) in visible]
        if part.area or node.children or node.focused:
            visible.add(id(node))
            node.bounds = part if part.area else Bounds(*node.bounds[:2], *node.bounds[:2])
        for position, child in enumerate(node.children):
            child.position = child.index = position
    nodes[0].parent, nodes[0].position, nodes[0].index = root, 0, 0
    return nodes[:1]
