"""WebView lab: a native bar over one or two WebViews, as apps that show web pages have them.

It shows pages with a real engine (`handrail-sim --web chromium`), or those of its world, drawn as the
browser's. It is carried when it is named, by `apps` or by a world.
"""

from __future__ import annotations

from typing import Any

from handrail_sim.apps.browser import Browser
from handrail_sim.apps.browser import Main as Pages
from handrail_sim.system.intents import VIEW, Handles, Intent
from handrail_sim.view import View, button, frame, row, screen, text

NAMES = ("first_page", "second_page")
START = "https://orders.example/"
"""The page of its world that it opens with."""


class Main(Pages):
    """Extras `second` (another address) and `debugging` ("off") say what there is to see."""

    title = "WebView lab"
    single_top = True

    def on_create(self) -> None:
        self.state.update(pressed=0, history=[], values={}, bubble=[], loading=False, offline=False, url="")
        self._take(self.intent)

    def on_new_intent(self, intent: Intent) -> None:
        self._take(intent)

    def _take(self, intent: Intent) -> None:
        second = str(intent.extras.get("second", ""))
        urls = [url for url in (intent.data or "", second) if url]
        self.state.update(urls=urls, hidden=False, debugging=intent.extras.get("debugging") != "off")
        if self.has_own_pages:
            self.open(intent.data or START)

    @property
    def has_own_pages(self) -> bool:
        return self.phone.web is None and self.app.package in self.phone.world

    def build(self) -> View:
        bar = row(
            text("Orders", "title", weight=1.0),
            button("Help", self.press, id="help"),
            button("Show" if self.state["hidden"] else "Hide", self.turn, id="turn"),
            height=64.0,
        )
        return screen(bar, *self.pages())

    def pages(self) -> list[View]:
        web = self.phone.web
        if self.has_own_pages:
            return [] if self.state["hidden"] else [self.web()]
        if web is None:
            return [text("This phone draws no web pages.", id="no_web")]
        debugging = self.state["debugging"]
        views = [
            web.view(self, name, url, is_debuggable=debugging)
            for name, url in zip(NAMES, self.state["urls"], strict=False)
        ]
        for view in views:
            view.visible = not self.state["hidden"]
        return [frame(view, weight=1.0) for view in views]

    def press(self) -> None:
        self.state["pressed"] += 1

    def turn(self) -> None:
        self.state["hidden"] = not self.state["hidden"]

    def back(self) -> bool:
        if self.has_own_pages:
            return super().back()
        return self.phone.web is not None and self.phone.web.back(self, NAMES[0])


class WebViewLab(Browser):
    """An app whose screens are web pages; `pressed` counts its own button. A world is like the browser's."""

    package = "com.handrail.webviewlab"
    label = "WebView lab"
    icon = "browser"
    debuggable = True
    permissions = ("android.permission.INTERNET",)
    activities = {"MainActivity": Main}
    handles = (Handles("MainActivity", VIEW, scheme="lab"),)

    def state(self) -> dict[str, Any]:
        screens = [activity for activity in self.phone.tasks.open_activities() if isinstance(activity, Main)]
        return {"pressed": sum(screen.state["pressed"] for screen in screens), **super().state()}


APP = WebViewLab
