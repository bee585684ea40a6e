"""WebView lab: a native bar over one or two WebViews, as apps that show web pages have them.

It shows pages only with a real engine (`handrail-sim --web chromium`), so it is carried when it is named.
"""

from __future__ import annotations

from typing import Any

from handrail_sim.system.activities import Activity, App
from handrail_sim.system.intents import VIEW, Handles, Intent
from handrail_sim.view import View, button, column, frame, row, text

NAMES = ("first_page", "second_page")


class Main(Activity):
    """Extras `second` (another address) and `debugging` ("off") say what there is to see."""

    title = "WebView lab"
    single_top = True

    def on_create(self) -> None:
        self.state.update(pressed=0)
        self._take(self.intent)

    def on_new_intent(self, intent: Intent) -> None:
        self._take(intent)

    def _take(self, intent: Intent) -> None:
        second = str(intent.extras.get("second", ""))
        urls = [url for url in (intent.data or "", second) if url]
        self.state.update(urls=urls, hidden=False, debugging=intent.extras.get("debugging") != "off")

    def build(self) -> View:
        bar = row(
            text("Orders", "title", weight=1.0),
            button("Help", self.press, id="help"),
            button("Show" if self.state["hidden"] else "Hide", self.turn, id="turn"),
            height=64.0,
        )
        return column(bar, *self.pages(), height="fill")

    def pages(self) -> list[View]:
        web = self.phone.web
        if web is None:
            return [text("This phone draws no web pages.", id="no_web")]
        debugging = self.state["debugging"]
        views = [
            web.view(self, name, url, is_debuggable=debugging)
            for name, url in zip(NAMES, self.state["urls"], strict=False)
        ]
        for view in views:
            view.visible = not self.state["hidden"]
        return [frame(view, height="wrap", weight=1.0) for view in views]

    def press(self) -> None:
        self.state["pressed"] += 1

    def turn(self) -> None:
        self.state["hidden"] = not self.state["hidden"]

    def back(self) -> bool:
        return self.phone.web is not None and self.phone.web.back(self, NAMES[0])


class WebViewLab(App):
    """An app whose screens are web pages; `pressed` counts its own button."""

    package = "com.handrail.webviewlab"
    label = "WebView lab"
    icon = "browser"
    debuggable = True
    permissions = ("android.permission.INTERNET",)
    activities = {"MainActivity": Main}
    handles = (Handles("MainActivity", VIEW, scheme="lab"),)

    def state(self) -> dict[str, Any]:
        screens = [one for one in self.phone.tasks.open_activities() if isinstance(one, Main)]
        return {"pressed": sum(one.state["pressed"] for one in screens)}


APP = WebViewLab
