"""One page of one WebView: its target in Chromium, what it showed last, and the input on its way there.

A phone's input comes at once and Chromium answers later, so input waits in a line of its own.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from handrail_sim.channels.web.accessibility import (
    STYLES,
    Laid,
    Shown,
    Told,
    frame_owners,
    laid_out,
    told_tree,
    view_of,
)
from handrail_sim.channels.web.chromium import CALL_S, Chromium, Refused
from handrail_sim.channels.web.keys import events_of, typed
from handrail_sim.view.view import Rect, View
from handrail_sim.waiting import Background, first

READ_S = 2.0
"""For one reading; of a page that is busy for longer the phone goes on to tell what it knew."""
FIRST_S = 20.0
"""For the first one: Chromium may still be starting, and there is nothing to tell instead."""
SETTLE_S = 1.0
_PUT = """function (text) {
  const proto = this.tagName === 'TEXTAREA' ? HTMLTextAreaElement : HTMLInputElement;
  this.focus();
  if (this.isContentEditable) this.textContent = text;
  else Object.getOwnPropertyDescriptor(proto.prototype, 'value').set.call(this, text);
  this.dispatchEvent(new Event('input', {bubbles: true}));
  this.dispatchEvent(new Event('change', {bubbles: true}));
}"""
WORLD = "handrail_sim"
_LISTS = """addEventListener('mousedown', (event) => {
  const list = event.composedPath()[0];
  if (list.tagName !== 'SELECT' || list.multiple || list.size > 1 || list.disabled) return;
  event.preventDefault();
  list.focus();
  globalThis.pick = (number) => {
    list.selectedIndex = number;
    list.dispatchEvent(new Event('input', {bubbles: true}));
    list.dispatchEvent(new Event('change', {bubbles: true}));
  };
  simList(JSON.stringify({labels: [...list.options].map((one) => one.label), chosen: list.selectedIndex}));
}, true)"""
"""A list to choose from is a dialog of Android's own, not a part of the page."""
Step = Callable[[], Awaitable[object]]


class Picture:
    """Pixels of a page; two are the same only if they are one."""

    def __init__(self, png: bytes) -> None:
        self.png = png


class Tab:
    """What a phone has of a page. `view_name` is the WebView's name in its window."""

    def __init__(self, chromium: Chromium, context: Awaitable[str], scale: Callable[[], float]) -> None:
        self._chromium = chromium
        self._context = context
        self._scale = scale
        self._line: asyncio.Queue[Step] = asyncio.Queue()
        self._tasks = Background()
        self._fingers: dict[int, tuple[float, float]] = {}
        self._size = (0, 0)
        self._zoom = 1.0
        self.wanted = ""
        """The address that the app asked for last."""
        self.target = ""
        self.session = ""
        self.title = ""
        self.address = ""
        self.history = (0, 0)
        """How many pages lie before the present one, and its entry before."""
        self.told: Told | None = None
        self.box: Rect = (0, 0, 0, 0)
        """Where the view is on the screen."""
        self.pixels: Picture | None = None
        self.was_touched = False
        """Since the last look: a field that has the focus now wants the keyboard."""
        self.on_request: Callable[[str], str | None] = lambda _: None
        """The phone's own pages by address, for what no network has."""
        self.dialog: dict[str, Any] | None = None
        """What a script asks, until somebody shows it."""
        self.choices: dict[str, Any] | None = None
        """A list that was tapped, until somebody shows it."""
        self._chooser = 0
        self._stopped = asyncio.Event()
        """Set while a dialog of a script is open: the page answers nothing then."""
        self._tasks.start(self._work(), "input for a page")
        self.later(self._open)

    # what the phone does to it; it comes in order

    def later(self, step: Step) -> None:
        self._line.put_nowait(step)

    async def _work(self) -> None:
        while True:
            step = await self._line.get()
            try:
                await step()
            except Refused:
                pass  # the page is gone, or too busy to take a finger
            finally:
                self._line.task_done()

    def open(self, url: str) -> None:
        self.wanted = self.address = url
        self.later(lambda: self._navigate(url))

    def reload(self) -> None:
        self.later(lambda: self.call("Page.reload"))

    def back(self) -> bool:
        before, entry = self.history
        if not before:
            return False
        self.history = (before - 1, entry)
        self.later(lambda: self.call("Page.navigateToHistoryEntry", {"entryId": entry}))
        return True

    def touch(self, action: str, x: float, y: float, finger: int) -> None:
        """A finger, in px of the view."""
        kind = {"down": "touchStart", "move": "touchMove", "up": "touchEnd"}.get(action, "touchCancel")
        self.was_touched = True
        if action in ("down", "move"):
            self._fingers[finger] = (x, y)
        else:
            self._fingers.pop(finger, None)
        fingers = dict(self._fingers)
        if action not in ("up", "cancel") or not fingers:
            self.later(lambda: self._send_touch(kind, fingers))

    async def _send_touch(self, kind: str, fingers: dict[int, tuple[float, float]]) -> None:
        """Chromium wants CSS px of what is shown of the page, however far that is zoomed."""
        if kind == "touchStart":
            self._zoom = _visual(await self.call("Page.getLayoutMetrics"))[0]
        scale = self._scale() * self._zoom
        points = [{"x": x / scale, "y": y / scale, "id": number} for number, (x, y) in fingers.items()]
        await self.call("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def insert(self, text: str) -> None:
        """Characters with keys by keys, others as an input method does."""
        for character in text:
            if " " <= character <= "~":
                self._send_keys(typed(character))
            else:
                self.later(partial(self.call, "Input.insertText", {"text": character}))

    def key(self, code: int, meta: int) -> bool:
        events = events_of(code, meta)
        self._send_keys(events)
        return bool(events)

    def _send_keys(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            self.later(partial(self.call, "Input.dispatchKeyEvent", event))

    def set_text(self, view: View, text: str) -> bool:
        """ACTION_SET_TEXT of a node of the page."""
        told = view.tag
        if not isinstance(told, Told) or not told.flags.get("field"):
            return False
        self.later(lambda: self._put(told.backend, text))
        return True

    async def _put(self, backend: int, text: str) -> None:
        found = await self.call("DOM.resolveNode", {"backendNodeId": backend})
        where = {"objectId": found["object"]["objectId"], "functionDeclaration": _PUT}
        await self.call("Runtime.callFunctionOn", {**where, "arguments": [{"value": text}]})

    # its target

    async def call(
        self, method: str, params: dict[str, Any] | None = None, *, within_s: float = CALL_S
    ) -> Any:
        return await self._chromium.call(method, params, self.session, within_s=within_s)

    async def _open(self) -> None:
        call = self._chromium.call
        made = {"url": "about:blank", "browserContextId": await self._context, "newWindow": True}
        self.target = (await call("Target.createTarget", made))["targetId"]
        attached = await call("Target.attachToTarget", {"targetId": self.target, "flatten": True})
        self.session = attached["sessionId"]
        self._chromium.listeners.append(self._heard)
        pages = {"patterns": [{"urlPattern": "*://*.example/*"}]}
        for method, params in (
            ("Page.enable", {}),
            ("Runtime.enable", {}),
            ("Runtime.addBinding", {"name": "simList", "executionContextName": WORLD}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": _LISTS, "worldName": WORLD}),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            ("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 5}),
            ("Fetch.enable", pages),
        ):
            await self.call(method, params)

    async def _navigate(self, url: str) -> None:
        loaded = asyncio.Event()
        self._loaded = loaded
        await self.call("Page.navigate", {"url": url}, within_s=10.0)
        try:
            async with asyncio.timeout(READ_S):
                await loaded.wait()
        except TimeoutError:
            pass  # it goes on loading; what there is of it can be seen

    _loaded = asyncio.Event()

    def _heard(self, session: str, method: str, told: dict[str, Any]) -> None:
        if session != self.session:
            return
        if method == "Page.loadEventFired":
            self._loaded.set()
        elif method == "Fetch.requestPaused":
            self._tasks.start(self._serve(told), "a page of the phone's own web")
        elif method == "Page.javascriptDialogOpening":
            self.dialog = told
            self._loaded.set()
            self._stopped.set()
        elif method == "Page.javascriptDialogClosed":
            self.dialog = None
            self._stopped.clear()
        elif method == "Runtime.bindingCalled" and told.get("name") == "simList":
            self.choices, self._chooser = json.loads(told["payload"]), told["executionContextId"]

    def choose(self, number: int) -> None:
        """The option that a person took."""
        told = {"expression": f"pick({number})", "contextId": self._chooser}
        self.later(lambda: self.call("Runtime.evaluate", told))

    def answer(self, accept: bool) -> None:
        """What a person pressed in the dialog of a script; the line of input may wait for it."""
        self._tasks.start(self._answer(accept), "an answer to a page's dialog")

    async def _answer(self, accept: bool) -> None:
        try:
            await self.call("Page.handleJavaScriptDialog", {"accept": accept})
        except Refused:
            self.dialog = None

    async def _serve(self, told: dict[str, Any]) -> None:
        number, html = told["requestId"], self.on_request(str(told["request"]["url"]))
        try:
            if html is None:
                await self.call("Fetch.failRequest", {"requestId": number, "errorReason": "NameNotResolved"})
                return
            headers = [{"name": "Content-Type", "value": "text/html; charset=utf-8"}]
            body = b64encode(html.encode()).decode()
            answer = {"requestId": number, "responseCode": 200, "responseHeaders": headers, "body": body}
            await self.call("Fetch.fulfillRequest", answer)
        except Refused:
            pass  # the page went elsewhere meanwhile

    async def close(self) -> None:
        await self._tasks.close()
        if self._heard in self._chromium.listeners:
            self._chromium.listeners.remove(self._heard)
        if self.target and not self._chromium.is_gone:
            with suppress(Refused):
                await self._chromium.call("Target.closeTarget", {"targetId": self.target}, within_s=READ_S)

    # looking

    async def refresh(self, box: Rect, *, picture: bool) -> bool:
        """Fetch what it shows by now, in a view that is there on the screen; true if that is news."""
        self.box = box
        try:
            async with asyncio.timeout(READ_S if self.told is not None else FIRST_S):
                await first(self._line.join(), self._stopped.wait())
                if self._stopped.is_set():
                    return self.dialog is not None
                await self._fit((box[2] - box[0], box[3] - box[1]))
                return await self._read(picture)
        except (Refused, TimeoutError):
            return False

    async def _fit(self, size: tuple[int, int]) -> None:
        if size == self._size or min(size) <= 0:
            return
        scale = self._scale()
        told = {
            "width": round(size[0] / scale),
            "height": round(size[1] / scale),
            "deviceScaleFactor": scale,
            "mobile": True,
        }
        await self.call("Emulation.setDeviceMetricsOverride", told)
        self._size = size

    async def _read(self, picture: bool) -> bool:
        wait = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
        await self.call(
            "Runtime.evaluate",
            {"expression": wait, "awaitPromise": True, "returnByValue": True},
            within_s=SETTLE_S,
        )
        asked = {"computedStyles": list(STYLES), "includeDOMRects": True}
        snapshot = await self.call("DOMSnapshot.captureSnapshot", asked)
        owners = frame_owners(snapshot)
        page, *others = await asyncio.gather(
            self.call("Accessibility.getFullAXTree"),
            *(self.call("Accessibility.getFullAXTree", {"frameId": one}) for one in owners.values()),
        )
        frames = {owner: tree["nodes"] for owner, tree in zip(owners, others, strict=True)}
        laid: dict[int, Laid] = laid_out(snapshot)
        zoom, corner = _visual(await self.call("Page.getLayoutMetrics"))
        told = told_tree(page["nodes"], frames, laid, Shown(self._scale() * zoom, corner, self._size))
        if told is not None:
            whole = snapshot["documents"][0].get("contentHeight", 0) * self._scale()
            told.flags["scrollable"] = whole > self._size[1] + 1
        entries = await self.call("Page.getNavigationHistory")
        self._place(entries)
        if picture:
            shot = await self.call("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
            png = b64decode(shot["data"])
            if self.pixels is None or png != self.pixels.png:
                self.pixels = Picture(png)
        news = told != self.told
        self.told = told
        return news or picture

    def _place(self, entries: dict[str, Any]) -> None:
        at, known = entries["currentIndex"], entries["entries"]
        self.address, self.title = known[at]["url"], known[at]["title"]
        before = at - 1 if at and known[at - 1]["url"] != "about:blank" else None
        self.history = (0, 0) if before is None else (before + 1, known[before]["id"])

    def views(self, *, is_focused: bool) -> list[View]:
        """What accessibility tells, where the view is; nothing in a view without the focus has it."""
        if self.told is None:
            return []
        root = view_of(self.told, self.box[:2], is_focused=is_focused)
        root.text = self.told.text or self.title
        return [root]

    def focused_field(self) -> Told | None:
        """The field of the page that has the cursor."""
        return next(
            (one for one in self.told or () if one.flags.get("field") and one.flags.get("focused")), None
        )

    def describe(self, *, is_visible: bool, with_place: bool) -> dict[str, str]:
        """As `/json/list` has it."""
        left, top, right, bottom = self.box
        place = {
            "attached": True,
            "empty": not self.address,
            "height": bottom - top,
            "screenX": left,
            "screenY": top,
            "visible": is_visible,
            "width": right - left,
        }
        return {
            "description": json.dumps(place, separators=(",", ":")) if with_place else "",
            "devtoolsFrontendUrl": f"https://chrome-devtools-frontend.appspot.com/{self.target}",
            "id": self.target,
            "title": self.title,
            "type": "page",
            "url": self.address,
            "webSocketDebuggerUrl": f"ws://localhost/devtools/page/{self.target}",
        }


def _visual(metrics: dict[str, Any]) -> tuple[float, tuple[float, float]]:
    """How far a page is zoomed, and where in its layout the part that is shown begins."""
    told = metrics["cssVisualViewport"]
    return float(told["scale"]), (float(told["offsetX"]), float(told["offsetY"]))
