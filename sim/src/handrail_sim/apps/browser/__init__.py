"""Browser: an address bar above a WebView-shaped tree, pages with links and a form."""

from __future__ import annotations

from typing import Any, ClassVar

from handrail_sim.apps.browser.pages import web_of
from handrail_sim.apps.browser.screen import Main
from handrail_sim.system.activities import App
from handrail_sim.system.intents import VIEW, Handles
from handrail_sim.system.world import mapping


class Browser(App):
    """The browser; its state is the page in front and the forms that were sent."""

    package = "com.handrail.browser"
    label = "Browser"
    icon = "browser"
    version = "118.0"
    permissions: ClassVar[tuple[str, ...]] = (
        "android.permission.INTERNET",
        "android.permission.ACCESS_FINE_LOCATION",
    )
    activities = {"MainActivity": Main}
    handles = (Handles("MainActivity", VIEW, scheme="http,https"),)

    def fill(self, given: Any) -> None:
        """`pages` by address without https://, with `title` and `blocks`; `books` of the catalogue."""
        told = mapping(given, "browser", "pages books")
        web_of(told)  # what is wrong with it is said now
        self.phone.world[self.package] = told

    def state(self) -> dict[str, Any]:
        kept = self.prefs("browser")
        sent = [line for line in str(kept.get("sent", "")).split("\n") if line]
        return {"url": str(kept.get("url", "")), "sent": sent}


APP = Browser
