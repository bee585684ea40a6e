"""The uiautomator2 server: its JSON-RPC methods, their Java overloads, and the hierarchy that it dumps."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, TypeVar
from uuid import UUID

from handrail_sim.channels.u2.selector import BadSelector, Selector, find, find_in_active, parse
from handrail_sim.handset import Handset
from handrail_sim.screen.accessibility import Node, active_root, roots

METHOD_NOT_FOUND = (-32601, "method not found")
INVALID_PARAMS = (-32602, "method parameters invalid")
INVALID_REQUEST = (-32600, "invalid request")
PARSE_ERROR = (-32700, "JSON parse error")
THROWN = -32001  # the jar's code for whatever a method throws


class JavaError(Exception):
    """An exception on the phone: the class goes into `message`, the text or stack trace into `data`."""

    def __init__(self, cls: str, text: str) -> None:
        super().__init__(f"{cls}: {text}")
        self.cls = cls
        self.text = text

    @property
    def data(self) -> str:
        if self.cls == NOT_FOUND:
            return self.text
        return f"{self.cls}: {self.text}\n\tat com.wetest.uia2.stub.AutomatorServiceImpl(Unknown Source)\n"


NOT_FOUND = "androidx.test.uiautomator.UiObjectNotFoundException"


def not_found(text: object) -> JavaError:
    """No such object; the text is the selector as Java prints it."""
    return JavaError(NOT_FOUND, str(text))


_INJECTING = """
clearInputText click clickAndWaitForNewWindow drag dragTo flingBackward flingForward flingToBeginning
flingToEnd gesture injectInputEvent longClick pasteClipboard pinchIn pinchOut pressKey pressKeyCode
scrollBackward scrollForward scrollTo scrollToBeginning scrollToEnd sleep swipe swipePoints wakeUp
"""
INJECTING = frozenset(_INJECTING.split())
"""Methods that send touches or keys, which a phone may forbid."""
NOT_ALLOWED = "Injecting to another application requires INJECT_EVENTS permission"

Run = Callable[..., Awaitable[Any] | Any]
RunT = TypeVar("RunT", bound=Run)


@dataclass(frozen=True, slots=True)
class Overload:
    """One Java method: the kinds of its parameters, and what it does here."""

    kinds: tuple[str, ...]
    run: Run


METHODS: dict[str, list[Overload]] = {}


def method(name: str, *kinds: str) -> Callable[[RunT], RunT]:
    """Register a function as a method; a `target` is a selector or a text, so two overloads."""

    def register(run: RunT) -> RunT:
        for target in ("selector", "text") if "target" in kinds else ("",):
            own = tuple(target if kind == "target" else kind for kind in kinds)
            METHODS.setdefault(name, []).append(Overload(own, run))
        return run

    return register


def methods(table: Mapping[str, Run]) -> None:
    """Register the short ones: a name and the kinds of its parameters, and what they answer."""
    for signature, run in table.items():
        method(*signature.split())(run)


def _fits(kind: str, value: Any) -> int:
    """2: this very type; 1: Jackson would convert it; 0: no."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    exact: dict[str, bool] = {
        "int": isinstance(value, int) and number,
        "float": number,
        "bool": isinstance(value, bool),
        "text": isinstance(value, str),
        "selector": isinstance(value, dict) and "mask" in value,
        "point": isinstance(value, dict) and "mask" not in value,
        "object": isinstance(value, dict),
        "ints": isinstance(value, list),
        "selectors": isinstance(value, list),
        "texts": isinstance(value, list),
    }
    if exact[kind]:
        return 2
    loose = {"int": number, "text": value is None, "selector": isinstance(value, dict)}
    return int(loose.get(kind, False))


def _convert(kind: str, value: Any) -> Any:
    if kind == "int":
        return int(value)
    if kind == "float":
        return float(value)
    if kind == "selector":
        return parse(value)
    if kind == "point":
        return (int(value.get("x", 0)), int(value.get("y", 0)))
    if kind == "ints":
        return [int(entry) for entry in value]
    if kind == "selectors":
        return [parse(entry) for entry in value]
    return value if value is None or kind != "text" else str(value)


def choose(name: str, params: list[Any]) -> tuple[Overload, list[Any]] | None:
    best: tuple[int, Overload] | None = None
    for overload in METHODS[name]:
        if len(overload.kinds) != len(params):
            continue
        scores = [_fits(kind, value) for kind, value in zip(overload.kinds, params, strict=True)]
        if all(scores) and (best is None or sum(scores) > best[0]):
            best = (sum(scores), overload)
    if best is None:
        return None
    overload = best[1]
    return overload, [_convert(kind, value) for kind, value in zip(overload.kinds, params, strict=True)]


async def respond(server: Server, body: bytes) -> Any:
    try:
        request = json.loads(body)
    except ValueError:
        return _error("null", *PARSE_ERROR)
    if isinstance(request, list):
        return [await _respond_single(server, entry) for entry in request]
    return await _respond_single(server, request)


async def _respond_single(server: Server, request: Any) -> dict[str, Any]:
    if not isinstance(request, dict) or not isinstance(request.get("method"), str):
        return _error("null", *INVALID_REQUEST)
    number, name = request.get("id"), request["method"]
    if name not in METHODS:
        return _error(number, *METHOD_NOT_FOUND)
    params = request.get("params") or []
    chosen = _chosen(name, params)
    if chosen is None:
        return _error(number, *INVALID_PARAMS)
    overload, values = chosen
    await server.phone.faults.delay("u2", name)
    if name not in INJECTING:
        await server.phone.refresh_web()
    try:
        faults = server.phone.faults
        refused = faults.active("input_refused") if name in INJECTING else None
        if refused is not None and refused.options["helpers"] and faults.get("input_refused") is not None:
            raise JavaError("java.lang.SecurityException", NOT_ALLOWED)
        result = overload.run(server, *values)
        return {"jsonrpc": "2.0", "id": number, "result": await result if isawaitable(result) else result}
    except BadSelector as error:
        thrown = JavaError("java.util.regex.PatternSyntaxException", str(error))
    except JavaError as error:
        thrown = error
    return _error(number, THROWN, thrown.cls, thrown.data)


def _chosen(name: str, params: Any) -> tuple[Overload, list[Any]] | None:
    """None also for parameters that look right and can't be converted."""
    try:
        return choose(name, params) if isinstance(params, list) else None
    except (TypeError, ValueError, AttributeError):
        return None


def _error(number: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    fields = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": number, "error": fields}


OBJECT_LIFE_MS = 60_000
POLL_MS = 100.0  # how often `By` conditions are looked at
OBJECT_POLL_MS = 1000.0  # how often `UiObject` waits look
ACKNOWLEDGE_MS = 500.0


@dataclass(slots=True)
class Watcher:
    """When all conditions hold: click a target, or press keys."""

    conditions: list[Selector]
    target: Selector | None = None
    keys: list[str] = field(default_factory=list)
    triggered: bool = False


class Server:
    """One run of the server's main class."""

    def __init__(self, phone: Handset) -> None:
        self.phone = phone
        self.objects: dict[str, Selector] = {}
        self.watchers: dict[str, Watcher] = {}
        self.last_toast: str | None = None
        self.last_text: str | None = None
        self.events = 0
        self.scrolls = 0
        self.content_events: dict[str, int] = {}
        self.last_event_ms = phone.clock.monotonic_ms()
        self.settings = {
            "actionAcknowledgmentTimeout": 500,
            "keyInjectionDelay": 0,
            "scrollAcknowledgmentTimeout": 200,
            "uiAutomationFlags": 0,
            "waitForIdleTimeout": 0,
            "waitForSelectorTimeout": 0,
        }

    # looking

    def find(self, target: Selector | str) -> Node | None:
        self.phone.catch_up()
        if isinstance(target, str):
            return find_in_active(self.object(target), active_root(self.phone))
        if target.is_plain:
            return find(target, roots(self.phone), None)
        return find_in_active(target, active_root(self.phone))

    def need(self, target: Selector | str) -> Node:
        node = self.find(target)
        if node is None:
            raise not_found(self.object(target) if isinstance(target, str) else target)
        return node

    def object(self, name: str) -> Selector:
        if name not in self.objects:
            raise not_found(f"UiObject {name} not found!")
        return self.objects[name]

    def keep(self, selector: Selector) -> str:
        name = str(UUID(int=self.phone.random.getrandbits(128), version=4))
        self.objects[name] = selector
        self.phone.later(OBJECT_LIFE_MS, lambda: self.objects.pop(name, None))
        return name

    # waiting

    async def until(self, holds: Callable[[], bool], timeout_ms: float, poll_ms: float = POLL_MS) -> bool:
        """Look again and again on the phone's clock; the first look is at once."""
        clock = self.phone.clock
        end = clock.monotonic_ms() + timeout_ms
        while True:
            self.phone.catch_up()
            if holds():
                return True
            left = end - clock.monotonic_ms()
            if left <= 0:
                return False
            await clock.sleep_ms(min(poll_ms, left))

    async def acknowledged(self, before: int, timeout_ms: float | None = None) -> bool:
        limit = float(self.settings["actionAcknowledgmentTimeout"]) if timeout_ms is None else timeout_ms
        return await self.until(lambda: self.events > before, limit, 20.0)

    # hearing

    def on_accessibility_event(self, event: tuple[float, str, str, str]) -> None:
        self.last_event_ms, name, package, text = event
        self.events += 1
        if name == "TYPE_VIEW_SCROLLED":
            self.scrolls += 1
        elif name == "TYPE_WINDOW_CONTENT_CHANGED":
            for key in ("", package):
                self.content_events[key] = self.content_events.get(key, 0) + 1
        elif name == "TYPE_NOTIFICATION_STATE_CHANGED" and text == self.phone.systemui.last_toast:
            self.last_toast = text
        elif name == "TYPE_VIEW_TEXT_TRAVERSED_AT_MOVEMENT_GRANULARITY" and text:
            self.last_text = text


HEADER = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
LINE = "\r\n"
MAX_DEPTH = 50
_NAF_EXCLUDED = frozenset({"android.widget.GridView", "android.widget.GridLayout", "android.widget.ListView"})
_NAF_EXCLUDED |= {"android.widget.TableLayout"}
_SPECIAL = re.compile("[&<>\"'\n\r\t\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_BOOL = ("false", "true")


@method("dumpWindowHierarchy", "bool", "int", "bool")
async def dump(server: Server, compressed: bool, depth: int, only_active: bool) -> str:
    phone = server.phone
    phone.catch_up()
    if only_active:
        root = active_root(phone, compressed=compressed)
        nodes = [] if root is None else [root]
    else:
        nodes = roots(phone, compressed=compressed)
    return write(nodes, phone.display.rotation, depth)


@method("dumpWindowHierarchy", "bool", "int")
async def _dump_to_depth(server: Server, compressed: bool, depth: int) -> str:
    return await dump(server, compressed, depth, False)


@method("dumpWindowHierarchy", "bool")
async def _dump_all(server: Server, compressed: bool) -> str:
    return await dump(server, compressed, MAX_DEPTH, False)


def write(nodes: list[Node], rotation: int, depth: int) -> str:
    """The document; without any window the root has no content."""
    if not nodes:
        return f'{HEADER}{LINE}<hierarchy rotation="{rotation}" />'
    lines = [line for root in nodes for line in _lines(root, 0, 1, depth)]
    return LINE.join([HEADER, f'<hierarchy rotation="{rotation}">', *lines, "</hierarchy>"])


def _lines(node: Node, index: int, level: int, depth: int) -> Iterator[str]:
    indent = "  " * level
    children = node.children if depth > 0 else []
    tag = f"{indent}<node{_attributes(node, index)}"
    if not children:
        yield f"{tag} />"
        return
    yield f"{tag}>"
    for child in children:
        yield from _lines(child, child.index, level + 1, depth - 1)
    yield f"{indent}</node>"


def _attributes(node: Node, index: int) -> str:
    left, top, right, bottom = node.bounds
    naf = ' NAF="true"' if _is_naf(node) else ""
    return (
        f'{naf} index="{index}" text={quote(_text(node))} resource-id={quote(node.resource_id)} '
        f'class="{node.cls}" package="{node.package}" content-desc={quote(node.desc)} '
        f'checkable="{_BOOL[node.checkable]}" checked="{_BOOL[node.checked]}" '
        f'clickable="{_BOOL[node.clickable]}" enabled="{_BOOL[node.enabled]}" '
        f'focusable="{_BOOL[node.focusable]}" focused="{_BOOL[node.focused]}" '
        f'scrollable="{_BOOL[node.scrollable]}" long-clickable="{_BOOL[node.long_clickable]}" '
        f'password="{_BOOL[node.password]}" selected="{_BOOL[node.selected]}" visible-to-user="true" '
        f'bounds="[{left},{top}][{right},{bottom}]" drawing-order="{node.drawing_order}" '
        f'hint={quote(node.hint)} display-id="0"'
    )


def _text(node: Node) -> str:
    if node.cls in {"android.widget.SeekBar", "android.widget.RatingBar"}:
        return str(float(node.view.value))
    return node.text


def quote(text: str) -> str:
    """Double quotes, or single ones around a text that has double ones; what XML forbids becomes a dot."""
    mark = "'" if '"' in text else '"'
    if not _SPECIAL.search(text):
        return f"{mark}{text}{mark}"

    def replace(match: re.Match[str]) -> str:
        character = match[0]
        if character in "\"'":
            return f"&#{ord(character)};" if character == mark else character
        return _ESCAPES.get(character, ".")

    return f"{mark}{_SPECIAL.sub(replace, text)}{mark}"


def _is_naf(node: Node) -> bool:
    if node.cls in _NAF_EXCLUDED or not node.clickable or not node.enabled:
        return False
    return not any(inner.text or inner.desc for inner in node)
