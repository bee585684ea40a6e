"""Somebody who sits at the desk in a real browser: what they see and do."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from playwright.sync_api import Browser, BrowserContext, Locator, Page

from tests.web.desk_server import DeskServer

T = TypeVar("T")
PATIENCE_S = 60.0
_DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
_SERIOUS = ("error", "warning")
SIZE = {"width": 1280, "height": 772}
"""With the taskbar of 52 px the stage is 1280 x 720."""


@dataclass
class Person:
    """A browser of their own, logged in."""

    context: BrowserContext
    page: Page
    server: DeskServer
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    provokes: bool = False
    """This test makes the browser complain. Nobody knows when it does so, or how often."""

    @classmethod
    def enter(cls, browser: Browser, server: DeskServer, **options: Any) -> Person:
        context = browser.new_context(**{"viewport": SIZE, "reduced_motion": "reduce", **options})
        page = context.new_page()
        page.set_default_timeout(PATIENCE_S * 1000)
        one = cls(context, page, server)
        page.on("console", lambda said: said.type in _SERIOUS and one.complaints.append(said.text))
        page.on("pageerror", lambda error: one.complaints.append(str(error)))
        page.on("dialog", lambda dialog: one.complaints.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: one.requests.append(request.url))
        page.goto(server.link())
        page.locator(".desk-icon").first.wait_for()
        return one

    def leave(self) -> None:
        self.context.close()

    def clear(self) -> None:
        """An empty first monitor, as if nobody had been here."""
        state = self.server.state()
        for dialog in state["dialogs"]:
            raise AssertionError(f"a dialog was left open: {dialog['id']}")
        for win in state["windows"].values():
            self.server.act({"type": "window.close", **_named(win)}, by=win["lockedBy"] or "agent-1")
        for kind in ("notification", "toast"):
            for one in state[f"{kind}s"]:
                self.server.act({"type": f"{kind}.dismiss", "id": one["id"]})
        for one in state["shortcuts"]:
            self.server.act({"type": "desktop.removeShortcut", "shortcutId": one["id"]})
        self.server.letters()
        self.server.letters("console")
        self.page.locator(".window").first.wait_for(state="detached")
        self.page.mouse.move(640, 600)  # on the way back the browser tells what it had to say until now
        self.complaints.clear()
        self.requests.clear()
        self.provokes = False

    def take_complaints(self) -> list[str]:
        """What nobody has foreseen."""
        taken, self.complaints = self.complaints, []
        return [] if self.provokes else taken

    def show(self, window_id: str, content: dict[str, Any], **more: Any) -> dict[str, Any]:
        """An agent opens a window, and it is on the screen. The details of the action."""
        details = self.server.window(window_id, content, **more)
        if not more.get("minimized"):
            self.window(window_id, more.get("monitorId", "monitor-0")).wait_for()
        return details

    def allow(self, window_id: str) -> Locator:
        """Says yes to a page of this machine; the frame that shows it."""
        self.window(window_id).get_by_role("button", name="Show it").click()
        frame = self.window(window_id).locator("iframe")
        inside = frame.element_handle().content_frame()
        inside.wait_for_url(re.compile("^http"))
        return frame

    def window(self, window_id: str, monitor: str = "monitor-0") -> Locator:
        return self.page.locator(f'.window[data-key="{monitor}/{window_id}"]')

    def button(self, name: str, within: Locator | None = None) -> Locator:
        return (within or self.page).get_by_role("button", name=name, exact=True)

    def box(self, window_id: str) -> tuple[int, int, int, int]:
        """x, y, w, h as drawn, to the pixel."""
        found = self.window(window_id).bounding_box()
        return round(found["x"]), round(found["y"]), round(found["width"]), round(found["height"])

    def drag(self, start: tuple[float, float], end: tuple[float, float], *, drop: bool = True) -> None:
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        mouse.move(*end)
        self.frame()
        if drop:
            mouse.up()

    def title_bar(self, window_id: str) -> tuple[float, float]:
        """A point of the title bar where no button is."""
        found = self.window(window_id).locator(".window-title").bounding_box()
        return found["x"] + 20, found["y"] + found["height"] / 2

    def frame(self) -> None:
        """The page has drawn."""
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def until(self, look: Callable[[], T]) -> T:
        """What `look` finds, once it is true. The browser goes on meanwhile."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := look()):
            assert time.monotonic() < deadline, f"never true; the last was {found!r}"
            self.page.wait_for_timeout(15)
        return found

    def bounds_become(self, window_id: str, bounds: tuple[int, int, int, int]) -> None:
        """In the state, and on the screen."""
        x, y, w, h = bounds
        self.until(lambda: self.server.seen(window_id)["bounds"] == {"x": x, "y": y, "w": w, "h": h})
        self.until(lambda: self.box(window_id) == bounds)

    def letter(self, agent: str = "agent-1") -> dict[str, Any]:
        """The next thing that this agent hears of the person."""
        return self.until(lambda: self.server.letters(agent))[0]


def _named(win: dict[str, Any]) -> dict[str, str]:
    return {"windowId": win["windowId"], "monitorId": win["monitorId"]}
