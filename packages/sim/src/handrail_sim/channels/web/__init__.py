"""Web pages of a phone drawn by a real Chromium on this machine: `handrail-sim --web chromium`.

The phone has their pixels, their accessibility as Android tells it, and their debugging sockets. It gives
them fingers and keys. Without Chromium the phone has its own small pages.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from handrail_sim.channels.http import Request, Response, json_response, serve
from handrail_sim.channels.web.chromium import Chromium, Refused
from handrail_sim.channels.web.tab import Tab
from handrail_sim.channels.websocket import WebSocket, accept
from handrail_sim.handset import Handset
from handrail_sim.stream import Stream
from handrail_sim.system.web_engine import Owner
from handrail_sim.view.memory import walk
from handrail_sim.view.view import View
from handrail_sim.view.windows import Window
from handrail_sim.waiting import Background

PAGE = "/devtools/page/"
List = Callable[[], list[dict[str, str]]]


async def serve_devtools(stream: Stream, chromium: Chromium, package: str, listed: List) -> None:
    async def answer(request: Request) -> Response:
        if request.path in ("/json", "/json/list"):
            return json_response(listed())
        if request.path == "/json/version":
            return json_response(await _version(chromium, package))
        return Response(b"", 404)

    async def debug(request: Request, stream: Stream) -> None:
        target = request.path.removeprefix(PAGE)
        if "origin" in request.headers or target not in {entry["id"] for entry in listed()}:
            await stream.write(Response(b"", 404).encode(keep_alive=False))
            return
        socket = await accept(request, stream)
        if socket is not None:
            await _Client(socket, chromium, target).serve()

    await serve(stream, answer, debug)


async def _version(chromium: Chromium, package: str) -> dict[str, str]:
    fields = await chromium.call("Browser.getVersion")
    return {
        "Android-Package": package,
        "Browser": str(fields["product"]).replace("HeadlessChrome", "Chrome"),
        "Protocol-Version": str(fields["protocolVersion"]),
        "User-Agent": str(fields["userAgent"]).replace("HeadlessChrome", "Chrome"),
        "V8-Version": str(fields["jsVersion"]),
        "WebKit-Version": str(fields["revision"]),
        "webSocketDebuggerUrl": "ws://localhost/devtools/browser",
    }


class _Client:
    """Whoever debugs one page: a session of their own, and those of its frames."""

    def __init__(self, socket: WebSocket, chromium: Chromium, target: str) -> None:
        self._socket = socket
        self._chromium = chromium
        self._target = target
        self._session = ""
        self._inner: set[str] = set()
        self._out: asyncio.Queue[str] = asyncio.Queue()
        self._tasks = Background()

    async def serve(self) -> None:
        requested = {"targetId": self._target, "flatten": True}
        try:
            self._session = (await self._chromium.call("Target.attachToTarget", requested))["sessionId"]
        except Refused:
            self._socket.close()
            return
        self._chromium.listeners.append(self._on_event)
        self._tasks.start(self._write(), "what a page says")
        try:
            while (text := await self._socket.read()) is not None:
                self._tasks.start(self._forward(json.loads(text)), "a message to a page")
        except (ValueError, BrokenPipeError):
            pass
        finally:
            self._chromium.listeners.remove(self._on_event)
            await self._tasks.close()
            self._socket.close()
            with suppress(Refused):  # its page is gone
                await self._chromium.call(
                    "Target.detachFromTarget", {"sessionId": self._session}, within_s=1.0
                )

    async def _forward(self, message: dict[str, Any]) -> None:
        number, session = message.pop("id", None), str(message.pop("sessionId", ""))
        try:
            answer = await self._chromium.forward(message, session or self._session)
        except Refused as refusal:
            answer = {"error": {"code": -32000, "message": str(refusal)}}
        self._say({**answer, "id": number}, session)

    def _on_event(self, session: str, method: str, fields: dict[str, Any]) -> None:
        if session != self._session and session not in self._inner:
            return
        if method == "Target.attachedToTarget":
            self._inner.add(str(fields.get("sessionId")))
        inner = "" if session == self._session else session
        self._say({"method": method, "params": fields}, inner)

    def _say(self, message: dict[str, Any], session: str) -> None:
        message.pop("sessionId", None)
        self._out.put_nowait(json.dumps({**message, **({"sessionId": session} if session else {})}))

    async def _write(self) -> None:
        """One message after the other: frames of two must not mix."""
        try:
            while True:
                await self._socket.write(await self._out.get())
        except BrokenPipeError:
            pass  # nobody listens any more


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
        tab = self.tabs.get(key)
        if tab is None:
            context = self._contexts.get(package)
            if context is None:
                created = self._tasks.start(self._new_context(), "cookies of an app", reported=True)
                context = self._contexts[package] = created
            tab = self.tabs[key] = Tab(self._chromium, context, lambda: self._phone.units.dp)
            tab.on_request = self._own_page
            self._packages[key] = package
            if is_debuggable:
                self._listen(package)
        return tab

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
        fields, choices, top = tab.dialog, tab.choices, self._phone.tasks.top
        tab.dialog = tab.choices = None
        if top is None:
            return
        if choices is not None:
            top.choose("", choices["labels"], tab.choose, choices["chosen"])
        if fields is None:
            return
        buttons: dict[str, Callable[[], object] | None] = {}
        if fields.get("type") != "alert":
            buttons["Cancel"] = lambda: tab.answer(accept=False)
        buttons["OK"] = lambda: tab.answer(accept=True)
        top.dialog("The page says", str(fields.get("message", "")), buttons, cancelable=False)

    async def _drop_closed(self) -> None:
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
        name, streams = self._sockets.pop(package, ("", set()))
        self._phone.ports.pop(f"localabstract:{name}", None)
        for stream in list(streams):
            stream.close()

    def stop_debugging(self, package: str) -> None:
        """Closes the debugging socket and disconnects its clients, as an app that switches it off."""
        self._hang_up(package)

    async def close(self) -> None:
        for package in list(self._sockets):
            self._hang_up(package)
        for tab in self.tabs.values():
            await tab.close()
        self.tabs.clear()
        await self._tasks.close()


@asynccontextmanager
async def web_by_chromium(phones: Sequence[Handset], env: Mapping[str, str]) -> AsyncIterator[Chromium]:
    """These phones share one Chromium, each with cookies of its own, while the block runs.

    Raises `BadSetting` where no Chromium is found.
    """
    async with Chromium.started(env) as chromium:
        engines = [ChromiumEngine(phone, chromium) for phone in phones]
        for phone, engine in zip(phones, engines, strict=True):
            phone.web = engine
        try:
            yield chromium
        finally:
            for phone, engine in zip(phones, engines, strict=True):
                phone.web = None
                await engine.close()


__all__ = ["Chromium", "ChromiumEngine", "web_by_chromium"]
