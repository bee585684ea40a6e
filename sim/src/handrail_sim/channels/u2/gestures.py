"""Methods of the uiautomator2 server that move fingers: click at a point, swipe, drag, pinch, raw touch.

Between two steps of a gesture lie 5 ms, as in androidx.test.uiautomator.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from handrail_sim.channels.u2.objects import Target
from handrail_sim.channels.u2.rpc import JavaError, method
from handrail_sim.channels.u2.selector import Selector
from handrail_sim.channels.u2.server import Server

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

STEP_MS = 5.0
CLICK_MS = 100.0
FINGER_PX = 20  # half a finger's width: how near to the middle a pinch begins or ends
EDGE_PX = 5

Point = tuple[float, float]


@method("click", "int", "int")
async def _click(server: Server, x: int, y: int) -> bool:
    return await hold(server, x, y, CLICK_MS)


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
    """Along a line. A swipe of one step is down and up."""
    before = server.events
    await server.phone.swipe(x1, y1, x2, y2, max(0, steps - 1) * STEP_MS)
    await server.acknowledged(before, 0)
    return True


@method("drag", "int", "int", "int", "int", "int")
async def drag(server: Server, x1: int, y1: int, x2: int, y2: int, steps: int) -> bool:
    """A long press, then along a line."""
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
    """Every point on the way, the first and the last included."""
    way = [points[0]]
    for (x1, y1), (x2, y2) in pairwise(points):
        way += [(x1 + (x2 - x1) * n / steps, y1 + (y2 - y1) * n / steps) for n in range(1, steps + 1)]
    return way


async def fingers(server: Server, ways: Sequence[Sequence[Point]]) -> None:
    """Several fingers go down, along their ways together, and up."""
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


@method("gesture", "selector", "point", "point", "point", "point", "int")
@method("gesture", "text", "point", "point", "point", "point", "int")
async def _gesture(
    server: Server, target: Target, start1: Point, start2: Point, end1: Point, end2: Point, steps: int
) -> bool:
    server.need(target)
    await fingers(server, [_line([start1, end1], max(1, steps)), _line([start2, end2], max(1, steps))])
    return True


@method("pinchOut", "selector", "int", "int")
@method("pinchOut", "text", "int", "int")
async def _pinch_out(server: Server, target: Target, percent: int, steps: int) -> bool:
    return await _pinch(server, target, percent, steps, outward=True)


@method("pinchIn", "selector", "int", "int")
@method("pinchIn", "text", "int", "int")
async def _pinch_in(server: Server, target: Target, percent: int, steps: int) -> bool:
    return await _pinch(server, target, percent, steps, outward=False)


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


@method("dragTo", "selector", "int", "int", "int")
@method("dragTo", "text", "int", "int", "int")
async def _drag_to_point(server: Server, target: Target, x: int, y: int, steps: int) -> bool:
    return await drag(server, *server.need(target).center, x, y, steps)


@method("dragTo", "selector", "selector", "int")
@method("dragTo", "text", "selector", "int")
async def _drag_to_object(server: Server, target: Target, goal: Selector, steps: int) -> bool:
    return await drag(server, *server.need(target).center, *server.need(goal).center, steps)


WAYS = {"u": "up", "up": "up", "d": "down", "down": "down", "l": "left", "left": "left", "r": "right"}
WAYS |= {"right": "right"}


@method("swipe", "selector", "text", "int")
@method("swipe", "text", "text", "int")
async def _swipe_object(server: Server, target: Target, way: str, steps: int) -> bool:
    """Across an object, from edge to edge."""
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
    """Across a share of an object, with a speed in px per second."""
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
