"""The HTTP helper inside the phone (port 8765): tree, idle, screenshot and input without adb's commands.

`main` is what `am instrument` runs once both of its APKs are installed. No authentication, as the real one.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Any

from handrail_sim.channels.http import HelperLife, Request, Response, json_response, listening
from handrail_sim.handset import Handset
from handrail_sim.input.keys import NoKeyFor
from handrail_sim.screen.accessibility import Node, active_root
from handrail_sim.shell.call import Call
from handrail_sim.system.device import Event

CLASSES = {
    "flutter": ("FlutterView", "FlutterSurfaceView"),
    "react_native": ("ReactRootView", "ReactViewGroup", "RCTView"),
    "compose": ("AndroidComposeView", "ComposeView"),
}
LIBRARIES = {
    "libflutter": ("flutter",),
    "libhermes": ("react_native", "react_native_hermes"),
    "libjsc": ("react_native",),
    "libreactnative": ("react_native",),
}
DEPTH = 6
PRIORITY = ("flutter", "react_native", "compose")


def framework(phone: Handset, package: str = "") -> dict[str, Any]:
    """The answer of `/framework`; without a package it is about the screen."""
    root = active_root(phone)
    package = package or (root.package if root is not None else "")
    names, signals = _by_class(root)
    app = phone.packages.classes.get(package)
    for library in app.libraries if app is not None else ():
        kinds = next((kinds for name, kinds in LIBRARIES.items() if library.startswith(name)), ())
        names += kinds
        signals += [f"lib:{library}"] if kinds else []
    frameworks = list(dict.fromkeys(names))
    primary = next((kind for kind in PRIORITY if kind in frameworks), "native")
    return {
        "packageName": package,
        "primary": primary,
        "frameworks": frameworks or ["native"],
        "signals": signals,
    }


def _by_class(root: Node | None) -> tuple[list[str], list[str]]:
    names = [] if root is None else list(dict.fromkeys(_classes(root, DEPTH)))
    hits = [
        (kind, cls) for kind, signs in CLASSES.items() for cls in names if any(sign in cls for sign in signs)
    ]
    return [kind for kind, _ in hits], [f"class:{cls}" for _, cls in hits]


def _classes(node: Node, depth: int) -> list[str]:
    below = [cls for child in node.children for cls in _classes(child, depth - 1)] if depth else []
    return [node.cls, *below]


FIRST_MS, POLL_MS, QUIET_MS = 50.0, 25.0, 150.0
MAX_EVENTS = 16
MATTERS = frozenset({"TYPE_WINDOW_STATE_CHANGED", "TYPE_WINDOW_CONTENT_CHANGED", "TYPE_WINDOWS_CHANGED"})
MATTERS |= {"TYPE_VIEW_SCROLLED", "TYPE_VIEW_TEXT_CHANGED"}


async def wait_idle(phone: Handset, timeout_ms: float) -> dict[str, Any]:
    """Listen until it is quiet or the time is over; events count from the moment of the question."""
    clock = phone.clock
    start = clock.monotonic_ms()
    reported: list[str] = []
    last = start

    def listen(event: Event) -> None:
        nonlocal last
        if event[1] in MATTERS:
            last = event[0]
            if len(reported) < MAX_EVENTS:
                reported.append(event[1].removeprefix("TYPE_"))

    phone.on_event(listen)
    try:
        await clock.sleep_ms(min(FIRST_MS, timeout_ms))
        while True:
            phone.is_idle()  # brings timers and animations up to now
            now = clock.monotonic_ms()
            if now - last >= QUIET_MS:
                return {"idle": True, "reason": "events_quiet", "events": reported}
            if now - start >= timeout_ms:
                return {"idle": False, "reason": "timeout", "events": reported}
            await clock.sleep_ms(max(1.0, min(POLL_MS, start + timeout_ms - now)))
    finally:
        phone.off_event(listen)


PORT = 8765
PACKAGES = ("com.agentest.helper", "com.agentest.helper.test")
VERSION = "1.0.0"
PROTOCOL_VERSION = 1
TAP_MS, KEY_MS = 50.0, 30.0
TEST = "com.agentest.helper.HelperServerTest"

Handler = Callable[[Request], Awaitable[dict[str, Any]]]


async def main(call: Call) -> int:
    """The instrumentation: one test method that serves until it is stopped."""
    phone = call.phone
    component = next((word for word in call.argv if "/" in word), "")
    if not all(package in phone.packages.installed for package in PACKAGES):
        await call.line("INSTRUMENTATION_STATUS: id=ActivityManagerService")
        missing = f"Unable to find instrumentation info for: ComponentInfo{{{component}}}"
        await call.line(f"INSTRUMENTATION_STATUS: Error={missing}")
        await call.line("INSTRUMENTATION_STATUS_CODE: -1")
        return await call.err(f"android.util.AndroidException: INSTRUMENTATION_FAILED: {component}")
    await call.line(f"INSTRUMENTATION_STATUS: class={TEST}")
    await call.line("INSTRUMENTATION_STATUS: current=1")
    await call.line("INSTRUMENTATION_STATUS: test=serve")
    await call.line("INSTRUMENTATION_STATUS_CODE: 1")
    crashed = await serve(phone)
    if crashed:
        await call.line("INSTRUMENTATION_RESULT: shortMsg=Process crashed.")
    return await call.line(f"INSTRUMENTATION_CODE: {0 if crashed else -1}")


async def serve(phone: Handset) -> bool:
    """Serve the port until `/shutdown` or a fault; true if it died. A flag may start it without any APK."""
    helper = Helper(phone, HelperLife(phone.faults))
    phone.request_accessibility()
    async with listening(phone.ports, f"tcp:{PORT}", helper.answer):
        await helper.life.ended.wait()
    return helper.life.is_dead


class Refusal(Exception):
    """An answer with `ok: false`."""

    def __init__(self, code: str, error: str, status: int = 500) -> None:
        super().__init__(error)
        self.code = code
        self.status = status


class Helper:
    """The paths and what they do."""

    def __init__(self, phone: Handset, life: HelperLife) -> None:
        self.phone = phone
        self.life = life
        self._paths: dict[tuple[str, str], Handler] = {
            ("GET", "/status"): self._status,
            ("GET", "/tree"): self._tree,
            ("GET", "/framework"): self._framework,
            ("GET", "/wait-idle"): self._wait_idle,
            ("GET", "/screenshot"): self._screenshot,
            ("POST", "/tap"): self._tap,
            ("POST", "/tap-coordinates"): self._tap,
            ("POST", "/swipe"): self._swipe,
            ("POST", "/long-press"): self._long_press,
            ("POST", "/key"): self._key,
            ("POST", "/text"): self._text,
            ("POST", "/shutdown"): self._shutdown,
        }

    async def answer(self, request: Request) -> Response:
        self.life.count_request()
        handler = self._paths.get((request.method, request.path))
        try:
            if handler is None:
                raise Refusal("NOT_FOUND", f"No route for {request.method} {request.path}", 404)
            value, status = {"ok": True, **await handler(request)}, 200
        except Refusal as refusal:
            value, status = {"ok": False, "error": str(refusal), "code": refusal.code}, refusal.status
        return json_response(value, status, **{"X-Helper-Version": VERSION})

    async def _status(self, _request: Request) -> dict[str, Any]:
        props = self.phone.props
        return {
            "name": "agentest-helper",
            "version": VERSION,
            "protocolVersion": PROTOCOL_VERSION,
            "sdkInt": int(props.get("ro.build.version.sdk", "34")),
            "device": props.get("ro.product.model", ""),
            "manufacturer": props.get("ro.product.manufacturer", ""),
        }

    async def _tree(self, request: Request) -> dict[str, Any]:
        await self.phone.refresh_web()
        compact = request.query.get("compact") in ("1", "true")
        root = active_root(self.phone, compressed=compact)
        if root is None:
            raise Refusal("NO_ACTIVE_WINDOW", "No active window", 200)
        package = request.query.get("package") or root.package
        return {"packageName": package, "compact": compact, "tree": describe(root)}

    async def _framework(self, request: Request) -> dict[str, Any]:
        return framework(self.phone, request.query.get("package", ""))

    async def _wait_idle(self, request: Request) -> dict[str, Any]:
        timeout = request.query.get("timeoutMs", "10000")
        return await wait_idle(self.phone, float(timeout) if timeout.isdigit() else 10_000.0)

    async def _screenshot(self, _request: Request) -> dict[str, Any]:
        return {"format": "png", "base64": b64encode(await self.phone.screenshot()).decode()}

    async def _tap(self, request: Request) -> dict[str, Any]:
        x, y = numbers(request, "x", "y")
        await self.phone.long_press(x, y, TAP_MS)
        return {}

    async def _swipe(self, request: Request) -> dict[str, Any]:
        x1, y1, x2, y2 = numbers(request, "x1", "y1", "x2", "y2")
        (duration,) = numbers(request, durationMs=300.0)
        await self.phone.swipe(x1, y1, x2, y2, duration)
        return {}

    async def _long_press(self, request: Request) -> dict[str, Any]:
        x, y = numbers(request, "x", "y")
        (duration,) = numbers(request, durationMs=1000.0)
        await self.phone.long_press(x, y, duration)
        return {}

    async def _key(self, request: Request) -> dict[str, Any]:
        (code,) = numbers(request, "keycode")
        self.phone.key(int(code))
        await self.phone.clock.sleep_ms(KEY_MS)
        return {}

    async def _text(self, request: Request) -> dict[str, Any]:
        """Key events; text that has no keys is dropped without a word, as KeyCharacterMap makes it."""
        text = body(request).get("text")
        if not isinstance(text, str):
            raise Refusal("JSONException", "No value for text")
        try:
            self.phone.type_ascii(text)
        except NoKeyFor:
            return {}
        return {}

    async def _shutdown(self, _request: Request) -> dict[str, Any]:
        asyncio.get_running_loop().call_soon(self.life.ended.set)
        return {}


def body(request: Request) -> dict[str, Any]:
    try:
        value = json.loads(request.body or b"{}")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Refusal("JSONException", "The body is not a JSON object")
    return value


def numbers(request: Request, *names: str, **optional: float) -> list[float]:
    """The numbers of these names; optional ones have a default."""
    values = {**optional, **body(request)}
    matches = []
    for name in [*names, *optional]:
        value = values.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Refusal("JSONException", f"No value for {name}")
        matches.append(float(value))
    return matches


def describe(node: Node) -> dict[str, Any]:
    """A node and all below it as the helper's JSON."""
    left, top, right, bottom = node.bounds
    return {
        "index": node.index,
        "className": node.cls,
        "packageName": node.package,
        "resourceId": node.resource_id,
        "text": node.text,
        "contentDescription": node.desc,
        "hintText": node.hint,
        "stateDescription": node.state,
        "paneTitle": node.pane,
        "tooltipText": node.tooltip,
        "bounds": {"left": left, "top": top, "right": right, "bottom": bottom},
        "enabled": node.enabled,
        "focused": node.focused,
        "focusable": node.focusable,
        "selected": node.selected,
        "checked": node.checked,
        "checkable": node.checkable,
        "clickable": node.clickable,
        "scrollable": node.scrollable,
        "longClickable": node.long_clickable,
        "password": node.password,
        "children": [describe(child) for child in node.children],
    }
