"""The WebViews of a phone: which pages they show, a connection to each, and what they say at each look.

A screen without a WebView costs nothing. Nothing here fails a look: where a page can't be asked in time,
what accessibility tells stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from handrail.adb.device import AdbDevice
from handrail.android.web.graft import PageTold, frame_of, grafted, is_trusted, title_of, web_roots
from handrail.android.web.sockets import ListedPage, Sockets, matched
from handrail.cdp.connection import Connection
from handrail.clock import Clock
from handrail.errors import ActionRejected, HandrailError, Timeout
from handrail.page.reading import PageReader
from handrail.page.rows import OwnPage
from handrail.tree.node import Bounds, Node, Screen
from handrail.waiting import Background, Deadline, Expired, wait_for_end

LOOK_MS = 250.0
"""For what all pages of a screen say. Whoever is later is left to accessibility."""
OPEN_MS = 1_000.0
"""How long the first look at a page waits for its connection, which goes on being made."""
AGAIN_MS = 2_000.0
"""An app whose pages could not be asked is looked for again after so long, beside the looks."""
BUSY_MS = 60_000.0
"""A page that is busy for longer is connected to anew."""
MOST_PAGES = 8
"""Connections that are kept; the one that was used longest ago goes first."""
NO_BROWSER = (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError)
"""What comes of answers that no browser gives."""
Say = Callable[[str], None]


class _Page:
    """One page that is connected to."""

    def __init__(self, listed: ListedPage, connection: Connection) -> None:
        self.listed = listed
        self.connection = connection
        self.reader = PageReader(connection.root, listed.id)
        self.reader.dots = True
        self.is_busy = False
        """It did not answer in time, and has not yet."""
        self.is_trusted = False
        """It was compared with what accessibility tells."""

    async def prepare(self) -> None:
        call = self.connection.root.call
        await call("Page.enable")
        tree = (await call("Page.getFrameTree"))["frameTree"]
        self.reader.main.frame = str(tree["frame"]["id"])
        await self.reader.world(self.reader.main, self.reader.main.frame)

    async def told(self) -> PageTold:
        try:
            return PageTold(await self.reader.read())
        except OwnPage:
            return PageTold((), is_own=True)


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
    """One phone's."""

    def __init__(self, device: AdbDevice, clock: Clock, say: Say, *, look_ms: float = LOOK_MS) -> None:
        self.look_ms = look_ms
        self._sockets = Sockets(device, clock)
        self._clock = clock
        self._say = say
        self._said: set[str] = set()
        self._apps: dict[str, _App] = {}
        self._pages: dict[str, _Page] = {}
        self._tasks = Background()
        self._plain: Screen | None = None
        self._last: tuple[Screen, object, Screen] | None = None
        self._focus: list[_Page] = []

    async def fill(self, screen: Screen) -> Screen:
        """The screen with what its pages say themselves, where they can be asked; else as it is."""
        if screen is self._plain:
            return screen
        roots = web_roots(screen)
        if not roots:
            self._plain = screen
            return screen
        by_package: dict[str, list[Node]] = {}
        for root in roots:
            by_package.setdefault(root.package_name or screen.package, []).append(root)
        pages: dict[int, PageTold] = {}
        self._focus = []
        try:
            for package, views in by_package.items():
                pages |= await self._of_app(screen, package, views)
            return self._merged(screen, pages) if pages else screen
        except NO_BROWSER as error:
            for package in by_package:
                self._give_up(package, error)
            return screen

    def _merged(self, screen: Screen, pages: dict[int, PageTold]) -> Screen:
        """The same object while nothing has changed: others compare by that."""
        key = {order: (told.is_own, [(one, look.token, look.rows, look.viewport) for one, look in told.looks])
               for order, told in pages.items()}  # fmt: skip
        if self._last is not None and self._last[0] is screen and self._last[1] == key:
            return self._last[2]
        made = grafted(screen, pages)
        self._last = (screen, key, made)
        return made

    # one app

    async def _of_app(self, screen: Screen, package: str, views: Sequence[Node]) -> dict[int, PageTold]:
        app = self._apps.setdefault(package, _App())
        for _ in range(2):  # once more where it shows other pages by now
            if not await self._is_contacted(app, package, views):
                return {}
            found = await self._asked(screen, app, package, views)
            if found is not None:
                return found
            self._begin_contact(app, package, views)
        return {}

    async def _is_contacted(self, app: _App, package: str, views: Sequence[Node]) -> bool:
        """Whether its pages can be asked now. What takes long, or failed before, goes on by itself."""
        if app.contact is None and app.sockets:
            return True
        if app.contact is None:
            if self._clock.monotonic_ms() < app.again_at_ms:
                return False
            self._begin_contact(app, package, views)
        task = app.contact
        if task is None or not (task.done() or (not app.has_failed and await self._waited(app, task))):
            return False
        app.contact = None
        return bool(app.sockets)

    async def _waited(self, app: _App, task: asyncio.Task[None]) -> bool:
        left = app.began_ms + OPEN_MS - self._clock.monotonic_ms()
        return left > 0 and await wait_for_end(self._clock, task, left)

    def _begin_contact(self, app: _App, package: str, views: Sequence[Node]) -> None:
        app.began_ms = self._clock.monotonic_ms()
        app.contact = self._tasks.start(self._contact(app, package, views), f"pages of {package}")

    async def _contact(self, app: _App, package: str, views: Sequence[Node]) -> None:
        """Find its sockets, and connect to the pages that its views show."""
        try:
            app.sockets = await self._sockets.of(package)
            if not app.sockets:
                self._tell(
                    package,
                    f"web: {package} shows a web page and lets nobody debug it: "
                    "it is read by accessibility, which may tell covered things as free",
                )
                app.put_off(self._clock.monotonic_ms())
                return
            app.has_failed = False
            for listed in matched(_boxes(views), await self._listed(app)).values():
                if listed.id not in self._pages or not self._pages[listed.id].connection.is_open:
                    await self._connect(listed)
        except HandrailError as error:
            self._tell(package, f"web: the pages of {package} can't be asked: {error.message}")
            app.put_off(self._clock.monotonic_ms())
        except NO_BROWSER as error:
            self._give_up(package, error)

    def _give_up(self, package: str, error: Exception) -> None:
        """Whatever listens there speaks otherwise than a browser; any app may open a socket of this name."""
        self._tell(package, f"web: what answers for {package} is no browser: {error!r:.80}")
        self._apps[package].put_off(self._clock.monotonic_ms())

    async def _connect(self, listed: ListedPage) -> None:
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

    async def _drop(self, page_id: str) -> None:
        page = self._pages.pop(page_id, None)
        if page is not None:
            await page.connection.close()

    async def _listed(self, app: _App) -> list[ListedPage]:
        found = await asyncio.gather(*(self._sockets.pages(one) for one in app.sockets))
        return list({page.id: page for some in found for page in some}.values())

    async def _asked(
        self, screen: Screen, app: _App, package: str, views: Sequence[Node]
    ) -> dict[int, PageTold] | None:
        """What the pages say, by the order of their views; None where others must be connected to."""
        pages: dict[int, _Page] = {}
        try:
            async with Deadline(self._clock, self.look_ms):
                for number, listed in matched(_boxes(views), await self._listed(app)).items():
                    page = self._pages.get(listed.id)
                    if page is None or not page.connection.is_open:
                        return None
                    if not page.is_busy:
                        pages[number] = page
                told = await asyncio.gather(*(page.told() for page in pages.values()))
        except (Expired, Timeout):
            self._tell(
                package, f"web: {package} is read by accessibility: no answer within {self.look_ms:g} ms"
            )
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
        found: dict[int, PageTold] = {}
        for (number, page), one in zip(pages.items(), told, strict=True):
            if one.is_own or self._believes(screen, views[number], page, one):
                found[views[number].order] = one
                self._focus.append(page)
        return found

    async def _wait_for(self, page: _Page) -> None:
        """Until it answers again; looks do not wait for it meanwhile."""
        try:
            await page.reader.evaluate("1", timeout_ms=BUSY_MS)
        except HandrailError:
            await page.connection.close()
        page.is_busy = False

    def _believes(self, screen: Screen, view: Node, page: _Page, told: PageTold) -> bool:
        """Compared once with what accessibility says: a page of another view would be somewhere else."""
        if not page.is_trusted:
            page.is_trusted = is_trusted(screen, view, told.main)
        fits = page.is_trusted and frame_of(view, told.main) is not None
        if not fits:
            self._tell(
                page.listed.id, f"web: {title_of(view)!r} and the page {told.title!r} do not fit together"
            )
        return fits

    # typing

    async def require_focus(self, place: str) -> None:
        """Raises `ActionRejected` unless a field of this address has the focus, by its page's own word."""
        for page in self._focus:
            for frame in list(page.reader.main.worlds):
                try:
                    told = await page.reader.evaluate(
                        "document.hasFocus() ? handrail.aim() : null",
                        page.reader.main,
                        frame,
                        timeout_ms=self.look_ms,
                    )
                except HandrailError:
                    continue
                if told is not None and told.get("origin") == place:
                    return
        raise ActionRejected(
            f"The focus is in no field of {place}",
            hint="Tap the field again: the page may have gone elsewhere.",
            delivery="not_delivered",
        )

    def _tell(self, about: str, line: str) -> None:
        """Once: what is so at every look need not be said at each."""
        if (key := f"{about} {line[:40]}") not in self._said:
            self._said.add(key)
            self._say(line)

    async def close(self) -> None:
        await self._tasks.close()
        for page_id in list(self._pages):
            await self._drop(page_id)


def _boxes(views: Sequence[Node]) -> list[tuple[Bounds, str]]:
    return [(view.bounds, title_of(view)) for view in views]
