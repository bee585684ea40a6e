"""Scrolls to an element, inside one container and in the requested direction, until the content ends.

The finger moves against the content: scrolling down needs a finger that moves up. The direction is never
reversed silently, nothing is tapped, and a fling that skipped rows is undone until the rows overlap again.
"""

from __future__ import annotations

from typing import Literal

from handrail.engine.conditions import visible_matches
from handrail.engine.gestures import (
    LANES,
    OPPOSITE,
    SHARE,
    Direction,
    SwipeLine,
    is_sideways,
    line_points,
    swipe_line,
)
from handrail.engine.resolve import aim_at, follow, is_in_view, partners
from handrail.engine.run import Outcome, Stage, fresh_snapshot
from handrail.engine.snapshot import UiSnapshot
from handrail.engine.verify import screen_moved, verified_by_read_back
from handrail.errors import ElementNotFound, ElementNotInteractable
from handrail.protocol.device import ScrollTo
from handrail.protocol.target import Selector
from handrail.screen.fingerprint import at_rest
from handrail.screen.node import Bounds, Node, Screen
from handrail.screen.reach import nodes_covering, tap_point, visible_part
from handrail.screen.select import candidate_list, nearest_labels, nearest_nodes
from handrail.screen.windows import front_window, is_input_method
from handrail.surface.gesture import swipe

SWIPE_MS = 400
SLOW_MS = 1_200
"""A slow finger drags the content without a fling."""
ENOUGH_PX = 48
"""If less than this of a row is visible at the edge, it does not count as visible."""
SHORTEST_PX = 64
"""A shorter swipe may count as a tap, and a scroll must never tap."""
BACK = 3
"""Swipes to undo one fling."""
_EDGE_PX = 2


async def scroll_to(stage: Stage, action: ScrollTo) -> Outcome:
    snapshot = await fresh_snapshot(stage)
    if isinstance(action.target, Selector) and action.target.handle:
        stage.screens.registry.resolve(action.target.handle)  # raises for a stale ref before anything moves
    brought = None
    if "direction" not in action.model_fields_set and not is_in_view(stage.screens, action.target):
        brought = await stage.input.bring_into_view(action.target)  # the surface may know where it lies
    search = ScrollSearch(stage, action, brought or snapshot)
    search.is_brought = brought is not None
    node = await search.run()
    stage.run.aims["target"] = aim_at(stage.screens, action.target, node)
    verification = verified_by_read_back("visible", f"{action.target} is visible")
    return Outcome(details={"scrolls": search.scrolls}, verification=verification, settle="none")


class ScrollSearch:
    """One search through one container."""

    is_brought = False
    """The surface has brought the target into view: nothing more of it will come there."""

    def __init__(self, stage: Stage, action: ScrollTo, snapshot: UiSnapshot) -> None:
        self.stage = stage
        self.action = action
        self.snapshot = snapshot
        self.scroller = self._first_scroller(snapshot.screen)
        self.scrolls = 0
        self.slow = False
        self.passed: dict[str, None] = {}

    def _first_scroller(self, screen: Screen) -> Node | None:
        direction = self.action.direction
        if self.action.within is not None:
            return scroller_of(screen, self.stage.find(self.action.within).node, direction)
        return scroller_for(screen, direction)

    async def run(self) -> Node:
        while not (node := self._first_reachable_match(cut=self.is_brought)):
            before = self.snapshot
            is_last = self.scrolls == self.action.max_scrolls
            if is_last or not await self._scroll_once():
                if node := self._first_reachable_match(cut=True):
                    break
                raise self._not_found(at_end=not is_last)
            self.scrolls += 1
            if not self.slow and not self._first_reachable_match() and self._skipped_rows(before):
                self.slow = True
                await self._take_back(before)
        return node

    # finding the target

    def _first_reachable_match(self, *, cut: bool = False) -> Node | None:
        """The first match that a finger can reach; with `cut`, also one that is mostly beyond the edge."""
        screen = self.snapshot.screen
        nodes = visible_matches(screen, self.action.target, self.stage.screens.registry)
        if self.action.within is not None and self.scroller is not None:
            nodes = [node for node in nodes if node.is_inside(self.scroller)]
        return next(
            (node for node in nodes if (cut or not self._is_cut(node)) and _is_unobstructed(screen, node)),
            None,
        )

    def _is_cut(self, node: Node) -> bool:
        """Little of it is visible, at the container's edge: more may follow."""
        if self.scroller is None or not node.is_inside(self.scroller):
            return False
        part, box = (visible_part(self.snapshot.screen, each) for each in (node, self.scroller))
        low, high = (0, 2) if axis_wanted(self.action.direction) == "sideways" else (1, 3)
        at_edge = part[low] <= box[low] + _EDGE_PX or part[high] >= box[high] - _EDGE_PX
        return at_edge and part[high] - part[low] < ENOUGH_PX

    def _skipped_rows(self, before: UiSnapshot) -> bool:
        """No row from before is still visible, so rows may have been skipped."""
        if self.scroller is None:
            return False
        common = 0
        for old, new in partners(self.stage.screens, before.screen, self.snapshot.screen):
            if new.is_inside(self.scroller) and _shown_label(old) and _shown_label(old) == _shown_label(new):
                if old.bounds != new.bounds:
                    return False
                common += 1
        return common == 0

    def _is_same(self, before: UiSnapshot, scroller: Node | None) -> bool:
        """The container's content is unchanged, whatever happens around it."""
        old, new = before.screen, self.snapshot.screen
        if old is new:
            return True
        restless = self.stage.screens.volatile
        ignore = restless.nodes(old) | restless.nodes(new)
        if scroller is not None and self.scroller is not None:
            ignore |= _nodes_outside(old, scroller) | _nodes_outside(new, self.scroller)
        return at_rest(old, new, ignore)

    # swiping

    async def _scroll_once(self) -> bool:
        """One more swipe; False at the end. If the container has not moved yet, a second lane is tried."""
        if self.scroller is None and anything_scrolls(self.snapshot.screen):
            raise ElementNotFound(
                f"{self.action.target} is not visible, and nothing on this screen scrolls"
                f" {self.action.direction}",
                hint="Try another direction, or name a container by `within`.",
                selector=self.action.target.model_dump(exclude_none=True),
                scrolls=0,
                reached_end=True,
            )
        finger = OPPOSITE[self.action.direction]
        for attempt in range(2 if self.scrolls == 0 else 1):
            before, scroller = self.snapshot, self.scroller
            await self._swipe(finger, attempt, slow=self.slow or attempt > 0)
            if not self._is_same(before, scroller):
                return True
        return False

    async def _take_back(self, before: UiSnapshot) -> None:
        """Swipes back slowly until rows from before, or the target, are visible again."""
        for swipes in range(1, BACK + 1):
            last, scroller = self.snapshot, self.scroller
            await self._swipe(self.action.direction, 0, slow=True)
            self.stage.run.details["taken_back"] = swipes
            if (
                self._first_reachable_match()
                or self._is_same(last, scroller)
                or not self._skipped_rows(before)
            ):
                return

    async def _swipe(self, finger: Direction, attempt: int, *, slow: bool) -> None:
        stage, before = self.stage, self.snapshot
        rows = before.screen.inside(self.scroller) if self.scroller else before.screen.nodes
        self.passed |= dict.fromkeys(label for node in rows if (label := _shown_label(node)))
        ways = stage.input.unguarded_lines(
            swipe_lines(before.screen, self.scroller, finger, self.action.amount or SHARE)
        )
        swipe_line = ways[attempt % len(ways)]  # the second attempt uses another line
        x1, y1, x2, y2 = swipe_line
        if abs(x2 - x1) + abs(y2 - y1) < SHORTEST_PX:
            raise ElementNotInteractable(
                f"The container is too small to scroll in: {self.scroller or before.screen.bounds}",
                hint="Name a larger container by `within`, or close what covers it.",
                reason="too small",
            )
        await stage.input.perform(swipe(*line_points(swipe_line), SLOW_MS if slow else SWIPE_MS))
        self.snapshot = (await stage.settle(before, screen_moved(before, stage.screens))).snapshot
        screen = self.snapshot.screen
        if self.scroller is not None:
            self.scroller = follow(stage.screens, before.screen, screen, self.scroller)
            if self.scroller is None:  # by the caller's selector, else the largest one
                try:
                    self.scroller = self._first_scroller(screen)
                except ElementNotFound:
                    self.scroller = scroller_for(screen, self.action.direction)

    # errors

    def _not_found(self, *, at_end: bool) -> ElementNotFound:
        action, handles, screen = self.action, self.stage.screens.registry, self.snapshot.screen
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
            candidates=candidate_list(nearest_nodes(screen, wanted, handles), handles),
            passed=[passed[at] for at in nearest_labels(wanted, zip(passed, range(len(passed)), strict=True))]
            if wanted
            else None,
        )


def _is_unobstructed(screen: Screen, node: Node) -> bool:
    """The node is not under the keyboard or a bar. A disabled element counts as visible."""
    try:
        tap_point(screen, node)
    except ElementNotInteractable as refusal:
        return refusal.details.get("reason") == "disabled"
    return True


def _shown_label(node: Node) -> str:
    return node.masked_text or node.description


def _nodes_outside(screen: Screen, box: Node) -> frozenset[Node]:
    return frozenset(
        node for node in screen.nodes if not (node is box or node.is_inside(box) or box.is_inside(node))
    )


Axis = Literal["vertical", "sideways"]
SHIFTS = (0.0, 0.15, -0.15)
"""Along the container: if its middle belongs to an inner list, its ends may not."""
_REACH = 0.475
"""From the middle; a finger that comes down further out is on the edge."""
_SLACK_PX = 3
_WRAPPERS = 6
"""Nested single children between a container and its rows; a limit for degenerate trees."""


def scroller_for(screen: Screen, direction: Direction) -> Node | None:
    """The largest visible container of the front window. A swipe beside a dialog would close it."""
    window = front_window(screen)
    return _largest_scroller(screen, [window, *screen.inside(window)], direction)


def scroller_of(screen: Screen, node: Node, direction: Direction) -> Node:
    """The node itself if it scrolls, else a container in it or around it."""
    if _scrolls(node):
        return node
    around = (ancestor for ancestor in node.ancestors() if _may_scroll_along(ancestor, direction))
    return _largest_scroller(screen, screen.inside(node), direction) or next(around, None) or node


def anything_scrolls(screen: Screen) -> bool:
    """Whether any container reports that it scrolls; a canvas without accessibility data does not."""
    inside = screen.inside(front_window(screen))
    return any(_scrolls(node) and visible_part(screen, node).area for node in inside)


def _largest_scroller(screen: Screen, nodes: list[Node], direction: Direction) -> Node | None:
    """A container that certainly scrolls along this axis is preferred to one that may."""
    sure = axis_wanted(direction)
    ranked = [
        (axis_of(node) == sure, area, -node.order, node)
        for node in nodes
        if _may_scroll_along(node, direction) and (area := visible_part(screen, node).area)
    ]
    return max(ranked)[-1] if ranked else None


def _scrolls(node: Node) -> bool:
    return node.scrollable or node.role == "list" or (node.role == "web_view" and not node.native_id)


def _may_scroll_along(node: Node, direction: Direction) -> bool:
    return _scrolls(node) and axis_of(node) in (None, axis_wanted(direction))


def axis_wanted(direction: Direction) -> Axis:
    return "sideways" if is_sideways(direction) else "vertical"


def axis_of(node: Node) -> Axis | None:
    """By its class, else by the position of its rows; None if neither tells."""
    name = node.short_class
    if "Horizontal" in name or "Pager" in name:
        return "sideways"
    if name.endswith(("ScrollView", "ListView", "GridView")):
        return "vertical"
    inside = node
    for _ in range(_WRAPPERS):
        if len(inside.children) == 1:
            inside = inside.children[0]
    rows = [child.bounds for child in inside.children if child.bounds.area]
    if len(rows) < 2:
        return None
    if any(abs(row.top - rows[0].top) > _SLACK_PX for row in rows):
        return "vertical"
    return "sideways" if node.bounds.width > node.bounds.height else None


def swipe_lines(screen: Screen, scroller: Node | None, finger: Direction, share: float) -> list[SwipeLine]:
    """Swipe lines in the container that do not start on something that would take the drag, best first."""
    box = visible_part(screen, scroller) if scroller else screen.bounds
    for window in screen.windows:
        keyboard = window.bounds
        if is_input_method(window.package_name) and keyboard.area and keyboard.top > box.top:
            box = box._replace(bottom=min(box.bottom, keyboard.top))
    shifts = [shift for shift in SHIFTS if share / 2 + abs(shift) <= _REACH]
    ways = [swipe_line(finger, box, share, lane, shift) for shift in shifts or SHIFTS[:1] for lane in LANES]
    taken: list[Bounds] = []  # where the swipe would move something else: an inner list, a slider, an overlay
    if scroller:
        inner = [
            node
            for node in screen.inside(scroller)
            if _may_scroll_along(node, finger) or (is_sideways(finger) and node.role == "slider")
        ]
        taken = [node.bounds for node in (*inner, *nodes_covering(screen, scroller, box))]
    return [path for path in ways if not any(place.holds(path[0], path[1]) for place in taken)] or ways
