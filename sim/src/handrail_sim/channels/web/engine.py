"""A phone's WebViews, each with its page in Chromium, and the debugging sockets of their apps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from handrail_sim.channels.web.chromium import Chromium
from handrail_sim.channels.web.devtools import serve_devtools
from handrail_sim.channels.web.tab import Tab
from handrail_sim.stream import Stream
from handrail_sim.system.web_engine import Owner
from handrail_sim.view.memory import walk
from handrail_sim.view.view import View
from handrail_sim.waiting import Background

if TYPE_CHECKING:
    from handrail_sim.handset import Handset
    from handrail_sim.view.windows import Window

WEB_VIEW = "android.webkit.WebView"
BROWSERS = ("com.handrail.browser",)
"""Apps whose pages are a browser's tabs: their socket has Chrome's name."""
Key = tuple[int, str]
"""The activity's token and the view's name."""


class ChromiumEngine:
    """`WebEngine` by Chromium."""

    def __init__(self, phone: Handset, chromium: Chromium) -> None:
        self._phone = phone
        self._chromium = chromium
        self._contexts: dict[str, asyncio.Task[str]] = {}
        self._tasks = Background()
        self._refreshing = asyncio.Lock()
        self.tabs: dict[Key, Tab] = {}
        self._packages: dict[Key, str] = {}
        self._sockets: dict[str, tuple[str, set[Stream]]] = {}
        """By package: the socket's name, and who is connected to it."""
        self.pages: Callable[[str], str | None] = lambda _: None
        """The phone's own pages as HTML, by address."""

    # what apps have of it

    def view(self, owner: Owner, name: str, url: str, *, is_debuggable: bool = True) -> View:
        tab = self._tab(owner, name, is_debuggable)
        if url and url != tab.wanted:
            tab.open(url)
        return View(
            cls=WEB_VIEW,
            id=name,
            layout="absolute",
            width="fill",
            weight=1.0,
            focusable=True,
            drawn=tab,
            pixels=tab.pixels,
            attrs={"focused": "false"} if tab.focused_field() is not None else None,
            children=tab.views(is_focused=owner.window.focus == name),
        )

    def address(self, owner: Owner, name: str) -> str:
        tab = self.tabs.get((owner.token, name))
        return tab.address if tab is not None else ""

    def back(self, owner: Owner, name: str) -> bool:
        tab = self.tabs.get((owner.token, name))
        return tab is not None and tab.back()

    def reload(self, owner: Owner, name: str) -> None:
        tab = self.tabs.get((owner.token, name))
        if tab is not None:
            tab.reload()

    def _tab(self, owner: Owner, name: str, is_debuggable: bool) -> Tab:
        key, package = (owner.token, name), owner.window.package
        known = self.tabs.get(key)
        if known is None:
            context = self._contexts.get(package)
            if context is None:
                made = self._tasks.start(self._new_context(), "cookies of an app", heard=True)
                context = self._contexts[package] = made
            known = self.tabs[key] = Tab(self._chromium, context, lambda: self._phone.units.dp)
            known.on_request = self._own_page
            self._packages[key] = package
            if is_debuggable:
                self._listen(package)
        return known

    def _own_page(self, url: str) -> str | None:
        return self.pages(url)

    async def _new_context(self) -> str:
        return str((await self._chromium.call("Target.createBrowserContext"))["browserContextId"])

    # looking

    async def refresh(self, *, pictures: bool = False) -> None:
        async with self._refreshing:
            await self._drop_closed()
            for window, view, tab in self._shown():
                is_news = await tab.refresh(view.bounds, picture=pictures)
                if is_news:
                    window.invalidate()
                    self._phone.emit("TYPE_WINDOW_CONTENT_CHANGED", window.package)
                self._ask_keyboard(view, tab)
                self._show_dialog(tab)

    def _shown(self) -> list[tuple[Window, View, Tab]]:
        """The WebViews that can be seen."""
        return [
            (window, view, view.drawn)
            for window in self._phone.windows()
            for view in walk(window.root)
            if isinstance(view.drawn, Tab) and view.visible and view.on_screen
        ]

    def _ask_keyboard(self, view: View, tab: Tab) -> None:
        """A field that was tapped brings up the keyboard; leaving it takes it away."""
        field = tab.focused_field()
        if field is not None and tab.was_touched:
            is_secret = bool(field.flags.get("password"))
            self._phone.show_keyboard(View(text=field.text, multiline=bool(field.flags.get("multiline")),
                                           input_type="password" if is_secret else "text"))  # fmt: skip
        elif field is None and tab.was_touched and self._phone.keyboard_shown and view.focused:
            self._phone.hide_keyboard()
        tab.was_touched = False

    def _show_dialog(self, tab: Tab) -> None:
        """alert, confirm and lists to choose from are dialogs of the app."""
        told, choices, top = tab.dialog, tab.choices, self._phone.tasks.top
        tab.dialog = tab.choices = None
        if top is None:
            return
        if choices is not None:
            top.choose("", choices["labels"], tab.choose, choices["chosen"])
        if told is None:
            return
        buttons: dict[str, Callable[[], object] | None] = {}
        if told.get("type") != "alert":
            buttons["Cancel"] = lambda: tab.answer(accept=False)
        buttons["OK"] = lambda: tab.answer(accept=True)
        top.dialog("The page says", str(told.get("message", "")), buttons, cancelable=False)

    async def _drop_closed(self) -> None:
        """Pages end with their screens."""
        for key in list(self.tabs):
            if self._phone.tasks.activity(key[0]) is None:
                package = self._packages.pop(key)
                await self.tabs.pop(key).close()
                if package not in self._packages.values():
                    self._hang_up(package)

    # debugging

    def _listen(self, package: str) -> None:
        """The socket by which an app's pages can be asked; it ends with the process."""
        if package in self._sockets:
            return
        pid = self._phone.packages.pid_of(package) or 0
        name = "chrome_devtools_remote" if package in BROWSERS else f"webview_devtools_remote_{pid}"
        streams: set[Stream] = set()

        async def connected(stream: Stream) -> None:
            streams.add(stream)
            try:
                await serve_devtools(stream, self._chromium, package, lambda: self._list(package))
            finally:
                streams.discard(stream)

        self._sockets[package] = (name, streams)
        self._phone.ports[f"localabstract:{name}"] = connected
        self._phone.packages.exits.setdefault(package, []).append(lambda: self._hang_up(package))

    def _list(self, package: str) -> list[dict[str, str]]:
        shown = {id(tab) for _, _, tab in self._shown()}
        return [
            tab.describe(is_visible=id(tab) in shown, with_place=package not in BROWSERS)
            for key, tab in self.tabs.items()
            if self._packages[key] == package and tab.target
        ]

    def _hang_up(self, package: str) -> None:
        """The process ended, or a test wants it to look so."""
        name, streams = self._sockets.pop(package, ("", set()))
        self._phone.ports.pop(f"localabstract:{name}", None)
        for stream in list(streams):
            stream.close()

    def stop_debugging(self, package: str) -> None:
        """As if the app had switched it off: no socket, and whoever was connected is cut."""
        self._hang_up(package)

    async def close(self) -> None:
        for package in list(self._sockets):
            self._hang_up(package)
        for tab in self.tabs.values():
            await tab.close()
        self.tabs.clear()
        await self._tasks.close()
