"""Handrail's own helper inside the phone: what `helper/` of the repository does on a real one.

A test compares paths, codes and keys with the Java sources. It listens on an abstract socket with a random
name, serves whoever has the token, and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from handrail_sim.channels.helper import Helper, Refusal, body, numbers, wait_idle
from handrail_sim.channels.http import HelperLife, Request, Response, json_response, listening
from handrail_sim.input.gestures import STEP_MS
from handrail_sim.input.keys import NoKeyFor
from handrail_sim.screen.accessibility import Node, active_window, tree
from handrail_sim.stream import SHELL_UID
from handrail_sim.waiting import first

if TYPE_CHECKING:
    from handrail_sim.handset import Handset
    from handrail_sim.shell.call import Call

NAME, VERSION, PROTOCOL_VERSION = "handrail-helper", "1.0.0", 1
SOCKET_PREFIX = "handrail-"
MASK = "••••"
MIN_TOKEN = 16
TRUSTED_UIDS = (0, SHELL_UID)
MESSAGE_MS = 3500
GLOBALS = {"back": 4, "home": 3, "recents": 187}
WINDOW_TYPES = {"ime": 2, "status_bar": 3, "navigation_bar": 3, "shade": 3, "volume": 3}
"""AccessibilityWindowInfo's types; an application's is 1."""
TEXTS = {
    "className": "cls", "resourceId": "resource_id", "text": "text", "contentDescription": "desc",
    "hintText": "hint", "stateDescription": "state", "paneTitle": "pane", "tooltipText": "tooltip",
}  # fmt: skip
FLAGS = {
    "focused": "focused", "focusable": "focusable", "selected": "selected", "checked": "checked",
    "checkable": "checkable", "clickable": "clickable", "scrollable": "scrollable",
    "longClickable": "long_clickable", "password": "password",
}  # fmt: skip


async def main(call: Call) -> int:
    """The first line of standard input is the token; the first of standard output names the socket."""
    token = b""
    while b"\n" not in token and (piece := await call.stdin.read(4096)):
        token += piece
    secret = token.partition(b"\n")[0].decode().strip()
    if len(secret) < MIN_TOKEN:
        await call.line(json.dumps({"ok": False, "code": "BAD_TOKEN", "error": "no token"}))
        return 2
    phone = call.phone
    server = OwnHelper(phone, HelperLife(phone.faults), secret)
    socket = f"{SOCKET_PREFIX}{phone.random.getrandbits(128):032x}"

    async def hung_up() -> None:
        while await call.stdin.read(4096):
            continue

    with phone.held_ui_automation(call.argv[0]) as is_ours:
        if not is_ours:
            words = "java.lang.IllegalStateException: UiAutomationService already registered!"
            await call.line(json.dumps({"ok": False, "code": "UIAUTOMATION_HELD", "error": words}))
            return 3
        async with listening(phone.ports, f"localabstract:{socket}", server.answer, TRUSTED_UIDS):
            announcement = {"ok": True, "protocolVersion": PROTOCOL_VERSION, "socket": socket}
            await call.line(json.dumps(announcement))
            await first(server.life.ended.wait(), hung_up())
    return 137 if server.life.is_dead else 0


class OwnHelper(Helper):
    """The seed's paths, and ours."""

    def __init__(self, phone: Handset, life: HelperLife, token: str) -> None:
        super().__init__(phone, life)
        self._token = token
        self._paths |= {
            ("GET", "/look"): self._look,
            ("POST", "/gesture"): self._gesture,
            ("POST", "/rest"): self._nothing,
            ("POST", "/global"): self._global,
            ("GET", "/clipboard"): self._get_clipboard,
            ("POST", "/clipboard"): self._set_clipboard,
            ("GET", "/top"): self._top,
        }

    async def answer(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {self._token}":
            refusal = {"ok": False, "error": "the token is missing or wrong", "code": "BAD_TOKEN"}
            return json_response({**refusal, "delivered": False}, 401)
        await self.phone.faults.delay("helper", request.path)
        response = await super().answer(request)
        reply = json.loads(response.body)
        if not reply["ok"]:  # every refusal here comes before any input
            return json_response({**reply, "delivered": False}, response.status)
        wish = body(request).get("rest") if request.body else None
        wish = body(request) if request.path == "/rest" else wish
        if isinstance(wish, dict):
            rest = await wait_idle(self.phone, float(wish.get("timeoutMs", 10_000)))
            look = {} if wish.get("look") is False else await self._delayed_look(request)
            response = json_response({**reply, "rest": {"idle": rest["idle"]}, **look})
        if "gzip" in request.headers.get("accept-encoding", ""):
            body_zipped = gzip.compress(response.body, compresslevel=1, mtime=0)
            response = replace(response, body=body_zipped, headers={"Content-Encoding": "gzip"})
        return response

    async def _status(self, request: Request) -> dict[str, Any]:
        return {**await super()._status(request), "name": NAME, "version": VERSION}

    async def _look(self, _request: Request) -> dict[str, Any]:
        self.phone.catch_up()
        await self.phone.refresh_web()
        return look_of(self.phone)

    async def _delayed_look(self, request: Request) -> dict[str, Any]:
        """A look takes its time in whatever answer it stands."""
        await self.phone.faults.delay("/look")
        return await self._look(request)

    async def _top(self, _request: Request) -> dict[str, Any]:
        return top_of(self.phone)

    async def _nothing(self, _request: Request) -> dict[str, Any]:
        return {}

    async def _gesture(self, request: Request) -> dict[str, Any]:
        """Down, moves at 60 Hz and up of every finger, in the order of their times."""
        strokes = body(request).get("strokes")
        if not isinstance(strokes, list) or not strokes:
            raise Refusal("BAD_REQUEST", "strokes is a list of strokes", 400)
        for _ in range(self.phone.chances()):
            now = 0.0
            for at, _, action, x, y, finger in sorted(_steps(strokes)):
                await self.phone.clock.sleep_ms(at - now)
                now = at
                self.phone.pointer(action, x, y, finger)
        return {}

    async def _text(self, request: Request) -> dict[str, Any]:
        text = body(request).get("text")
        if not isinstance(text, str):
            raise Refusal("BAD_REQUEST", "No value for text", 400)
        if body(request).get("way") != "set":
            try:
                self.phone.type_ascii(text)
            except NoKeyFor:
                raise Refusal("NO_KEYS", "some characters have no key", 200) from None
            return {"way": "keys"}
        field = self.phone.editing.field()
        if field is None:
            raise Refusal("NO_FOCUSED_FIELD", "no field has the input focus", 200)
        if not self.phone.set_text(field[1], text):
            raise Refusal("REFUSED", "the field takes no text", 200)
        return {"way": "set", "readBack": MASK if field[1].password else field[1].text}

    async def _global(self, request: Request) -> dict[str, Any]:
        code = GLOBALS.get(str(body(request).get("action")))
        if code is None:
            raise Refusal("BAD_REQUEST", f"action is one of {list(GLOBALS)}", 400)
        self.phone.key(code)
        return {}

    async def _tap(self, request: Request) -> dict[str, Any]:
        x, y = numbers(request, "x", "y")
        await self.phone.tap(x, y)
        return {"events": 2}

    async def _get_clipboard(self, _request: Request) -> dict[str, Any]:
        return {"text": self.phone.read_clipboard("com.android.shell")}

    async def _set_clipboard(self, request: Request) -> dict[str, Any]:
        self.phone.clipboard = str(body(request).get("text", ""))
        return {}

    async def _shutdown(self, _request: Request) -> dict[str, Any]:
        asyncio.get_running_loop().call_soon(self.life.ended.set)
        return {}


def look_of(phone: Handset) -> dict[str, Any]:
    """Every window with its nodes, and what was heard a moment ago."""
    active = active_window(phone)
    windows = [
        {
            "id": window.number,
            "type": WINDOW_TYPES.get(window.type, 1),
            "layer": layer,
            "bounds": list(window.bounds),
            "title": window.title,
            "active": window is active,
            "focused": window is active,
            "root": describe(tree(window), ""),
        }
        for layer, window in enumerate(phone.windows())
        if window.type != "toast"  # what takes no touch is in no list of a real phone
    ]
    if not windows:
        raise Refusal("NO_ACTIVE_WINDOW", "no window shows anything to accessibility", 200)
    shown = phone.display
    display = {"width": shown.width, "height": shown.height, "rotation": shown.rotation}
    toasts = [
        {"className": "android.widget.Toast", "packageName": package, "text": text}
        for at, kind, package, text in phone.events
        if kind == "TYPE_NOTIFICATION_STATE_CHANGED" and text and phone.now_ms() - at <= MESSAGE_MS
    ]
    return {"display": display, **top_of(phone), "windows": windows[::-1], "toasts": toasts}


def top_of(phone: Handset) -> dict[str, Any]:
    active = active_window(phone)
    return {} if active is None else {"top": active.component or active.package}


def _steps(strokes: list[Any]) -> list[tuple[float, int, Any, float, float, int]]:
    """Time, rank at that time, action, place and finger."""
    steps: list[tuple[float, int, Any, float, float, int]] = []
    for finger, stroke in enumerate(strokes):
        points = stroke["points"]
        (x, y, at), (last_x, last_y, end) = points[0], points[-1]
        steps.append((at, 1, "down", x, y, finger))
        for (x1, y1, t1), (x2, y2, t2) in pairwise(points):
            moves = max(1, int((t2 - t1) / STEP_MS)) if (x1, y1) != (x2, y2) else 0
            for move in range(1, moves + 1):
                share = move / moves
                place = x1 + (x2 - x1) * share, y1 + (y2 - y1) * share
                steps.append((t1 + (t2 - t1) * share, 0, "move", *place, finger))
        steps.append((end, 2, "up", last_x, last_y, finger))
    return steps


def describe(node: Node, parent_package: str) -> dict[str, Any]:
    """A node and all below it; false, empty and inherited are left out."""
    texts = {key: getattr(node, name) for key, name in TEXTS.items()}
    shows_hint = bool(node.hint) and node.text == node.hint
    if node.password and node.text and not shows_hint:
        texts["text"] = MASK
    package = {} if node.package == parent_package else {"packageName": node.package}
    flags = {key: True for key, name in FLAGS.items() if getattr(node, name)}
    enabled = {} if node.enabled else {"enabled": False}
    shown = {key: text for key, text in texts.items() if text}
    shown |= package | {"bounds": list(node.bounds)} | enabled | flags
    shown |= {"showingHint": True} if shows_hint else {}
    shown["drawingOrder"] = node.drawing_order
    if node.children:
        shown["children"] = [describe(child, node.package) for child in node.children]
    return shown
