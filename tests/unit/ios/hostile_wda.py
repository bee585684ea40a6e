"""WebDriverAgents that misbehave, by broken parts of trees and broken bytes, and a judge on their side.

It shares no code with the client: it keeps its own field, counts the inputs that it carried out, and knows
which words it put into sound parts of a tree. `attempt(seed)` plays one case and returns what was wrong.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from handrail.clock import Clock
from handrail.errors import HandrailError
from handrail.ios.surface import IosSurface, open_iphone
from handrail.screen.node import Screen, ScreenPoint
from handrail.surface import capabilities as can
from handrail.surface.gesture import swipe, tap

Raw = dict[str, Any]
BOUND_S = 700.0
"""Of the story's time: a look may be tried at three depths, with a minute and a half for each answer."""
KINDS = [
    "Other", "Button", "StaticText", "Cell", "Image", "TextField", "Switch", "Table", "ScrollView", "Link",
]  # fmt: skip
ODD_TYPES = [
    "Hologram", "", None, 9, "XCUIElementTypeButton", "AXButton", "button", ["Button"], {"a": 1}, "🦄",
]  # fmt: skip
ODD_RECTS: list[Any] = [
    {"x": 10.25, "y": 20.75, "width": 100.5, "height": 40.0},
    {"x": "10", "y": "20", "width": "9", "height": "9"},
    {"x": float("nan"), "y": 0, "width": 10, "height": 10},
    {"x": 0, "y": 0, "width": float("inf"), "height": 1},
    {"x": -9, "y": -9, "width": -5, "height": -5}, {"x": 1e308, "y": -1e308, "width": 1e308, "height": 1e308},
    {"x": 0, "y": 0}, {}, None, [], "rect", 7, {"x": None, "y": None, "width": None, "height": None},
    {"origin": {"x": 1, "y": 2}, "size": {"width": 3, "height": 4}},
    {"x": True, "y": [], "width": {}, "height": ""},
    {"x": 10**400, "y": 0, "width": 10**400, "height": 5},
]  # fmt: skip
ODD_WORDS: list[Any] = [
    None, "", 5, 1.5, True, [], {}, ["a"], "\ud800 half", "tab\tline\nend\u0000", "x" * 40_000, "\u202eright",
    "0", "NaN",
]  # fmt: skip
ODD_CHILDREN: list[Any] = [None, [], {}, "children", 3, [None], [3, "x"], [[]], [{}], [{"type": None}]]
ODD_TREES: list[Any] = [
    None, {}, [], "", 0, True, "<XCUIElementTypeApplication/>", {"type": "Application"},
    {"type": 2, "rect": None},
    [{"type": "Application", "rect": {}}], {"type": "Application", "rect": {}, "children": []},
    {"type": "Window", "rect": {"x": 0, "y": 0, "width": 390, "height": 844}},
    {"value": {"type": "Application"}},
    {"error": 3}, "{}", "not a tree",
]  # fmt: skip
ODD_VALUES: list[Any] = [
    None, {}, [], "", "text", 0, -1, 1e999, True, [[]], {"ELEMENT": 4}, {"ELEMENT": "a b/c?d#e"},
]  # fmt: skip
ERRORS = [
    ("invalid session id", 404), ("unknown command", 404), ("unknown method", 405), ("invalid argument", 400),
    ("no such element", 404), ("stale element reference", 404), ("no such alert", 404), ("timeout", 408),
    ("invalid element state", 400), ("unable to capture screen", 500), ("unknown error", 500),
    ("unexpected alert open", 500), ("unsupported operation", 500), ("session not created", 500),
    ("a word of the future", 418), ("", 500),
]  # fmt: skip
BEFORE_ACTING = {
    "invalid session id", "unknown command", "unknown method", "invalid argument", "no such element",
    "stale element reference", "no such alert", "unsupported operation",
}  # fmt: skip
"""Errors after which WebDriverAgent has done nothing, by its own table."""
DEEP = "a branch that json can't write"
INPUTS = ("/actions", "/wda/keys", "/clear", "/value", "/wda/pressButton", "/wda/lock", "/wda/unlock", "/url",
          "/wda/apps/launch", "/wda/apps/terminate", "/orientation", "/wda/keyboard/dismiss")  # fmt: skip


@dataclass
class Misbehaviour:
    """What goes wrong with the answers to one route, from its `since`-th request on, so many times."""

    way: str
    route: str
    since: int
    times: int
    choice: int
    acts: bool
    """Whether an input is carried out before it is refused with an error that leaves that open."""


@dataclass
class HostileWda:
    luck: random.Random
    sure: set[str] = field(default_factory=set)
    """Words in sound parts of the tree."""
    tree: Any = None
    trouble: list[Misbehaviour] = field(default_factory=list)
    session: str | None = None
    opened: int = 0
    text: str = ""
    done: list[tuple[str, Any]] = field(default_factory=list)
    """Inputs that were carried out."""
    counts: dict[str, int] = field(default_factory=dict)
    port: int = 0
    depth: int = 0
    """Boxes around each other in the place of `DEEP`."""

    # trees

    def plant(self) -> None:
        luck = self.luck
        if luck.random() < 0.12:
            self.tree, self.sure = luck.choice(ODD_TREES), set()
            return
        windows = [self._window(number) for number in range(luck.choice((1, 1, 1, 2, 4)))]
        if luck.random() < 0.3:
            windows.append(self._alert(luck.choice((1, 2, 3))))
        if luck.random() < 0.4:
            windows += [self._keyboard(y, 195) for y in ((553, 553) if luck.random() < 0.3 else (553,))]
        root = _sound("Application", (0, 0, 390, 844), "Shop", windows)
        if luck.random() < 0.08:
            self.depth = luck.choice((40, 70, 200, 900, 3_000))
            root["children"].append(DEEP)
            self.sure = set() if self.depth > 40 else self.sure
        if luck.random() < 0.15:
            root["rect"] = luck.choice(ODD_RECTS)
        self.tree = root

    def _window(self, number: int) -> Raw:
        luck = self.luck
        rows = []
        for row in range(luck.randint(1, 7)):
            label = f"Sure {number}.{row}"
            self.sure.add(label)
            box = (16, 60 + 80 * row, 350, 60)
            rows.append(_sound(luck.choice(("Button", "StaticText", "Cell", "Switch")), box, label))
            if luck.random() < 0.7:
                rows.append(self._broken(box))
        luck.shuffle(rows)
        return _sound("Window", (0, 0, 390, 844), "", [_sound("Other", (0, 0, 390, 844), "", rows)])

    def _broken(self, box: tuple[int, int, int, int]) -> Any:
        """One element with one to three parts that are odd or missing; its words are not counted on."""
        luck = self.luck
        node: Any = _sound(luck.choice(KINDS), box, "Broken", [_sound("StaticText", box, "Broken too")])
        for _ in range(luck.randint(1, 3)):
            key = luck.choice([*node])
            if luck.random() < 0.35:
                node.pop(key)
                continue
            odd = {"type": ODD_TYPES, "rect": ODD_RECTS, "children": ODD_CHILDREN}
            node[key] = luck.choice(odd.get(key, ODD_WORDS))
            if not node:
                break
        return luck.choice(ODD_CHILDREN) if luck.random() < 0.1 else node

    def _alert(self, nested: int) -> Raw:
        inner = [self._alert(nested - 1)] if nested > 1 else []
        label = f"Sure button {nested}"
        self.sure.add(label)
        button = _sound("Button", (80, 430 + 44 * nested, 230, 40), label)
        return _sound("Alert", (60, 300, 270, 300), f"Alert {nested}", [button, *inner])

    def _keyboard(self, y: int, width: int) -> Raw:
        keys = [_sound("Key", (10 + 30 * at, y + 10, 28, 40), letter) for at, letter in enumerate("qwert")]
        return _sound("Keyboard", (self.luck.choice((0, 195)), y, width, 291), "", keys)

    # answers

    def value_of(self, method: str, path: str, body: Any) -> Any:
        if path == "/session" and method == "POST":
            self.opened += 1
            self.session = f"AB-{self.opened}"
            return {"sessionId": self.session, "capabilities": {}}
        if method == "POST" and path.endswith(INPUTS):
            self._carry_out(path, body)
            return None
        field_of = {"type": "XCUIElementTypeTextField", "value": self.text, "placeholderValue": "Name"}
        fixed: dict[str, Any] = {
            "/status": {
                "ready": True,
                "os": {"version": "17.5"},
                "device": "iphone",
                "build": {"time": "now"},
            },
            "/wda/screen": {"scale": 3, "screenSize": {"width": 390, "height": 844}},
            "/source": self.tree,
            "/wda/activeAppInfo": {"pid": 7, "bundleId": "com.example.shop"},
            "/window/size": {"width": 390, "height": 844},
            "/orientation": "PORTRAIT",
            "/wda/locked": False,
            "/wda/device/info": {"model": "iPhone", "userInterfaceStyle": "light"},
            "/wda/batteryInfo": {"level": 0.5, "state": 1},
            "/element/active": {"ELEMENT": "F-1"},
            "/element/F-1/rect": {"x": 16, "y": 60, "width": 350, "height": 60},
            "/wda/apps/list": [{"pid": 3, "bundleId": "com.apple.springboard"}],
            "/wda/apps/state": 4,
            "/appium/settings": {},
            "/screenshot": "iVBORw0KGgo=",
            **{f"/element/F-1/attribute/{name}": value for name, value in field_of.items()},
        }
        if path not in fixed:
            raise LookupError("unknown command")
        return fixed[path]

    def _carry_out(self, path: str, body: Any) -> None:
        self.done.append((path, body))
        if path.endswith("/wda/keys"):
            self.text += "".join(body["value"])
        if path.endswith("/clear"):
            self.text = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                method, target, _ = head.split(" ", 2)
                length = [line for line in head.splitlines() if line.lower().startswith("content-length")]
                data = await reader.readexactly(int(length[0].split(":")[1]) if length else 0)
                if not await self._respond(writer, method, target.partition("?")[0], data):
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _respond(self, writer: asyncio.StreamWriter, method: str, target: str, data: bytes) -> bool:
        body = json.loads(data) if data else None
        path, refusal = target, ""
        if target.startswith("/session/"):
            _, _, session, *rest = target.split("/")
            path = "/" + "/".join(rest)
            refusal = "invalid session id" if session != self.session else ""
            if not rest and not refusal:
                self.session = None
                return await _write(writer, self._document(None), 200)
        wrong = self._wrong_with(f"{method} {path}")
        if wrong is not None and wrong.way == "session vanishes":
            self.session, refusal = None, "invalid session id"
        elif wrong is not None and wrong.way == "error" and not refusal:
            refusal = ERRORS[wrong.choice % len(ERRORS)][0] or "unknown error"
            if refusal not in BEFORE_ACTING and wrong.acts:
                self._value(method, path, body)
        if refusal:
            status = dict(ERRORS).get(refusal, 404)
            value = {"error": refusal, "message": f"{refusal}!", "traceback": ""}
            return await _write(writer, self._document(value), status)
        value = self._value(method, path, body)
        if isinstance(value, LookupError):
            return await _write(writer, self._document({"error": "unknown command", "message": ""}), 404)
        if wrong is not None:
            return await self._spoiled(writer, wrong, value)
        return await _write(writer, self._document(value), 200)

    def _value(self, method: str, path: str, body: Any) -> Any:
        try:
            return self.value_of(method, path, body)
        except LookupError as error:
            return error

    def _document(self, value: Any) -> bytes:
        text = json.dumps({"value": value, "sessionId": self.session})
        box = json.dumps(_sound("Other", (0, 0, 390, 844), ""))[:-1]
        branch = (box + ', "children": [') * self.depth + box + "}" + "]}" * self.depth
        return text.replace(json.dumps(DEEP), branch).encode()

    def _wrong_with(self, route: str) -> Misbehaviour | None:
        count = self.counts[route] = self.counts.get(route, 0) + 1
        for wrong in self.trouble:
            if wrong.route == route and wrong.since <= count < wrong.since + wrong.times:
                return wrong
        return None

    async def _spoiled(self, writer: asyncio.StreamWriter, wrong: Misbehaviour, value: Any) -> bool:
        text, choice = self._document(value), wrong.choice
        plain = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)
        match wrong.way:
            case "dropped":
                writer.write(plain[: choice % (len(plain) + 1)])
            case "odd value":
                return await _write(writer, self._document(ODD_VALUES[choice % len(ODD_VALUES)]), 200)
            case "HTTP/1.0":
                writer.write(b"HTTP/1.0 200 OK\r\n\r\n" + text)
            case "chunked":
                size = choice % 97 + 1
                parts = [text[at : at + size] for at in range(0, len(text), size)]
                writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                for part in [*parts, b""]:
                    writer.write(b"%x\r\n%s\r\n" % (len(part), part))
                await writer.drain()
                return True
            case "byte by byte":
                for at in range(min(len(plain), 2_000)):
                    writer.write(plain[at : at + 1])
                    await asyncio.sleep(0)
                writer.write(plain[2_000:])
                await writer.drain()
                return True
            case "slow":
                await asyncio.sleep((0.2, 3, 15, 400)[choice % 4])
                writer.write(plain)
                await writer.drain()
                return True
            case _:
                writer.write(ODD_BYTES[choice % len(ODD_BYTES)].replace(b"%BODY%", text))
        return False


ODD_BYTES = [
    b"", b"\r\n\r\n", b"SSH-2.0\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 204 No\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n{}", b"HTTP/1.1 abc X\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", b"\xff\xfe\x00\x01" * 30 + b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<html>", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"HTTP/1.1 100 Go on\r\n\r\n" * 40,
    b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n\xef\xbb\xbf{}  ",
    b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
    b"HTTP/1.1 500 Oops\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<h1>!</h1",
    b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000 + b"\r\n", b"HTTP/1.1 200 OK\n\n%BODY%",
]  # fmt: skip
WAYS = ["dropped", "dropped", "odd value", "odd value", "HTTP/1.0", "chunked", "byte by byte", "slow",
        "odd bytes", "odd bytes", "error", "error", "session vanishes"]  # fmt: skip


async def _write(writer: asyncio.StreamWriter, text: bytes, status: int) -> bool:
    writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(text), text))
    await writer.drain()
    return True


def _sound(kind: str, box: tuple[int, int, int, int], label: str, children: list[Any] | None = None) -> Raw:
    x, y, width, height = box
    flags = {"isEnabled": "1", "isVisible": "1", "isAccessible": "1" if label else "0"}
    node = {"type": kind, "name": label or None, "label": label or None, "value": None, "traits": "", **flags}
    node["rect"] = {"x": x, "y": y, "width": width, "height": height}
    return node | ({"children": children} if children else {})


# what is done, and what is judged

TYPED = "Grüße 7"
POINT = ScreenPoint(300, 300)
Deed = Callable[[IosSurface], Awaitable[Any]]
DEEDS: dict[str, Deed] = {
    "look": lambda phone: phone.need(can.ScreenReader).look(),
    "tap": lambda phone: phone.need(can.Touch).perform(tap(POINT)),
    "swipe": lambda phone: phone.need(can.Touch).perform(swipe(POINT, ScreenPoint(300, 900), 200)),
    "type": lambda phone: phone.need(can.TextInput).type_text(TYPED),
    "clear": lambda phone: phone.need(can.TextInput).clear_text(),
    "home": lambda phone: phone.need(can.KeyPresses).key("home"),
    "back": lambda phone: phone.need(can.KeyPresses).key("back"),
    "enter": lambda phone: phone.need(can.KeyPresses).key("enter"),
    "start": lambda phone: phone.need(can.Apps).start("com.example.shop", None),
    "stop": lambda phone: phone.need(can.Apps).stop("com.example.shop"),
    "turn": lambda phone: phone.need(can.DeviceSettings).set_orientation("landscape"),
    "display": lambda phone: phone.need(can.ScreenReader).display(),
    "foreground": lambda phone: phone.need(can.ScreenReader).foreground(),
    "picture": lambda phone: phone.need(can.ScreenReader).screenshot(),
    "state": lambda phone: phone.need(can.DeviceSettings).state(),
    "facts": lambda phone: phone.facts(),
    "check": lambda phone: phone.check(),
}
ROUTES = [
    "GET /source", "GET /source", "GET /status", "GET /wda/screen", "GET /wda/activeAppInfo",
    "GET /window/size",
    "GET /orientation", "GET /wda/locked", "GET /wda/device/info", "GET /wda/batteryInfo",
    "GET /element/active",
    "GET /element/F-1/rect", "GET /element/F-1/attribute/value", "GET /element/F-1/attribute/type",
    "GET /wda/apps/list", "POST /wda/apps/state", "POST /appium/settings", "GET /screenshot", "POST /session",
    "POST /actions", "POST /wda/keys", "POST /element/F-1/clear", "POST /wda/pressButton",
    "POST /wda/apps/launch",
    "POST /orientation", "POST /wda/keyboard/dismiss", "POST /wda/apps/terminate",
]  # fmt: skip
OF_DEED = {
    "look": ["GET /source", "GET /wda/activeAppInfo", "GET /element/active", "GET /wda/screen"],
    "tap": ["POST /actions"], "swipe": ["POST /actions"],
    "type": [
    "POST /wda/keys", "POST /element/F-1/clear",
    "GET /element/F-1/attribute/value", "GET /element/active"], "clear": ["POST /element/F-1/clear"],
    "home": ["POST /wda/pressButton"], "enter": ["POST /wda/keys"], "start": ["POST /wda/apps/launch"],
    "stop": ["POST /wda/apps/terminate"], "turn": ["POST /orientation", "GET /orientation"],
    "display": ["GET /window/size", "GET /orientation"], "picture": ["GET /screenshot"],
    "back": ["GET /source", "POST /actions", "POST /wda/keyboard/dismiss"],
}  # fmt: skip


def words_on(screen: Screen) -> set[str]:
    return {
        text
        for node in screen.nodes
        for text in (node.text, node.description, node.pane_title, node.state_description, node.hint_text)
        if text
    }


def judged_screen(screen: Screen, sure: set[str]) -> list[str]:
    """A screen may be incomplete only where it says so."""
    words = words_on(screen)
    if screen.is_cut or screen.warnings:
        return []
    if not words:
        return ["an empty screen was called good"]
    missing = sorted(label for label in sure if not any(label in text for text in words))
    return [f"lost without a word: {missing[:5]}"] if missing else []


async def _did(phone: IosSurface, deed: str, server: HostileWda) -> list[str]:
    """Does one thing and judges it."""
    before, text = len(server.done), server.text
    wrong: list[str] = []
    error: HandrailError | None = None
    answer: Any = None
    try:
        async with asyncio.timeout(BOUND_S):
            answer = await DEEDS[deed](phone)
    except HandrailError as caught:
        error = caught
    except TimeoutError:
        return [f"{deed} took more than {BOUND_S} s"]
    except Exception as crash:
        return [f"{deed} crashed: {type(crash).__name__}: {crash}"]
    inputs = server.done[before:]
    delivery = error.details.get("delivery") if error else None
    if delivery == "not_delivered" and inputs:
        wrong.append(f"{deed} said not_delivered after {inputs}")
    if deed != "type" and len(inputs) > 1:
        wrong.append(f"{deed} was carried out {len(inputs)} times: {inputs}")
    if deed == "type":
        if server.text.count(TYPED) > text.count(TYPED) + 1 or len(server.text) > len(text) + len(TYPED):
            wrong.append(f"typed twice: {server.text!r}")
        if error is None and answer.arrived and server.text != text + TYPED:
            wrong.append(f"{server.text!r} was called arrived")
    elif error is None and deed in ("tap", "swipe", "home", "start") and not inputs:
        wrong.append(f"{deed} was called done and was not")
    if error is None and isinstance(answer, Screen):
        wrong += judged_screen(answer, server.sure)
    return wrong


async def attempt(seed: int, clock: Clock) -> list[str]:
    """One server, one or two troubles, three deeds; then the server mends and must be readable again."""
    luck = random.Random(seed)
    server = HostileWda(luck)
    server.plant()
    deeds = luck.choices([*DEEDS], k=3)
    for _ in range(luck.choice((0, 1, 1, 1, 2))):
        likely = [route for deed in deeds for route in OF_DEED.get(deed, [])]
        route = luck.choice(likely or ROUTES) if luck.random() < 0.7 else luck.choice(ROUTES)
        times = luck.choice((1, 1, 2, 99))
        since, number = luck.choice((1, 1, 2, 3)), luck.randrange(1 << 16)
        server.trouble.append(
            Misbehaviour(luck.choice(WAYS), route, since, times, number, luck.random() < 0.6)
        )
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    wrong: list[str] = []
    try:
        wrong = await _story(server, deeds, clock)
    finally:
        listener.close()
    about = f"{[(one.way, one.route, one.since, one.times, one.choice, one.acts) for one in server.trouble]}"
    return [f"seed {seed}: {line} | {about}" for line in wrong]


async def _story(server: HostileWda, deeds: list[str], clock: Clock) -> list[str]:
    try:
        phone = await open_iphone(f"ios:http://127.0.0.1:{server.port}", clock, {"PATH": "/nonexistent"})
    except HandrailError:
        return []
    except Exception as crash:
        return [f"opening crashed: {type(crash).__name__}: {crash}"]
    wrong: list[str] = []
    try:
        for deed in deeds:
            wrong += await _did(phone, deed, server)
        server.trouble.clear()
        server.sure.clear()
        server.sure.add("Mended")
        server.tree = _sound(
            "Application", (0, 0, 390, 844), "Shop",
            [_sound("Window", (0, 0, 390, 844), "", [_sound("Button", (9, 99, 90, 40), "Mended")])],
        )  # fmt: skip
        try:
            last = await phone.need(can.ScreenReader).look()
            wrong += [f"after mending: {line}" for line in judged_screen(last, server.sure)]
        except HandrailError:
            try:  # an ended session or a broken connection may cost one look
                wrong += judged_screen(await phone.need(can.ScreenReader).look(), server.sure)
            except HandrailError as error:
                wrong.append(f"no look works again: {error.message}")
    finally:
        await phone.close()
    return wrong
