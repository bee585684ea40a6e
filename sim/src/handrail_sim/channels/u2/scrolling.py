"""Methods of the uiautomator2 server that scroll and fling as UiScrollable does: by swipes, to the end."""

from __future__ import annotations

from handrail_sim.channels.u2.gestures import STEP_MS
from handrail_sim.channels.u2.rpc import method
from handrail_sim.channels.u2.selector import Selector
from handrail_sim.channels.u2.server import Server
from handrail_sim.screen.accessibility import Node
from handrail_sim.view.scrolling import at_end, at_start

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
    scroller = None if node is None else _scroller(node)
    if scroller is None:
        return True
    return at_end(scroller.view, server.phone.units) if forward else at_start(scroller.view)


def _scroller(node: Node) -> Node | None:
    """The scrolling node itself or the first below it."""
    return next((one for one in node if one.scrollable), None)


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
) -> None:
    for _ in range(swipes):
        if not await scroll(server, group, vertical=vertical, forward=forward, steps=steps):
            return


@method("scrollForward", "selector", "bool", "int")
async def _scroll_forward(server: Server, group: Selector, vertical: bool, steps: int) -> bool:
    return await scroll(server, group, vertical=vertical, forward=True, steps=steps)


@method("scrollBackward", "selector", "bool", "int")
async def _scroll_backward(server: Server, group: Selector, vertical: bool, steps: int) -> bool:
    return await scroll(server, group, vertical=vertical, forward=False, steps=steps)


@method("scrollToBeginning", "selector", "bool", "int", "int")
async def _scroll_to_beginning(
    server: Server, group: Selector, vertical: bool, swipes: int, steps: int
) -> bool:
    await _to(server, group, vertical=vertical, forward=False, swipes=swipes, steps=steps)
    return True


@method("scrollToEnd", "selector", "bool", "int", "int")
async def _scroll_to_end(server: Server, group: Selector, vertical: bool, swipes: int, steps: int) -> bool:
    await _to(server, group, vertical=vertical, forward=True, swipes=swipes, steps=steps)
    return True


@method("scrollTo", "selector", "selector", "bool")
async def _scroll_to(server: Server, group: Selector, wanted: Selector, vertical: bool) -> bool:
    server.need(group)
    return await scroll_into_view(server, group, wanted, vertical=vertical)


@method("flingForward", "selector", "bool")
async def _fling_forward(server: Server, group: Selector, vertical: bool) -> bool:
    return await scroll(server, group, vertical=vertical, forward=True, steps=FLING_STEPS)


@method("flingBackward", "selector", "bool")
async def _fling_backward(server: Server, group: Selector, vertical: bool) -> bool:
    return await scroll(server, group, vertical=vertical, forward=False, steps=FLING_STEPS)


@method("flingToBeginning", "selector", "bool", "int")
async def _fling_to_beginning(server: Server, group: Selector, vertical: bool, swipes: int) -> bool:
    await _to(server, group, vertical=vertical, forward=False, swipes=swipes, steps=FLING_STEPS)
    return True


@method("flingToEnd", "selector", "bool", "int")
async def _fling_to_end(server: Server, group: Selector, vertical: bool, swipes: int) -> bool:
    await _to(server, group, vertical=vertical, forward=True, swipes=swipes, steps=FLING_STEPS)
    return True
