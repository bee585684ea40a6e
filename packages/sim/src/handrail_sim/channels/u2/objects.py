"""Methods of the uiautomator2 server that find, touch and scroll views."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Literal

from handrail_sim.channels.u2.selector import Selector, count, find_in_active
from handrail_sim.channels.u2.server import (
    OBJECT_POLL_MS,
    POLL_MS,
    JavaError,
    Server,
    method,
    methods,
    not_found,
)
from handrail_sim.handset import Handset
from handrail_sim.screen.accessibility import Node, active_root
from handrail_sim.view.scrolling import at_end, at_start

STEP_MS = 5.0
POINT_CLICK_MS = 100.0
FINGER_PX = 20  # half a finger's width: how near to the middle a pinch begins or ends
EDGE_PX = 5

Point = tuple[float, float]


@method("click", "int", "int", "int")
async def hold(server: Server, x: int, y: int, duration_ms: float) -> bool:
    """A finger down and, after this time, up."""
    if x < 0 or y < 0:
        return False
    await server.phone.long_press(x, y, duration_ms)
    return True


@method("injectInputEvent", "int", "float", "float", "int")
async def _inject(server: Server, action: int, x: float, y: float, meta: int) -> bool:  # noqa: ARG001
    names: tuple[Literal["down", "up", "move"], ...] = ("down", "up", "move")
    if not 0 <= action < len(names):
        return False
    server.phone.pointer(names[action], x, y)
    return True


@method("swipe", "int", "int", "int", "int", "int")
async def swipe(server: Server, x1: int, y1: int, x2: int, y2: int, steps: int) -> bool:
    before = server.events
    await server.phone.swipe(x1, y1, x2, y2, max(0, steps - 1) * STEP_MS)
    await server.acknowledged(before, 0)
    return True


@method("drag", "int", "int", "int", "int", "int")
async def drag(server: Server, x1: int, y1: int, x2: int, y2: int, steps: int) -> bool:
    await server.phone.drag(x1, y1, x2, y2, max(1, steps) * STEP_MS)
    return True


@method("swipePoints", "ints", "int")
async def _swipe_points(server: Server, numbers: list[int], steps: int) -> bool:
    """A line through several points; every part of it has this many steps."""
    points: list[Point] = list(zip(numbers[::2], numbers[1::2], strict=False))
    if len(points) < 2:
        return False
    await fingers(server, [_line(points, max(1, steps))])
    return True


def _line(points: Sequence[Point], steps: int) -> list[Point]:
    way = [points[0]]
    for (x1, y1), (x2, y2) in pairwise(points):
        way += [(x1 + (x2 - x1) * n / steps, y1 + (y2 - y1) * n / steps) for n in range(1, steps + 1)]
    return way


async def fingers(server: Server, ways: Sequence[Sequence[Point]]) -> None:
    for _ in range(server.phone.chances()):
        await _move(server.phone, ways)


async def _move(phone: Handset, ways: Sequence[Sequence[Point]]) -> None:
    for finger, way in enumerate(ways):
        phone.pointer("down", *way[0], finger)
    for number in range(1, max(len(way) for way in ways)):
        await phone.clock.sleep_ms(STEP_MS)
        for finger, way in enumerate(ways):
            phone.pointer("move", *way[min(number, len(way) - 1)], finger)
    await phone.clock.sleep_ms(STEP_MS)
    for finger, way in reversed(list(enumerate(ways))):
        phone.pointer("up", *way[-1], finger)


@method("gesture", "target", "point", "point", "point", "point", "int")
async def _gesture(
    server: Server, target: Target, start1: Point, start2: Point, end1: Point, end2: Point, steps: int
) -> bool:
    server.need(target)
    await fingers(server, [_line([start1, end1], max(1, steps)), _line([start2, end2], max(1, steps))])
    return True


async def _pinch(server: Server, target: Target, percent: int, steps: int, *, outward: bool) -> bool:
    node = server.need(target)
    left, _, right, _ = node.bounds
    share = min(100, max(0, percent)) / 100
    if right - left <= 2 * FINGER_PX:
        raise JavaError("java.lang.IllegalStateException", "Object width is too small for operation")
    x, y = node.center
    far = int((right - left) / 2 * share)
    ways = [_line([(x - FINGER_PX, y), (x - far, y)], max(1, steps))]
    ways.append(_line([(x + FINGER_PX, y), (x + far, y)], max(1, steps)))
    await fingers(server, ways if outward else [way[::-1] for way in ways])
    return True


method("pinchOut", "target", "int", "int")(partial(_pinch, outward=True))
method("pinchIn", "target", "int", "int")(partial(_pinch, outward=False))


@method("dragTo", "target", "int", "int", "int")
async def _drag_to_point(server: Server, target: Target, x: int, y: int, steps: int) -> bool:
    return await drag(server, *server.need(target).center, x, y, steps)


@method("dragTo", "target", "selector", "int")
async def _drag_to_object(server: Server, target: Target, goal: Selector, steps: int) -> bool:
    return await drag(server, *server.need(target).center, *server.need(goal).center, steps)


WAYS = {"u": "up", "up": "up", "d": "down", "down": "down", "l": "left", "left": "left", "r": "right"}
WAYS |= {"right": "right"}


@method("swipe", "target", "text", "int")
async def _swipe_object(server: Server, target: Target, way: str, steps: int) -> bool:
    left, top, right, bottom = server.need(target).bounds
    x, y = (left + right) // 2, (top + bottom) // 2
    lines = {
        "up": (x, bottom - EDGE_PX, x, top + EDGE_PX),
        "down": (x, top + EDGE_PX, x, bottom - EDGE_PX),
        "left": (right - EDGE_PX, y, left + EDGE_PX, y),
        "right": (left + EDGE_PX, y, right - EDGE_PX, y),
    }
    line = lines.get(WAYS.get(way.lower(), ""))
    return line is not None and await swipe(server, *line, steps)


@method("swipe", "selector", "text", "float", "int")
async def _swipe_share(server: Server, target: Selector, way: str, share: float, speed: int) -> bool:
    left, top, right, bottom = server.need(target).bounds
    x, y = (left + right) // 2, (top + bottom) // 2
    across, down = (right - left) * share / 2, (bottom - top) * share / 2
    lines = {
        "up": (x, y + down, x, y - down),
        "down": (x, y - down, x, y + down),
        "left": (x + across, y, x - across, y),
        "right": (x - across, y, x + across, y),
    }
    line = lines.get(WAYS.get(way.lower(), ""))
    if line is not None:
        length = abs(line[2] - line[0]) + abs(line[3] - line[1])
        await server.phone.swipe(*line, 1000 * length / max(1, speed))
    return True


SCROLL_STEPS = 55
FLING_STEPS = 5
DEAD_ZONE = 0.1  # of the height or width, left out at both ends
SEARCH_SWIPES = 30


async def scroll(server: Server, selector: Selector, *, vertical: bool, forward: bool, steps: int) -> bool:
    """One swipe; true if it moved and there is more."""
    node = server.need(selector)
    left, top, right, bottom = node.bounds
    x, y = node.center
    if vertical:
        zone = int((bottom - top) * DEAD_ZONE)
        line = (x, bottom - zone, x, top + zone)
    else:
        zone = int((right - left) * DEAD_ZONE)
        line = (right - zone, y, left + zone, y)
    if not forward:
        line = (line[2], line[3], line[0], line[1])
    before = server.scrolls
    await server.phone.swipe(*line, max(1, steps) * STEP_MS)
    await server.until(server.phone.is_idle, 2000, 20.0)
    moved = server.scrolls > before
    return moved and not _ended(server, selector, forward)


def _ended(server: Server, selector: Selector, forward: bool) -> bool:
    node = server.find(selector)
    # The scrolling node itself or the first below it.
    scroller = None if node is None else next((entry for entry in node if entry.scrollable), None)
    if scroller is None:
        return True
    return at_end(scroller.view, server.phone.units) if forward else at_start(scroller.view)


async def scroll_into_view(
    server: Server, group: Selector, wanted: Selector, *, vertical: bool, swipes: int = SEARCH_SWIPES
) -> bool:
    """From the beginning, swipe by swipe, until it is there."""
    inner = group.then_child(wanted)
    if server.find(inner) is not None:
        return True
    await _to(server, group, vertical=vertical, forward=False, swipes=swipes, steps=SCROLL_STEPS)
    for _ in range(swipes):
        if server.find(inner) is not None:
            return True
        more = await scroll(server, group, vertical=vertical, forward=True, steps=SCROLL_STEPS)
        if not more:
            return server.find(inner) is not None
    return False


async def _to(
    server: Server, group: Selector, *, vertical: bool, forward: bool, swipes: int, steps: int
) -> bool:
    for _ in range(swipes):
        if not await scroll(server, group, vertical=vertical, forward=forward, steps=steps):
            break
    return True


@method("scrollTo", "selector", "selector", "bool")
async def _scroll_to(server: Server, group: Selector, wanted: Selector, vertical: bool) -> bool:
    server.need(group)
    return await scroll_into_view(server, group, wanted, vertical=vertical)


for _name, _forward in (("Forward", True), ("Backward", False)):
    method(f"scroll{_name}", "selector", "bool", "int")(
        lambda server, group, vertical, steps, forward=_forward: scroll(
            server, group, vertical=vertical, forward=forward, steps=steps
        )
    )
    method(f"fling{_name}", "selector", "bool")(
        lambda server, group, vertical, forward=_forward: scroll(
            server, group, vertical=vertical, forward=forward, steps=FLING_STEPS
        )
    )
for _name, _forward in (("End", True), ("Beginning", False)):
    method(f"scrollTo{_name}", "selector", "bool", "int", "int")(
        lambda server, group, vertical, swipes, steps, forward=_forward: _to(
            server, group, vertical=vertical, forward=forward, swipes=swipes, steps=steps
        )
    )
    method(f"flingTo{_name}", "selector", "bool", "int")(
        lambda server, group, vertical, swipes, forward=_forward: _to(
            server, group, vertical=vertical, forward=forward, swipes=swipes, steps=FLING_STEPS
        )
    )


CLICK_MS = 50.0
LONG_CLICK_MS = 750.0
CORNER_PX = 5  # distance from the corner of topleft and bottomright clicks

Target = Selector | str
CORNERS = {"br": "br", "bottomright": "br", "tl": "tl", "topleft": "tl", "c": "center", "center": "center"}


def _rect(bounds: tuple[int, int, int, int]) -> dict[str, int]:
    left, top, right, bottom = bounds
    return {"bottom": bottom, "left": left, "right": right, "top": top}


def info(node: Node) -> dict[str, Any]:
    return {
        "bounds": _rect(node.bounds),
        "checkable": node.checkable,
        "checked": node.checked,
        "childCount": len(node.children),
        "className": node.cls,
        "clickable": node.clickable,
        "contentDescription": node.desc or None,
        "enabled": node.enabled,
        "focusable": node.focusable,
        "focused": node.focused,
        "longClickable": node.long_clickable,
        "packageName": node.package,
        "resourceName": node.resource_id or None,
        "scrollable": node.scrollable,
        "selected": node.selected,
        "text": node.text or None,
        "visibleBounds": _rect(node.bounds),
    }


@method("exist", "target")
async def _exist(server: Server, target: Target) -> bool:
    server.phone.catch_up()
    if isinstance(target, str) and target not in server.objects:
        return False
    selector = server.object(target) if isinstance(target, str) else target
    return find_in_active(selector, active_root(server.phone)) is not None


@method("count", "selector")
async def _count_matches(server: Server, selector: Selector) -> int:
    server.phone.catch_up()
    return count(selector, active_root(server.phone))


@method("objInfoOfAllInstances", "selector")
async def _all_infos(server: Server, selector: Selector) -> list[dict[str, Any]]:
    server.phone.catch_up()
    root = active_root(server.phone)
    if selector.last.instance is not None:
        node = find_in_active(selector, root)
        return [] if node is None else [info(node)]
    matches = (
        find_in_active(selector.with_instance(number), root) for number in range(count(selector, root))
    )
    return [info(node) for node in matches if node is not None]


def _poll_ms(target: Target) -> float:
    return POLL_MS if isinstance(target, Selector) and target.is_plain else OBJECT_POLL_MS


# clicks


async def press(server: Server, node: Node, corner: str, duration_ms: float) -> bool:
    """A finger on a node; true if something answered."""
    left, top, right, bottom = node.bounds
    places = {"br": (right - CORNER_PX, bottom - CORNER_PX), "tl": (left + CORNER_PX, top + CORNER_PX)}
    x, y = places.get(corner, node.center)
    before = server.events
    await server.phone.long_press(x, y, duration_ms)
    return await server.acknowledged(before)


@method("click", "target")
@method("click", "target", "text")
async def _click(server: Server, target: Target, corner: str | None = None) -> bool:
    place = CORNERS.get((corner or "center").lower())
    return place is not None and await press(server, server.need(target), place, CLICK_MS)


@method("longClick", "target")
async def _long_click(server: Server, target: Target) -> bool:
    await press(server, server.need(target), "center", LONG_CLICK_MS)
    return True


@method("longClick", "target", "text")
async def _long_click_corner(server: Server, target: Target, corner: str | None) -> bool:
    place = CORNERS.get((corner or "center").lower())
    return place is not None and await press(server, server.need(target), place, LONG_CLICK_MS)


@method("clickAndWaitForNewWindow", "target", "int")
async def _click_and_wait(server: Server, target: Target, timeout_ms: int) -> bool:
    phone, visible = server.phone, server.events
    shown = [window.title for window in phone.windows()]
    await press(server, server.need(target), "center", CLICK_MS)

    def changed() -> bool:
        return server.events > visible and [window.title for window in phone.windows()] != shown

    return await server.until(changed, timeout_ms)


# text


@method("setText", "target", "text")
async def _set_text(server: Server, target: Target, text: str | None) -> bool:
    node = server.need(target)
    if isinstance(target, Selector) and target.is_plain:
        await press(server, node, "center", CLICK_MS)
        node = server.need(target) if server.find(target) is not None else node
    return _put(server, node, text or "")


@method("clearTextField", "target")
async def _clear_text_field(server: Server, target: Target) -> None:
    _put(server, server.need(target), "")


def _put(server: Server, node: Node, text: str) -> bool:
    """ACTION_SET_TEXT; what is no field refuses it."""
    return node.enabled and server.phone.set_text(node.view, text)


# found objects


@method("removeUiObject", "text")
async def _remove_ui_object(server: Server, name: str) -> None:
    server.objects.pop(name, None)


@method("getChild", "text", "selector")
async def _get_child(server: Server, name: str, selector: Selector) -> str | None:
    existing = server.objects.get(name)
    return None if existing is None else server.keep(existing.then_child(selector))


@method("getFromParent", "text", "selector")
async def _get_from_parent(server: Server, name: str, selector: Selector) -> str | None:
    existing = server.objects.get(name)
    return None if existing is None else server.keep(existing.then_sibling(selector))


async def _child_by(
    server: Server, group: Selector, rows: Selector, criterion: tuple[str, str], scroll: bool
) -> str:
    wanted, node = Selector((criterion,)), server.find(group) if scroll else None
    if node is not None and node.scrollable:
        await scroll_into_view(server, group, wanted, vertical=True)
    root, every = active_root(server.phone), group.then_child(rows)
    for number in range(count(every, root)):
        row = every.with_instance(number)
        node = find_in_active(row, root)
        if node is not None and (
            wanted.matches(node, fold=False) or any(wanted.matches(inner, fold=False) for inner in node)
        ):
            return server.keep(row)
    raise not_found(f'for {criterion[0]}= "{criterion[1]}"')


@method("childByText", "selector", "selector", "text")
@method("childByText", "selector", "selector", "text", "bool")
async def child_by_text(
    server: Server, group: Selector, rows: Selector, words: str, scroll: bool = True
) -> str:
    return await _child_by(server, group, rows, ("text", words), scroll)


@method("childByDescription", "selector", "selector", "text")
@method("childByDescription", "selector", "selector", "text", "bool")
async def child_by_description(
    server: Server, group: Selector, rows: Selector, words: str, scroll: bool = True
) -> str:
    return await _child_by(server, group, rows, ("description", words), scroll)


methods(
    {
        "click int int": lambda server, x, y: hold(server, x, y, POINT_CLICK_MS),
        "objInfo target": lambda server, target: info(server.need(target)),
        "waitForExists target int": lambda server, target, timeout_ms: server.until(
            lambda: server.find(target) is not None, timeout_ms, _poll_ms(target)
        ),
        "waitUntilGone target int": lambda server, target, timeout_ms: server.until(
            lambda: server.find(target) is None, timeout_ms, _poll_ms(target)
        ),
        "getText target": lambda server, target: server.need(target).text,
        "getUiObject selector": lambda server, selector: server.keep(selector),
        "getUiObjects": lambda server: list(server.objects),
        "childByInstance selector selector int": lambda server, group, rows, number: server.keep(
            group.then_child(rows).with_instance(number)
        ),
    }
)
