"""Appium's server on the phone: HTTP on port 6790, the WebDriver protocol behind it, run by `am instrument`.

The test package's instrumentation serves until its session is deleted, as the real one does.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import Any
from uuid import UUID

from handrail_sim.channels.appium.routes import SESSION, answer, number, route, routes
from handrail_sim.channels.appium.server import NOT_FOUND, Refused, Server, reference
from handrail_sim.channels.appium.source import attributes, write
from handrail_sim.channels.http import HelperLife, Request, Response, listening
from handrail_sim.channels.u2.objects import SEARCH_SWIPES
from handrail_sim.input.keys import NoKeyFor
from handrail_sim.screen.accessibility import Node, active_root, roots
from handrail_sim.shell.call import Call
from handrail_sim.view.hit import is_slider
from handrail_sim.view.scrolling import at_end, at_start
from handrail_sim.view.view import Rect

_ALIASES = {
    "name": "content-desc",
    "contentDescription": "content-desc",
    "resourceId": "resource-id",
    "className": "class",
    "longClickable": "long-clickable",
    "contentSize": "bounds",
}


def locator(body: dict[str, Any]) -> tuple[str, str, str]:
    """Strategy, selector and context, in the words of Appium's driver or of W3C."""
    strategy = body.get("strategy") or body.get("using")
    selector = body.get("selector") if body.get("selector") is not None else body.get("value")
    if not isinstance(strategy, str) or not isinstance(selector, str) or not selector:
        raise Refused("invalid argument", "A locator needs a strategy and a selector")
    return strategy, selector, reference(body.get("context")) or ""


@route("POST", f"{SESSION}/element")
@route("POST", f"{SESSION}/element/{{element}}/element")
async def find_element(server: Server, body: dict[str, Any], context: str = "") -> dict[str, str]:
    strategy, selector, argument = locator(body)
    nodes = await server.find(strategy, selector, context or argument)
    if not nodes:
        raise Refused("no such element", NOT_FOUND)
    return server.keep(nodes[0])


@route("POST", f"{SESSION}/elements")
@route("POST", f"{SESSION}/element/{{element}}/elements")
async def find_all(server: Server, body: dict[str, Any], context: str = "") -> list[dict[str, str]]:
    strategy, selector, argument = locator(body)
    return [server.keep(node) for node in await server.find(strategy, selector, context or argument)]


@route("GET", f"{SESSION}/element/active")
async def _active(server: Server, _: dict[str, Any]) -> dict[str, str]:
    root = active_root(server.phone)
    match = next((node for node in root or () if node.focused), None)
    if match is None:
        raise Refused("no such element", NOT_FOUND)
    return server.keep(match)


@route("GET", f"{SESSION}/appium/element/{{element}}/first_visible")
async def _first_visible(server: Server, _: dict[str, Any], element: str) -> dict[str, str]:
    children = server.node(element).children
    if not children:
        raise Refused("no such element", NOT_FOUND)
    return server.keep(children[0])


# asking


@route("GET", f"{SESSION}/element/{{element}}/attribute/{{name}}")
async def attribute(server: Server, _: dict[str, Any], element: str, name: str) -> str | None:
    """Texts and flags, all as text; what has none of that name is an error."""
    node = server.node(element)
    existing = attributes(node, node.index)
    existing |= {"content-desc": node.desc or node.text if name == "name" else node.desc, "hint": node.hint}
    existing |= {"resource-id": node.resource_id, "contentSize": "", "extras": ""}
    wanted = _ALIASES.get(name, name)
    if wanted not in existing:
        raise Refused(
            "unknown command",
            f"'{name}' attribute is unknown for the element. Only the following attributes are supported: "
            f"[{', '.join(sorted(existing))}]",
        )
    value = existing[wanted]
    return value if value or wanted == "text" else None


@route("GET", f"{SESSION}/element/{{element}}/text")
async def _text(server: Server, _: dict[str, Any], element: str) -> str:
    node = server.node(element)
    return "" if node.view.editable and not node.view.text and node.text == node.hint else node.text


@route("GET", f"{SESSION}/element/{{element}}/displayed")
async def _displayed(server: Server, _: dict[str, Any], element: str) -> bool:
    server.node(element)
    return True


@route("GET", f"{SESSION}/element/{{element}}/selected")
async def _selected(server: Server, _: dict[str, Any], element: str) -> bool:
    node = server.node(element)
    return node.selected or node.checked


@route("GET", f"{SESSION}/element/{{element}}/rect")
async def rect(server: Server, _: dict[str, Any], element: str) -> dict[str, int]:
    left, top, right, bottom = server.node(element).bounds
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


@route("GET", f"{SESSION}/element/{{element}}/location")
async def _location(server: Server, body: dict[str, Any], element: str) -> dict[str, int]:
    matches = await rect(server, body, element)
    return {"x": matches["x"], "y": matches["y"]}


@route("GET", f"{SESSION}/element/{{element}}/size")
async def _element_size(server: Server, body: dict[str, Any], element: str) -> dict[str, int]:
    matches = await rect(server, body, element)
    return {"width": matches["width"], "height": matches["height"]}


@route("GET", f"{SESSION}/element/{{element}}/screenshot")
async def _picture(server: Server, _: dict[str, Any], element: str) -> str:
    bounds, png = server.node(element).bounds, await server.phone.screenshot()
    return b64encode(await server.phone.painted(lambda: _cut(png, bounds))).decode()


def _cut(png: bytes, bounds: tuple[int, int, int, int]) -> bytes:
    from PIL import Image  # noqa: PLC0415 - only for those who ask for pictures

    out = BytesIO()
    Image.open(BytesIO(png)).crop(bounds).save(out, "PNG")
    return out.getvalue()


# acting


@route("POST", f"{SESSION}/element/{{element}}/click")
async def _click(server: Server, _: dict[str, Any], element: str) -> None:
    await server.phone.long_press(*server.node(element).center, CLICK_MS)
    await server.idle()


@route("POST", f"{SESSION}/element/{{element}}/value")
async def _type(server: Server, body: dict[str, Any], element: str) -> None:
    """Text is added to what a field has, or replaces it; a line's end at last is the keyboard's action."""
    node = server.node(element)
    text = words(body)
    if is_slider(node.view):
        raise Refused("invalid element state", "The progress of this element can't be set by text")
    action = text.endswith(("\n", "\\n"))
    text = text.removesuffix("\\n").removesuffix("\n")
    put(server, node, text if body.get("replace") else node.view.text + text)
    if action:
        server.phone.editing.focus(node.window, node.view.id or node.view.key or "")
        server.phone.editing.submit()
    await server.idle()


def words(body: dict[str, Any]) -> str:
    """The text to type; older clients send its characters as `value`."""
    argument = body.get("text")
    argument = body.get("value") if argument is None else argument
    if isinstance(argument, list):
        argument = "".join(str(entry) for entry in argument)
    if not isinstance(argument, str):
        raise Refused("invalid argument", "There is no text to type")
    return argument


def put(server: Server, node: Node, text: str) -> None:
    if not server.phone.set_text(node.view, text):
        raise Refused(
            "invalid element state",
            f"Cannot set the element to '{text}'. Did you interact with the correct element?",
        )


routes(
    {
        "GET /element/{element}/name": lambda server, _, element: server.node(element).desc,
        "GET /element/{element}/enabled": lambda server, _, element: server.node(element).enabled,
        "POST /element/{element}/clear": lambda server, _, element: put(server, server.node(element), ""),
    }
)


MOVE_MS = 10.0
LEAST_MS = 50.0
"""A finger that goes down and up in one breath stays this long, so that it is a tap."""
CODES = {0xE003: 67, 0xE004: 61, 0xE006: 66, 0xE007: 66, 0xE00C: 111}
CODES |= {0xE011: 122, 0xE010: 123, 0xE012: 21, 0xE013: 19, 0xE014: 22, 0xE015: 20, 0xE017: 112, 0xE00D: 62}
"""The protocol's own characters for keys: backspace, tab, return, enter, escape, home, end, arrows."""


@dataclass(slots=True)
class Source:
    """One finger, keyboard or wait, with what it is to do in each tick."""

    kind: str
    steps: list[dict[str, Any]]
    finger: int = 0
    x: float = 0.0
    y: float = 0.0
    goal: tuple[float, float] | None = None
    is_down: bool = field(default=False)


@route("POST", f"{SESSION}/actions")
async def _perform(server: Server, body: dict[str, Any]) -> None:
    sources = _sources(body)
    try:
        for tick in range(max((len(entry.steps) for entry in sources), default=0)):
            now = [(entry, entry.steps[tick]) for entry in sources if tick < len(entry.steps)]
            await _tick(server, now)
    finally:
        for source in sources:
            if source.is_down:
                server.phone.pointer("up", source.x, source.y, source.finger)
    await server.automator.until(server.phone.is_idle, 3000, 20.0)


@route("DELETE", f"{SESSION}/actions")
async def _release(_server: Server, _: dict[str, Any]) -> None:
    """Nothing is held between two commands."""


def _sources(body: dict[str, Any]) -> list[Source]:
    arguments = body.get("actions")
    if not isinstance(arguments, list) or not arguments:
        raise Refused("invalid argument", "There are no actions")
    sources: list[Source] = []
    for entry in arguments:
        steps = entry.get("actions") if isinstance(entry, dict) else None
        if not isinstance(steps, list) or entry.get("type") not in {"pointer", "key", "none"}:
            raise Refused("invalid argument", f"Unknown source of actions: {entry!r}")
        fingers = sum(source.kind == "pointer" for source in sources)
        sources.append(Source(str(entry["type"]), steps, fingers))
    return sources


async def _tick(server: Server, now: list[tuple[Source, dict[str, Any]]]) -> None:
    """What happens at once; the tick lasts as long as its longest part."""
    lasts = 0.0
    for source, step in now:
        source.goal = None
        lasts = max(
            lasts, number(step, "duration", 0.0) if (step.get("type") in {"pause", "pointerMove"}) else 0.0
        )
        if step.get("type") == "pointerMove":
            source.goal = _goal(server, source, step)
        else:
            lasts = max(lasts, _at_once(server, source, step))
    moving = [(source, source.x, source.y) for source, _ in now if source.goal is not None]
    steps = max(1, int(lasts / MOVE_MS))
    for turn in range(1, steps + 1):
        if lasts > 0:
            await server.phone.clock.sleep_ms(lasts / steps)
        for source, x, y in moving:
            share = turn / steps
            goal = source.goal or (x, y)
            source.x, source.y = x + (goal[0] - x) * share, y + (goal[1] - y) * share
            if source.is_down:
                server.phone.pointer("move", source.x, source.y, source.finger)


def _goal(server: Server, source: Source, step: dict[str, Any]) -> tuple[float, float]:
    x, y = number(step, "x", 0.0), number(step, "y", 0.0)
    origin = step.get("origin", "viewport")
    if origin == "pointer":
        return source.x + x, source.y + y
    if origin == "viewport":
        return x, y
    middle = server.node(reference(origin)).center
    return middle[0] + x, middle[1] + y


def _at_once(server: Server, source: Source, step: dict[str, Any]) -> float:
    """Down, up, a key; the ms that it takes at least."""
    kind = step.get("type")
    if kind == "pointerDown":
        source.is_down = True
        server.phone.pointer("down", source.x, source.y, source.finger)
        return LEAST_MS
    if kind in {"pointerUp", "pointerCancel"} and source.is_down:
        source.is_down = False
        server.phone.pointer("up", source.x, source.y, source.finger)
    elif kind == "keyDown":
        strike(server, str(step.get("value", "")))
    elif kind not in {"pause", "keyUp", "pointerUp", "pointerCancel"}:
        raise Refused("invalid argument", f"Unknown action '{kind}'")
    return 0.0


@route("POST", f"{SESSION}/keys")
async def _keys(server: Server, body: dict[str, Any]) -> None:
    for character in words(body):
        strike(server, character)
    await server.idle()


def strike(server: Server, character: str) -> None:
    code = CODES.get(ord(character)) if len(character) == 1 else None
    if code is not None:
        server.phone.key(code)
        return
    try:
        server.phone.type_ascii(character)
    except NoKeyFor:
        raise Refused(
            "unknown error", f"Cannot generate key events for the character '{character}'"
        ) from None


CLICK_MS, LONG_CLICK_MS = 50.0, 500.0
DRAG, FLING, PINCH, SCROLL, SWIPE = 2500.0, 7500.0, 2500.0, 5000.0, 5000.0
"""px per second on a screen of 160 dpi, as in androidx.test.uiautomator."""
GESTURES = f"{SESSION}/appium/gestures"
Box = tuple[float, float, float, float]
_AWAY = {"up": "down", "down": "up", "left": "right", "right": "left"}


def _area(server: Server, body: dict[str, Any]) -> Box:
    name = reference(body.get("origin"))
    if name:
        return server.node(name).bounds
    area = body.get("area")
    if not isinstance(area, dict):
        raise Refused("invalid argument", "Either element id or area coordinates must be provided")
    left, top = number(area, "left"), number(area, "top")
    return left, top, left + number(area, "width"), top + number(area, "height")


def _point(server: Server, body: dict[str, Any], name: str = "offset") -> tuple[float, float]:
    """A point of the screen, or of the element counted from its corner; without one the element's middle."""
    element, offset = reference(body.get("origin")), body.get(name)
    if isinstance(offset, dict):
        x, y = number(offset, "x"), number(offset, "y")
        left, top = server.node(element).bounds[:2] if element else (0, 0)
        return left + x, top + y
    if not element:
        raise Refused("invalid argument", "Either element id or offset must be provided")
    return server.node(element).center


def _speed(server: Server, body: dict[str, Any], default: float) -> float:
    speed = number(body, "speed", default * server.phone.display.density / 160)
    if speed <= 0:
        raise Refused("invalid argument", "The speed must be above zero")
    return speed / 1000


def _line(area: Box, way: str, percent: float) -> tuple[float, float, float, float]:
    if way not in _AWAY:
        raise Refused("invalid argument", f"Unknown direction '{way}': up, down, left or right")
    if not 0 < percent <= 1:
        raise Refused("invalid argument", "The percent must be in range (0..1]")
    left, top, right, bottom = area
    x, y = (left + right) / 2, (top + bottom) / 2
    across, down = (right - left) * percent / 2, (bottom - top) * percent / 2
    lines = {
        "up": (x, y + down, x, y - down),
        "down": (x, y - down, x, y + down),
        "left": (x + across, y, x - across, y),
        "right": (x - across, y, x + across, y),
    }
    x1, y1, x2, y2 = lines[way]
    return x1, y1 - (y1 >= bottom), x2, y2


async def _slide(server: Server, line: tuple[float, float, float, float], speed: float) -> None:
    length = abs(line[2] - line[0]) + abs(line[3] - line[1])
    await server.phone.swipe(*line, max(20.0, length / speed))
    await server.automator.until(server.phone.is_idle, 3000, 20.0)


@route("POST", f"{GESTURES}/double_click")
async def _double_click(server: Server, body: dict[str, Any]) -> None:
    point = _point(server, body)
    await server.phone.long_press(*point, CLICK_MS)
    await server.phone.clock.sleep_ms(CLICK_MS)
    await server.phone.long_press(*point, CLICK_MS)


@route("POST", f"{GESTURES}/drag")
async def _drag(server: Server, body: dict[str, Any]) -> None:
    start, end = _point(server, body, "start"), body.get("end")
    if not isinstance(end, dict):
        raise Refused("invalid argument", "The end point is missing")
    x, y = number(end, "x"), number(end, "y")
    length = abs(x - start[0]) + abs(y - start[1])
    await server.phone.drag(*start, x, y, length / _speed(server, body, DRAG))


@route("POST", f"{GESTURES}/swipe")
async def _swipe(server: Server, body: dict[str, Any]) -> None:
    line = _line(_area(server, body), str(body.get("direction", "")).lower(), number(body, "percent"))
    await _slide(server, line, _speed(server, body, SWIPE))


@route("POST", f"{GESTURES}/scroll")
async def _scroll(server: Server, body: dict[str, Any]) -> bool:
    """The content moves against the finger; true while there is more."""
    way, area = str(body.get("direction", "")).lower(), _area(server, body)
    line = _line(area, _AWAY.get(way, ""), number(body, "percent"))
    await _slide(server, line, _speed(server, body, SCROLL))
    return _has_more(server, area, way)


@route("POST", f"{GESTURES}/fling")
async def _fling(server: Server, body: dict[str, Any]) -> bool:
    way, area = str(body.get("direction", "")).lower(), _area(server, body)
    await _slide(server, _line(area, _AWAY.get(way, ""), 0.8), _speed(server, body, FLING))
    return _has_more(server, area, way)


def _has_more(server: Server, area: Box, way: str) -> bool:
    left, top, right, bottom = area
    x, y = (left + right) / 2, (top + bottom) / 2
    inside = [node for node in active_root(server.phone) or () if node.scrollable and _holds(node, x, y)]
    if not inside:
        return False
    view = inside[-1].view
    return not (at_end(view, server.phone.units) if way in {"down", "right"} else at_start(view))


def _holds(node: Node, x: float, y: float) -> bool:
    left, top, right, bottom = node.bounds
    return left <= x < right and top <= y < bottom


async def _pinch(server: Server, body: dict[str, Any], *, outward: bool) -> None:
    left, top, right, bottom = _area(server, body)
    near, far = 20.0, max(21.0, (right - left) / 2 * number(body, "percent"))
    start, end = (near, far) if outward else (far, near)
    duration = (far - near) / _speed(server, body, PINCH)
    await server.phone.pinch((left + right) / 2, (top + bottom) / 2, start, end, duration)


route("POST", f"{GESTURES}/pinch_open")(partial(_pinch, outward=True))
route("POST", f"{GESTURES}/pinch_close")(partial(_pinch, outward=False))


@route("POST", f"{SESSION}/gestures/scroll_to")
@route("POST", f"{SESSION}/touch/scroll")
async def _scroll_to(server: Server, body: dict[str, Any]) -> None:
    """Swipe until an element is there: from where it stands to the end, once."""
    arguments = body.get("params")
    arguments = arguments if isinstance(arguments, dict) else {}
    strategy, selector, _ = locator(arguments)
    swipes = int(number(arguments, "maxSwipes", SEARCH_SWIPES))
    group = reference(body.get("origin"))
    for _ in range(swipes + 1):
        if await server.find(strategy, selector):
            return
        scrollers = (node for node in active_root(server.phone) or () if node.scrollable)
        node = server.node(group) if group else next(scrollers, None)
        if node is None or at_end(node.view, server.phone.units):
            break
        await _slide(server, _line(node.bounds, "up", 0.8), _speed(server, {}, SCROLL))
    raise Refused("no such element", NOT_FOUND)


BACK = 4
DEVICE = f"{SESSION}/appium/device"
_ACCEPT = ("android:id/button1", "permission_allow", "permission_allow_button")
_DISMISS = ("android:id/button2", "permission_deny", "permission_deny_button")


@route("POST", "/session")
async def _open(server: Server, body: dict[str, Any]) -> dict[str, Any]:
    wanted = body.get("capabilities")
    wanted = wanted if isinstance(wanted, dict) else {}
    matches = wanted.get("firstMatch")
    first = matches[0] if isinstance(matches, list) and matches and isinstance(matches[0], dict) else {}
    always = wanted.get("alwaysMatch")
    arguments = {**first, **(always if isinstance(always, dict) else {})}
    server.capabilities = {name.removeprefix("appium:"): value for name, value in arguments.items()}
    server.session = str(UUID(int=server.phone.random.getrandbits(128), version=4))
    return {"sessionId": server.session, "capabilities": server.capabilities}


@route("DELETE", SESSION)
async def _close(server: Server, _: dict[str, Any]) -> None:
    server.session = ""


@route("GET", f"{SESSION}/source")
async def _source(server: Server, _: dict[str, Any]) -> str:
    await server.idle()
    return write(server.document())


@route("GET", f"{SESSION}/screenshot")
async def _screenshot(server: Server, _: dict[str, Any]) -> str:
    return b64encode(await server.phone.screenshot()).decode()


@route("POST", f"{SESSION}/appium/settings")
async def _set(server: Server, body: dict[str, Any]) -> None:
    wanted = body.get("settings")
    for name, value in (wanted if isinstance(wanted, dict) else {}).items():
        if isinstance(value, type(server.settings.get(name))):
            server.settings[name] = value


@route("POST", f"{SESSION}/appium/reset_ax_cache")
async def _reset_cache(_server: Server, _: dict[str, Any]) -> None:
    """Every look is a fresh one."""


# keys and rotation


@route("POST", f"{SESSION}/back")
async def _back(server: Server, _: dict[str, Any]) -> None:
    server.phone.key(BACK)
    await server.idle()


@route("POST", f"{DEVICE}/long_press_keycode")
async def _long_press(server: Server, body: dict[str, Any]) -> None:
    code, meta = int(number(body, "keycode")), int(number(body, "metastate", 0))
    server.phone.key(code, meta=meta, long_press=True)


@route("GET", f"{SESSION}/orientation")
@route("GET", f"{DEVICE}/declared_orientation")
async def _orientation(server: Server, _: dict[str, Any]) -> str:
    return "LANDSCAPE" if server.phone.display.rotation % 2 else "PORTRAIT"


@route("POST", f"{SESSION}/orientation")
async def _turn(server: Server, body: dict[str, Any]) -> None:
    wanted = str(body.get("orientation", "")).upper()
    if wanted not in {"LANDSCAPE", "PORTRAIT"}:
        raise Refused("invalid argument", f"Unknown orientation '{wanted}'")
    server.phone.put_setting("system", "accelerometer_rotation", "0")
    server.phone.set_rotation(1 if wanted == "LANDSCAPE" else 0)


@route("POST", f"{SESSION}/rotation")
async def _rotate(server: Server, body: dict[str, Any]) -> None:
    turn = number(body, "z", 0)
    if turn not in {0, 90, 180, 270}:
        raise Refused("invalid argument", f"Unable to rotate to {turn} degrees")
    server.phone.set_rotation(int(turn) // 90)


# alerts


def _dialog(server: Server) -> Node:
    """The active window, if it asks something."""
    server.phone.catch_up()
    root = active_root(server.phone)
    for node in root or ():
        if node.resource_id.endswith("id/button1") or "permission_allow" in node.resource_id:
            return root  # type: ignore[return-value]
    raise Refused("no such alert", "An attempt was made to operate on a modal dialog when one was not open")


@route("GET", f"{SESSION}/alert/text")
async def _alert_text(server: Server, _: dict[str, Any]) -> str:
    texts = [node.text for node in _dialog(server) if node.text and not node.clickable]
    return "\n".join(texts)


async def _answer(server: Server, body: dict[str, Any], ids: tuple[str, ...]) -> None:
    buttons = [node for node in _dialog(server) if node.clickable]
    label = body.get("buttonLabel")
    if label is not None:
        match = next((entry for entry in buttons if entry.text == label), None)
    else:
        match = next((button for button in buttons if any(part in button.resource_id for part in ids)), None)
    if match is None:
        raise Refused("no such alert", "The alert has no such button")
    await server.phone.tap(*match.center)
    await server.idle()


route("POST", f"{SESSION}/alert/accept")(partial(_answer, ids=_ACCEPT))
route("POST", f"{SESSION}/alert/dismiss")(partial(_answer, ids=_DISMISS))


# clipboard


@route("POST", f"{DEVICE}/set_clipboard")
async def _set_clipboard(server: Server, body: dict[str, Any]) -> None:
    if str(body.get("contentType", "plaintext")).lower() != "plaintext":
        raise Refused("invalid argument", "Only plaintext can be put on this clipboard")
    try:
        server.phone.clipboard = b64decode(str(body.get("content", ""))).decode()
    except (BadBase64, UnicodeDecodeError):
        raise Refused("invalid argument", "The content is not base64 of a text") from None


# facts


@route("GET", f"{SESSION}/window/current/size")
@route("GET", f"{SESSION}/window/rect")
async def _size(server: Server, _: dict[str, Any]) -> dict[str, int]:
    display = server.phone.display
    return {"width": display.width, "height": display.height - display.navigation_px}


@route("GET", f"{DEVICE}/info")
async def _info(server: Server, _: dict[str, Any]) -> dict[str, Any]:
    phone = server.phone
    props, display = phone.props, phone.display
    return {
        "androidId": phone.settings["secure"].get("android_id", ""),
        "manufacturer": props.get("ro.product.manufacturer", ""),
        "model": props.get("ro.product.model", ""),
        "brand": props.get("ro.product.brand", ""),
        "apiVersion": props.get("ro.build.version.sdk", ""),
        "platformVersion": props.get("ro.build.version.release", ""),
        "carrierName": props.get("gsm.operator.alpha", ""),
        "realDisplaySize": f"{display.width}x{display.height}",
        "displayDensity": display.density,
        "networks": [],
        "locale": props.get("persist.sys.locale", "en-US").replace("-", "_"),
        "timeZone": props.get("persist.sys.timezone", "GMT"),
        "bluetooth": {"state": "ON" if phone.settings["global"].get("bluetooth_on") == "1" else "OFF"},
    }


@route("POST", f"{SESSION}/appium/list_windows")
async def _windows(server: Server, _: dict[str, Any]) -> list[dict[str, Any]]:
    matches = []
    for root in roots(server.phone):
        window = root.window
        matches.append(
            {
                "windowId": window.number,
                "displayId": 0,
                "packageName": root.package,
                "title": window.title,
                "bounds": _box(root.bounds),
                "isActive": window.has_focus,
                "isFocused": window.has_focus,
                "layer": window.number,
                "screenshot": None,
            }
        )
    return matches


@route("POST", f"{SESSION}/appium/list_displays")
async def _displays(server: Server, _: dict[str, Any]) -> list[dict[str, Any]]:
    display = server.phone.display
    size = {"width": display.width, "height": display.height}
    return [{"id": 0, "name": "Built-in Screen", "isDefault": True, "metrics": size}]


def _box(bounds: Rect) -> dict[str, int]:
    left, top, right, bottom = bounds
    return {"left": left, "top": top, "right": right, "bottom": bottom}


routes(
    {
        "POST /appium/gestures/click": lambda server, body: server.phone.long_press(
            *_point(server, body), CLICK_MS
        ),
        "POST /appium/gestures/long_click": lambda server, body: server.phone.long_press(
            *_point(server, body), number(body, "duration", LONG_CLICK_MS)
        ),
        "GET ": lambda server, _: {"sessionId": server.session, "capabilities": server.capabilities},
        "GET /appium/settings": lambda server, _: dict(server.settings),
        "POST /appium/device/press_keycode": lambda server, body: server.phone.key(
            int(number(body, "keycode")), meta=int(number(body, "metastate", 0))
        ),
        "POST /appium/device/open_notifications": lambda server, _: server.phone.systemui.open_shade(),
        "GET /rotation": lambda server, _: {"x": 0, "y": 0, "z": server.phone.display.rotation * 90},
        "POST /appium/device/get_clipboard": lambda server, _: b64encode(
            server.phone.clipboard.encode()
        ).decode(),
        "GET /appium/device/system_bars": lambda server, _: {"statusBar": server.phone.display.status_px},
        "GET /appium/device/pixel_ratio": lambda server, _: server.phone.display.density / 160,
        "GET /appium/device/display_density": lambda server, _: server.phone.display.density,
        "GET /appium/device/battery_info": lambda server, _: {
            "level": server.phone.battery / 100,
            "status": 2,
        },
    }
)
route("GET", "/status")(
    lambda _, __: {"message": "UiAutomator2 Server is ready to accept commands", "ready": True}
)
route("GET", "/sessions")(
    lambda server, _: [{"id": server.session, "capabilities": server.capabilities}] if server.session else []
)


PORT = 6790
TEST = "io.appium.uiautomator2.server.test.AppiumUiAutomator2Server"


async def main(call: Call) -> int:
    """One test method that serves until it is stopped."""
    phone = call.phone
    server, life = Server(phone), HelperLife(phone.faults)
    phone.on_event(server.automator.on_accessibility_event)
    try:
        with phone.held_ui_automation(TEST) as is_ours:
            if not is_ours:
                await call.line("INSTRUMENTATION_RESULT: shortMsg=java.lang.IllegalStateException")
                return await call.line("INSTRUMENTATION_CODE: 0")
            async with listening(phone.ports, f"tcp:{PORT}", Http(server, life).answer):
                if "-r" in call.argv:
                    await call.line(f"INSTRUMENTATION_STATUS: class={TEST}\nINSTRUMENTATION_STATUS_CODE: 1")
                phone.logcat("I", "appium", f"[AppiumUiAutomator2Server] listening on {PORT}")
                await life.ended.wait()
    finally:
        phone.off_event(server.automator.on_accessibility_event)
    if life.is_dead:
        await call.line("INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0")
    else:
        await call.line("\nTime: 1.0\n\nOK (1 test)\n\n")
    return 0


class Http:
    """Requests, until the one that ends the session."""

    def __init__(self, server: Server, life: HelperLife) -> None:
        self._server = server
        self._life = life

    async def answer(self, request: Request) -> Response:
        self._life.count_request()
        await self._server.phone.refresh_web()
        served = bool(self._server.session)
        response = await answer(self._server, request)
        if served and not self._server.session:  # the session was deleted: the test is over
            asyncio.get_running_loop().call_later(0.05, self._life.ended.set)
        return response
