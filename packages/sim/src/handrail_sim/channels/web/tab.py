"""One page of one WebView: its target in Chromium, what it showed last, and the input on its way there.

A phone's input comes at once and Chromium answers later, so input waits in a line of its own.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from handrail_sim import resources
from handrail_sim.channels.web.chromium import CALL_S, Chromium, Refused
from handrail_sim.input.keys import CHARACTERS, CTRL_MASK, SHIFT_MASK
from handrail_sim.view.view import Rect, View
from handrail_sim.waiting import Background, first

_NAMED: dict[int, tuple[str, int, str]] = {
    19: ("ArrowUp", 38, ""),
    20: ("ArrowDown", 40, ""),
    21: ("ArrowLeft", 37, ""),
    22: ("ArrowRight", 39, ""),
    61: ("Tab", 9, ""),
    66: ("Enter", 13, "\r"),
    67: ("Backspace", 8, ""),
    92: ("PageUp", 33, ""),
    93: ("PageDown", 34, ""),
    111: ("Escape", 27, ""),
    112: ("Delete", 46, ""),
    122: ("Home", 36, ""),
    123: ("End", 35, ""),
    160: ("Enter", 13, "\r"),
}
"""Key, Windows' number of it, and the text that it types."""
_COMMANDS = {29: "selectAll", 31: "copy", 50: "paste", 52: "cut"}
SHIFT, CONTROL = 8, 2


def events_of(code: int, meta: int = 0) -> list[dict[str, Any]]:
    """Down and up of a key; nothing for one that a page has no use for."""
    shifted, controlled = bool(meta & SHIFT_MASK), bool(meta & CTRL_MASK)
    modifiers = (SHIFT if shifted else 0) | (CONTROL if controlled else 0)
    if code in CHARACTERS:
        character = CHARACTERS[code][shifted]
        return typed(character, modifiers, _COMMANDS.get(code, "") if controlled else "")
    if code not in _NAMED:
        return []
    key, number, text = _NAMED[code]
    return _both(key, number, text, modifiers)


def typed(character: str, modifiers: int = 0, command: str = "") -> list[dict[str, Any]]:
    number = ord(character.upper()) if character.isalnum() and character.isascii() else 0
    events = _both(character, number, "" if modifiers & CONTROL else character, modifiers)
    if command:
        events[0]["commands"] = [command]
    return events


def _both(key: str, number: int, text: str, modifiers: int) -> list[dict[str, Any]]:
    event: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": number, "modifiers": modifiers}
    down = {"type": "keyDown" if text else "rawKeyDown", **event, **({"text": text} if text else {})}
    return [down, {"type": "keyUp", **event}]


WEB_VIEW = "android.webkit.WebView"
_EDITS = ("textbox", "searchbox", "spinbutton", "Date", "DateTime", "InputTime", "ColorWell")
CLASSES: Mapping[str, str] = {
    **dict.fromkeys(_EDITS, "android.widget.EditText"),
    **dict.fromkeys(("button", "PopUpButton", "DisclosureTriangle"), "android.widget.Button"),
    "ToggleButton": "android.widget.ToggleButton",
    "switch": "android.widget.ToggleButton",
    "checkbox": "android.widget.CheckBox",
    "radio": "android.widget.RadioButton",
    "combobox": "android.widget.Spinner",
    "slider": "android.widget.SeekBar",
    "progressbar": "android.widget.ProgressBar",
    "meter": "android.widget.ProgressBar",
    **dict.fromkeys(("image", "img", "Canvas", "SvgRoot", "graphics-document"), "android.widget.Image"),
    **dict.fromkeys(("list", "listbox", "DescriptionList"), "android.widget.ListView"),
    **dict.fromkeys(("grid", "treegrid", "table"), "android.widget.GridView"),
    "tablist": "android.widget.TabWidget",
    **dict.fromkeys(("dialog", "alertdialog"), "android.app.Dialog"),
    **dict.fromkeys(("menuitem", "menuitemcheckbox", "menuitemradio"), "android.view.MenuItem"),
    "StaticText": "android.widget.TextView",
    "RootWebArea": WEB_VIEW,
}
"""Roles and the classes that they are told as; any other role is a plain View."""
_CLICKED = frozenset(
    (
        *_EDITS,
        "button",
        "PopUpButton",
        "ToggleButton",
        "switch",
        "checkbox",
        "radio",
        "combobox",
        "link",
        "tab",
    )
) | {"menuitem", "menuitemcheckbox", "menuitemradio", "option", "slider", "DisclosureTriangle", "treeitem"}
_LEAVES = _CLICKED - {"treeitem", "tab", "option"} | {"StaticText", "image", "img", "progressbar", "meter"}
_SKIPPED = frozenset({"InlineTextBox", "ListMarker", "LineBreak", "MenuListPopup"})
_SCROLLS = ("auto", "scroll")
STYLES = ("overflow-x", "overflow-y")
"""The computed styles that a snapshot must have."""
DOTS = "•"


@dataclass(slots=True)
class ElementBox:
    """What layout knows of an element: its box in CSS px of the viewport, its id, and what it does."""

    box: tuple[float, float, float, float]
    html_id: str = ""
    kind: str = ""
    is_clickable: bool = False
    scrolls: bool = False
    hint: str = ""


@dataclass(slots=True)
class WebNode:
    """One node as Android would tell it; boxes in px of the view."""

    cls: str
    box: tuple[int, int, int, int]
    text: str = ""
    html_id: str = ""
    backend: int = 0
    flags: dict[str, Any] = field(default_factory=dict)
    children: list[WebNode] = field(default_factory=list)

    def __iter__(self) -> Iterator[WebNode]:
        yield self
        for child in self.children:
            yield from child


def laid_out(snapshot: Mapping[str, Any]) -> dict[int, ElementBox]:
    """By backend node id, over all documents of a `DOMSnapshot`."""
    strings: Sequence[str] = snapshot["strings"]
    documents = snapshot["documents"]
    corners = _corners(documents)
    matches: dict[int, ElementBox] = {}
    for number, document in enumerate(documents):
        if number not in corners:
            continue
        left, top = corners[number]
        nodes, layout = document["nodes"], document["layout"]
        clickable = set(nodes.get("isClickable", {}).get("index", ()))
        for place, (index, box) in enumerate(zip(layout["nodeIndex"], layout["bounds"], strict=True)):
            pairs = nodes["attributes"][index]
            words = [strings[pair] if pair >= 0 else "" for pair in pairs]
            named = dict(zip(words[::2], words[1::2], strict=False))
            styles = [strings[entry] if entry >= 0 else "" for entry in layout["styles"][place]]
            saved = (box[0] + left, box[1] + top, box[2], box[3])
            matches.setdefault(
                nodes["backendNodeId"][index],
                ElementBox(
                    saved,
                    named.get("id", ""),
                    named.get("type", ""),
                    index in clickable,
                    _is_scroller(layout, place, styles),
                    named.get("placeholder", ""),
                ),
            )
    return matches


def _corners(documents: Sequence[Mapping[str, Any]]) -> dict[int, tuple[float, float]]:
    """Where the content of each document begins in the viewport; frames are drawn in their element's box."""
    matches = {0: (-documents[0]["scrollOffsetX"], -documents[0]["scrollOffsetY"])}
    for number, document in enumerate(documents):
        if number not in matches:
            continue
        boxes = dict(zip(document["layout"]["nodeIndex"], document["layout"]["bounds"], strict=True))
        inner = document["nodes"].get("contentDocumentIndex", {"index": [], "value": []})
        for index, which in zip(inner["index"], inner["value"], strict=True):
            if index in boxes:
                x, y = boxes[index][:2]
                other = documents[which]
                matches[which] = (
                    matches[number][0] + x - other["scrollOffsetX"],
                    matches[number][1] + y - other["scrollOffsetY"],
                )
    return matches


def frame_owners(snapshot: Mapping[str, Any]) -> dict[int, str]:
    strings, documents = snapshot["strings"], snapshot["documents"]
    matches: dict[int, str] = {}
    for document in documents:
        nodes = document["nodes"]
        inner = nodes.get("contentDocumentIndex", {"index": [], "value": []})
        for index, which in zip(inner["index"], inner["value"], strict=True):
            matches[nodes["backendNodeId"][index]] = strings[documents[which]["frameId"]]
    return matches


def _is_scroller(layout: Mapping[str, Any], place: int, styles: Sequence[str]) -> bool:
    if not any(style in _SCROLLS for style in styles):
        return False
    inner, complete = layout["clientRects"][place], layout["scrollRects"][place]
    return bool(inner and complete) and (complete[3] > inner[3] + 1 or complete[2] > inner[2] + 1)


AxTree = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class PageView:
    """What a view shows of a page: px for each CSS px, the corner in the layout, the view's size in px."""

    scale: float
    corner: tuple[float, float]
    size: tuple[int, int]


def web_tree(
    page: AxTree, frames: Mapping[int, AxTree], laid: Mapping[int, ElementBox], shown: PageView
) -> WebNode | None:
    """The page as told; `frames` by the element that each is drawn in."""
    if not page:
        return None
    nodes = {node["nodeId"]: node for tree in (page, *frames.values()) for node in tree}
    writer = _Writer(nodes, {owner: tree[0] for owner, tree in frames.items() if tree}, laid, shown)
    root = WebNode(WEB_VIEW, (0, 0, *shown.size), _value(page[0].get("name")))
    root.children = writer.below(page[0])
    is_inside = any(entry.flags.get("focused") for entry in root)
    root.flags = {"focusable": True, "focused": not is_inside and bool(_properties(page[0]).get("focused"))}
    return root


class _Writer:
    def __init__(
        self,
        nodes: Mapping[str, Mapping[str, Any]],
        frames: Mapping[int, Mapping[str, Any]],
        laid: Mapping[int, ElementBox],
        shown: PageView,
    ) -> None:
        self._nodes = nodes
        self._frames = frames
        self._laid = laid
        self._shown = shown

    def below(self, node: Mapping[str, Any]) -> list[WebNode]:
        inside = [self._nodes[entry] for entry in node.get("childIds", ()) if entry in self._nodes]
        frame = self._frames.get(node.get("backendDOMNodeId", 0))
        if frame is not None and not inside:
            inside = [frame]
        return [fields for entry in inside for fields in self._node(entry)]

    def _node(self, node: Mapping[str, Any]) -> list[WebNode]:
        role = _value(node.get("role"))
        if role in _SKIPPED:
            return []
        laid = self._laid.get(node.get("backendDOMNodeId", 0))
        if node.get("ignored") or laid is None:
            return self.below(node)
        box = self._box(laid)
        tree = WebNode(_class(role, node), box, backend=node.get("backendDOMNodeId", 0), html_id=laid.html_id)
        _describe(tree, role, node, laid)
        is_leaf = role in _LEAVES or (role == "heading" and tree.text)
        tree.children = [] if is_leaf else self.below(node)
        if is_leaf and not tree.text and role == "link":
            tree.children = self.below(node)
        is_seen = box[2] > box[0] and box[3] > box[1]
        return [tree] if is_seen else tree.children

    def _box(self, laid: ElementBox) -> tuple[int, int, int, int]:
        shown = self._shown
        x, y = (
            (number - corner) * shown.scale for number, corner in zip(laid.box, shown.corner, strict=False)
        )
        w, h = (number * shown.scale for number in laid.box[2:])
        wide, tall = shown.size
        return (
            max(0, min(wide, round(x))),
            max(0, min(tall, round(y))),
            max(0, min(wide, round(x + w))),
            max(0, min(tall, round(y + h))),
        )


def _class(role: str, node: Mapping[str, Any]) -> str:
    if role == "combobox" and _properties(node).get("editable"):
        return "android.widget.EditText"
    return CLASSES.get(role, "android.view.View")


def _describe(fields: WebNode, role: str, node: Mapping[str, Any], laid: ElementBox) -> None:
    properties = _properties(node)
    name, value = _value(node.get("name")), _value(node.get("value"))
    is_field = fields.cls.endswith("EditText")
    fields.text = (
        (value or laid.hint or name) if is_field else value if role == "combobox" and value else name
    )
    flags: dict[str, Any] = {
        "clickable": role in _CLICKED or laid.is_clickable,
        "focusable": bool(properties.get("focusable")),
        "focused": bool(properties.get("focused")),
        "enabled": not properties.get("disabled"),
        "selected": bool(properties.get("selected")),
        "scrollable": laid.scrolls,
        "password": laid.kind == "password",
        "field": is_field,
    }
    if role in ("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"):
        flags["checked"] = properties.get("checked") == "true"
    if is_field and not value:
        flags["hint"] = fields.text
    if properties.get("multiline"):
        flags["multiline"] = True
    fields.flags = flags


def _value(fields: Any) -> str:
    value = fields.get("value") if isinstance(fields, dict) else None
    return str(value) if value is not None else ""


def _properties(node: Mapping[str, Any]) -> dict[str, Any]:
    return {entry["name"]: entry["value"].get("value") for entry in node.get("properties", ())}


def view_of(fields: WebNode, at: tuple[int, int], *, is_focused: bool) -> View:
    """The node as a view that is told and neither painted nor touched; `at` is the view's corner."""
    left, top, right, bottom = fields.box
    rect: Rect = (left + at[0], top + at[1], right + at[0], bottom + at[1])
    flags = fields.flags
    return View(
        cls=fields.cls,
        text=fields.text,
        id=f"={fields.html_id}" if fields.html_id else "",
        key=f"node:{fields.backend}",
        rect=rect,
        layout="absolute",
        loose=True,
        painted=False,
        tag=fields,
        clickable=bool(flags.get("clickable")),
        long_clickable=False,
        focusable=bool(flags.get("focusable")),
        focused=is_focused and bool(flags.get("focused")),
        scrollable=bool(flags.get("scrollable")),
        enabled=flags.get("enabled", True),
        selected=bool(flags.get("selected")),
        password=False,
        checked=flags.get("checked"),
        hint=flags.get("hint", ""),
        multiline=bool(flags.get("multiline")),
        attrs={"password": "true"} if flags.get("password") else None,
        children=[view_of(child, at, is_focused=is_focused) for child in fields.children],
    )


READ_S = 2.0
"""For one reading; of a page that is busy for longer the phone goes on to tell what it knew."""
FIRST_S = 20.0
"""For the first one: Chromium may still be starting, and there is nothing to tell instead."""
SETTLE_S = 1.0
_PUT = resources.text("channels/web/put.js")
WORLD = "handrail_sim"
_LISTS = resources.text("channels/web/lists.js")
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
        self.tree: WebNode | None = None
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
        if kind == "touchStart":
            self._zoom = _visual(await self.call("Page.getLayoutMetrics"))[0]
        scale = self._scale() * self._zoom
        points = [{"x": x / scale, "y": y / scale, "id": number} for number, (x, y) in fingers.items()]
        await self.call("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def insert(self, text: str) -> None:
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
        fields = view.tag
        if not isinstance(fields, WebNode) or not fields.flags.get("field"):
            return False
        self.later(lambda: self._put(fields.backend, text))
        return True

    async def _put(self, backend: int, text: str) -> None:
        match = await self.call("DOM.resolveNode", {"backendNodeId": backend})
        where = {"objectId": match["object"]["objectId"], "functionDeclaration": _PUT}
        await self.call("Runtime.callFunctionOn", {**where, "arguments": [{"value": text}]})

    # its target

    async def call(
        self, method: str, params: dict[str, Any] | None = None, *, within_s: float = CALL_S
    ) -> Any:
        return await self._chromium.call(method, params, self.session, within_s=within_s)

    async def _open(self) -> None:
        call = self._chromium.call
        created = {"url": "about:blank", "browserContextId": await self._context, "newWindow": True}
        self.target = (await call("Target.createTarget", created))["targetId"]
        attached = await call("Target.attachToTarget", {"targetId": self.target, "flatten": True})
        self.session = attached["sessionId"]
        self._chromium.listeners.append(self._on_event)
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

    def _on_event(self, session: str, method: str, fields: dict[str, Any]) -> None:
        if session != self.session:
            return
        if method == "Page.loadEventFired":
            self._loaded.set()
        elif method == "Fetch.requestPaused":
            self._tasks.start(self._serve(fields), "a page of the phone's own web")
        elif method == "Page.javascriptDialogOpening":
            self.dialog = fields
            self._loaded.set()
            self._stopped.set()
        elif method == "Page.javascriptDialogClosed":
            self.dialog = None
            self._stopped.clear()
        elif method == "Runtime.bindingCalled" and fields.get("name") == "simList":
            self.choices, self._chooser = json.loads(fields["payload"]), fields["executionContextId"]

    def choose(self, number: int) -> None:
        fields = {"expression": f"pick({number})", "contextId": self._chooser}
        self.later(lambda: self.call("Runtime.evaluate", fields))

    def answer(self, accept: bool) -> None:
        """What a person pressed in the dialog of a script; the line of input may wait for it."""
        self._tasks.start(self._answer(accept), "an answer to a page's dialog")

    async def _answer(self, accept: bool) -> None:
        try:
            await self.call("Page.handleJavaScriptDialog", {"accept": accept})
        except Refused:
            self.dialog = None

    async def _serve(self, fields: dict[str, Any]) -> None:
        number, html = fields["requestId"], self.on_request(str(fields["request"]["url"]))
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
        if self._on_event in self._chromium.listeners:
            self._chromium.listeners.remove(self._on_event)
        if self.target and not self._chromium.is_gone:
            with suppress(Refused):
                await self._chromium.call("Target.closeTarget", {"targetId": self.target}, within_s=READ_S)

    # looking

    async def refresh(self, box: Rect, *, picture: bool) -> bool:
        """Fetch what it shows by now, in a view that is there on the screen; true if that is news."""
        self.box = box
        try:
            async with asyncio.timeout(READ_S if self.tree is not None else FIRST_S):
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
        fields = {
            "width": round(size[0] / scale),
            "height": round(size[1] / scale),
            "deviceScaleFactor": scale,
            "mobile": True,
        }
        await self.call("Emulation.setDeviceMetricsOverride", fields)
        self._size = size

    async def _read(self, picture: bool) -> bool:
        wait = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
        await self.call(
            "Runtime.evaluate",
            {"expression": wait, "awaitPromise": True, "returnByValue": True},
            within_s=SETTLE_S,
        )
        requested = {"computedStyles": list(STYLES), "includeDOMRects": True}
        snapshot = await self.call("DOMSnapshot.captureSnapshot", requested)
        owners = frame_owners(snapshot)
        page, *others = await asyncio.gather(
            self.call("Accessibility.getFullAXTree"),
            *(self.call("Accessibility.getFullAXTree", {"frameId": name}) for name in owners.values()),
        )
        frames = {owner: tree["nodes"] for owner, tree in zip(owners, others, strict=True)}
        laid: dict[int, ElementBox] = laid_out(snapshot)
        zoom, corner = _visual(await self.call("Page.getLayoutMetrics"))
        fields = web_tree(page["nodes"], frames, laid, PageView(self._scale() * zoom, corner, self._size))
        if fields is not None:
            complete = snapshot["documents"][0].get("contentHeight", 0) * self._scale()
            fields.flags["scrollable"] = complete > self._size[1] + 1
        entries = await self.call("Page.getNavigationHistory")
        at, existing = entries["currentIndex"], entries["entries"]
        self.address, self.title = existing[at]["url"], existing[at]["title"]
        before = at - 1 if at and existing[at - 1]["url"] != "about:blank" else None
        self.history = (0, 0) if before is None else (before + 1, existing[before]["id"])
        if picture:
            shot = await self.call("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
            png = b64decode(shot["data"])
            if self.pixels is None or png != self.pixels.png:
                self.pixels = Picture(png)
        news = fields != self.tree
        self.tree = fields
        return news or picture

    def views(self, *, is_focused: bool) -> list[View]:
        """What accessibility tells, where the view is; nothing in a view without the focus has it."""
        if self.tree is None:
            return []
        root = view_of(self.tree, self.box[:2], is_focused=is_focused)
        root.text = self.tree.text or self.title
        return [root]

    def focused_field(self) -> WebNode | None:
        return next(
            (entry for entry in self.tree or () if entry.flags.get("field") and entry.flags.get("focused")),
            None,
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
    fields = metrics["cssVisualViewport"]
    return float(fields["scale"]), (float(fields["offsetX"]), float(fields["offsetY"]))
