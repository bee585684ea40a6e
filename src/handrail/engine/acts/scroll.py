"""Scrolling to an element: inside one container, in the direction that was asked for, until its end.

Fingers move against the content: what lies down comes with a finger that moves up. Nothing is inverted
silently, nothing is tapped, and a fling that jumped over rows is taken back until the rows overlap again.
"""

from __future__ import annotations

from typing import Literal

from handrail.engine.look.conditions import matches
from handrail.engine.look.looks import Look
from handrail.engine.look.resolve import aim_at, follow, partners
from handrail.engine.look.verify import moved
from handrail.engine.pressed import LANES, OPPOSITE, SHARE, Direction, Way, is_sideways, way
from handrail.engine.run import Outcome, Stage, fresh
from handrail.errors import ElementNotFound, ElementNotInteractable
from handrail.protocol.device import ScrollTo
from handrail.protocol.envelope import Verification
from handrail.protocol.target import Selector
from handrail.tree.fingerprint import at_rest
from handrail.tree.node import Bounds, Node, Screen
from handrail.tree.reach import covering, tap_point, visible_part
from handrail.tree.select.missed import candidates, nearest, nearest_nodes
from handrail.tree.windows import front, is_input_method

SWIPE_MS = 400
SLOW_MS = 1_200
"""A slow finger carries the content and does not throw it."""
ENOUGH_PX = 48
"""Less of a row than this at the edge is not in sight yet."""
SHORTEST_PX = 64
"""A finger that moves less may be taken for a tap, and a scroll must never tap."""
BACK = 3
"""Swipes that take back one fling."""
_EDGE_PX = 2


async def scroll_to(stage: Stage, action: ScrollTo) -> Outcome:
    """Look, swipe, look again; stops at the end of the content."""
    seen = await fresh(stage)
    if isinstance(action.target, Selector) and action.target.handle:
        stage.looks.registry.resolve(action.target.handle)  # a stale ref is said before anything moves
    search = _Search(stage, action, seen)
    node = await search.run()
    stage.run.aims["target"] = aim_at(stage.looks, action.target, node)
    verdict = Verification(
        mode="built_in", expected=f"{action.target} is visible", observed="visible", outcome="verified"
    )
    return Outcome(details={"scrolls": search.scrolls}, verification=verdict, settle="none")


async def bring(stage: Stage, action: ScrollTo, seen: Look) -> Node:
    """An element into sight, for an action that goes on with it."""
    return await _Search(stage, action, seen).run()


class _Search:
    """One search through one container."""

    def __init__(self, stage: Stage, action: ScrollTo, seen: Look) -> None:
        self.stage = stage
        self.action = action
        self.seen = seen
        self.scroller = self._first_scroller(seen.screen)
        self.scrolls = 0
        self.slow = False
        self.passed: dict[str, None] = {}

    def _first_scroller(self, screen: Screen) -> Node | None:
        direction = self.action.direction
        if self.action.within is not None:
            return scroller_of(screen, self.stage.find(self.action.within).node, direction)
        return scroller_for(screen, direction)

    async def run(self) -> Node:
        while not (found := self._found()):
            before = self.seen
            is_last = self.scrolls == self.action.max_scrolls
            if is_last or not await self._advance():
                if found := self._found(cut=True):
                    break
                raise self._missed(at_end=not is_last)
            self.scrolls += 1
            if not self.slow and not self._found() and self._jumped(before):
                self.slow = True
                await self._take_back(before)
        return found

    # looking

    def _found(self, *, cut: bool = False) -> Node | None:
        """The first match that a finger could reach; with `cut`, also what the edge leaves little of."""
        screen = self.seen.screen
        nodes = matches(screen, self.action.target, self.stage.looks.registry)
        if self.action.within is not None and self.scroller is not None:
            nodes = [node for node in nodes if node.is_inside(self.scroller)]
        return next(
            (node for node in nodes if (cut or not self._is_cut(node)) and _is_free(screen, node)), None
        )

    def _is_cut(self, node: Node) -> bool:
        """Little of it is left, and that at the container's edge: the rest may come."""
        if self.scroller is None or not node.is_inside(self.scroller):
            return False
        part, box = (visible_part(self.seen.screen, one) for one in (node, self.scroller))
        low, high = (0, 2) if axis_wanted(self.action.direction) == "sideways" else (1, 3)
        at_edge = part[low] <= box[low] + _EDGE_PX or part[high] >= box[high] - _EDGE_PX
        return at_edge and part[high] - part[low] < ENOUGH_PX

    def _jumped(self, before: Look) -> bool:
        """No row of before is still there: rows may have passed unseen."""
        if self.scroller is None:
            return False
        kept = 0
        for old, new in partners(self.stage.looks, before.screen, self.seen.screen):
            if new.is_inside(self.scroller) and _label(old) and _label(old) == _label(new):
                if old.bounds != new.bounds:
                    return False
                kept += 1
        return kept == 0

    def _is_same(self, before: Look, scroller: Node | None) -> bool:
        """The container shows what it showed; what happens around it does not matter."""
        old, new = before.screen, self.seen.screen
        if old is new:
            return True
        restless = self.stage.looks.restless
        ignore = restless.nodes(old) | restless.nodes(new)
        if scroller is not None and self.scroller is not None:
            ignore |= _outside(old, scroller) | _outside(new, self.scroller)
        return at_rest(old, new, ignore)

    # moving

    async def _advance(self) -> bool:
        """One swipe further; false at the end. A container that never moved yet gets a second lane."""
        if self.scroller is None and anything_scrolls(self.seen.screen):
            raise self._no_scroller()
        finger = OPPOSITE[self.action.direction]
        for attempt in range(2 if self.scrolls == 0 else 1):
            before, scroller = self.seen, self.scroller
            await self._swipe(finger, attempt, slow=self.slow or attempt > 0)
            if not self._is_same(before, scroller):
                return True
        return False

    async def _take_back(self, before: Look) -> None:
        """Slowly back until rows of before are in sight again, or the target is."""
        for swipes in range(1, BACK + 1):
            last, scroller = self.seen, self.scroller
            await self._swipe(self.action.direction, 0, slow=True)
            self.stage.run.details["taken_back"] = swipes
            if self._found() or self._is_same(last, scroller) or not self._jumped(before):
                return

    async def _swipe(self, finger: Direction, attempt: int, *, slow: bool) -> None:
        stage, before = self.stage, self.seen
        rows = before.screen.inside(self.scroller) if self.scroller else before.screen.nodes
        self.passed |= dict.fromkeys(label for node in rows if (label := _label(node)))
        ways = stage.hands.free_ways(
            finger_ways(before.screen, self.scroller, finger, self.action.amount or SHARE)
        )
        way = ways[attempt % len(ways)]  # a container that did not move at the first gets another
        if _length(way) < SHORTEST_PX:
            raise ElementNotInteractable(
                f"The container is too small to scroll in: {self.scroller or before.screen.bounds}",
                hint="Name a larger container by `within`, or close what covers it.",
                reason="too small",
            )
        await stage.hands.swipe(*way, SLOW_MS if slow else SWIPE_MS)
        settled = await stage.settle(before, moved(before, stage.looks))
        stage.run.settled = settled.report
        stage.run.after = self.seen = settled.seen
        if self.scroller is not None:
            now = follow(stage.looks, before.screen, settled.seen.screen, self.scroller)
            self.scroller = now or self._again(settled.seen.screen)

    def _again(self, screen: Screen) -> Node | None:
        """The container, when matching has lost it: by the caller's words, else the largest as before."""
        try:
            return self._first_scroller(screen)
        except ElementNotFound:
            return scroller_for(screen, self.action.direction)

    # telling

    def _missed(self, *, at_end: bool) -> ElementNotFound:
        action, handles, screen = self.action, self.stage.looks.registry, self.seen.screen
        wanted = getattr(action.target, "text", None) or getattr(action.target, "text_contains", None) or ""
        times = {0: "did not move", 1: "moved once"}.get(self.scrolls, f"moved {self.scrolls} times")
        where = "its end is reached" if at_end else "there may be more"
        again = f"Try direction {OPPOSITE[action.direction]}, another container by `within`, or other words."
        passed = list(self.passed)
        return ElementNotFound(
            f"{action.target} was not found: scrolled {action.direction}, the content {times}; {where}",
            hint=again if at_end else "Raise max_scrolls, or search instead of scrolling.",
            selector=action.target.model_dump(exclude_none=True),
            scrolls=self.scrolls,
            reached_end=at_end,
            candidates=candidates(nearest_nodes(screen, wanted, handles), handles),
            passed=[passed[at] for at in nearest(wanted, zip(passed, range(len(passed)), strict=True))]
            if wanted
            else None,
        )

    def _no_scroller(self) -> ElementNotFound:
        action = self.action
        return ElementNotFound(
            f"{action.target} is not visible, and nothing on this screen scrolls {action.direction}",
            hint="Try another direction, or name a container by `within`.",
            selector=action.target.model_dump(exclude_none=True),
            scrolls=0,
            reached_end=True,
        )


def _is_free(screen: Screen, node: Node) -> bool:
    """Not under the keyboard or a bar; what is disabled is in sight all the same."""
    try:
        tap_point(screen, node)
    except ElementNotInteractable as refusal:
        return refusal.details.get("reason") == "disabled"
    return True


def _label(node: Node) -> str:
    return node.shown_text or node.description


def _outside(screen: Screen, box: Node) -> frozenset[Node]:
    return frozenset(
        node for node in screen.nodes if not (node is box or node.is_inside(box) or box.is_inside(node))
    )


def _length(way: Way) -> int:
    x1, y1, x2, y2 = way
    return abs(x2 - x1) + abs(y2 - y1)


Axis = Literal["vertical", "sideways"]

SHIFTS = (0.0, 0.15, -0.15)
"""Along the container: where the middle belongs to an inner list, its ends may not."""
_REACH = 0.475
"""From the middle: a finger that comes down nearer to the end is on the edge."""
_SLACK_PX = 3
_WRAPPERS = 6
"""Single boxes between a container and its rows; a bound for degenerate trees."""


def scroller_for(screen: Screen, direction: Direction) -> Node | None:
    """Of the window in front, the container that shows the most. What lies under a dialog is out of reach:
    a finger there would close the dialog."""
    window = front(screen)
    return _largest(screen, [window, *screen.inside(window)], direction)


def scroller_of(screen: Screen, node: Node, direction: Direction) -> Node:
    """What a caller means by a container: it scrolls, or something in it or around it does."""
    if _scrolls(node):
        return node
    around = (one for one in node.ancestors() if _fits(one, direction))
    return _largest(screen, screen.inside(node), direction) or next(around, None) or node


def anything_scrolls(screen: Screen) -> bool:
    """Whether containers tell of themselves at all; a canvas without semantics does not."""
    inside = screen.inside(front(screen))
    return any(_scrolls(node) and visible_part(screen, node).area for node in inside)


def _largest(screen: Screen, nodes: list[Node], direction: Direction) -> Node | None:
    """One that is known to scroll along this axis comes before one that may."""
    sure = axis_wanted(direction)
    ranked = [
        (axis_of(node) == sure, area, -node.order, node)
        for node in nodes
        if _fits(node, direction) and (area := visible_part(screen, node).area)
    ]
    return max(ranked)[-1] if ranked else None


def _scrolls(node: Node) -> bool:
    return node.scrollable or node.role in ("list", "web_view")


def _fits(node: Node, direction: Direction) -> bool:
    return _scrolls(node) and axis_of(node) in (None, axis_wanted(direction))


def axis_wanted(direction: Direction) -> Axis:
    """What a direction asks of a container."""
    return "sideways" if is_sideways(direction) else "vertical"


def axis_of(node: Node) -> Axis | None:
    """By its class, else by how its rows stand; None where neither tells."""
    name = node.short_class
    if "Horizontal" in name or "Pager" in name:
        return "sideways"
    if name.endswith(("ScrollView", "ListView", "GridView")):
        return "vertical"
    rows = _rows(node)
    if len(rows) < 2:
        return None
    if any(abs(row.top - rows[0].top) > _SLACK_PX for row in rows):
        return "vertical"
    return "sideways" if node.bounds.width > node.bounds.height else None


def _rows(node: Node) -> list[Bounds]:
    for _ in range(_WRAPPERS):
        if len(node.children) == 1:
            node = node.children[0]
    return [child.bounds for child in node.children if child.bounds.area]


def finger_ways(screen: Screen, scroller: Node | None, finger: Direction, share: float) -> list[Way]:
    """Ways inside the container that begin on nothing that would take the drag for itself, the best first."""
    box = _above_keyboard(screen, visible_part(screen, scroller) if scroller else screen.bounds)
    shifts = [shift for shift in SHIFTS if share / 2 + abs(shift) <= _REACH]
    ways = [way(finger, box, share, lane, shift) for shift in shifts or SHIFTS[:1] for lane in LANES]
    taken = _takers(screen, scroller, box, finger) if scroller else []
    return [one for one in ways if not any(place.holds(one[0], one[1]) for place in taken)] or ways


def _above_keyboard(screen: Screen, box: Bounds) -> Bounds:
    for window in screen.windows:
        bounds = window.bounds
        if is_input_method(window.package_name) and bounds.area and bounds.top > box.top:
            box = box._replace(bottom=min(box.bottom, bounds.top))
    return box


def _takers(screen: Screen, scroller: Node, box: Bounds, finger: Direction) -> list[Bounds]:
    """Where a finger that comes down would move something else: an inner list, a slider, what lies above."""
    inner = [
        node
        for node in screen.inside(scroller)
        if _fits(node, finger) or (is_sideways(finger) and node.role == "slider")
    ]
    return [node.bounds for node in (*inner, *covering(screen, scroller, box))]
