"""Commands that move fingers over an element or an area: click, drag, fling, pinch, scroll, swipe."""

from __future__ import annotations

from typing import Any

from handrail_sim.channels.appium.elements import SESSION, locator
from handrail_sim.channels.appium.routes import number, route
from handrail_sim.channels.appium.server import NOT_FOUND, Refused, Server, reference
from handrail_sim.channels.u2.scrolling import SEARCH_SWIPES
from handrail_sim.screen.accessibility import Node, active_root
from handrail_sim.view.scrolling import at_end, at_start

CLICK_MS, LONG_CLICK_MS = 50.0, 500.0
DRAG, FLING, PINCH, SCROLL, SWIPE = 2500.0, 7500.0, 2500.0, 5000.0, 5000.0
"""px per second on a screen of 160 dpi, as in androidx.test.uiautomator."""
GESTURES = f"{SESSION}/appium/gestures"
Box = tuple[float, float, float, float]
_AWAY = {"up": "down", "down": "up", "left": "right", "right": "left"}


def _area(server: Server, body: dict[str, Any]) -> Box:
    """The element's box, or the given one."""
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
    """px per ms."""
    speed = number(body, "speed", default * server.phone.display.density / 160)
    if speed <= 0:
        raise Refused("invalid argument", "The speed must be above zero")
    return speed / 1000


def _line(area: Box, way: str, percent: float) -> tuple[float, float, float, float]:
    """Across the middle of an area, from where the finger starts to where it ends."""
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


@route("POST", f"{GESTURES}/click")
async def _click(server: Server, body: dict[str, Any]) -> None:
    await server.phone.long_press(*_point(server, body), CLICK_MS)


@route("POST", f"{GESTURES}/long_click")
async def _long_click(server: Server, body: dict[str, Any]) -> None:
    await server.phone.long_press(*_point(server, body), number(body, "duration", LONG_CLICK_MS))


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


@route("POST", f"{GESTURES}/pinch_open")
async def _pinch_open(server: Server, body: dict[str, Any]) -> None:
    await _pinch(server, body, outward=True)


@route("POST", f"{GESTURES}/pinch_close")
async def _pinch_close(server: Server, body: dict[str, Any]) -> None:
    await _pinch(server, body, outward=False)


async def _pinch(server: Server, body: dict[str, Any], *, outward: bool) -> None:
    left, top, right, bottom = _area(server, body)
    near, far = 20.0, max(21.0, (right - left) / 2 * number(body, "percent"))
    start, end = (near, far) if outward else (far, near)
    duration = (far - near) / _speed(server, body, PINCH)
    await server.phone.pinch((left + right) / 2, (top + bottom) / 2, start, end, duration)


@route("POST", f"{SESSION}/gestures/scroll_to")
@route("POST", f"{SESSION}/touch/scroll")
async def _scroll_to(server: Server, body: dict[str, Any]) -> None:
    """Swipe until an element is there: from where it stands to the end, once."""
    given = body.get("params")
    given = given if isinstance(given, dict) else {}
    strategy, selector, _ = locator(given)
    swipes = int(number(given, "maxSwipes", SEARCH_SWIPES))
    group = reference(body.get("origin"))
    for _ in range(swipes + 1):
        if await server.find(strategy, selector):
            return
        node = server.node(group) if group else _first_scroller(server)
        if node is None or at_end(node.view, server.phone.units):
            break
        await _slide(server, _line(node.bounds, "up", 0.8), _speed(server, {}, SCROLL))
    raise Refused("no such element", NOT_FOUND)


def _first_scroller(server: Server) -> Node | None:
    return next((node for node in active_root(server.phone) or () if node.scrollable), None)
