"""The browser's one screen: address bar, progress, the page, back through its history."""

from __future__ import annotations

from functools import partial

from handrail_sim.apps.browser.document import document
from handrail_sim.apps.browser.html import html_at
from handrail_sim.apps.browser.pages import (
    HOME,
    Page,
    Web,
    address,
    complaint,
    offline_page,
    open_page,
    submit_url,
    web_of,
)
from handrail_sim.system.activities import Activity
from handrail_sim.system.intents import SEND, Intent
from handrail_sim.system.surroundings import is_online, place_for, transfer_ms
from handrail_sim.system.web_engine import WebEngine
from handrail_sim.view import View, column, field, frame, icon_button, progress, row, scroll

LOADING_MS = 400
PAGE_KB = 120.0
WEB_VIEW = "android.webkit.WebView"
WEB_NAME = "webview"


class Main(Activity):
    """`state["history"]` ends with the page in front; `values` is what its form holds."""

    title = "Browser"
    single_top = True

    def on_create(self) -> None:
        self.state.update(history=[], values={}, bubble=[], loading=False, offline=False, url="")
        self.open(self.intent.data or HOME)

    def on_new_intent(self, intent: Intent) -> None:
        self.open(intent.data or HOME)

    @property
    def page(self) -> Page:
        return (
            offline_page(self.state["url"])
            if self.state["offline"]
            else open_page(self.state["url"], self.known_web)
        )

    @property
    def known_web(self) -> Web:
        return web_of(self.phone.world.get(self.app.package, {}))

    def where(self) -> str:
        """What a page that asks for the place is told."""
        place = place_for(self.phone, self.app.package)
        if place is not None:
            return f"You are at {place.latitude:.4f}, {place.longitude:.4f}"
        return "Your position is unknown"

    def ask_place(self) -> None:
        self.request_permission("ACCESS_FINE_LOCATION", self.place_told)

    def place_told(self, granted: bool) -> None:
        if not granted:
            self.toast("Location is blocked")

    def build(self) -> View:
        if self.phone.web is not None:
            page = self.real_web(self.phone.web)
            return column(self.bar(), page, height="fill")
        return column(
            self.bar(),
            progress(60.0, id="progress") if self.state["loading"] else None,
            self.web(),
            height="fill",
        )

    def web(self) -> View:
        """The widget, in it the document by its title, in it the body: what Chromium tells of itself."""
        loading = self.state["loading"]
        blocks = [] if loading else document(self, self.page)
        body = column(*blocks, cls="android.view.View", padding=16.0, gap=12.0)
        root = scroll(
            body,
            cls=WEB_VIEW,
            text="" if loading else self.page.title,
            key=f"page:{self.state['url']}",
            focusable=True,
        )
        return frame(root, cls=WEB_VIEW, id=WEB_NAME, height="wrap", weight=1.0)

    def real_web(self, engine: WebEngine) -> View:
        """The same by a real engine, which has a history and forms of its own."""
        engine.pages = partial(html_at, web=self.known_web)
        self.state["url"] = engine.address(self, WEB_NAME) or self.state["url"]
        self.app.prefs("browser")["url"] = self.state["url"]
        return engine.view(self, WEB_NAME, self.state["history"][-1])

    def bar(self) -> View:
        return row(
            icon_button("home", "Home", partial(self.open, HOME), id="home_button"),
            field(
                "url_bar",
                self.state["url"],
                hint="Search or type web address",
                weight=1.0,
                width="wrap",
                input_type="uri",
                ime_action="go",
                on_submit=self.go,
            ),
            icon_button("refresh", "Reload", self.reload, id="refresh_button"),
            icon_button("more", "More options", self.more, id="menu_button"),
            height=64.0,
            padding=(4.0, 4.0),
        )

    def go(self) -> None:
        self.open(address(self.field("url_bar")))

    def open(self, url: str) -> None:
        self.state["history"].append(url)
        self.load(url)

    def load(self, url: str) -> None:
        if self.phone.web is not None:
            self.state.update(url=url)
            return
        self.state.update(url=url, loading=True, values={}, bubble=[], offline=False)
        self.app.prefs("browser")["url"] = url
        self.later(LOADING_MS + (transfer_ms(self.phone, PAGE_KB) or 0.0), self.loaded)

    def loaded(self) -> None:
        self.state.update(loading=False, offline=not is_online(self.phone))

    def reload(self) -> None:
        if self.phone.web is not None:
            self.phone.web.reload(self, WEB_NAME)
            return
        self.load(self.state["url"])

    def more(self) -> None:
        self.menu(
            "menu_button", {"New tab": partial(self.open, HOME), "Share": self.share, "Reload": self.reload}
        )

    def share(self) -> None:
        extras = {"android.intent.extra.TEXT": self.state["url"]}
        self.start_intent(Intent(action=SEND, mime="text/plain", extras=extras))

    def back(self) -> bool:
        """Through the history first; a page that is the first one lets go."""
        if self.phone.web is not None:
            return self.phone.web.back(self, WEB_NAME)
        if len(self.state["history"]) < 2:
            return False
        self.state["history"].pop()
        self.load(self.state["history"][-1])
        return True

    def set_value(self, name: str, value: str | bool) -> None:
        self.state["values"][name] = ("on" if value else "") if isinstance(value, bool) else value
        self.state["bubble"] = []

    def open_choices(self, name: str, options: tuple[str, ...]) -> None:
        chosen = options.index(self.state["values"].get(name, options[0]))
        self.choose("", options, partial(self.take, name, list(options)), chosen)

    def take(self, name: str, options: list[str], number: int) -> None:
        self.set_value(name, options[number])

    def submit(self, url: str) -> None:
        values = {name: value for name, value in self.state["values"].items() if value}
        if wrong := complaint(self.page, values):
            self.state["bubble"] = list(wrong)
            return
        sent = submit_url(url, values)
        kept = self.app.prefs("browser")
        kept["sent"] = f"{kept.get('sent', '')}\n{sent}".strip()
        self.open(sent)
